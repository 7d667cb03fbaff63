/**
 * Ops of graphs that only bring values to other places. Stock tfjs refuses strings there, its kernels for `wasm` read
 * truth values as wider numbers, and some lose the shape of what has no elements. Where that is so, the numbers of the
 * places are moved, and the values follow.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { readInt32, readTensor } from '../../../ids/values.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { readSlices } from '../reference/strided_slice_grad.js';
import { copyValues, emptyValues, readValues, sizeOf, type HostValues } from '../host_array.js';

function isMovedHere({ dtype }: tf.Tensor): boolean {
  return dtype === 'string' || (dtype === 'bool' && tf.getBackend() === 'wasm');
}

/** The values of tensors, one after the other, at these places; -1 is what values of a dtype begin as. */
function picked(tensors: readonly tf.Tensor[], places: tf.Tensor): tf.Tensor {
  const [{ dtype }] = tensors as [tf.Tensor];
  const all = tensors.map((tensor) => readValues(tf.backend(), tensor, 'input'));
  const joined = emptyValues(
    dtype,
    all.reduce((sum, { length }) => sum + length, 0),
  );
  let end = 0;
  for (const values of all) {
    copyValues(values, 0, values.length, joined, end);
    end += values.length;
  }
  const values: HostValues = emptyValues(dtype, places.size);
  places.dataSync().forEach((place: number, i: number) => {
    if (place >= 0) copyValues(joined, place, 1, values, i);
  });
  return tf.engine().makeTensor(values as tf.DataValues, places.shape, dtype) as tf.Tensor;
}

/** The places of a tensor's values, counted from `first`, in its shape. */
function placesOf({ shape, size }: tf.Tensor, first = 0): tf.Tensor {
  return tf.tensor(
    Int32Array.from({ length: size }, (_, i) => first + i),
    shape,
    'int32',
  );
}

function moved(x: tf.Tensor, run: (x: tf.Tensor) => tf.Tensor): tf.Tensor {
  return tf.tidy(() => (isMovedHere(x) ? picked([x], run(placesOf(x))) : run(x)));
}

function joined(tensors: tf.Tensor[], axis: tf.Tensor): tf.Tensor {
  const along = axisOf(axis, tensors[0]!.rank);
  const others = tensors.map(({ shape }) => shape.map((size, i) => (i === along ? '?' : size)).join(', '));
  if (others.some((shape) => shape !== others[0])) {
    const received = tensors.map(({ shape }) => `[${shape.join(', ')}]`).join(', ');
    throw new ValueError('values', `tensors of one shape but for axis ${along}`, described(received));
  }
  if (!isMovedHere(tensors[0]!)) return tf.concat(tensors, along);
  let first = 0;
  return tf.tidy(() => {
    const places = tensors.map((tensor) => {
      const own = placesOf(tensor, first);
      first += tensor.size;
      return own;
    });
    return picked(tensors, tf.concat(places, along));
  });
}

/** tfjs takes masks of one bit for those of others where axes are taken away or added. */
function sliced([x, ...bounds]: tf.Tensor[], { attrs }: tf.GraphNode): tf.Tensor {
  const entries = bounds.map((each) => readInt32(each, 'begin, end and strides')) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const mask = (name: string): number => Number(attrs[`${name}_mask`] ?? 0);
  const { slices, sizes } = readSlices(x!.shape, entries, {
    begin: mask('begin'),
    end: mask('end'),
    ellipsis: mask('ellipsis'),
    newAxis: mask('new_axis'),
    shrink: mask('shrink_axis'),
  });
  if (sizeOf(sizes) === 0) return nothing(sizes, x!.dtype);
  return moved(x!, (each) => {
    // A scalar has no part, but may get axes.
    if (slices.length === 0) return tf.reshape(each, sizes);
    const isDense = slices.map(({ stride, length }) => stride === 1 || length === 1);
    const starts = slices.map(({ start }, axis) => (isDense[axis] ? start : 0));
    const lengths = slices.map(({ length }, axis) => (isDense[axis] ? length : x!.shape[axis]!));
    const part = slices.reduce(
      (rest, { start, stride, length }, axis) => {
        if (isDense[axis]) return rest;
        return tf.gather(
          rest,
          Int32Array.from({ length }, (_, at) => start + at * stride),
          axis,
        );
      },
      tf.slice(each, starts, lengths),
    );
    return tf.reshape(part, sizes);
  });
}

