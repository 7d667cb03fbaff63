/** Rows written to places of a tensor. */
import { ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, integers, sizeOf, type HostArray } from '../host_array.js';

export type Meeting = 'update' | 'add' | 'sub' | 'min' | 'max';

const NUMBERS: Readonly<Record<Exclude<Meeting, 'update'>, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  min: Math.min,
  max: Math.max,
};

/** What is there and what comes: truth values and texts add up to their union and one behind the other. */
function met(
  { values, dtype }: HostArray,
  at: number,
  { values: updates }: HostArray,
  from: number,
  how: Meeting,
): void {
  if (how === 'update') return copyValues(updates, from, 1, values, at);
  if (Array.isArray(values)) {
    values[at] = Uint8Array.from([...values[at]!, ...(updates as Uint8Array[])[from]!]);
    return;
  }
  const result = NUMBERS[how](values[at]!, (updates as Float32Array)[from]!);
  values[at] = dtype === 'bool' ? Number(result !== 0) : result;
}

interface Shaped {
  readonly shape: readonly number[];
}

/**
 * Throws ValueError for shapes that do not belong together; null in that of the result: a size that is not looked at.
 * Kernels of TensorFlow end the process for some of them.
 */
export function checkScatter(shape: readonly (number | null)[], indices: Shaped, updates: Shaped): void {
  const depth = indices.shape.at(-1);
  if (depth === undefined || depth > shape.length) {
    const expected = `rows of at most ${shape.length} numbers, as many as the result has axes`;
    throw new ValueError('indices', expected, described(`shape [${indices.shape.join(', ')}]`));
  }
  const expected = [...indices.shape.slice(0, -1), ...shape.slice(depth)];
  const isAlike = expected.every((size, axis) => size === null || size === updates.shape[axis]);
  if (!isAlike || expected.length !== updates.shape.length) {
    const received = described(`shape [${updates.shape.join(', ')}]`);
    throw new ValueError('updates', `the shape [${expected.map((size) => size ?? '?').join(', ')}]`, received);
  }
}

/** `updates[i]` meets the part of the tensor that `indices[i]` names, one after the other. */
export function scatter(tensor: HostArray, indices: HostArray, updates: HostArray, how: Meeting): HostArray {
  const { shape } = tensor;
  checkScatter(shape, indices, updates);
  const depth = indices.shape.at(-1)!;
  const width = sizeOf(shape.slice(depth));
  const places = integers(indices, 'indices');
  const result = hostArray(tensor.dtype, shape, tensor.values.slice());
  const count = sizeOf(indices.shape.slice(0, -1));
  for (let row = 0; row < count; row++) {
    let at = 0;
    for (let axis = 0; axis < depth; axis++) {
      const place = places[row * depth + axis]!;
      if (place < 0 || place >= shape[axis]!) {
        throw new ValueError('indices', `numbers in [0, ${shape[axis]})`, described(`${place} in row ${row}`));
      }
      at = at * shape[axis]! + place;
    }
    for (let j = 0; j < width; j++) met(result, at * width + j, updates, row * width + j, how);
  }
  return result;
}
