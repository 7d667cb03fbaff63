/** Sparse tensors as coordinates [nnz, rank], values [nnz] and a dense shape [rank]. */
import { ValueError, described } from '../../../base/errors.js';
import {
  checkRank,
  copyValues,
  hostArray,
  int32Array,
  int32Vector,
  integer,
  integers,
  sizeOf,
  type HostArray,
} from '../host_array.js';

/** What an op calls its indices, values and dense shape. */
type Names = readonly [indices: string, values: string, shape: string];

const PLAIN: Names = ['indices', 'values', 'shape'];

/** A sparse tensor, checked. */
export interface Sparse {
  readonly names: Names;
  readonly places: Int32Array;
  readonly values: HostArray;
  readonly shape: Int32Array;
  readonly count: number;
  readonly rank: number;
}

export function readSparse(indices: HostArray, values: HostArray, shape: HostArray, names = PLAIN): Sparse {
  checkRank(indices, 2, names[0]);
  checkRank(values, 1, names[1]);
  checkRank(shape, 1, names[2]);
  const [count, rank] = indices.shape as [number, number];
  if (values.shape[0] !== count) {
    throw new ValueError(names[1], `${count} values, one per index`, described(`${values.shape[0]}`));
  }
  if (shape.shape[0] !== rank) {
    throw new ValueError(names[2], `${rank} sizes, one per axis of the indices`, described(`${shape.shape[0]}`));
  }
  return { names, places: integers(indices, names[0]), values, shape: integers(shape, names[2]), count, rank };
}

/** Values of `array` in another order. */
function reordered(array: HostArray, order: ArrayLike<number>): HostArray {
  const result = hostArray(array.dtype, [order.length]);
  for (let i = 0; i < order.length; i++) copyValues(array.values, order[i]!, 1, result.values, i);
  return result;
}

function placesOf({ places, rank }: Sparse, order: ArrayLike<number>): HostArray {
  const result = hostArray('int32', [order.length, rank]);
  for (let i = 0; i < order.length; i++) copyValues(places, order[i]! * rank, rank, result.values, i * rank);
  return result;
}

