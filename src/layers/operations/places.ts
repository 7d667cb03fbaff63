/** Operations that move numbers, and pick some of them, without changing any. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { splitInto, unstacked } from '../../tfjs/cut_tensors.js';
import { typeNamed } from './elementwise.js';
import { itemShape, takeItems } from './items.js';
import {
  asSpec,
  axesOf,
  axisOf,
  broadcast,
  listOf,
  listShape,
  meetingType,
  shapeText,
  sizeOf,
  tensorOf,
  type Operand,
  type Rule,
  type Settings,
  type Spec,
} from './operand.js';

type ShapeOf = (shape: SymbolicShape, settings: Settings) => SymbolicShape;

/** Of one tensor, whose dtype stays. */
function moving(settings: Settings, shapeOf: ShapeOf, compute: (x: tf.Tensor, settings: Settings) => tf.Tensor): Rule {
  return {
    operands: ['x'],
    settings,
    spec: ([x], given) => {
      const { shape, dtype } = asSpec(x!);
      return { shape: shapeOf(shape, given), dtype };
    },
    run: ([x], given) => compute(tensorOf(x!), given),
  };
}

/** Of a list of tensors, which meet in one dtype. */
function joining(
  settings: Settings,
  shapeOf: (shapes: SymbolicShape[], settings: Settings) => SymbolicShape,
  compute: (list: tf.Tensor[], axis: number) => tf.Tensor,
): Rule {
  return {
    operands: ['xs'],
    settings,
    spec: (operands, given) => {
      const list = listOf(operands);
      if (list.length === 0) throw new ValueError('inputs', 'at least one tensor', list);
      const shapes = list.map((each) => asSpec(each).shape);
      return { shape: shapeOf(shapes, given), dtype: meetingType(list) };
    },
    run: (operands, { axis }) => {
      const list = listOf(operands);
      const dtype = meetingType(list as readonly Operand<Spec>[]);
      const tensors = list.map((each) => tensorOf(each, dtype));
      return compute(tensors, axis as number);
    },
  };
}

/** Sizes that all shapes have, known ones first. Throws ValueError where they differ. */
function common(shapes: readonly SymbolicShape[], except = -1): SymbolicShape {
  return shapes.reduce((found, shape) => {
    const fits =
      shape.length === found.length &&
      shape.every((size, i) => i === except || size === null || found[i] === null || size === found[i]);
    if (!fits)
      throw new ValueError('inputs', `[${found.map(String).join(', ')}], the shape of the first`, shapeText(shape));
    return found.map((size, i) => size ?? shape[i]!);
  });
}

const concatenate = joining(
  { axis: -1 },
  (shapes, { axis }) => {
    const at = axisOf(axis, shapes[0]!.length);
    const sizes = shapes.map((shape) => shape[at] ?? null);
    const sum = sizes.reduce<number | null>((all, size) => (all === null || size === null ? null : all + size), 0);
    return common(shapes, at).map((size, i) => (i === at ? sum : size));
  },
  (list, axis) => (list.length === 1 ? list[0]!.clone() : tf.concat(list, axisOf(axis, list[0]!.rank))),
);

const stack = joining(
  { axis: 0 },
  (shapes, { axis }) => {
    const shape = common(shapes);
    const at = axisOf(axis, shape.length + 1);
    return [...shape.slice(0, at), shapes.length, ...shape.slice(at)];
  },
  (list, axis) => tf.stack(list, axisOf(axis, list[0]!.rank + 1)),
);

/** With the size at -1 that remains. */
function reshaped(shape: SymbolicShape, { newshape }: Settings): SymbolicShape {
  const wanted = [newshape].flat() as (number | null)[];
  const rest = wanted.map((size) => (size === null ? -1 : size));
  if (!rest.every((size) => Number.isInteger(size) && size >= -1) || rest.filter((size) => size === -1).length > 1) {
    throw new ValueError('newshape', 'sizes of which at most one is -1', newshape);
  }
  const all = sizeOf(shape);
  const known = rest.filter((size) => size !== -1).reduce((product, size) => product * size, 1);
  if (all !== null && (rest.includes(-1) ? known === 0 || all % known !== 0 : all !== known)) {
    throw new ValueError('newshape', `a shape of ${all} numbers`, newshape);
  }
  return rest.map((size) => (size !== -1 ? size : all === null ? null : all / known));
}

function transposed(rank: number, axes: unknown): number[] {
  const all = Array.from({ length: rank }, (_, i) => i);
  if (axes === null || axes === undefined) return all.reverse();
  const order = axesOf(axes, rank, 'axes');
  if (order.length !== rank) throw new ValueError('axes', `${rank} axes`, axes);
  return order;
}

