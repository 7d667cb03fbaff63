/** The dense optimizer beside the row-sparse one: it trains every variable that is not a table. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../base/errors.js';
import { RULES, type OptimizerName } from '../rules/rules.js';
import { stepInOneOp } from './dense_op.js';
import { DenseOrder } from './dense_order.js';
import type { NamedTensor } from '../base/types.js';
import { refuseRecording } from '../lookup/training/recordings.js';
import type { Settings } from '../lookup/training/optimizer_settings.js';
import {
  POWERS,
  disposeStock,
  keepMomentumScalar,
  runningPowers,
  setStockRate,
  stateOf,
  type RunningPowers,
} from '../tfjs/stock_optimizer_state.js';

/** The stock optimizer that goes with a row-sparse one. */
function defaultDense(name: OptimizerName, settings: Settings, learningRate: number): tf.Optimizer {
  const dense = RULES[name].dense(tf.train, settings, learningRate);
  // Not by `instanceof`, which holds for every optimizer of tfjs.
  return dense.getClassName() === 'Momentum' ? keepMomentumScalar(dense as tf.MomentumOptimizer) : dense;
}

const PREFIX = 'dense/';

/** Kinds of state of the default optimizers, one of each per variable. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  SGD: [],
  Momentum: ['momentum'],
  Adagrad: ['accumulator'],
  Adam: ['m', 'v'],
};

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
  /** The rate of the step in progress, or of the last one: steps set it, so that no function is asked for it here. */
  #rate = 0;

  constructor(name: OptimizerName, settings: Settings, given: GivenDense) {
    this.#isDefault = given === null;
    if (given === null) this.#make = () => defaultDense(name, settings, this.#rate);
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
    this.#rate = learningRate;
    if (this.#isDefault && this.#optimizer !== null) setStockRate(this.#optimizer, learningRate);
  }

  /** `learningRate`: that of the step in progress, whenever it is asked for. */
  apply(gradients: readonly NamedTensor[], learningRate: () => number): void {
    const list = this.#order.arrange(gradients);
    if (list.length === 0) return;
    if (this.#isDefault && stepInOneOp(this.optimizer, list, learningRate)) return;
    if (list.some(({ tensor }) => tensor !== null)) {
      // Repeated, it would keep the rate of the step that was recorded.
      refuseRecording('ops of tfjs, to which the learning rate is a constant, step its dense variables');
    }
    this.optimizer.applyGradients(list as never);
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
      const given = new Set(saved.map(({ tensor }) => tensor));
      const before = stateOf(this.optimizer).filter(({ tensor }) => !given.has(tensor));
      await this.optimizer.setWeights([{ name: 'iter', tensor: count }, ...state] as never);
      this.#order.restore(state);
      // Stock optimizers forget the state that they had.
      tf.dispose(before.map(({ tensor }) => tensor));
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
    disposeStock(this.#optimizer);
    this.#optimizer = null;
    this.#order.clear();
  }
}