const nothing = (shape: readonly number[], dtype: tf.DataType): tf.Tensor =>
  tf.engine().makeTensor(emptyValues(dtype, 0) as tf.DataValues, [...shape], dtype) as tf.Tensor;

const sizesOf = (tensor: tf.Tensor, argument: string): number[] => Array.from(readInt32(tensor, argument));
const numberOf = (tensor: tf.Tensor, argument: string): number => readTensor(tensor, argument)[0]!;

/** An axis of a tensor of this rank, counted from the first. */
export function axisOf(given: tf.Tensor | number, rank: number): number {
  const axis = typeof given === 'number' ? given : numberOf(given, 'axis');
  if (axis < -rank || axis >= rank) throw new ValueError('axis', `an axis in [${-rank}, ${rank})`, axis);
  return axis < 0 ? axis + rank : axis;
}

/** Rows of batches as rows of one long axis: the kernel of `wasm` takes the indices of the first batch for all. */
function gatheredFlat(x: tf.Tensor, indices: tf.Tensor, axis: number, batchDims: number, shape: number[]): tf.Tensor {
  const [outer, rows] = [sizeOf(x.shape.slice(batchDims, axis)), x.shape[axis]!];
  const count = sizeOf(indices.shape.slice(batchDims));
  const given = readTensor(indices, 'indices');
  const places = Int32Array.from({ length: given.length * outer }, (_, at) => {
    const [first, k] = [Math.floor(at / count), at % count];
    return first * rows + given[Math.floor(first / outer) * count + k]!;
  });
  const flat = tf.reshape(x, [sizeOf(x.shape.slice(0, axis + 1)), sizeOf(x.shape.slice(axis + 1))]);
  return tf.reshape(tf.gather(flat, places), shape);
}

function gathered(x: tf.Tensor, indices: tf.Tensor, axis: number, batchDims: number): tf.Tensor {
  const rows = x.shape[axis] ?? 0;
  const stray = Array.from(readTensor(indices, 'indices')).find((index) => index < 0 || index >= rows);
  if (stray !== undefined) throw new ValueError('indices', `indices in [0, ${rows})`, stray);
  const shape = [...x.shape.slice(0, axis), ...indices.shape.slice(batchDims), ...x.shape.slice(axis + 1)];
  if (sizeOf(shape) === 0) return nothing(shape, x.dtype);
  const run = (each: tf.Tensor): tf.Tensor =>
    batchDims > 0 && tf.getBackend() === 'wasm'
      ? gatheredFlat(each, indices, axis, batchDims, shape)
      : tf.gather(each, tf.cast(indices, 'int32') as tf.Tensor1D, axis, batchDims);
  return tf.tidy(() => moved(x, run));
}

/** A tensor in a larger shape; what has no elements, and strings, too. */
export function broadcast(x: tf.Tensor, shape: number[]): tf.Tensor {
  const padded = [...new Array<number>(Math.max(0, shape.length - x.rank)).fill(1), ...x.shape];
  const fits = padded.length === shape.length && padded.every((size, i) => size === 1 || size === shape[i]);
  if (!fits) throw new ValueError('shape', `one to which [${x.shape.join(', ')}] broadcasts`, shape);
  return sizeOf(shape) === 0 ? nothing(shape, x.dtype) : moved(x, (each) => tf.broadcastTo(each, shape));
}

/** The shape that shapes broadcast to; an error names the argument. */
export function commonShape(shapes: readonly (readonly number[])[], argument: string): number[] {
  return shapes.reduce<number[]>((a, b) => {
    const rank = Math.max(a.length, b.length);
    const [x, y] = [a, b].map((shape) => [...new Array<number>(rank - shape.length).fill(1), ...shape]) as [
      number[],
      number[],
    ];
    return x.map((size, i) => {
      if (size !== y[i] && size !== 1 && y[i] !== 1) {
        throw new ValueError(
          argument,
          'shapes that broadcast',
          described(shapes.map((each) => `[${each.join(', ')}]`).join(', ')),
        );
      }
      return size === 1 ? y[i]! : size;
    });
  }, []);
}

