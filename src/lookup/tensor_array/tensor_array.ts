/** TensorArray: tensors by index, written and read once each, with gradients. */
import * as tf from '@tensorflow/tfjs';
import { brand, perProcess } from '../../base/per_process.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { readInt32 } from '../../ids/values.js';
import { INT32_MAX } from '../../base/types.js';
import { readDtype, readFlag, readValue, readWhole, type IndexInput, type IndicesInput } from './arguments.js';
import { piecesOf, rowsOf } from './cut_rows.js';
import { ElementStore } from './element_store.js';
import { TensorArrayHandle, uniqueName } from './handle.js';
import { concatenated, stacked, type ReadElements } from './joined_elements.js';
import {
  isFullyDefined,
  mergeShapes,
  readPartialShape,
  showShape,
  type PartialShape,
  type PartialShapeInput,
} from './partial_shape.js';

/** Arguments of `emb.TensorArray`. */
export interface TensorArrayArgs {
  /** Number of elements to begin with; at most 2^31 - 1. Elements take memory only where they are used. */
  readonly size: IndexInput;
  /** Of all elements; `'float32'` unless given. */
  readonly dtype?: tf.DataType;
  /** Of every element; null (also inside) or -1 is unknown. With a full shape, elements never written read as zeros. */
  readonly elementShape?: PartialShapeInput;
  /** Whether a write past the end makes the array longer. */
  readonly dynamicSize?: boolean;
  /** Whether an element is freed when it is read, and cannot be read again; true unless given. */
  readonly clearAfterRead?: boolean;
  /** Whether the first write fixes the shape of all elements. */
  readonly identicalElementShapes?: boolean;
  /** Whether writes at one index are added, where else the second is refused. */
  readonly multipleWritesAggregate?: boolean;
  /** Beginning of the name under which errors and gradients know the array. */
  readonly name?: string;
}

/** What a read may demand. */
export interface ReadOptions {
  /** Must be that of the array. */
  readonly dtype?: tf.DataType;
  /** Of each element (for `concat`: without its first axis); also the shape of the result where there are none. */
  readonly elementShape?: PartialShapeInput;
}

const FIELDS: readonly (keyof TensorArrayArgs)[] = [
  ...(['size', 'dtype', 'elementShape', 'dynamicSize', 'clearAfterRead'] as const),
  ...(['identicalElementShapes', 'multipleWritesAggregate', 'name'] as const),
];

const arrays = (): WeakMap<TensorArrayHandle, TensorArray> => perProcess('TensorArrays', () => new WeakMap());

/**
 * Tensors by index, with the semantics of TensorFlow's V3 kernels: each element is written once, and read once unless
 * `clearAfterRead` is false; errors name the index. Reads and writes are differentiable through `tf.grads`,
 * `tf.variableGrads` and `model.fit`: gradients of several reads add up, and elements that were not read have zeros.
 *
 * Elements live until they are read, until `close()`, or until the `tf.tidy` ends in which the array was made.
 * Source: tf.TensorArray and tf.raw_ops.TensorArrayV3 (TensorFlow 2.21).
 *
 * @throws TypeError for a wrong type, ValueError for a size outside [0, 2^31 - 1] and for unknown fields.
 *
 * @example
 * const rows = new emb.TensorArray({ size: 3 }).unstack(tf.tensor2d([[1, 2], [3, 4], [5, 6]]));
 * rows.gather([2, 0]).print(); // [[5, 6], [1, 2]]
 * rows.close();
 */
export class TensorArray {
  static {
    brand(this, 'TensorArray');
  }
  /** Stands for the array in `emb.tensorArrayGrad` and `emb.tensorArray`. */
  readonly handle: TensorArrayHandle;
  /** @internal */
  readonly store: ElementStore;
  private flowTensor: tf.Scalar | null = null;

