/** The update rules by the names of `emb.train`, and what others derive from them. */
import { adagrad } from './adagrad.js';
import { adagradMomentum } from './adagrad_momentum.js';
import { adam } from './adam.js';
import { ftrl } from './ftrl.js';
import { rowWiseAdagrad } from './row_wise_adagrad.js';
import { sgd } from './sgd.js';
import type { Hyper } from './hyper.js';
import type { UpdateRule } from './update_rule.js';

/** In the order of `TE_EACH_OPTIMIZER` in custom-ops/kernels/embedding.h. */
const LIST = { sgd, adagrad, rowWiseAdagrad, adagradMomentum, adam, ftrl };

/** Names of the row-sparse optimizers. */
export type OptimizerName = keyof typeof LIST;
export const OPTIMIZER_NAMES = Object.keys(LIST) as readonly OptimizerName[];

/** With the fields that each reads, for types. */
export type Rules = typeof LIST;
export const RULES: Readonly<Record<OptimizerName, UpdateRule>> = LIST;

/** Something of each rule, by its name. */
export function ofEachRule<T>(make: (name: OptimizerName, rule: UpdateRule) => T): Readonly<Record<OptimizerName, T>> {
  return Object.fromEntries(OPTIMIZER_NAMES.map((name) => [name, make(name, RULES[name])])) as Record<OptimizerName, T>;
}

/** Names of an optimizer's slots, in the order in which kernels take them. */
export const SLOT_NAMES = ofEachRule((_, { slots }) => slots);

/** The shape of each slot of a table [rows, dim]. */
export function slotShape(name: OptimizerName, [rows, dim]: readonly [number, number]): number[] {
  return RULES[name].isPerRow === true ? [rows] : [rows, dim];
}

/** Whether a step moves rows without ids too. */
export function stepsIdleRows(name: OptimizerName, { lazy }: Pick<Hyper, 'lazy'>): boolean {
  return lazy === 0 && RULES[name].movesIdleRows === true;
}

/** Names of ops: `EmbeddingSparseApply` makes `EmbeddingSparseApplySgd`. */
export function opNames(prefix: string): Readonly<Record<OptimizerName, string>> {
  return ofEachRule((name) => `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}
