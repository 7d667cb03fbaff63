/** Draws lookups and steps of many tables, for specs that compare calls for all of them with calls for each. */
import * as tf from '@tensorflow/tfjs';
import { HYPER_FIELDS } from '../../src/rules/hyper.js';
import type { BagOptions } from '../../src/backends/kernel_set.js';
import type { Backend, Lookup, TableUpdate } from '../../src/backends/contract.js';
import { united } from '../../src/backends/kernel_calls.js';
import { currentBackend } from '../../src/backends/registry.js';
import { stepTables } from '../../src/optimizers/step_gradients.js';
import { WEIGHING } from '../../src/base/types.js';
import type { Random } from '../helpers/random.js';

/** Runs with the backend as it would be without calls for many tables, and without uses side by side. */
export function oneByOne<T>(run: () => T): T {
  const backend = currentBackend() as { -readonly [K in keyof Backend]: Backend[K] };
  const [lookUp, step] = [backend.lookUp.bind(backend), backend.step.bind(backend)];
  const own = (['lookUp', 'step'] as const).map((name) => Object.getOwnPropertyDescriptor(backend, name));
  const apart = {
    lookUp: (lookups: readonly Lookup[]) => lookups.flatMap((lookup) => lookUp([lookup])),
    step: (updates: readonly TableUpdate[]) => {
      for (const update of updates) {
        tf.tidy(() => step([{ ...update, entries: [united(update, backend.gradient)], dense: null }]));
      }
    },
  };
  Object.assign(backend, apart);
  try {
    return run();
  } finally {
    (['lookUp', 'step'] as const).forEach((name, i) => {
      if (own[i] === undefined) delete (backend as Partial<Backend>)[name];
      else Object.defineProperty(backend, name, own[i]);
    });
  }
}

/** Bags of up to five ids, some of them stray. */
export function bagsOf(random: Random, rows: number, isStray: boolean): Lookup['bags'] {
  const splits = [0];
  for (let bag = random.whole(0, 40); bag > 0; bag--) splits.push(splits.at(-1)! + random.whole(0, 5));
  const nnz = splits.at(-1)!;
  const ids = Int32Array.from({ length: nnz }, () => random.whole(isStray ? -2 : 0, rows + (isStray ? 2 : 0)));
  return {
    values: tf.tensor1d(ids, 'int32'),
    rowSplits: tf.tensor1d(splits, 'int32'),
    weights: random.chance(0.4) ? tf.tensor1d(random.floats(nnz)) : null,
  };
}

export function drawOptions(random: Random): BagOptions {
  return {
    combiner: WEIGHING[random.whole(0, 3)]!,
    outOfRange: random.chance(0.5) ? 'zero' : 'error',
    maxNorm: random.chance(0.3) ? 0.7 : 0,
  };
}

/** Numbers that every optimizer can step with. */
export function drawHyper(random: Random): Float32Array {
  const hyper = Float32Array.from(HYPER_FIELDS, () => random.next() * 0.1);
  const set = (values: Record<string, number>): void => {
    for (const [field, value] of Object.entries(values)) hyper[HYPER_FIELDS.indexOf(field as never)] = value;
  };
  set({ exponent: random.chance(0.5) ? 2 : 3 });
  set({ learningRatePower: -0.5, lazy: random.chance(0.5) ? 1 : 0, constraint: 0, clipNorm: 0, weightDecay: 0 });
  set({ clipGradientMin: -Infinity, clipGradientMax: Infinity, clipWeightMin: -Infinity, clipWeightMax: Infinity });
  return hyper;
}

/** What the variables hold after the step, which ends them. */
export function stepped(updates: readonly TableUpdate[]): Float32Array[] {
  const variables = updates.flatMap(({ table, slots }) => [table.variable, ...slots]);
  stepTables(updates);
  const found = variables.map((variable) => variable.dataSync<'float32'>().slice());
  tf.dispose(variables);
  return found;
}