function chosen(condition: tf.Tensor, t: tf.Tensor, e: tf.Tensor): tf.Tensor {
  const shape = commonShape([condition.shape, t.shape, e.shape], 't');
  if (sizeOf(shape) === 0) return nothing(shape, t.dtype);
  return tf.tidy(() => {
    const where = (a: tf.Tensor, b: tf.Tensor): tf.Tensor => tf.where(condition.asType('bool'), a, b);
    return isMovedHere(t) ? picked([t, e], where(placesOf(t), placesOf(e, t.size))) : where(t, e);
  });
}

/** A vector of conditions chooses rows. */
function select([condition, t, e]: tf.Tensor[]): tf.Tensor {
  if (condition!.rank !== 1 || t!.rank <= 1) return chosen(condition!, t!, e!);
  const rows = tf.reshape(condition!, [condition!.size, ...new Array<number>(t!.rank - 1).fill(1)]);
  const result = chosen(rows, t!, e!);
  rows.dispose();
  return result;
}

function oneHot([indices, depth, on, off]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const count = numberOf(depth!, 'depth');
  const { rank } = indices!;
  const given = Number(node.attrs['axis'] ?? -1);
  if (count < 0) throw new ValueError('depth', 'a number of at least 0', count);
  if (given < -1 || given > rank) throw new ValueError('axis', `an axis in [-1, ${rank}]`, given);
  const axis = given === -1 ? rank : given;
  const shape = [...indices!.shape.slice(0, axis), count, ...indices!.shape.slice(axis)];
  const inner = sizeOf(indices!.shape.slice(axis));
  // 0 is `on_value`, 1 is `off_value`.
  const places = new Int32Array(sizeOf(shape)).fill(1);
  readTensor(indices!, 'indices').forEach((index, i) => {
    if (index < 0 || index >= count) return;
    places[(Math.floor(i / inner) * count + index) * inner + (i % inner)] = 0;
  });
  return tf.tidy(() => picked([on!, off!], tf.tensor(places, shape, 'int32')));
}

function transposed(x: tf.Tensor, perm: tf.Tensor): tf.Tensor {
  const axes = sizesOf(perm, 'perm');
  if (axes.length !== x.rank || x.shape.some((_, axis) => !axes.includes(axis)))
    throw new ValueError('perm', `each axis below ${x.rank} once`, axes);
  return moved(x, (each) => tf.transpose(each, axes));
}

function reversed(x: tf.Tensor, axis: tf.Tensor): tf.Tensor {
  const axes = sizesOf(axis, 'axis').map((each) => axisOf(each, x.rank));
  if (new Set(axes).size < axes.length) throw new ValueError('axis', 'each axis at most once', axes);
  return moved(x, (each) => tf.reverse(each, axes));
}

/** Sizes of parts, of which one may be -1: what the others leave. */
function checkParts(sizes: readonly number[], size: number): void {
  const known = sizes.filter((each) => each !== -1);
  const [rest, open] = [size - known.reduce((sum, each) => sum + each, 0), sizes.length - known.length];
  if (known.some((each) => each < 0) || open > 1 || (open === 0 ? rest !== 0 : rest < 0))
    throw new ValueError('size_splits', `sizes that sum up to ${size}`, sizes);
}

function split(x: tf.Tensor, sizes: readonly number[] | number, axis: number): tf.Tensor[] {
  if (typeof sizes === 'number' && x.shape[axis]! % sizes !== 0) {
    throw new ValueError('num_split', `a divisor of ${x.shape[axis]}`, sizes);
  }
  if (typeof sizes !== 'number') checkParts(sizes, x.shape[axis]!);
  return tf.tidy(() => {
    if (!isMovedHere(x)) return tf.split(x, typeof sizes === 'number' ? sizes : [...sizes], axis);
    const parts = tf.split(placesOf(x), typeof sizes === 'number' ? sizes : [...sizes], axis);
    return parts.map((part) => picked([x], part));
  });
}

