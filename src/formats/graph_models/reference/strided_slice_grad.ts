/** What a strided slice takes of each axis, and its gradient. */
import { ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, integers, sizeOf, type HostArray } from '../host_array.js';

/** Bits that say, for each entry of begin, end and strides, how it is meant. */
export interface SliceMasks {
  readonly begin: number;
  readonly end: number;
  readonly ellipsis: number;
  readonly newAxis: number;
  readonly shrink: number;
}

/** One axis of the sliced tensor. */
export interface AxisSlice {
  readonly start: number;
  readonly stride: number;
  readonly length: number;
}

const has = (mask: number, bit: number): boolean => (mask & (1 << bit)) !== 0;

/** What the entries say of each axis of the sliced tensor, and the sizes that the slice has. */
export function readSlices(
  shape: readonly number[],
  [begins, ends, strides]: readonly [Int32Array, Int32Array, Int32Array],
  masks: SliceMasks,
): { readonly slices: AxisSlice[]; readonly sizes: number[] } {
  const entries = begins.length;
  if ([ends, strides].some(({ length }) => length !== entries)) {
    throw new ValueError('begin', 'as many entries as end and strides', described(`${entries}`));
  }
  if ((masks.ellipsis & (masks.ellipsis - 1)) !== 0) throw new ValueError('ellipsis_mask', 'one bit', masks.ellipsis);
  const axesOf = Array.from({ length: entries }, (_, i) => !has(masks.newAxis, i) && !has(masks.ellipsis, i));
  const missing = shape.length - axesOf.filter(Boolean).length;
  if (missing < 0) throw new ValueError('begin', `at most ${shape.length} axes`, described(`${entries} entries`));
  const slices: AxisSlice[] = [];
  const sizes: number[] = [];
  const whole = (count: number): void => {
    for (let i = 0; i < count; i++) {
      sizes.push(shape[slices.length]!);
      slices.push({ start: 0, stride: 1, length: shape[slices.length]! });
    }
  };
  let isSpread = false;
  for (let i = 0; i < entries; i++) {
    if (has(masks.ellipsis, i)) {
      whole(missing);
      isSpread = true;
    } else if (axesOf[i]) {
      const slice = sliceOf(shape[slices.length]!, begins[i]!, ends[i]!, strides[i]!, i, masks);
      slices.push(slice);
      if (!has(masks.shrink, i)) sizes.push(slice.length);
    } else {
      sizes.push(1);
    }
  }
  if (!isSpread) whole(missing);
  return { slices, sizes };
}

function sliceOf(size: number, begin: number, end: number, stride: number, i: number, masks: SliceMasks): AxisSlice {
  if (stride === 0) throw new ValueError('strides', 'steps other than 0', described(`0 in entry ${i}`));
  const wrapped = (index: number): number => (index < 0 ? index + size : index);
  if (has(masks.shrink, i)) {
    if (stride < 0) throw new ValueError('strides', 'a step above 0 where an index is given', stride);
    const start = wrapped(begin);
    if (start < 0 || start >= size) throw new ValueError('begin', `an index in [${-size}, ${size})`, begin);
    return { start, stride: 1, length: 1 };
  }
  const [least, most] = stride > 0 ? [0, size] : [-1, size - 1];
  const clamped = (index: number): number => Math.min(most, Math.max(least, wrapped(index)));
  const start = has(masks.begin, i) ? (stride > 0 ? 0 : size - 1) : clamped(begin);
  const stop = has(masks.end, i) ? (stride > 0 ? size : -1) : clamped(end);
  return { start, stride, length: Math.max(0, Math.ceil((stop - start) / stride)) };
}

/** A tensor of `shape` that holds `dy` where the slice was taken, and zeros. */
export function stridedSliceGrad(
  shape: HostArray,
  begin: HostArray,
  end: HostArray,
  strides: HostArray,
  dy: HostArray,
  masks: SliceMasks,
): HostArray {
  const sizes = Array.from(integers(shape, 'shape'));
  const entries = [integers(begin, 'begin'), integers(end, 'end'), integers(strides, 'strides')] as const;
  const { slices } = readSlices(sizes, entries, masks);
  const count = sizeOf(dy.shape);
  if (sizeOf(slices.map(({ length }) => length)) !== count) {
    const expected = `the gradient of a slice of shape [${slices.map(({ length }) => length).join(', ')}]`;
    throw new ValueError('dy', expected, described(`shape [${dy.shape.join(', ')}]`));
  }
  const result = hostArray(dy.dtype, sizes);
  for (let i = 0; i < count; i++) {
    let [rest, at, step] = [i, 0, 1];
    for (let axis = sizes.length - 1; axis >= 0; axis--) {
      const { start, stride, length } = slices[axis]!;
      at += (start + (rest % length) * stride) * step;
      rest = Math.floor(rest / length);
      step *= sizes[axis]!;
    }
    copyValues(dy.values, i, 1, result.values, at);
  }
  return result;
}
