/** An optimizer of the user's own on TPU tables. */
import type * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { readConfig, readFields } from '../config/fields.js';
import { readTableInitializer, type TableInitializer } from '../config/table_initializer.js';
import { finite, type LearningRate } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

/** Numbers, or functions without arguments that are asked at every step. */
export type Hyperparameters = readonly LearningRate[] | Readonly<Record<string, LearningRate>>;

/** What a custom computation is given: everything of the touched rows alone, in the same order. */
export interface CustomStep {
  /** The summed gradient of each touched row, [touched, dim]. */
  readonly gradient: tf.Tensor2D;
  /** The rows themselves, [touched, dim]. */
  readonly parameters: tf.Tensor2D;
  /** The slots by name, [touched, dim], or [touched] where `slotDims` says 1. */
  readonly slots: Readonly<Record<string, tf.Tensor>>;
  /** The hyperparameters in force, in the form in which they were given. */
  readonly hyperparameters: readonly number[] | Readonly<Record<string, number>>;
  readonly learningRate: number;
  /** The numbers of the touched rows, ascending. */
  readonly rows: Int32Array;
}

/** What it gives back: new values, in the same shapes. */
export interface CustomStepResult {
  readonly parameters: tf.Tensor;
  readonly slots?: Readonly<Record<string, tf.Tensor>> | readonly tf.Tensor[] | undefined;
}

/**
 * The update rule of a table.
 *
 * @param step - Parameters, gradient, slots and hyperparameters, as tensors.
 * @returns The new values.
 */
export type CustomComputation = (step: CustomStep) => CustomStepResult;

export interface CustomOptimizerArgs {
  customComputation: CustomComputation;
  /** 0.01 by default. */
  learningRate?: LearningRate | undefined;
  slotNames?: readonly string[] | null | undefined;
  /** How each slot begins: a number, or an initializer. */
  slotInitializers?: readonly (number | TableInitializer)[] | null | undefined;
  hyperparameters?: Hyperparameters | null | undefined;
  /** 2: a slot of the table's shape (the default); 1: one value per row. */
  slotDims?: readonly number[] | null | undefined;
}

const FIELDS = [
  'customComputation',
  'learningRate',
  'slotNames',
  'slotInitializers',
  'hyperparameters',
  'slotDims',
] as const;

function list<T>(value: unknown, argument: string): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, 'a list', value);
  return Object.freeze([...(value as T[])]);
}

function sameLength(length: number, expected: number, argument: string): void {
  if (length === expected) return;
  throw new ValueError(argument, `${expected} of them, one for each of slotNames`, described(`${length}`));
}

function checkNames(names: readonly unknown[]): void {
  names.forEach((name, i) => {
    if (typeof name !== 'string') throw new ArgumentTypeError(`slotNames[${i}]`, 'a string', name);
    if (!/^[A-Za-z0-9][-A-Za-z0-9._]*$/.test(name)) {
      throw new ValueError(`slotNames[${i}]`, 'a letter or digit, then letters, digits, "-", "." or "_"', name);
    }
    if (names.indexOf(name) !== i) throw new ValueError(`slotNames[${i}]`, 'a name of its own', name);
  });
}

function checkHyperparameters(value: unknown): Hyperparameters {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) && !isRecord(value)) {
    throw new ArgumentTypeError('hyperparameters', 'a list or an object of numbers and functions', value);
  }
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'function') finite(each, `hyperparameters[${JSON.stringify(name)}]`);
  }
  return value as Hyperparameters;
}