function swapped(rank: number, { axis1, axis2 }: Settings): number[] {
  const [a, b] = [axisOf(axis1, rank, 'axis1'), axisOf(axis2, rank, 'axis2')];
  return Array.from({ length: rank }, (_, i) => (i === a ? b : i === b ? a : i));
}

function movedAxes(rank: number, { source, destination }: Settings): number[] {
  const [from, to] = [axesOf(source ?? 0, rank, 'source'), axesOf(destination ?? 0, rank, 'destination')];
  const order = Array.from({ length: rank }, (_, i) => i).filter((i) => !from.includes(i));
  const pairs = to.map((at, i) => [at, from[i]!] as const).sort(([a], [b]) => a - b);
  for (const [at, axis] of pairs) order.splice(at, 0, axis);
  return order;
}

const turning = (settings: Settings, orderOf: (rank: number, settings: Settings) => number[]): Rule =>
  moving(
    settings,
    (shape, given) => orderOf(shape.length, given).map((axis) => shape[axis]!),
    (x, given) => tf.transpose(x, orderOf(x.rank, given)),
  );

function squeezed(shape: SymbolicShape, axis: unknown): number[] {
  if (axis !== null && axis !== undefined) return axesOf(axis, shape.length);
  return shape.flatMap((size, i) => (size === 1 ? [i] : []));
}

const squeeze = moving(
  { axis: null },
  (shape, { axis }) => {
    const axes = squeezed(shape, axis);
    const wrong = axes.find((i) => shape[i] !== 1 && shape[i] !== null);
    if (wrong !== undefined) throw new ValueError('axis', 'axes of size 1', shapeText(shape));
    return shape.filter((_, i) => !axes.includes(i));
  },
  (x, { axis }) => {
    const axes = squeezed(x.shape, axis);
    return x.reshape(x.shape.filter((_, i) => !axes.includes(i)));
  },
);

function expanded(shape: SymbolicShape, axis: unknown): SymbolicShape {
  const rank = shape.length + [axis].flat().length;
  const axes = axesOf(axis, rank);
  const rest = [...shape];
  return Array.from({ length: rank }, (_, i) => (axes.includes(i) ? 1 : rest.shift()!));
}

function broadcastShape(shape: SymbolicShape, wanted: unknown): SymbolicShape {
  return broadcast(shape, [wanted].flat() as SymbolicShape);
}

function repeated(x: tf.Tensor, repeats: number, axis: number): tf.Tensor {
  const shape = [...x.shape.slice(0, axis + 1), 1, ...x.shape.slice(axis + 1)];
  const times = shape.map((_, i) => (i === axis + 1 ? repeats : 1));
  return tf.tile(x.reshape(shape), times).reshape(x.shape.map((size, i) => (i === axis ? size * repeats : size)));
}

function wholeNumber(value: unknown, name: string): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new ValueError(name, 'a whole number of at least 0', value);
}

/** How often each axis, as many of them as there are in the result. */
function timesOf(repeats: unknown, rank: number): number[] {
  const times = [repeats].flat().map((each) => wholeNumber(each, 'repeats'));
  return [...Array<number>(Math.max(0, rank - times.length)).fill(1), ...times];
}

function padded(rank: number, width: unknown): [number, number][] {
  const list = Array.isArray(width) ? (width as unknown[]) : [width];
  const pairs = list.every((each) => typeof each === 'number') ? [list] : (list as number[][]);
  const all = pairs.map((pair) => [pair[0], pair.at(-1)].map((each) => wholeNumber(each, 'padWidth')));
  if (all.length !== 1 && all.length !== rank) throw new ValueError('padWidth', `${rank} pairs`, width);
  return Array.from({ length: rank }, (_, i) => (all[i] ?? all[0]) as [number, number]);
}

/** Sizes of the parts of an axis: so many equal ones, or cut at these places. */
function partsOf(size: number | null, cuts: unknown): number[] {
  if (size === null) throw new ValueError('axis', 'an axis of known size', size);
  if (Array.isArray(cuts)) {
    const places = [0, ...(cuts as number[]), size];
    return places.slice(1).map((place, i) => place - places[i]!);
  }
  const count = wholeNumber(cuts, 'indicesOrSections');
  if (count === 0 || size % count !== 0) throw new ValueError('indicesOrSections', `a divisor of ${size}`, cuts);
  return Array<number>(count).fill(size / count);
}