  /** @param args - Size, dtype and shape of the elements; see `TensorArrayArgs`. */
  constructor(args: TensorArrayArgs);
  /** @internal */
  constructor(args: TensorArrayArgs, store?: ElementStore);
  constructor(args: TensorArrayArgs, store?: ElementStore) {
    this.store = store ?? makeStore(args);
    this.handle = new TensorArrayHandle(this.store.name);
    arrays().set(this.handle, this);
  }

  get dtype(): tf.DataType {
    return this.store.dtype;
  }

  /** What is known of the shape of every element; null: nothing. */
  get elementShape(): PartialShape {
    return this.store.elementShape;
  }

  /** A float32 scalar 0. In graphs it orders ops; here calls are ordered already. Freed by `close`. */
  get flow(): tf.Scalar {
    this.store.checkUsable();
    if (this.flowTensor === null || this.flowTensor.isDisposed) this.flowTensor = this.store.owned(tf.scalar(0));
    return this.flowTensor;
  }

  /**
   * Number of elements. ValueError once the array is closed.
   *
   * @returns The number.
   */
  size(): number {
    return this.store.size();
  }

  /**
   * Stores a tensor (or numbers) at an index; returns the array. ValueError for an index outside the array unless it is
   * dynamic, for another dtype or shape, and for an index that was written or read before.
   *
   * @param index - A whole number.
   * @param value - The element.
   * @returns This array.
   */
  write(index: IndexInput, value: tf.Tensor | tf.TensorLike): this {
    const at = readWhole(index, 'index');
    this.store.checkUsable();
    const { tensor, isOwn } = readValue(value, this.dtype, 'value');
    this.store.write(at, isOwn ? tensor : tensor.clone());
    if (!isOwn) this.store.tapeFlow.wrote(tensor);
    return this;
  }

  /**
   * Returns the element at an index. One that was never written is zeros where its shape is known. ValueError for an
   * index outside the array, for a second read where `clearAfterRead` is set, and for an element without a shape. Past
   * the end of an array of gradients there are zeros of its element shape, and the array becomes as long.
   *
   * @param index - A whole number.
   * @param options - The dtype of the element.
   * @returns The element.
   */
  read(index: IndexInput, options: Pick<ReadOptions, 'dtype'> = {}): tf.Tensor {
    const at = readWhole(index, 'index');
    this.readOptions(options, ['dtype']);
    return this.store.read(at);
  }

  /**
   * Returns the elements at these indices, stacked: [indices, ...element shape]. ValueError as for `read`, and for
   * elements of different shapes; RuntimeError for no indices where the element shape is not fully known.
   *
   * @param indices - Whole numbers.
   * @param options - Shape and dtype of the elements, where nothing was written.
   * @returns [indices, ...element shape].
   */
  gather(indices: IndicesInput, options: ReadOptions = {}): tf.Tensor {
    const at = readInt32(indices, 'indices');
    const { elementShape } = this.readOptions(options, ['dtype', 'elementShape']);
    this.store.mergeElementShape(elementShape, 'elementShape');
    if (at.length === 0) return this.nothing(this.elementShape);
    return this.joined(
      (read) => {
        for (const index of at) {
          const tensor = this.store.read(index);
          read.push({ index, count: 1, shape: tensor.shape, tensor });
        }
      },
      (read) => stacked(read, this.dtype, elementShape),
    );
  }

  /**
   * Returns all elements, stacked, as `gather` does. ValueError where memory does not hold them.
   *
   * @param options - Shape and dtype of the elements, where nothing was written.
   * @returns [size, ...element shape].
   */
  stack(options: ReadOptions = {}): tf.Tensor {
    if (this.size() === 0) return this.gather([], options);
    const { elementShape } = this.readOptions(options, ['dtype', 'elementShape']);
    this.store.mergeElementShape(elementShape, 'elementShape');
    return this.joined(this.readAll, (read) => stacked(read, this.dtype, elementShape));
  }