/**
 * Steps tables by a function of the user's own.
 *
 * `customComputation({gradient, parameters, slots, hyperparameters, learningRate, rows})` gets the touched rows of a table
 * with their summed gradients and returns `{parameters, slots}`, the new values in the same shapes; it runs within a tidy.
 * `slots` go by name; they may be returned by name or in the order of `slotNames`.
 * Source: tf.tpu.experimental.embedding.CustomOptimizer (TensorFlow 2.21), which runs on SparseCores alone.
 *
 * @throws TypeError for fields of another type; ValueError for lists of different lengths and slot dims other than 1
 * and 2.
 *
 * @example
 * const optimizer = new emb.tpu.CustomOptimizer({
 *   customComputation: ({gradient, parameters, learningRate}) => ({parameters: parameters.sub(gradient.mul(learningRate))}),
 *   learningRate: 0.1,
 * });
 */
export class CustomOptimizer extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.CustomOptimizer');
  }
  readonly customComputation: CustomComputation;
  readonly slotInitializers: readonly (number | TableInitializer)[];
  readonly hyperparameters: Hyperparameters;
  readonly slotDims: readonly number[];
  readonly #slotNames: readonly string[];

  /** @param args - The computation, its slots and its hyperparameters; see `CustomOptimizerArgs`. */
  constructor(args: CustomOptimizerArgs);
  constructor(...passed: [CustomOptimizerArgs]) {
    const given = readFields<CustomOptimizerArgs>('new emb.tpu.CustomOptimizer', FIELDS, passed);
    super({ learningRate: given.learningRate }, 0.01);
    if (typeof given.customComputation !== 'function') {
      throw new ArgumentTypeError('customComputation', 'a function', given.customComputation);
    }
    this.customComputation = given.customComputation;
    this.#slotNames = list(given.slotNames, 'slotNames');
    checkNames(this.#slotNames);
    const initializers = list<unknown>(given.slotInitializers, 'slotInitializers');
    sameLength(initializers.length, this.#slotNames.length, 'slotInitializers');
    this.slotInitializers = initializers.map((each, i) => {
      const argument = `slotInitializers[${i}]`;
      return typeof each === 'number' ? finite(each, argument) : readTableInitializer(each, argument);
    });
    const dims = list<unknown>(given.slotDims ?? this.#slotNames.map(() => 2), 'slotDims');
    sameLength(dims.length, this.#slotNames.length, 'slotDims');
    dims.forEach((dim, i) => {
      if (dim !== 1 && dim !== 2) throw new ValueError(`slotDims[${i}]`, '1 or 2', dim);
    });
    this.slotDims = dims as readonly number[];
    this.hyperparameters = checkHyperparameters(given.hyperparameters);
  }

  /** @returns `'CustomOptimizer'`. */
  getClassName(): string {
    return 'CustomOptimizer';
  }

  get slots(): readonly SlotSpec[] {
    return this.#slotNames.map((name, i) => {
      return { name, initialValue: this.slotInitializers[i]!, isPerRow: this.slotDims[i] === 1 };
    });
  }

  /**
   * The hyperparameters in force now: functions are asked.
   *
   * @returns A number for each hyperparameter, in their order or by their names.
   */
  currentHyperparameters(): readonly number[] | Readonly<Record<string, number>> {
    const ask = (value: LearningRate, name: string | number): number => {
      return typeof value === 'function' ? finite(value(), `hyperparameters[${JSON.stringify(name)}]`) : value;
    };
    const { hyperparameters } = this;
    if (Array.isArray(hyperparameters)) return (hyperparameters as readonly LearningRate[]).map(ask);
    const entries = Object.entries(hyperparameters as Readonly<Record<string, LearningRate>>);
    return Object.fromEntries(entries.map(([name, value]) => [name, ask(value, name)]));
  }

  protected ownConfig(): Record<string, unknown> {
    return {};
  }

  /** @returns The fields in camelCase. */
  override getConfig(): Record<string, unknown> {
    const { customComputation, learningRate, slotNames, slotInitializers, hyperparameters, slotDims } = this;
    return { customComputation, learningRate, slotNames, slotInitializers, hyperparameters, slotDims };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys; the computation is a function there too.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): CustomOptimizer {
    return new CustomOptimizer(readConfig<CustomOptimizerArgs>(config));
  }
}