/** What comes before and after each axis: numbers from 0 to `most` of the size of the axis. */
function pairsOf(paddings: tf.Tensor, { shape, rank }: tf.Tensor, most: (size: number) => number): [number, number][] {
  const pairs = paddings.arraySync() as [number, number][];
  const fits = paddings.shape.join() === `${rank},2`;
  if (!fits || pairs.some((pair, axis) => pair.some((each) => each < 0 || each > most(shape[axis]!)))) {
    throw new ValueError('paddings', `for each axis of [${shape.join(', ')}] two numbers of a size that fits`, pairs);
  }
  return pairs;
}

function padded(x: tf.Tensor, paddings: tf.Tensor, constant: tf.Tensor | null): tf.Tensor {
  const pairs = pairsOf(paddings, x, () => Infinity);
  return tf.tidy(() => {
    if (!isMovedHere(x)) return tf.pad(x, pairs, Number(constant?.dataSync()[0] ?? 0));
    const all = constant === null ? [x] : [x, constant];
    return picked(all, tf.pad(placesOf(x), pairs, constant === null ? -1 : x.size));
  });
}

/** `indices` are places of `x` along its first axes; `ignores`: zeros come from where it has none. */
export function gatheredAt(x: tf.Tensor, indices: tf.Tensor, ignores: boolean): tf.Tensor {
  if (indices.rank === 0) throw new ValueError('indices', 'a rank of at least 1', 0);
  const depth = indices.shape[indices.rank - 1]!;
  if (depth > x.rank) throw new ValueError('indices', `at most ${x.rank} numbers for a place`, depth);
  const shape = [...indices.shape.slice(0, -1), ...x.shape.slice(depth)];
  const given = depth === 0 ? new Int32Array(0) : readTensor(indices, 'indices');
  const strays = new Set<number>();
  given.forEach((index, at) => {
    const size = x.shape[at % depth]!;
    if (index >= 0 && index < size) return;
    if (!ignores) throw new ValueError('indices', `indices in [0, ${size})`, index);
    strays.add(Math.floor(at / depth));
  });
  if (sizeOf(shape) === 0) return nothing(shape, x.dtype);
  return tf.tidy(() => {
    if (strays.size === 0) return moved(x, (each) => tf.gatherND(each, indices));
    const each = sizeOf(x.shape.slice(depth));
    const places = Int32Array.from({ length: sizeOf(shape) }, (_, i) => {
      const row = Math.floor(i / each);
      if (strays.has(row)) return -1;
      let place = 0;
      for (let axis = 0; axis < depth; axis++) place = place * x.shape[axis]! + given[row * depth + axis]!;
      return place * each + (i % each);
    });
    return picked([x], tf.tensor(places, shape, 'int32'));
  });
}

/** What leaves an axis at its end comes back at its begin; shifts of one axis add up. */
function rolled(x: tf.Tensor, shift: tf.Tensor, axis: tf.Tensor): tf.Tensor {
  if (x.rank === 0) throw new ValueError('input', 'at least a vector', x);
  const [shifts, axes] = [readTensor(shift, 'shift'), readTensor(axis, 'axis')];
  if (shifts.length !== axes.length || shift.rank > 1 || axis.rank > 1) {
    throw new ValueError('shift', `${axes.length} numbers, one for each axis`, shift);
  }
  return tf.tidy(() =>
    moved(x, (each) =>
      Array.from(axes).reduce((rest, given, i) => {
        const along = axisOf(given, x.rank);
        const size = x.shape[along]!;
        const first = size === 0 ? 0 : (size - (shifts[i]! % size)) % size;
        if (first === 0) return rest.clone();
        const [head, tail] = tf.split(rest, [first, size - first], along);
        return tf.concat([tail!, head!], along);
      }, each),
    ),
  );
}