  /**
   * Returns all elements joined along their first axis, and how long each was. ValueError for scalars and for elements
   * that differ in another axis, and where memory does not hold them; RuntimeError for an empty array whose element
   * shape is not fully known.
   *
   * @param options - Shape and dtype of the elements, where nothing was written.
   * @returns The joined elements, and the length of each.
   */
  concat(options: ReadOptions = {}): { value: tf.Tensor; lengths: number[] } {
    const { elementShape } = this.readOptions(options, ['dtype', 'elementShape']);
    const size = this.size();
    if (size === 0)
      return { value: this.nothing(mergeShapes(this.restShape(), elementShape, 'elementShape')), lengths: [] };
    // Of gradients those of a split: elements that came later are no piece of it.
    const pieces = this.store.isGradient ? this.store.pieces : 0;
    const fill = (into: ReadElements[]): void => this.store.readAll(into, pieces || size);
    return this.joined(fill, (read) => {
      const value = concatenated(read, this.dtype, elementShape);
      return { value, lengths: read.flatMap(({ count, shape }) => new Array<number>(count).fill(shape[0]!)) };
    });
  }

  /**
   * Stores row i of a tensor at `indices[i]`; returns the array. ValueError as for `write`, and for another count.
   *
   * @param indices - Whole numbers, each once.
   * @param value - [indices, ...element shape].
   * @returns This array.
   */
  scatter(indices: IndicesInput, value: tf.Tensor | tf.TensorLike): this {
    const at = readInt32(indices, 'indices');
    return this.withRows(value, (tensor) => {
      const rows = tensor.shape[0]!;
      if (at.length !== rows)
        throw new ValueError('indices', `${rows} indices, one per row`, described(`${at.length}`));
      const size = this.store.isDynamic ? Infinity : this.size();
      const outside = at.find((index) => index < 0 || index >= size);
      if (outside !== undefined) throw new ValueError('indices', `indices in [0, ${size})`, outside);
      return rowsOf(tensor).map((row, i) => ({ index: at[i]!, row }));
    });
  }

  /**
   * Stores row i of a tensor at index i, for all its rows; returns the array.
   *
   * @param value - [size, ...element shape].
   * @returns This array.
   */
  unstack(value: tf.Tensor | tf.TensorLike): this {
    return this.withRows(value, (tensor) => {
      const rows = tensor.shape[0]!;
      const size = this.size();
      if (rows > size && !this.store.isDynamic) throw new ValueError('value', `at most ${size} rows`, tensor);
      return rowsOf(tensor).map((row, index) => ({ index, row }));
    });
  }

  /**
   * Cuts a tensor along its first axis and stores the pieces; returns the array. ValueError for lengths that do not add
   * up to the first axis, and for another number of them than the array has elements, unless it is dynamic.
   *
   * @param value - The tensor.
   * @param lengths - The length of each piece.
   * @returns This array.
   */
  split(value: tf.Tensor | tf.TensorLike, lengths: IndicesInput): this {
    const sizes = Array.from(readInt32(lengths, 'lengths'));
    const stored = this.withRows(value, (tensor) => {
      const rows = tensor.shape[0]!;
      if (sizes.some((length) => length < 0)) throw new ValueError('lengths', 'lengths of at least 0', sizes);
      const total = sizes.reduce((sum, length) => sum + length, 0);
      if (total !== rows)
        throw new ValueError('lengths', `lengths that add up to ${rows}, the rows of the value`, sizes);
      const size = this.size();
      if (sizes.length !== size && !this.store.isDynamic) {
        throw new ValueError('lengths', `${size} lengths, one per element of TensorArray ${this.store.name}`, sizes);
      }
      return piecesOf(tensor, sizes).map((row, index) => ({ index, row }));
    });
    if (!this.store.isGradient) this.store.pieces = sizes.length;
    return stored;
  }

  /** Frees all elements. Whatever is called afterwards is a ValueError; `close` may be called again. */
  close(): void {
    this.flowTensor?.dispose();
    this.flowTensor = null;
    this.store.close();
  }

