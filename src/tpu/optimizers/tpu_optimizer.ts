/** The base of the TPU optimizers: what they all hold, and equality by value. */
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { configText, sameField, truth } from '../config/fields.js';
import type { TableInitializer } from '../config/table_initializer.js';
import {
  COMMON,
  readClipvalue,
  readDecay,
  readLearningRate,
  readSlotFn,
  readWeightLimits,
  truthOrNull,
  type CommonArgs,
  type LearningRate,
  type Limits,
  type SlotArgs,
  type SlotVariableCreationFn,
} from './common_arguments.js';

/** A slot of a table: values beside its weights that the optimizer keeps. */
export interface SlotSpec {
  readonly name: string;
  readonly initialValue: number | TableInitializer;
  /** One value for each row, and not for each weight. */
  readonly isPerRow?: boolean;
}

export abstract class TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.Optimizer');
  }
  readonly learningRate: LearningRate;
  readonly useGradientAccumulation: boolean;
  readonly clipWeightMin: number | null;
  readonly clipWeightMax: number | null;
  readonly weightDecayFactor: number | null;
  readonly multiplyWeightDecayFactorByLearningRate: boolean | null;
  /** [min, max]; null: gradients are not clipped. */
  readonly clipvalue: Limits | null;
  readonly lowDimensionalPackingStatus: boolean;
  readonly slotVariableCreationFn: SlotVariableCreationFn | null;

  constructor(given: CommonArgs & SlotArgs, defaultRate: number) {
    this.learningRate = readLearningRate(given.learningRate, defaultRate);
    this.useGradientAccumulation = truth(given.useGradientAccumulation, 'useGradientAccumulation', true);
    [this.clipWeightMin, this.clipWeightMax] = readWeightLimits(given);
    this.weightDecayFactor = readDecay(given.weightDecayFactor);
    this.multiplyWeightDecayFactorByLearningRate = truthOrNull(
      given.multiplyWeightDecayFactorByLearningRate,
      'multiplyWeightDecayFactorByLearningRate',
    );
    this.clipvalue = readClipvalue(given.clipvalue, this.useGradientAccumulation);
    this.lowDimensionalPackingStatus = truth(given.lowDimensionalPackingStatus, 'lowDimensionalPackingStatus', false);
    this.slotVariableCreationFn = readSlotFn(given.slotVariableCreationFn);
  }

  /**
   * The name of the class, as configs have it.
   *
   * @returns The name.
   */
  abstract getClassName(): string;

  /** The slots, in the order in which they are kept and saved. */
  abstract get slots(): readonly SlotSpec[];

  /** Fields beside the common ones. */
  protected abstract ownConfig(): Record<string, unknown>;

  /** The names of the slots. */
  get slotNames(): string[] {
    return this.slots.map(({ name }) => name);
  }

  /**
   * The learning rate in force now: a dynamic one is asked.
   *
   * @returns The rate of the next step.
   */
  currentLearningRate(): number {
    const { learningRate } = this;
    if (typeof learningRate === 'number') return learningRate;
    const rate: unknown = learningRate();
    const expected = 'a function that gives a finite number >= 0';
    if (typeof rate !== 'number') throw new ArgumentTypeError('learningRate', expected, rate);
    if (!(rate >= 0 && Number.isFinite(Math.fround(rate)))) throw new ValueError('learningRate', expected, rate);
    return rate;
  }

  /**
   * Whether the other one is of the same class and has the same fields; functions count as equal where they are one.
   *
   * @param other - Anything.
   * @returns Whether both say the same.
   */
  equals(other: unknown): boolean {
    return (
      other instanceof TPUEmbeddingOptimizer &&
      other.getClassName() === this.getClassName() &&
      sameField(this.getConfig(), other.getConfig())
    );
  }

  /**
   * The fields; functions (dynamic learning rates, slot creation) are there as they are.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): Record<string, unknown> {
    const config: Record<string, unknown> = {};
    for (const field of COMMON) config[field] = this[field];
    Object.assign(config, this.ownConfig());
    if (this.slots.length > 0) config['slotVariableCreationFn'] = this.slotVariableCreationFn;
    return config;
  }

  /** @returns The class with its fields, as Python shows it. */
  toString(): string {
    return configText(this.getClassName(), this.getConfig());
  }
}