export const MOVING_OPS: readonly GraphOp[] = [
  graphOp('Fill(dims: index_type, value: T) -> output: T', ([dims, value]) => {
    const shape = sizesOf(dims!, 'dims');
    if (value!.dtype === 'string') return broadcast(value!, shape);
    return tf.fill(shape, value!.dataSync()[0]!, value!.dtype as 'float32');
  }),
  graphOp('Concat(concat_dim: int32, values: T * N) -> output: T', ([axis, ...tensors]) => joined(tensors, axis!)),
  graphOp('ConcatV2(values: T * N, axis: Tidx) -> output: T', (given) => joined(given.slice(0, -1), given.at(-1)!)),
  graphOp('StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T', sliced),
  graphOp('GatherNd(params: Tparams, indices: Tindices) -> output: Tparams', ([x, indices], { attrs }) =>
    // tfjs-converter gives texts of attributes in small letters.
    gatheredAt(x!, indices!, String(attrs['bad_indices_policy'] ?? '').toLowerCase() === 'ignore'),
  ),
  graphOp('Gather(params: T, indices: Tindices) -> output: T', ([x, indices]) => gathered(x!, indices!, 0, 0)),
  graphOp('GatherV2(params: T, indices: Tindices, axis: Taxis) -> output: T', ([x, indices, axis], node) => {
    const given = Number(node.attrs['batch_dims'] ?? 0);
    const batchDims = given < 0 ? given + indices!.rank : given;
    return gathered(x!, indices!, axisOf(axis!, x!.rank), batchDims);
  }),
  graphOp('BroadcastTo(input: T, shape: Tidx) -> output: T', ([x, shape]) => broadcast(x!, sizesOf(shape!, 'shape'))),
  graphOp('Select(condition: bool, t: T, e: T) -> output: T', select),
  graphOp('SelectV2(condition: bool, t: T, e: T) -> output: T', ([condition, t, e]) => chosen(condition!, t!, e!)),
  graphOp('OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T', oneHot),
  graphOp('ReverseV2(tensor: T, axis: Tidx) -> output: T', ([x, axis]) => reversed(x!, axis!)),
  graphOp('Transpose(x: T, perm: Tperm) -> y: T', ([x, perm]) => transposed(x!, perm!)),
  graphOp('Tile(input: T, multiples: Tmultiples) -> output: T', ([x, multiples]) => {
    const reps = sizesOf(multiples!, 'multiples');
    const shape = x!.shape.map((size, axis) => size * (reps[axis] ?? 0));
    if (reps.length !== x!.rank) throw new ValueError('multiples', `${x!.rank} numbers, one per axis`, reps);
    return sizeOf(shape) === 0 ? nothing(shape, x!.dtype) : moved(x!, (each) => tf.tile(each, reps));
  }),
  graphOp('Split(split_dim: int32, value: T) -> output: T * num_split', ([axis, x], node) =>
    split(x!, Number(node.attrs['num_split']), axisOf(axis!, x!.rank)),
  ),
  graphOp('SplitV(value: T, size_splits: Tlen, split_dim: int32) -> output: T * num_split', ([x, sizes, axis]) =>
    split(x!, sizesOf(sizes!, 'size_splits'), axisOf(axis!, x!.rank)),
  ),
  graphOp('Pad(input: T, paddings: Tpaddings) -> output: T', ([x, paddings]) => padded(x!, paddings!, null)),
  graphOp('PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T', ([x, paddings, constant]) =>
    padded(x!, paddings!, constant!),
  ),
  graphOp('Roll(input: T, shift: Tshift, axis: Taxis) -> output: T', ([x, shift, axis]) => rolled(x!, shift!, axis!)),
  graphOp('MirrorPad(input: T, paddings: Tpaddings) -> output: T', ([x, paddings], node) => {
    const mode = String(node.attrs['mode']).toLowerCase() as 'reflect' | 'symmetric';
    const pairs = pairsOf(paddings!, x!, (size) => (mode === 'reflect' ? size - 1 : size));
    return moved(x!, (each) => tf.mirrorPad(each, pairs, mode));
  }),
];
