/**
 * The whole state of stock optimizers. Some of it tfjs neither saves, nor keeps, nor frees: Adam's running powers of
 * beta are computed anew on loading, which loses their last bits; Momentum's scalar is lost at the end of a tidy in
 * which the optimizer was made, and the rate that it inherits is forgotten when it is disposed.
 */
import * as tf from '@tensorflow/tfjs';
import type { NamedTensor } from '../base/types.js';
import { asOwn } from './engine/own_functions.js';
import { addOnce } from './models/own_models.js';

type Apply = (gradients: tf.NamedTensorMap | { name: string; tensor: tf.Tensor }[]) => void;

const STOCK = [
  tf.SGDOptimizer,
  tf.MomentumOptimizer,
  tf.RMSPropOptimizer,
  tf.AdamOptimizer,
  tf.AdamaxOptimizer,
  tf.AdagradOptimizer,
  tf.AdadeltaOptimizer,
] as unknown as readonly { readonly prototype: { applyGradients: Apply } }[];

/** A variable that a stock optimizer is about to step. */
export interface StockStep {
  readonly variable: tf.Variable;
  /** What the optimizer keeps for it; none before the first step. */
  readonly state: () => readonly tf.Variable[];
  /** What that begins with. */
  readonly start: number;
}

/** The variables that a step changes; an entry without a gradient changes nothing. */
function stepsOf(optimizer: object, gradients: Parameters<Apply>[0]): StockStep[] {
  const list = Array.isArray(gradients)
    ? gradients
    : Object.entries(gradients).map(([name, tensor]) => ({ name, tensor }));
  const { registeredVariables } = tf.engine();
  const { initialAccumulatorValue: start = 0 } = optimizer as { initialAccumulatorValue?: number };
  const isList = (field: unknown): field is StateEntry[] => Array.isArray(field);
  return list.flatMap(({ name, tensor }, at) => {
    const variable = registeredVariables[name];
    if (tensor === null || tensor === undefined || variable === undefined) return [];
    const state = (): tf.Variable[] =>
      Object.values(optimizer)
        .filter(isList)
        .flatMap((entries) => entries[at]?.variable ?? []);
    return [{ variable, state, start }];
  });
}

/**
 * Calls `check` with each variable that a stock optimizer is about to step; what it throws refuses the step. Once per
 * copy of tfjs: later calls do nothing.
 */
export function beforeStockSteps(check: (step: StockStep) => void): void {
  addOnce('stock steps', () => {
    for (const { prototype } of STOCK) {
      const apply = prototype.applyGradients;
      prototype.applyGradients = function (this: object, gradients): void {
        for (const step of stepsOf(this, gradients)) check(step);
        apply.call(this, gradients);
      };
    }
  });
}

/** Adam's powers of beta1 and beta2 after the steps so far. */
export interface RunningPowers {
  readonly accBeta1: tf.Variable;
  readonly accBeta2: tf.Variable;
}

/** The names of running powers in saved state. */
export const POWERS: readonly string[] = ['accBeta1', 'accBeta2'];

/** The running powers of an Adam optimizer; null for all others. */
export function runningPowers(optimizer: tf.Optimizer): RunningPowers | null {
  const { accBeta1, accBeta2 } = optimizer as unknown as Partial<RunningPowers>;
  return accBeta1 instanceof tf.Variable && accBeta2 instanceof tf.Variable ? { accBeta1, accBeta2 } : null;
}

/** Keeps the scalar that stock momentum makes at birth, so that the optimizer may be made inside `fit`. */
export function keepMomentumScalar(optimizer: tf.Optimizer): tf.Optimizer {
  tf.keep((optimizer as unknown as { m: tf.Scalar }).m);
  return optimizer;
}

/** The variables that an optimizer keeps in lists, by name, without waiting for its `getWeights`. */
export function stateOf(optimizer: tf.Optimizer): NamedTensor[] {
  const lists = Object.values(optimizer).filter((field): field is unknown[] => Array.isArray(field));
  return lists.flat(2).flatMap((each) => {
    const { originalName, variable } = (each ?? {}) as { originalName?: unknown; variable?: unknown };
    return typeof originalName === 'string' && variable instanceof tf.Variable
      ? [{ name: originalName, tensor: variable }]
      : [];
  });
}

/** What a stock optimizer keeps for each variable, in a list that goes by the order of gradients. */
interface StateEntry {
  readonly originalName: string;
  readonly variable: tf.Variable;
}

/** The lists of stock optimizers by the name of their class, and what tfjs calls their entries. */
const LISTS: Readonly<Record<string, readonly (readonly [field: string, kind: string])[]>> = {
  SGD: [],
  Momentum: [['accumulations', 'momentum']],
  Adagrad: [['accumulatedGrads', 'accumulator']],
  Adam: [
    ['accumulatedFirstMoment', 'm'],
    ['accumulatedSecondMoment', 'v'],
  ],
};

/**
 * The state of variables by kind, one entry per variable, made where there is none yet, as the optimizer itself would;
 * for a variable that is not there, what was loaded. null: an optimizer whose lists are not known.
 */
export function stateFor(
  optimizer: tf.Optimizer,
  variables: readonly (tf.Variable | undefined)[],
): (readonly StateEntry[])[] | null {
  const kinds = LISTS[optimizer.getClassName()];
  if (kinds === undefined) return null;
  const holder = optimizer as unknown as Record<string, StateEntry[]> & { initialAccumulatorValue?: number };
  return kinds.map(([field, kind]) => {
    const list = holder[field]!;
    const start = kind === 'accumulator' ? holder.initialAccumulatorValue! : 0;
    variables.forEach((variable, i) => {
      if (variable === undefined) return;
      list[i] ??= {
        originalName: `${variable.name}/${kind}`,
        variable: tf.tidy(() => tf.variable(tf.fill(variable.shape, start), false)),
      };
    });
    return list;
  });
}

/** Sets the learning rate, which only some stock optimizers have a method for. */
export function setStockRate(optimizer: tf.Optimizer, learningRate: number): void {
  const stock = optimizer as unknown as { learningRate: number; setLearningRate?: (rate: number) => void };
  if (stock.learningRate === learningRate) return;
  if (typeof stock.setLearningRate === 'function') stock.setLearningRate(learningRate);
  else stock.learningRate = learningRate;
}

/** Disposes an optimizer with all that it holds, the rate that stock momentum inherits included. */
export function disposeStock(optimizer: tf.Optimizer): void {
  const { c: rate } = optimizer as unknown as { c?: tf.Tensor };
  optimizer.dispose();
  if (rate instanceof tf.Tensor && !rate.isDisposed) rate.dispose();
}

/** Runs a step of a stock optimizer that takes the backend's epsilon with another one. */
export function withEpsilon(epsilon: number | null, step: () => void): void {
  if (epsilon === null) return step();
  const backend = tf.backend() as { epsilon(): number };
  const { epsilon: ofBackend } = backend;
  backend.epsilon = asOwn(() => epsilon);
  try {
    step();
  } finally {
    backend.epsilon = ofBackend;
  }
}

/** Frees the count of steps, which optimizers make for each call of `getWeights`; all else that this gives is in use. */
export function freeCount(state: readonly NamedTensor[]): void {
  for (const { name, tensor } of state) if (name === 'iter' && !(tensor instanceof tf.Variable)) tensor.dispose();
}
