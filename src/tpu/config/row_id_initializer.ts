/** Tables whose rows tell their own numbers. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../../brand.js';
import { ArgumentTypeError, ValueError } from '../../errors.js';
import { configText, readConfig, readFields } from './fields.js';

export interface RowIdInitializerArgs {
  /** Added to every number; 0 by default. */
  offset?: number | undefined;
}

/**
 * Fills row r with r + offset in every column: a lookup then tells which rows it read, as tests want it.
 *
 * Throws TypeError for an offset that is no number; ValueError for one that is not whole.
 * Source: tf.tpu.experimental.embedding.RowIdInitializer (TensorFlow 2.21).
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

  constructor(args?: RowIdInitializerArgs);
  constructor(...passed: [RowIdInitializerArgs?]) {
    const { offset } = readFields<RowIdInitializerArgs>('new emb.tpu.RowIdInitializer', ['offset'], passed);
    if (offset !== undefined && typeof offset !== 'number') {
      throw new ArgumentTypeError('offset', 'a whole number', offset);
    }
    if (offset !== undefined && !Number.isSafeInteger(offset)) throw new ValueError('offset', 'a whole number', offset);
    this.offset = offset ?? 0;
  }

  /** The values of a table of this shape. */
  apply(shape: readonly number[], dtype: tf.DataType = 'float32'): tf.Tensor {
    const [rows] = shape;
    if (rows === undefined) throw new ValueError('shape', 'one axis or more', shape);
    return tf.tidy(() => {
      const column = Float32Array.from({ length: rows }, (_, row) => row + this.offset);
      const ids = tf.tensor(column, [rows, ...shape.slice(1).map(() => 1)], 'float32');
      return ids.broadcastTo([...shape]).cast(dtype);
    });
  }

  getClassName(): string {
    return RowIdInitializer.className;
  }

  /** Whether the other one has the same offset. */
  equals(other: unknown): boolean {
    return other instanceof RowIdInitializer && this.offset === other.offset;
  }

  getConfig(): { offset: number } {
    return { offset: this.offset };
  }

  /** Makes one from a config. */
  static fromConfig(config: object): RowIdInitializer {
    return new RowIdInitializer(readConfig<RowIdInitializerArgs>(config));
  }

  toString(): string {
    return configText('RowIdInitializer', this.getConfig());
  }
}
