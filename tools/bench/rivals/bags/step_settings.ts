/** The hyper-parameters of the steps: those in which all peers mean the same. */
import { packHyper } from '../../../../src/rules/hyper.js';
import { hyperOf, readSettings } from '../../../../src/rules/optimizer_settings.js';
import type { OptimizerName, UpdateName } from '../../../../src/rules/rules.js';

/** Small enough not to show, since some peers add it within the root and some behind it. */
const EPSILON: Partial<Record<OptimizerName, number>> = { adagrad: 1e-10, rowWiseAdagrad: 1e-10, adam: 1e-8 };

/** Slots begin at it; those of Adam at 0. */
export const ACCUMULATOR = 0.1;
export const startOf = (optimizer: UpdateName, slot: number): number =>
  optimizer === 'adam' || slot > 0 ? 0 : ACCUMULATOR;

/** What `emb.ops.sparseApply` takes. */
export function settingsOf(optimizer: OptimizerName, learningRate: number): object {
  const epsilon = EPSILON[optimizer];
  return { learningRate, ...(epsilon === undefined ? {} : { epsilon }) };
}

/** The same as kernels take it. `isLazy` false: Adam steps every row. */
export function hyperAt(optimizer: UpdateName, learningRate: number, step: number, isLazy = true): Float32Array {
  const lazy = optimizer === 'adam' ? { lazy: isLazy } : {};
  return packHyper(
    hyperOf(
      optimizer as OptimizerName,
      readSettings(optimizer as OptimizerName, { ...settingsOf(optimizer as OptimizerName, learningRate), ...lazy }),
      step,
      null,
    ),
  );
}