const split: Rule = {
  operands: ['x'],
  settings: { indicesOrSections: 1, axis: 0 },
  spec: ([x], { indicesOrSections: cuts, axis }) => {
    const { shape, dtype } = asSpec(x!);
    const at = axisOf(axis, shape.length);
    return partsOf(shape[at]!, cuts).map((size) => ({
      shape: shape.map((each, i) => (i === at ? size : each)),
      dtype,
    }));
  },
  run: ([x], { indicesOrSections: cuts, axis }) => {
    const value = tensorOf(x!);
    const at = axisOf(axis, value.rank);
    return splitInto(value, partsOf(value.shape[at]!, cuts), at);
  },
};

/** Shifts with the axis of each; one shift is for all axes. */
function pairedShifts(shift: unknown, axis: unknown, rank: number): [shift: number, axis: number][] {
  const shifts = [shift].flat() as unknown[];
  const stray = shifts.find((each) => !Number.isSafeInteger(each));
  if (stray !== undefined || shifts.length === 0) throw new ValueError('shift', 'whole numbers', shift);
  if (axis === null) {
    if (shifts.length > 1) throw new ValueError('shift', 'one number where no axis is told', shift);
    return [];
  }
  const all = ([axis].flat() as unknown[]).map((each) => axisOf(each, rank));
  if (shifts.length > 1 && shifts.length !== all.length) throw new ValueError('shift', `${all.length} numbers`, shift);
  return all.map((each, i) => [shifts[shifts.length > 1 ? i : 0] as number, each]);
}

/** What leaves an axis at its end comes back at its begin. */
function rolled(x: tf.Tensor, [shift, axis]: [shift: number, axis: number]): tf.Tensor {
  const size = x.shape[axis]!;
  const first = size === 0 ? 0 : (((size - shift) % size) + size) % size;
  if (first === 0) return x.clone();
  const [head, tail] = splitInto(x, [first, size - first], axis);
  return tf.concat([tail!, head!], axis);
}

/** More tensors than any model takes a tensor apart into; without a limit a number alone could take all memory. */
const MOST_PARTS = 65_536;

const unstack: Rule = {
  operands: ['x'],
  settings: { num: null, axis: 0 },
  spec: ([x], { num, axis }) => {
    const { shape, dtype } = asSpec(x!);
    const at = axisOf(axis, shape.length);
    const count = wholeNumber(shape[at] ?? num, 'num');
    if (count > MOST_PARTS) throw new ValueError('num', `at most ${MOST_PARTS} tensors`, count);
    return Array.from({ length: count }, () => ({ shape: shape.filter((_, i) => i !== at), dtype }));
  },
  run: ([x], { axis }) => {
    const value = tensorOf(x!);
    return unstacked(value, axisOf(axis, value.rank));
  },
};

const take: Rule = {
  operands: ['x', 'indices'],
  settings: { axis: null },
  spec: ([x, indices], { axis }) => {
    const { shape, dtype } = asSpec(x!);
    const { shape: places } = placesSpec(indices!);
    if (axis === null) return { shape: places, dtype };
    const at = axisOf(axis, shape.length);
    return { shape: [...shape.slice(0, at), ...places, ...shape.slice(at + 1)], dtype };
  },
  run: ([x, indices], { axis }) => {
    const given = tensorOf(x!);
    const value = axis === null ? given.flatten() : given;
    const at = axis === null ? 0 : axisOf(axis, value.rank);
    const size = value.shape[at]!;
    const places = Array.isArray(indices)
      ? tf.tensor(indices as number[], undefined, 'int32')
      : tensorOf(indices!, 'int32');
    // As in Keras places below 0 count from the end.
    return tf.gather(value, places.add(places.less(0).cast('int32').mul(tf.scalar(size, 'int32'))), at);
  },
};

function placesSpec(indices: Operand<Spec>): Spec {
  return Array.isArray(indices) ? { shape: listShape(indices), dtype: 'int32' } : asSpec(indices);
}

const oneHot: Rule = {
  operands: ['x'],
  settings: { numClasses: 1, axis: -1, dtype: null },
  spec: ([x], { numClasses: depth, axis, dtype }) => {
    const { shape } = asSpec(x!);
    const at = axisOf(axis, shape.length + 1);
    const size = wholeNumber(depth, 'numClasses');
    return {
      shape: [...shape.slice(0, at), size, ...shape.slice(at)],
      dtype: dtype === null ? 'float32' : typeNamed(dtype),
    };
  },
  run: ([x], { numClasses: depth, axis, dtype }) => {
    const ids = tensorOf(x!, 'int32');
    const at = axisOf(axis, ids.rank + 1);
    const places = tf.range(0, depth as number, 1, 'int32');
    const sizes = Array.from({ length: ids.rank + 1 }, (_, i) => (i === at ? (depth as number) : 1));
    return ids
      .expandDims(at)
      .equal(places.reshape(sizes))
      .cast(dtype === null ? 'float32' : typeNamed(dtype));
  },
  isConstant: true,
};

