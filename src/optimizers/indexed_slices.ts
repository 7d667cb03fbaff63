/** The gradient of a table as the rows that it touches. */
import * as tf from '@tensorflow/tfjs';
import { brand } from '../base/per_process.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { checkMatrix } from '../lookup/arguments.js';
import { checkRowIds } from '../lookup/bag_arguments.js';
import { ofRows } from '../backends/kernel_calls.js';
import { rowGradients } from '../lookup/lookup.js';
import { readOptions } from '../base/options.js';

export interface IndexedSlicesArgs {
  /** [n] int32: the touched rows, ascending, each once. */
  indices: tf.Tensor1D;
  /** [n, dim] float32: their gradients. */
  values: tf.Tensor2D;
  /** [rows, dim], the shape of the table. */
  denseShape: readonly [number, number];
}

const FIELDS = ['indices', 'values', 'denseShape'] as const;

function checkShape(shape: unknown): readonly [number, number] {
  const expected = 'the shape [rows, dim] of a table';
  if (!Array.isArray(shape)) {
    throw new ArgumentTypeError('denseShape', expected, shape);
  }
  const sizes = shape as unknown[];
  const isShape = sizes.length === 2 && sizes.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
  if (!isShape) throw new ValueError('denseShape', expected, shape);
  return Object.freeze([...sizes]) as unknown as readonly [number, number];
}

/** Call inside a tidy. */
export function sumOfSquares(x: tf.Tensor): tf.Scalar {
  // The wasm backend leaves the sum of nothing as memory was.
  return x.size === 0 ? tf.scalar(0) : x.square().sum();
}

/** Throws for slices that were disposed. */
export function checkLive(slices: IndexedSlices, argument: string): void {
  if (slices.isDisposed) throw new RuntimeError(argument, 'IndexedSlices in use', described('disposed IndexedSlices'));
}

/**
 * The gradient of a table of shape `denseShape` = [rows, dim]: row `indices[i]` has the gradient `values[i]`, all others
 * have none.
 *
 * `computeGradients` of an `emb.train` optimizer gives it for every table that was looked up, `applyGradients` takes it
 * back. `indices` [n] int32 ascend without repeats; `values` [n, dim] float32. The methods make new tensors and leave
 * their operands as they are; `dispose()` frees `indices` and `values`, as `tf.dispose` and the end of a `tf.tidy` do.
 * Source: tf.IndexedSlices (TensorFlow 2.21), with unique indices.
 *
 * @throws TypeError for wrong types; ValueError for wrong shapes, rows that repeat, descend or lie outside the table;
 * RuntimeError for the use of disposed slices.
 *
 * @example
 * const { value, grads } = optimizer.computeGradients(loss);
 * grads[table.name].indices.print(); // the rows of the batch
 * optimizer.applyGradients({ [table.name]: grads[table.name].mul(0.5) });
 */
export class IndexedSlices {
  static {
    brand(this, 'IndexedSlices');
  }

  // Plain fields: tf.dispose and tf.tidy find tensors there.
  readonly indices: tf.Tensor1D;
  readonly values: tf.Tensor2D;
  readonly denseShape: readonly [number, number];

  /** @param args - Rows, their gradients and the shape of the table; see `IndexedSlicesArgs`. */
  constructor(args: IndexedSlicesArgs) {
    const given = readOptions<IndexedSlicesArgs>(args, FIELDS, 'args');
    this.denseShape = checkShape(given.denseShape);
    const [rows, dim] = this.denseShape;
    this.indices = checkRowIds(given.indices, rows, 'indices');
    this.values = checkMatrix(given.values, this.indices.size, dim, 'values');
  }

  get isDisposed(): boolean {
    return this.indices.isDisposed || this.values.isDisposed;
  }

  /**
   * The gradient times a number or a scalar.
   *
   * @param x - The factor.
   * @returns The product, with the same rows.
   */
  mul(x: number | tf.Scalar): IndexedSlices {
    checkLive(this, 'mul');
    const expected = 'a number or a scalar';
    const isScalar = typeof x === 'number' || (x instanceof tf.Tensor && x.rank === 0);
    if (!isScalar) throw new ArgumentTypeError('x', expected, x);
    const { denseShape } = this;
    return new IndexedSlices({ indices: this.indices.clone(), values: this.values.mul(x), denseShape });
  }

  /**
   * The sum with another gradient of the same table: the rows of both.
   *
   * @param other - A gradient of the same table.
   * @returns The sum, with the rows of both.
   */
  add(other: IndexedSlices): IndexedSlices {
    checkLive(this, 'add');
    const expected = 'IndexedSlices of the same table';
    if (!(other instanceof IndexedSlices)) {
      throw new ArgumentTypeError('other', expected, other);
    }
    checkLive(other, 'other');
    const [rows, dim] = this.denseShape;
    if (other.denseShape[0] !== rows || other.denseShape[1] !== dim) {
      const received = described(`IndexedSlices of shape [${other.denseShape.join(', ')}]`);
      throw new ValueError('other', `IndexedSlices of shape [${rows}, ${dim}]`, received);
    }
    const sum = tf.tidy(() => {
      const ids = tf.concat1d([this.indices, other.indices]);
      const gradient = tf.concat2d([this.values, other.values], 0);
      return rowGradients(ofRows(ids, gradient), rows, null);
    });
    return new IndexedSlices({ indices: sum.uniqueIds, values: sum.rowGradients, denseShape: this.denseShape });
  }

  /**
   * The L2 norm of the gradient, a scalar.
   *
   * @returns A scalar.
   */
  norm(): tf.Scalar {
    checkLive(this, 'norm');
    return tf.tidy(() => sumOfSquares(this.values).sqrt());
  }

  /**
   * The gradient as a tensor of shape `denseShape`.
   *
   * @returns [rows, dim] float32, with zeros for the rows that have no gradient.
   */
  toDense(): tf.Tensor2D {
    checkLive(this, 'toDense');
    const { indices, values, denseShape } = this;
    const shape = [...denseShape] as [number, number];
    if (indices.size === 0) return tf.zeros(shape);
    return tf.tidy(() => tf.scatterND(indices.expandDims(1), values, shape));
  }

  /** Frees `indices` and `values`; more than once does no harm. */
  dispose(): void {
    tf.dispose([this.indices, this.values]);
  }
}