  private readOptions(options: ReadOptions, known: readonly (keyof ReadOptions)[]): { elementShape: PartialShape } {
    const { dtype, elementShape } = readOptions<ReadOptions>(options, known);
    this.store.checkUsable();
    if (dtype !== undefined) this.store.checkDtype(readDtype(dtype), 'dtype');
    return { elementShape: readPartialShape(elementShape, 'elementShape') };
  }

  /** The element shape without its first axis. */
  private restShape(): PartialShape {
    return this.elementShape?.slice(1) ?? null;
  }

  private nothing(shape: PartialShape): tf.Tensor {
    if (!isFullyDefined(shape)) {
      const received = described(showShape(shape));
      throw new RuntimeError('elementShape', 'a fully defined shape where there is no element', received);
    }
    return tf.tensor([], [0, ...shape], this.dtype);
  }

  private readonly readAll = (into: ReadElements[]): void => {
    this.store.readAll(into);
  };

  /** Joins elements that are read for it and freed afterwards, also those read before an error. */
  private joined<T>(fill: (into: ReadElements[]) => void, join: (read: readonly ReadElements[]) => T): T {
    const read: ReadElements[] = [];
    try {
      fill(read);
      return join(read);
    } finally {
      for (const { tensor } of read) tensor?.dispose();
    }
  }

  /** Stores the rows that `cut` makes of a value of rank 1 and more. */
  private withRows(
    value: tf.Tensor | tf.TensorLike,
    cut: (tensor: tf.Tensor) => readonly { index: number; row: tf.Tensor }[],
  ): this {
    this.store.checkUsable();
    const { tensor, isOwn } = readValue(value, this.dtype, 'value');
    try {
      this.store.checkDtype(tensor.dtype, 'value');
      if (tensor.rank === 0) throw new ValueError('value', 'at least a vector', tensor);
      const rows = cut(tensor);
      let stored = 0;
      try {
        for (const { index, row } of rows) {
          stored++;
          this.store.write(index, row);
        }
      } finally {
        // What an error left unstored.
        tf.dispose(rows.slice(stored).map(({ row }) => row));
      }
      if (!isOwn) this.store.tapeFlow.wrote(tensor);
      return this;
    } finally {
      if (isOwn) tensor.dispose();
    }
  }
}

/**
 * Returns the array that a handle stands for: a forward array, or one of gradients.
 *
 * @param handle - The handle of the array.
 * @returns The array.
 * @throws TypeError for anything but a handle.
 *
 * @example
 * const { gradHandle } = emb.tensorArrayGrad(rows.handle, rows.flow, 'gradients');
 * emb.tensorArray(gradHandle).write(0, [1, 2]);
 */
export function tensorArray(handle: TensorArrayHandle): TensorArray {
  const found = handle !== null && typeof handle === 'object' ? arrays().get(handle) : undefined;
  if (found === undefined) throw new ArgumentTypeError('handle', 'the handle of a TensorArray', handle);
  return found;
}

function makeStore(args: TensorArrayArgs): ElementStore {
  const usage = 'new emb.TensorArray({ size: 3 })';
  const { size, name = 'TensorArray', ...rest } = readOptions<TensorArrayArgs>(args, FIELDS, 'args', usage);
  const length = readWhole(size, 'size');
  if (length < 0 || length > INT32_MAX) throw new ValueError('size', 'a size of at least 0, at most 2^31 - 1', length);
  if (typeof name !== 'string') throw new ArgumentTypeError('name', 'a string', name);
  return new ElementStore({
    name: uniqueName(name),
    dtype: readDtype(rest.dtype),
    size: length,
    elementShape: readPartialShape(rest.elementShape, 'elementShape'),
    dynamicSize: readFlag(rest.dynamicSize, false, 'dynamicSize'),
    clearAfterRead: readFlag(rest.clearAfterRead, true, 'clearAfterRead'),
    identicalElementShapes: readFlag(rest.identicalElementShapes, false, 'identicalElementShapes'),
    multipleWritesAggregate: readFlag(rest.multipleWritesAggregate, false, 'multipleWritesAggregate'),
    isGradient: false,
  });
}
