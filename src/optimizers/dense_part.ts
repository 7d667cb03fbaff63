/** The dense optimizer beside the row-sparse one: it trains every variable that is not a table. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../errors.js';
import type { OptimizerName } from '../types.js';
import { DenseOrder } from './dense_order.js';
import type { NamedTensor } from '../types.js';
import { learningRateAt, type Settings } from '../ops/training/optimizer_settings.js';

/** Adam's running powers of beta: stock code recomputes them on loading, which loses their last bits. */
interface RunningPowers {
  readonly accBeta1: tf.Variable;
  readonly accBeta2: tf.Variable;
}

const POWERS: readonly string[] = ['accBeta1', 'accBeta2'];

function runningPowers(optimizer: tf.Optimizer): RunningPowers | null {
  const { accBeta1, accBeta2 } = optimizer as unknown as Partial<RunningPowers>;
  return accBeta1 instanceof tf.Variable && accBeta2 instanceof tf.Variable ? { accBeta1, accBeta2 } : null;
}

/** The stock optimizer that goes with a row-sparse one. */
function defaultDense(name: OptimizerName, settings: Settings, learningRate: number): tf.Optimizer {
  const { initialAccumulatorValue, momentum, useNesterov, beta1, beta2, epsilon } = settings;
  switch (name) {
    case 'sgd':
      return tf.train.sgd(learningRate);
    case 'adam':
      return tf.train.adam(learningRate, beta1, beta2, epsilon);
    case 'adagradMomentum':
      return keepScalars(tf.train.momentum(learningRate, momentum, useNesterov));
    default:
      return tf.train.adagrad(learningRate, initialAccumulatorValue);
  }
}

/** Keeps a scalar that stock momentum makes at birth: an optimizer made inside `fit` would lose it at the tidy's end. */
function keepScalars(optimizer: tf.Optimizer): tf.Optimizer {
  tf.keep((optimizer as unknown as { m: tf.Scalar }).m);
  return optimizer;
}

const PREFIX = 'dense/';

/** Kinds of state of the default optimizers, one of each per variable. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  SGD: [],
  Momentum: ['momentum'],
  Adagrad: ['accumulator'],
  Adam: ['m', 'v'],
};

/** What a stock optimizer keeps, without waiting for its `getWeights`. */
function stateOf(optimizer: tf.Optimizer): NamedTensor[] {
  const lists = Object.values(optimizer).filter((field): field is unknown[] => Array.isArray(field));
  return lists.flat().flatMap((each) => {
    const { originalName, variable } = (each ?? {}) as { originalName?: unknown; variable?: unknown };
    return typeof originalName === 'string' && variable instanceof tf.Variable
      ? [{ name: originalName, tensor: variable }]
      : [];
  });
}

/** The state that is missing of a default optimizer, where there is some. */
function missingOf(optimizer: tf.Optimizer, given: readonly string[]): string[] {
  const kinds = KINDS[optimizer.getClassName()] ?? [];
  const isPower = (name: string): boolean => POWERS.includes(name);
  const variables = given.filter((name) => !isPower(name)).map((name) => name.slice(0, name.lastIndexOf('/')));
  const due = [...new Set(variables)].flatMap((variable) => kinds.map((kind) => `${variable}/${kind}`));
  if (runningPowers(optimizer) !== null) due.push(...POWERS);
  return due.filter((name) => !given.includes(name));
}

/** The dense optimizer of the user; or how to make the one of a saved config; or null: the default one. */
export type GivenDense = tf.Optimizer | (() => tf.Optimizer) | null;

export class DensePart {
  #optimizer: tf.Optimizer | null = null;
  readonly #isDefault: boolean;
  /** Makes the optimizer; null where it is the user's. */
  readonly #make: (() => tf.Optimizer) | null;
  readonly #order = new DenseOrder();

  constructor(name: OptimizerName, settings: Settings, given: GivenDense) {
    this.#isDefault = given === null;
    if (given === null) this.#make = () => defaultDense(name, settings, learningRateAt(settings.learningRate, 0));
    else this.#make = typeof given === 'function' ? given : null;
    // What a loader makes must not be made within a step, whose end frees what is new.
    if (given !== null) this.#optimizer = typeof given === 'function' ? given() : given;
  }

