/** Reductions over rows of equal segment ids. */
import { ValueError, described } from '../../../base/errors.js';
import { checkRank, hostArray, integer, integers, sizeOf, type HostArray } from '../host_array.js';

export type Reduction = 'sum' | 'mean' | 'sqrtn' | 'max' | 'min' | 'prod';

type Numbers = Float32Array | Int32Array;

/** What a segment without rows is, for the ops that say: the neutral element of the reduction. */
function neutral(reduction: Reduction, dtype: string): number {
  if (reduction === 'prod') return 1;
  if (reduction !== 'max' && reduction !== 'min') return 0;
  const most = dtype === 'int32' ? 2147483647 : 3.4028234663852886e38;
  return reduction === 'min' ? most : dtype === 'int32' ? -2147483648 : -most;
}

/** The op as the inner loop sees it: `into[to + j]` takes `from[at + j]`. */
function reduceRow(reduction: Reduction, into: Numbers, to: number, from: Numbers, at: number, width: number): void {
  for (let j = 0; j < width; j++) {
    const [a, b] = [into[to + j]!, from[at + j]!];
    if (reduction === 'max') into[to + j] = Math.max(a, b);
    else if (reduction === 'min') into[to + j] = Math.min(a, b);
    else if (reduction === 'prod') into[to + j] = into instanceof Int32Array ? Math.imul(a, b) : a * b;
    else into[to + j] = a + b;
  }
}

/** Rows of the data by their place in the list of segment ids. */
interface Rows {
  readonly data: HostArray;
  /** Numbers in one row. */
  readonly width: number;
  /** Row of the data for the i-th segment id; null: i. */
  readonly indices: Int32Array | null;
  readonly ids: Int32Array;
}

/** Reduces rows into `segments` rows; negative ids are left out. */
function reduce(
  reduction: Reduction,
  rows: Rows,
  segments: number,
  shape: readonly number[],
  empty: number,
): HostArray {
  const { data, width, indices, ids } = rows;
  const result = hostArray(data.dtype, shape);
  const values = result.values as Numbers;
  const counts = new Int32Array(segments);
  values.fill(neutral(reduction, data.dtype));
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    if (id < 0) continue;
    counts[id]!++;
    reduceRow(reduction, values, id * width, data.values as Numbers, (indices?.[i] ?? i) * width, width);
  }
  for (let id = 0; id < segments; id++) {
    const row = values.subarray(id * width, (id + 1) * width);
    const count = counts[id]!;
    if (count === 0) row.fill(empty);
    else if (reduction === 'mean') row.forEach((sum, j) => (row[j] = sum / count));
    else if (reduction === 'sqrtn') row.forEach((sum, j) => (row[j] = sum / Math.fround(Math.sqrt(count))));
  }
  return result;
}

/** Ids must not fall; returns one more than the last. */
function checkSorted(ids: Int32Array, argument: string): number {
  for (let i = 0; i < ids.length; i++) {
    const least = i === 0 ? 0 : ids[i - 1]!;
    if (ids[i]! >= least) continue;
    const note = i === 0 ? 'Segment ids start at 0 or above.' : 'Segment ids are sorted.';
    throw new ValueError(argument, `ids that never fall, at least ${least} at position ${i}`, ids[i], note);
  }
  return ids.length === 0 ? 0 : ids[ids.length - 1]! + 1;
}

/** Ids must lie below `segments`. */
function checkBelow(ids: Int32Array, segments: number, argument: string): void {
  const stray = ids.findIndex((id) => id >= segments);
  if (stray >= 0)
    throw new ValueError(argument, `ids below ${segments}`, described(`${ids[stray]} at position ${stray}`));
}

function readCount(count: HostArray, argument: string): number {
  const number = integer(count, argument);
  if (number < 0) throw new ValueError(argument, 'a number of at least 0', number);
  return number;
}

function checkMatrix(data: HostArray, argument = 'data'): void {
  if (data.shape.length === 0) throw new ValueError(argument, 'at least a vector', described('a scalar'));
}

/** SegmentSum and its siblings: sorted ids, one for each row. A segment without rows is 0, or 1 for products. */
export function segmentReduce(reduction: Reduction, data: HostArray, segmentIds: HostArray): HostArray {
  checkMatrix(data);
  checkRank(segmentIds, 1, 'segment_ids');
  const ids = integers(segmentIds, 'segment_ids');
  const [rows, ...inner] = data.shape as [number, ...number[]];
  if (ids.length !== rows)
    throw new ValueError('segment_ids', `${rows} ids, one per row`, described(`${ids.length} ids`));
  const segments = checkSorted(ids, 'segment_ids');
  const found = { data, width: sizeOf(inner), indices: null, ids };
  return reduce(reduction, found, segments, [segments, ...inner], reduction === 'prod' ? 1 : 0);
}

