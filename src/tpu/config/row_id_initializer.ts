/** Tables whose rows tell their own numbers. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../base/per_process.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { configText, readConfig, readFields } from './fields.js';

export interface RowIdInitializerArgs {
  /** Added to every number; 0 by default. */
  offset?: number | undefined;
}

/**
 * Fills row r with r + offset in every column: a lookup then tells which rows it read, as tests want it.
 *
 * Source: tf.tpu.experimental.embedding.RowIdInitializer (TensorFlow 2.21).
 *
 * @throws TypeError for an offset that is no number; ValueError for one that is not whole.
 *
 * @example
 * new emb.tpu.RowIdInitializer({offset: 10}).apply([2, 3]).print(); // [[10, 10, 10], [11, 11, 11]]
 */
export class RowIdInitializer {
  static {
    brand(this, 'tpu.RowIdInitializer');
  }
  static readonly className = 'RowIdInitializer';
  readonly offset: number;

  /** @param args - The value of the first row; see `RowIdInitializerArgs`. */
  constructor(args?: RowIdInitializerArgs);
  constructor(...passed: [RowIdInitializerArgs?]) {
    const { offset } = readFields<RowIdInitializerArgs>('new emb.tpu.RowIdInitializer', ['offset'], passed);
    if (offset !== undefined && typeof offset !== 'number') {
      throw new ArgumentTypeError('offset', 'a whole number', offset);
    }
    if (offset !== undefined && !Number.isSafeInteger(offset)) throw new ValueError('offset', 'a whole number', offset);
    this.offset = offset ?? 0;
  }

  /**
   * The values of a table of this shape.
   *
   * @param shape - [rows, dim] of the table.
   * @param dtype - float32, the default.
   * @returns A float32 tensor of that shape.
   */
  apply(shape: readonly number[], dtype: tf.DataType = 'float32'): tf.Tensor {
    const [rows] = shape;
    if (rows === undefined) throw new ValueError('shape', 'one axis or more', shape);
    return tf.tidy(() => {
      const column = Float32Array.from({ length: rows }, (_, row) => row + this.offset);
      const ids = tf.tensor(column, [rows, ...shape.slice(1).map(() => 1)], 'float32');
      return ids.broadcastTo([...shape]).cast(dtype);
    });
  }

  /** @returns `'RowIdInitializer'`. */
  getClassName(): string {
    return RowIdInitializer.className;
  }

  /**
   * Whether the other one has the same offset.
   *
   * @param other - Anything.
   * @returns Whether both say the same.
   */
  equals(other: unknown): boolean {
    return other instanceof RowIdInitializer && this.offset === other.offset;
  }

  /** @returns The fields in camelCase. */
  getConfig(): { offset: number } {
    return { offset: this.offset };
  }

  /**
   * Makes one from a config.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new initializer.
   */
  static fromConfig(config: object): RowIdInitializer {
    return new RowIdInitializer(readConfig<RowIdInitializerArgs>(config));
  }

  /** @returns `RowIdInitializer(…)` with its field. */
  toString(): string {
    return configText('RowIdInitializer', this.getConfig());
  }
}