  /** The optimizer, made at first use because some hold variables from birth. */
  get optimizer(): tf.Optimizer {
    return (this.#optimizer ??= this.#make!());
  }

  /** The optimizer that the user gave, in this process or before it was saved; or null. */
  get given(): tf.Optimizer | null {
    return this.#isDefault ? null : this.optimizer;
  }

  /** Sets the rate of the default optimizer; one that the user gave keeps its own. */
  setLearningRate(learningRate: number): void {
    if (!this.#isDefault || this.#optimizer === null) return;
    const optimizer = this.#optimizer as unknown as { learningRate: number; setLearningRate?: (rate: number) => void };
    if (optimizer.learningRate === learningRate) return;
    if (typeof optimizer.setLearningRate === 'function') optimizer.setLearningRate(learningRate);
    else optimizer.learningRate = learningRate;
  }

  apply(gradients: readonly NamedTensor[]): void {
    const list = this.#order.arrange(gradients);
    if (list.length > 0) this.optimizer.applyGradients(list as never);
  }

  async save(): Promise<NamedTensor[]> {
    if (this.#optimizer === null && this.#order.isEmpty) return [];
    // The first entry is a fresh scalar with the number of steps, which the row-sparse optimizer saves itself.
    const [iterations, ...state] = (await this.optimizer.getWeights()) as NamedTensor[];
    iterations!.tensor.dispose();
    const saved = this.#order.named(state).map(({ name, tensor }) => ({ name: `${PREFIX}${name}`, tensor }));
    const powers = runningPowers(this.optimizer);
    if (powers !== null) {
      saved.push({ name: `${PREFIX}accBeta1`, tensor: powers.accBeta1 });
      saved.push({ name: `${PREFIX}accBeta2`, tensor: powers.accBeta2 });
    }
    return saved;
  }

  /** The names under which `save` gives state. */
  get names(): string[] {
    if (this.#optimizer === null) return [];
    const state = this.#order.named(stateOf(this.#optimizer)).map(({ name }) => name);
    const powers = runningPowers(this.#optimizer) === null ? [] : POWERS;
    return [...state, ...powers].map((name) => `${PREFIX}${name}`);
  }

  /** Names that are missing among those of saved state. */
  missing(names: readonly string[]): string[] {
    const mine = names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    if (mine.length === 0 || !this.#isDefault) return [];
    return missingOf(this.optimizer, mine).map((name) => `${PREFIX}${name}`);
  }

  /** Takes what `save` gave, as far as it is its own; returns the rest. */
  async load(saved: readonly NamedTensor[], iterations: number): Promise<NamedTensor[]> {
    const mine = saved.filter(({ name }) => name.startsWith(PREFIX));
    const rest = saved.filter(({ name }) => !name.startsWith(PREFIX));
    if (mine.length === 0) return rest;
    const stripped = mine.map(({ name, tensor }) => ({ name: name.slice(PREFIX.length), tensor }));
    const isPower = ({ name }: NamedTensor): boolean => POWERS.includes(name);
    const count = tf.scalar(iterations, 'int32');
    try {
      const state = stripped.filter((entry) => !isPower(entry));
      await this.optimizer.setWeights([{ name: 'iter', tensor: count }, ...state] as never);
      this.#order.restore(state);
    } finally {
      count.dispose();
    }
    const powers = runningPowers(this.optimizer);
    for (const { name, tensor } of stripped.filter(isPower)) {
      if (powers === null) throw new RuntimeError(name, 'a dense Adam optimizer', this.optimizer.getClassName());
      powers[name as keyof RunningPowers].assign(tensor as tf.Scalar);
    }
    return rest;
  }

  /** Ends the state of an optimizer that was made here; one that the user gave is the user's to dispose. */
  dispose(): void {
    if (this.#make === null || this.#optimizer === null) return;
    const { c: rate } = this.#optimizer as unknown as { c?: tf.Tensor };
    this.#optimizer.dispose();
    // Stock momentum forgets the rate that it inherits.
    if (rate instanceof tf.Tensor && !rate.isDisposed) rate.dispose();
    this.#optimizer = null;
    this.#order.clear();
  }
}
