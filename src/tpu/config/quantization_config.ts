/** Simulated quantization of what a table gives. */
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { configText, readConfig, readFields, sameField, wholeNumber } from './fields.js';

export interface QuantizationConfigArgs {
  /** How many values there are; 2 or more. */
  numBuckets: number;
  /** The lowest value. */
  lower: number;
  /** The highest value. */
  upper: number;
}

const FIELDS = ['numBuckets', 'lower', 'upper'] as const;

function bound(value: unknown, argument: string): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a finite number', value);
  if (!Number.isFinite(Math.fround(value))) throw new ValueError(argument, 'a finite number, in float32 too', value);
  return value;
}

/**
 * How the values of a table are quantized where they are looked up.
 *
 * Each looked-up value is limited to [lower, upper] and moved to the nearest of `numBuckets` evenly spaced values, before
 * rows are combined. The table itself stays float32, and gradients reach it as if nothing had been quantized.
 * Source: tf.tpu.experimental.embedding.QuantizationConfig (TensorFlow 2.21).
 *
 * @throws TypeError for bounds that are no numbers; ValueError for fewer than two buckets, bounds that are not finite
 * and bounds in the wrong order.
 *
 * @example
 * const quantizationConfig = new emb.tpu.QuantizationConfig({numBuckets: 256, lower: -1, upper: 1});
 * const table = new emb.tpu.TableConfig({vocabularySize: 100, dim: 8, quantizationConfig});
 */
export class QuantizationConfig {
  static {
    brand(this, 'tpu.QuantizationConfig');
  }
  readonly numBuckets: number;
  readonly lower: number;
  readonly upper: number;

  /** @param args - The number of buckets and their range; see `QuantizationConfigArgs`. */
  constructor(args: QuantizationConfigArgs);
  constructor(...passed: [QuantizationConfigArgs]) {
    const given = readFields<QuantizationConfigArgs>('new emb.tpu.QuantizationConfig', FIELDS, passed);
    this.numBuckets = wholeNumber(given.numBuckets, 'numBuckets', 2);
    this.lower = bound(given.lower, 'lower');
    this.upper = bound(given.upper, 'upper');
    if (!(this.lower < this.upper)) throw new ValueError('upper', `a number above lower (${this.lower})`, this.upper);
  }

  /**
   * Whether the other one has the same fields.
   *
   * @param other - Anything.
   * @returns Whether both say the same.
   */
  equals(other: unknown): boolean {
    return other instanceof QuantizationConfig && sameField(this.getConfig(), other.getConfig());
  }

  /**
   * The fields as plain data.
   *
   * @returns The fields in camelCase.
   */
  getConfig(): QuantizationConfigArgs {
    return { numBuckets: this.numBuckets, lower: this.lower, upper: this.upper };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new config.
   */
  static fromConfig(config: object): QuantizationConfig {
    return new QuantizationConfig(readConfig<QuantizationConfigArgs>(config));
  }

  /** @returns `QuantizationConfig(…)` with all fields, as Python shows it. */
  toString(): string {
    return configText('QuantizationConfig', this.getConfig());
  }
}
