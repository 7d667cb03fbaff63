/** Sums over sparse tensors: along axes, of two of them, and with dense ones. */
import { ValueError, described } from '../../../base/errors.js';
import { hostArray, int32Array, integers, type HostArray } from '../host_array.js';
import { readSparse, type Sparse } from './sparse.js';

type Numbers = Float32Array | Int32Array;

const numbersOf = ({ values }: HostArray): Numbers => values as Numbers;

/** The place of the value `i` in a dense tensor of `shape`; each coordinate lies within `sizes`. */
function flatPlace(
  { names, places, rank }: Sparse,
  i: number,
  sizes: ArrayLike<number>,
  shape: readonly number[],
): number {
  let flat = 0;
  for (let axis = 0; axis < rank; axis++) {
    const place = places[i * rank + axis]!;
    if (place < 0 || place >= sizes[axis]!) {
      const received = described(`${place} in axis ${axis} of index ${i}`);
      throw new ValueError(names[0], `coordinates below ${sizes[axis]}`, received);
    }
    flat = flat * shape[axis]! + (shape[axis] === 1 ? 0 : place);
  }
  return flat;
}

/** Reduces a sparse tensor to a dense one; where no value is, the result is 0. */
export function sparseReduce(
  reduction: 'sum' | 'max',
  [indices, values, shape, axes]: readonly HostArray[],
  keepDims: boolean,
): HostArray {
  const sparse = readSparse(indices!, values!, shape!, ['input_indices', 'input_values', 'input_shape']);
  const { rank, count } = sparse;
  if (axes!.shape.length > 1) {
    throw new ValueError('reduction_axes', 'a scalar or a vector', described(`shape [${axes!.shape.join(', ')}]`));
  }
  const reduced = new Set(
    Array.from(integers(axes!, 'reduction_axes'), (axis) => {
      if (axis < -rank || axis >= rank) throw new ValueError('reduction_axes', `axes in [${-rank}, ${rank})`, axis);
      return axis < 0 ? axis + rank : axis;
    }),
  );
  const kept = Array.from(sparse.shape, (size, axis) => (reduced.has(axis) ? 1 : size));
  const result = hostArray(values!.dtype, keepDims ? kept : kept.filter((_, axis) => !reduced.has(axis)));
  const [from, into] = [numbersOf(values!), numbersOf(result)];
  const isThere = new Uint8Array(into.length);
  for (let i = 0; i < count; i++) {
    const at = flatPlace(sparse, i, sparse.shape, kept);
    if (reduction === 'sum') into[at]! += from[i]!;
    else into[at] = isThere[at] === 1 ? Math.max(into[at]!, from[i]!) : from[i]!;
    isThere[at] = 1;
  }
  return result;
}

/** The sum of two sparse tensors in order, without values of both that sum up to less than the threshold. */
export function sparseAdd(inputs: readonly HostArray[]): HostArray[] {
  const [a, b] = ['a', 'b'].map((side, i) => {
    const [indices, values, shape] = inputs.slice(3 * i, 3 * i + 3);
    return readSparse(indices!, values!, shape!, [`${side}_indices`, `${side}_values`, `${side}_shape`]);
  }) as [Sparse, Sparse];
  const threshold = inputs[6]!;
  if (threshold.shape.length > 0) {
    throw new ValueError('thresh', 'a scalar', described(`shape [${threshold.shape.join(', ')}]`));
  }
  if (String(a.shape) !== String(b.shape)) {
    throw new ValueError('b_shape', `[${a.shape.join(', ')}], as a_shape`, Array.from(b.shape));
  }
  const { rank } = a;
  const least = numbersOf(threshold)[0]!;
  const [places, sums]: [number[], number[]] = [[], []];
  const isWhole = a.values.dtype === 'int32';
  for (let [i, j] = [0, 0]; i < a.count || j < b.count;) {
    const order = j >= b.count ? -1 : i >= a.count ? 1 : compared(a, i, b, j);
    const sum = (order <= 0 ? numbersOf(a.values)[i]! : 0) + (order >= 0 ? numbersOf(b.values)[j]! : 0);
    // Of 64-bit integers, which come as int32, TensorFlow has the sum.
    if (isWhole && sum !== (sum | 0)) throw new ValueError('b_values', 'values whose sums fit int32', sum);
    const value = isWhole ? sum : Math.fround(sum);
    const [from, at] = order <= 0 ? [a, i] : [b, j];
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order === 0 && !(least <= Math.abs(value))) continue;
    sums.push(value);
    for (let axis = 0; axis < rank; axis++) places.push(from.places[at * rank + axis]!);
  }
  const result = hostArray(a.values.dtype, [sums.length]);
  numbersOf(result).set(sums);
  return [int32Array([sums.length, rank], places, 'sum_indices'), result, inputs[2]!];
}

function compared(a: Sparse, i: number, b: Sparse, j: number): number {
  for (let axis = 0; axis < a.rank; axis++) {
    const difference = a.places[i * a.rank + axis]! - b.places[j * b.rank + axis]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** For each value the result with the one of a dense tensor at its place; the dense one may have fewer axes. */
export function withDense(
  run: (value: number, dense: number) => number,
  [indices, values, shape, dense]: readonly HostArray[],
): HostArray {
  const sparse = readSparse(indices!, values!, shape!, ['sp_indices', 'sp_values', 'sp_shape']);
  const sizes = Array.from(sparse.shape);
  const own = [...new Array<number>(Math.max(0, sizes.length - dense!.shape.length)).fill(1), ...dense!.shape];
  if (own.length !== sizes.length || own.some((size, axis) => size !== 1 && size !== sizes[axis])) {
    throw new ValueError('dense', `a shape that broadcasts to [${sizes.join(', ')}]`, [...dense!.shape]);
  }
  const result = hostArray(values!.dtype, values!.shape);
  const [from, given, into] = [numbersOf(values!), numbersOf(dense!), numbersOf(result)];
  for (let i = 0; i < sparse.count; i++) into[i] = run(from[i]!, given[flatPlace(sparse, i, sizes, own)]!);
  return result;
}