/** How often places of an axis are repeated: one number for all of them, or one for each. */
function countsOf(repeats: unknown, size: number | null): number[] {
  const counts = [repeats].flat(Infinity).map((each) => wholeNumber(each, 'repeats'));
  if (counts.length === 1 || size === null || counts.length === size) return counts;
  throw new ValueError('repeats', `1 or ${size} numbers`, described(`${counts.length}`));
}

/** By the name of Keras's class. */
export const PLACES: Readonly<Record<string, Rule>> = {
  Concatenate: concatenate,
  Stack: stack,
  Reshape: moving({ newshape: null }, reshaped, (x, given) => x.reshape(reshaped(x.shape, given) as number[])),
  Ravel: moving(
    {},
    (shape) => [sizeOf(shape)],
    (x) => x.flatten(),
  ),
  Transpose: turning({ axes: null }, (rank, { axes }) => transposed(rank, axes)),
  Swapaxes: turning({ axis1: 0, axis2: 1 }, swapped),
  Moveaxis: turning({ source: 0, destination: 0 }, movedAxes),
  Squeeze: squeeze,
  ExpandDims: moving(
    { axis: -1 },
    (shape, { axis }) => expanded(shape, axis),
    (x, { axis }) => x.reshape(expanded(x.shape, axis) as number[]),
  ),
  GetItem: {
    operands: ['x', 'key'],
    settings: {},
    spec: ([x, key]) => ({ shape: itemShape(asSpec(x!).shape, key), dtype: asSpec(x!).dtype }),
    run: ([x, key]) => takeItems(tensorOf(x!), key),
  },
  BroadcastTo: moving(
    { shape: [] },
    (shape, { shape: wanted }) => broadcastShape(shape, wanted),
    (x, { shape: wanted }) => tf.broadcastTo(x, broadcastShape(x.shape, wanted) as number[]),
  ),
  Repeat: moving(
    { repeats: 1, axis: null },
    (shape, { repeats, axis }) => {
      const whole = axis === null ? [sizeOf(shape)] : shape;
      const at = axis === null ? 0 : axisOf(axis, shape.length);
      const counts = countsOf(repeats, whole[at]!);
      const sum = counts.reduce((total, count) => total + count, 0);
      return whole.map((size, i) => (i !== at ? size : counts.length > 1 ? sum : size === null ? null : size * sum));
    },
    (x, { repeats, axis }) => {
      const [whole, at] = axis === null ? [x.flatten(), 0] : [x, axisOf(axis, x.rank)];
      const counts = countsOf(repeats, whole.shape[at]!);
      if (counts.length === 1) return repeated(whole, counts[0]!, at);
      return tf.gather(
        whole,
        tf.tensor1d(
          counts.flatMap((count, i) => Array<number>(count).fill(i)),
          'int32',
        ),
        at,
      );
    },
  ),
  Tile: moving(
    { repeats: 1 },
    (shape, { repeats }) => {
      const times = timesOf(repeats, shape.length);
      const whole = [...Array<number>(times.length - shape.length).fill(1), ...shape];
      return whole.map((size, i) => (size === null ? null : size * times[i]!));
    },
    (x, { repeats }) => {
      const times = timesOf(repeats, x.rank);
      return tf.tile(x.reshape([...Array<number>(times.length - x.rank).fill(1), ...x.shape]), times);
    },
  ),
  Flip: moving(
    { axis: null },
    (shape, { axis }) => {
      axesOf(axis, shape.length);
      return shape;
    },
    (x, { axis }) => tf.reverse(x, axesOf(axis, x.rank)),
  ),
  Pad: moving(
    { padWidth: 0, mode: 'constant' },
    (shape, { padWidth: width, mode }) => {
      if (mode !== 'constant') throw new ValueError('mode', `'constant'`, mode);
      const pairs = padded(shape.length, width);
      return shape.map((size, i) => (size === null ? null : size + pairs[i]![0] + pairs[i]![1]));
    },
    (x, { padWidth: width }) => tf.pad(x, padded(x.rank, width)),
  ),
  Roll: moving(
    { shift: 0, axis: null },
    (shape, { shift, axis }) => {
      pairedShifts(shift, axis, shape.length);
      return shape;
    },
    (x, { shift, axis }) => {
      // Without an axis it moves as one long row.
      if (axis === null) return rolled(x.flatten(), [shift as number, 0]).reshape(x.shape);
      return pairedShifts(shift, axis, x.rank).reduce(rolled, x);
    },
  ),
  Split: split,
  Unstack: unstack,
  Take: take,
  OneHot: oneHot,
};