function compare(places: Int32Array, rank: number, a: number, b: number): number {
  for (let axis = 0; axis < rank; axis++) {
    const difference = places[a * rank + axis]! - places[b * rank + axis]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** In row-major order; equal coordinates stay in their order. */
export function sparseReorder(
  indices: HostArray,
  values: HostArray,
  shape: HostArray,
  names: Names = ['input_indices', 'input_values', 'input_shape'],
): HostArray[] {
  const sparse = readSparse(indices, values, shape, names);
  checkInside(sparse);
  const order = Array.from({ length: sparse.count }, (_, i) => i);
  order.sort((a, b) => compare(sparse.places, sparse.rank, a, b));
  return [placesOf(sparse, order), reordered(values, order)];
}

function checkInside({ names, places, shape, rank }: Sparse): void {
  places.forEach((place, i) => {
    const size = shape[i % rank]!;
    if (place >= 0 && place < size) return;
    const received = described(`${place} in axis ${i % rank} of index ${Math.floor(i / rank)}`);
    throw new ValueError(names[0], `coordinates below ${size}`, received);
  });
}

/** Sparse tensors one after the other along an axis. */
export function sparseConcat(
  indices: readonly HostArray[],
  values: readonly HostArray[],
  shapes: readonly HostArray[],
  concatDim: number,
): HostArray[] {
  const parts = indices.map((list, i) =>
    readSparse(list, values[i]!, shapes[i]!, [`indices[${i}]`, `values[${i}]`, `shapes[${i}]`]),
  );
  const { rank } = parts[0]!;
  const axis = concatDim < 0 ? concatDim + rank : concatDim;
  if (axis < 0 || axis >= rank) throw new ValueError('concat_dim', `an axis in [${-rank}, ${rank})`, concatDim);
  const shape = Array.from(parts[0]!.shape);
  shape[axis] = 0;
  const places: number[] = [];
  parts.forEach((part, i) => {
    const fits = part.rank === rank && part.shape.every((size, a) => a === axis || size === shape[a]);
    if (!fits)
      throw new ValueError(`shapes[${i}]`, `sizes [${shape.join(', ')}], but for axis ${axis}`, Array.from(part.shape));
    part.places.forEach((place, j) => places.push(j % rank === axis ? place + shape[axis]! : place));
    shape[axis]! += part.shape[axis]!;
  });
  const joined = hostArray(values[0]!.dtype, [places.length / Math.max(1, rank)]);
  let at = 0;
  for (const { values: list, count } of parts) {
    copyValues(list.values, 0, count, joined.values, at);
    at += count;
  }
  const all = int32Array([at, rank], places, 'output_indices');
  const size = int32Vector(shape, 'output_shape');
  // Along the first axis the order is kept; along another one rows of all parts mix.
  const [ordered, sorted] =
    axis === 0 ? [all, joined] : (sparseReorder(all, joined, size, PLAIN) as [HostArray, HostArray]);
  return [ordered, sorted, size];
}

/** What lies in a box. */
export function sparseSlice(
  indices: HostArray,
  values: HostArray,
  shape: HostArray,
  start: HostArray,
  size: HostArray,
): HostArray[] {
  const sparse = readSparse(indices, values, shape);
  const { places, rank, count } = sparse;
  const [from, most] = [integers(start, 'start'), integers(size, 'size')];
  for (const [name, list] of [
    ['start', from],
    ['size', most],
  ] as const) {
    if (list.length !== rank) throw new ValueError(name, `${rank} numbers, one per axis`, described(`${list.length}`));
  }
  const stray = most.find((length) => length < 0);
  if (stray !== undefined) throw new ValueError('size', 'sizes of at least 0', stray);
  const kept = Array.from({ length: count }, (_, i) => i).filter((i) =>
    from.every((first, axis) => {
      const place = places[i * rank + axis]! - first;
      return place >= 0 && place < most[axis]!;
    }),
  );
  const moved = placesOf(sparse, kept);
  (moved.values as Int32Array).forEach((place, i, all) => (all[i] = place - from[i % rank]!));
  const inside = from.map((first, axis) => Math.max(0, Math.min(most[axis]!, sparse.shape[axis]! - first)));
  return [moved, reordered(values, kept), int32Vector(inside, 'output_shape')];
}

/** The same values under another dense shape, of which one size may be -1. */
export function sparseReshape(indices: HostArray, inputShape: HostArray, newShape: HostArray): HostArray[] {
  checkRank(indices, 2, 'input_indices');
  checkRank(inputShape, 1, 'input_shape');
  checkRank(newShape, 1, 'new_shape');
  const [count, rank] = indices.shape as [number, number];
  const sizes = Array.from(integers(inputShape, 'input_shape'));
  if (sizes.length !== rank) throw new ValueError('input_shape', `${rank} sizes, one per axis`, sizes);
  const target = inferSizes(Array.from(integers(newShape, 'new_shape')), sizes);
  const places = integers(indices, 'input_indices');
  const result = new Array<number>(count * target.length);
  for (let i = 0; i < count; i++) {
    let flat = 0;
    for (let axis = 0; axis < rank; axis++) flat = flat * sizes[axis]! + places[i * rank + axis]!;
    for (let axis = target.length - 1; axis >= 0; axis--) {
      result[i * target.length + axis] = flat % target[axis]!;
      flat = Math.floor(flat / target[axis]!);
    }
  }
  const output = int32Array([count, target.length], result, 'output_indices');
  return [output, int32Vector(target, 'output_shape')];
}

/** Sizes with the one that is -1 put in. */
function inferSizes(wanted: number[], sizes: readonly number[]): number[] {
  const total = sizeOf(sizes);
  if (!Number.isSafeInteger(total)) throw new ValueError('input_shape', 'at most 2^53 elements', sizes);
  const unknown = wanted.filter((size) => size === -1).length;
  if (unknown > 1 || wanted.some((size) => size < -1)) {
    throw new ValueError('new_shape', 'sizes of at least 0, one of them -1 at most', wanted);
  }
  const known = sizeOf(wanted.filter((size) => size !== -1));
  const inferred = unknown === 0 ? wanted : wanted.map((size) => (size === -1 ? total / known : size));
  if (unknown === 1 && known === 0) throw new ValueError('new_shape', 'no -1 beside a size of 0', wanted);
  if (sizeOf(inferred) !== total || inferred.some((size) => !Number.isInteger(size))) {
    throw new ValueError('new_shape', `sizes whose product is ${total}`, wanted);
  }
  return inferred;
}

/** Puts a default value into every row that has none. */
export function sparseFillEmptyRows(
  indices: HostArray,
  values: HostArray,
  denseShape: HostArray,
  defaultValue: HostArray,
  names: Names = ['indices', 'values', 'dense_shape'],
): HostArray[] {
  const sparse = readSparse(indices, values, denseShape, names);
  const { places, rank, count, shape } = sparse;
  if (defaultValue.shape.length !== 0) {
    throw new ValueError('default_value', 'a scalar', described(`shape [${defaultValue.shape.join(', ')}]`));
  }
  if (rank === 0) throw new ValueError('dense_shape', 'at least one axis', described('none'));
  const rows = shape[0]!;
  const starts = new Int32Array(rows + 1);
  for (let i = 0; i < count; i++) {
    const row = places[i * rank]!;
    if (row < 0 || row >= rows) {
      throw new ValueError(names[0], `rows in [0, ${rows})`, described(`${row} at index ${i}`));
    }
    starts[row + 1]!++;
  }
  const isEmpty = Uint8Array.from({ length: rows }, (_, row) => (starts[row + 1] === 0 ? 1 : 0));
  for (let row = 0; row < rows; row++) starts[row + 1] = starts[row]! + Math.max(1, starts[row + 1]!);
  const total = starts[rows]!;
  const filled = hostArray('int32', [total, rank]);
  const output = hostArray(values.dtype, [total]);
  const map = new Int32Array(count);
  const next = starts.slice(0, rows);
  for (let i = 0; i < count; i++) {
    const at = next[places[i * rank]!]!++;
    map[i] = at;
    copyValues(places, i * rank, rank, filled.values, at * rank);
    copyValues(values.values, i, 1, output.values, at);
  }
  isEmpty.forEach((empty, row) => {
    if (empty === 0) return;
    (filled.values as Int32Array)[starts[row]! * rank] = row;
    copyValues(defaultValue.values, 0, 1, output.values, starts[row]!);
  });
  return [filled, output, hostArray('bool', [rows], isEmpty), hostArray('int32', [count], map)];
}

/** Gradients of the values and of the default value of `sparseFillEmptyRows`. */
export function sparseFillEmptyRowsGrad(reverseIndexMap: HostArray, gradValues: HostArray): HostArray[] {
  checkRank(reverseIndexMap, 1, 'reverse_index_map');
  checkRank(gradValues, 1, 'grad_values');
  const map = integers(reverseIndexMap, 'reverse_index_map');
  const all = gradValues.values as Float32Array;
  const values = hostArray(gradValues.dtype, [map.length]);
  const isValue = new Uint8Array(all.length);
  map.forEach((at, i) => {
    if (at < 0 || at >= all.length) throw new ValueError('reverse_index_map', `numbers in [0, ${all.length})`, at);
    (values.values as Float32Array)[i] = all[at]!;
    isValue[at] = 1;
  });
  const rest = hostArray(gradValues.dtype, []);
  (rest.values as Float32Array)[0] = all.reduce((sum, gradient, at) => (isValue[at] === 1 ? sum : sum + gradient), 0);
  return [values, rest];
}

/** Values in a dense tensor, a default in the rest. */
export function sparseToDense(
  indices: HostArray,
  outputShape: HostArray,
  values: HostArray,
  defaultValue: HostArray,
  validate: boolean,
): HostArray {
  const shape = Array.from(integers(outputShape, 'output_shape'));
  if (shape.some((size) => size < 0)) throw new ValueError('output_shape', 'sizes of at least 0', shape);
  const places = integers(indices, 'sparse_indices');
  const rank = indices.shape.length < 2 ? 1 : indices.shape[1]!;
  const count = indices.shape.length === 0 ? 1 : indices.shape[0]!;
  if (indices.shape.length > 2 || rank !== shape.length) {
    const received = described(`shape [${indices.shape.join(', ')}]`);
    throw new ValueError('sparse_indices', `coordinates of ${shape.length} axes`, received);
  }
  if (values.shape.length > 1 || (values.shape.length === 1 && values.shape[0] !== count)) {
    throw new ValueError(
      'sparse_values',
      `a scalar or ${count} values`,
      described(`shape [${values.shape.join(', ')}]`),
    );
  }
  if (defaultValue.shape.length !== 0) {
    throw new ValueError('default_value', 'a scalar', described(`shape [${defaultValue.shape.join(', ')}]`));
  }
  const names: Names = ['sparse_indices', 'sparse_values', 'output_shape'];
  const sparse = { names, places, shape: Int32Array.from(shape), rank, count, values };
  if (rank > 0) checkInside(sparse);
  if (validate) checkAscending(sparse);
  const result = hostArray(values.dtype, shape);
  const size = sizeOf(shape);
  for (let i = 0; i < size; i++) copyValues(defaultValue.values, 0, 1, result.values, i);
  for (let i = 0; i < count; i++) {
    let at = 0;
    for (let axis = 0; axis < rank; axis++) at = at * shape[axis]! + places[i * rank + axis]!;
    copyValues(values.values, values.shape.length === 0 ? 0 : i, 1, result.values, at);
  }
  return result;
}

function checkAscending({ places, rank, count }: Sparse): void {
  for (let i = 1; i < count; i++) {
    if (compare(places, rank, i - 1, i) < 0) continue;
    throw new ValueError(
      'sparse_indices',
      'row-major order without repetitions',
      described(`index ${i} before its place`),
    );
  }
}

/** A sparse tensor cut into `count` parts along an axis; the first parts are one longer where it does not divide. */
export function sparseSplit(
  splitDim: HostArray,
  indices: HostArray,
  values: HostArray,
  shape: HostArray,
  count: number,
): HostArray[] {
  const sparse = readSparse(indices, values, shape);
  const axis = integer(splitDim, 'split_dim');
  if (axis < 0 || axis >= sparse.rank) throw new ValueError('split_dim', `an axis in [0, ${sparse.rank})`, axis);
  const size = sparse.shape[axis]!;
  if (count < 1 || count > size) throw new ValueError('num_split', `a number in [1, ${size}]`, count);
  const [least, longer] = [Math.floor(size / count), size % count];
  const parts: HostArray[][] = [];
  let first = 0;
  for (let part = 0; part < count; part++) {
    const length = least + (part < longer ? 1 : 0);
    const start = Array.from(sparse.shape, (_, i) => (i === axis ? first : 0));
    const box = Array.from(sparse.shape, (all, i) => (i === axis ? length : all));
    parts.push(sparseSlice(indices, values, shape, int32Vector(start, 'start'), int32Vector(box, 'size')));
    first += length;
  }
  return [0, 1, 2].flatMap((output) => parts.map((part) => part[output]!));
}