/** UnsortedSegmentSum and its siblings: ids of any order, their shape a beginning of that of the data. */
export function unsortedSegmentReduce(
  reduction: Reduction,
  data: HostArray,
  segmentIds: HostArray,
  numSegments: HostArray,
): HostArray {
  const ids = integers(segmentIds, 'segment_ids');
  const rank = segmentIds.shape.length;
  if (!segmentIds.shape.every((size, i) => data.shape[i] === size)) {
    const received = described(`shape [${segmentIds.shape.join(', ')}]`);
    throw new ValueError('segment_ids', `a prefix of data.shape [${data.shape.join(', ')}]`, received);
  }
  const segments = readCount(numSegments, 'num_segments');
  checkBelow(ids, segments, 'segment_ids');
  const inner = data.shape.slice(rank);
  const rows = { data, width: sizeOf(inner), indices: null, ids };
  return reduce(reduction, rows, segments, [segments, ...inner], neutral(reduction, data.dtype));
}

/** Rows that ids and indices name, checked. */
function sparseRows(data: HostArray, indices: HostArray, segmentIds: HostArray): Rows & { segments: number } {
  checkMatrix(data);
  checkRank(indices, 1, 'indices');
  checkRank(segmentIds, 1, 'segment_ids');
  const [rows, ...inner] = data.shape as [number, ...number[]];
  const [places, ids] = [integers(indices, 'indices'), integers(segmentIds, 'segment_ids')];
  checkPairs(places, ids);
  const segments = checkSorted(ids, 'segment_ids');
  checkIndices(places, rows);
  return { data, width: sizeOf(inner), indices: places, ids, segments };
}

function checkPairs(places: Int32Array, ids: Int32Array): void {
  if (places.length === ids.length) return;
  throw new ValueError('segment_ids', `${places.length} ids, one per index`, described(`${ids.length} ids`));
}

function checkIndices(places: Int32Array, rows: number): void {
  const stray = places.findIndex((place) => place < 0 || place >= rows);
  if (stray < 0) return;
  throw new ValueError('indices', `indices in [0, ${rows})`, described(`${places[stray]} at position ${stray}`));
}

/** SparseSegmentSum and its siblings: rows by index, sorted segment ids. */
export function sparseSegmentReduce(
  reduction: Reduction,
  data: HostArray,
  indices: HostArray,
  segmentIds: HostArray,
  numSegments: HostArray | null = null,
): HostArray {
  const rows = sparseRows(data, indices, segmentIds);
  const segments = numSegments === null ? rows.segments : readCount(numSegments, 'num_segments');
  checkBelow(rows.ids, segments, 'segment_ids');
  return reduce(reduction, rows, segments, [segments, ...data.shape.slice(1)], 0);
}

/** What each use of a segment's row is multiplied by, in the gradient. */
function scales(reduction: Reduction, ids: Int32Array, segments: number): Float32Array {
  const counts = new Float32Array(segments);
  for (const id of ids) counts[id]!++;
  if (reduction === 'sum') return counts.fill(1);
  return counts.map((count) => 1 / (reduction === 'mean' ? count : Math.sqrt(count)));
}

/** Gradient of `sparseSegmentReduce` with respect to the rows `outputRows` of the data, by `rowOf` an index. */
function sparseGradient(
  reduction: Reduction,
  grad: HostArray,
  ids: Int32Array,
  rowOf: ArrayLike<number>,
  outputRows: number,
): HostArray {
  const [segments, ...inner] = grad.shape as [number, ...number[]];
  checkSorted(ids, 'segment_ids');
  checkBelow(ids, segments, 'segment_ids');
  const width = sizeOf(inner);
  const scale = scales(reduction, ids, segments);
  const result = hostArray(grad.dtype, [outputRows, ...inner]);
  const [into, from] = [result.values as Float32Array, grad.values as Float32Array];
  ids.forEach((id, i) => {
    for (let j = 0; j < width; j++) into[rowOf[i]! * width + j]! += from[id * width + j]! * scale[id]!;
  });
  return result;
}

/** The gradient as a dense array of `outputDim0` rows. */
export function sparseSegmentGrad(
  reduction: Reduction,
  grad: HostArray,
  indices: HostArray,
  segmentIds: HostArray,
  outputDim0: HostArray,
): HostArray {
  checkMatrix(grad, 'grad');
  const [places, ids] = [integers(indices, 'indices'), integers(segmentIds, 'segment_ids')];
  checkPairs(places, ids);
  const rows = readCount(outputDim0, 'output_dim0');
  checkIndices(places, rows);
  return sparseGradient(reduction, grad, ids, places, rows);
}

/** The gradient as the rows that are touched, and which those are, ascending. */
export function sparseSegmentGradV2(
  reduction: Reduction,
  grad: HostArray,
  indices: HostArray,
  segmentIds: HostArray,
  denseOutputDim0: HostArray,
): HostArray[] {
  checkMatrix(grad, 'grad');
  const [places, ids] = [integers(indices, 'indices'), integers(segmentIds, 'segment_ids')];
  checkPairs(places, ids);
  checkIndices(places, readCount(denseOutputDim0, 'dense_output_dim0'));
  const unique = Int32Array.from(new Set(places)).sort();
  const rowOf = new Map(Array.from(unique, (place, row) => [place, row]));
  const rows = Array.from(places, (place) => rowOf.get(place)!);
  const output = sparseGradient(reduction, grad, ids, rows, unique.length);
  return [output, hostArray('int32', [unique.length], unique)];
}
