/** Layers that pad, crop, repeat, resize and pool: without weights. */
import * as tf from '@tensorflow/tfjs';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { ValueError } from '../../base/errors.js';
import { largest } from '../operations/extremes.js';
import { sizesOf, spatialAxes, isChannelsFirst, told, type Fields, type LayerKind } from './keras_layer.js';

type Pair = readonly [number, number];

const FORMAT = { dataFormat: 'channelsLast' } as const;

/** A field as pairs of one for each axis of space: a number, one a axis, or pairs of them; a single pair is of one axis. */
function pairsOf(value: unknown, count: number): Pair[] {
  const list = Array.isArray(value) ? (value as unknown[]) : Array.from({ length: count }, () => value);
  if (count === 1 && list.length === 2) return [list as unknown as Pair];
  if (list.length !== count) throw new ValueError('padding', `numbers or pairs for ${count} axes`, value);
  return list.map((each): Pair => (Array.isArray(each) ? (each as unknown as Pair) : [each as number, each as number]));
}

/** By axis, what comes before and after. */
function around(rank: number, field: unknown, fields: Fields): Pair[] {
  const axes = spatialAxes(rank, fields);
  const pairs = pairsOf(field, axes.length);
  return Array.from({ length: rank }, (_, axis): Pair => pairs[axes.indexOf(axis)] ?? [0, 0]);
}

const changed = (shape: SymbolicShape, change: (size: number, axis: number) => number): SymbolicShape =>
  shape.map((size, axis) => (size === null ? null : change(size, axis)));

const zeroPadding = (className: string, padding: unknown): LayerKind => ({
  className,
  fields: { padding, ...FORMAT },
  shape: (shape, fields) => {
    const pairs = around(shape.length, fields['padding'], fields);
    return changed(shape, (size, axis) => size + pairs[axis]![0] + pairs[axis]![1]);
  },
  compute: (x, { fields }) => tf.pad(x, around(x.rank, fields['padding'], fields) as [number, number][]),
  passesMask: false,
});

const cropping = (className: string, given: unknown): LayerKind => ({
  className,
  // Steps are the second axis always.
  fields: { cropping: given, ...(className !== 'Cropping1D' && FORMAT) },
  shape: (shape, fields) => {
    const pairs = around(shape.length, fields['cropping'], fields);
    return changed(shape, (size, axis) => size - pairs[axis]![0] - pairs[axis]![1]);
  },
  compute: (x, { fields }) => {
    const pairs = around(x.rank, fields['cropping'], fields);
    const sizes = x.shape.map((size, axis) => size - pairs[axis]![0] - pairs[axis]![1]);
    return tf.slice(
      x,
      pairs.map(([before]) => before),
      sizes,
    );
  },
  passesMask: false,
});

/** Each place along an axis so many times. */
function repeated(x: tf.Tensor, axis: number, times: number): tf.Tensor {
  if (times === 1) return x;
  const wide = x.expandDims(axis + 1);
  // The gradient of tfjs's tile knows four axes at most.
  const all = tf.concat(
    Array.from({ length: times }, () => wide),
    axis + 1,
  );
  return all.reshape(x.shape.map((size, i) => (i === axis ? size * times : size)));
}

const CUBIC = -0.5;

/** What a place at this distance counts. */
function share(distance: number, how: unknown): number {
  const d = Math.abs(distance);
  if (how === 'bilinear') return Math.max(0, 1 - d);
  if (d <= 1) return ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1;
  return d < 2 ? CUBIC * (((d - 5) * d + 8) * d - 4) : 0;
}

/** The matrix [after, before] that resizes an axis, with the centres of places where TensorFlow has them. */
function resizingMatrix(before: number, after: number, how: unknown): tf.Tensor2D {
  const rows = Array.from({ length: after }, (_, i) => {
    const row = new Array<number>(before).fill(0);
    const centre = (i + 0.5) * (before / after) - 0.5;
    if (how === 'nearest') {
      row[Math.min(before - 1, Math.floor(centre + 0.5))] = 1;
      return row;
    }
    const first = Math.floor(centre) - 1;
    const shares = [0, 1, 2, 3].map((step) => ({ at: first + step, part: share(centre - first - step, how) }));
    if (how === 'bilinear') {
      // Places beyond the rim are those at the rim.
      for (const { at, part } of shares) row[Math.min(before - 1, Math.max(0, at))]! += part;
      return row;
    }
    const within = shares.filter(({ at }) => at >= 0 && at < before);
    const sum = within.reduce((total, { part }) => total + part, 0);
    for (const { at, part } of within) row[at]! += part / sum;
    return row;
  });
  return tf.tensor2d(rows, [after, before]);
}

/** x with an axis of another size; sums of products, whose gradients are right on every backend. */
function resized(x: tf.Tensor, axis: number, size: number, how: unknown): tf.Tensor {
  const before = x.shape[axis]!;
  if (before === size) return x;
  const order = [axis, ...x.shape.map((_, i) => i).filter((i) => i !== axis)];
  const moved = x.transpose(order);
  const rows = tf.matMul(resizingMatrix(before, size, how), moved.reshape<tf.Tensor2D>([before, -1]));
  return rows.reshape([size, ...moved.shape.slice(1)]).transpose(x.shape.map((_, i) => order.indexOf(i)));
}

const upSampling = (className: string, size: unknown, fields: Fields, rest: Partial<LayerKind> = {}): LayerKind => ({
  className,
  fields: { size, ...fields },
  shape: (shape, given) => {
    const axes = spatialAxes(shape.length, given);
    const times = sizesOf(given['size'], axes.length);
    return changed(shape, (each, axis) => each * (times[axes.indexOf(axis)] ?? 1));
  },
  compute: (x, { fields: given }) => {
    const axes = spatialAxes(x.rank, given);
    const times = sizesOf(given['size'], axes.length);
    const how = given['interpolation'] ?? 'nearest';
    return axes.reduce((y, axis, i) => {
      return how === 'nearest' ? repeated(y, axis, times[i]!) : resized(y, axis, x.shape[axis]! * times[i]!, how);
    }, x);
  },
  passesMask: false,
  ...rest,
});

const SMOOTH = ['bilinear', 'bicubic'];

const resizing: LayerKind = {
  className: 'Resizing',
  fields: { height: 1, width: 1, interpolation: 'bilinear', ...FORMAT },
  shape: (shape, fields) => {
    const axes = spatialAxes(shape.length, fields);
    return shape.map((size, axis) => {
      const place = axes.indexOf(axis);
      return place < 0 ? size : (fields[place === 0 ? 'height' : 'width'] as number);
    });
  },
  compute: (x, { fields }) => {
    const [rows, columns] = spatialAxes(x.rank, fields) as [number, number];
    const how = fields['interpolation'];
    return resized(resized(x, rows, fields['height'] as number, how), columns, fields['width'] as number, how);
  },
  fixed: {
    interpolation: ['nearest', 'bilinear', 'bicubic'],
    crop_to_aspect_ratio: [false],
    pad_to_aspect_ratio: [false],
    antialias: [false],
    fill_mode: ['constant'],
    fill_value: [0],
  },
  passesMask: false,
};

/** The middle of images that are at least as large. */
const centerCrop: LayerKind = {
  className: 'CenterCrop',
  fields: { height: 1, width: 1, ...FORMAT },
  shape: (shape, fields) => {
    const axes = spatialAxes(shape.length, fields);
    const sizes = [fields['height'], fields['width']] as number[];
    axes.forEach((axis, i) => {
      if (shape[axis] === null || shape[axis]! >= sizes[i]!) return;
      throw new ValueError(
        'inputs',
        `at least ${sizes[i]} rows or columns: smaller images are not resized here`,
        shape,
      );
    });
    return shape.map((size, axis) => sizes[axes.indexOf(axis)] ?? size);
  },
  compute: (x, { fields }) => {
    const axes = spatialAxes(x.rank, fields);
    const sizes = x.shape.map(
      (size, axis) => ([fields['height'], fields['width']] as number[])[axes.indexOf(axis)] ?? size,
    );
    return tf.slice(
      x,
      x.shape.map((size, axis) => Math.floor((size - sizes[axis]!) / 2)),
      sizes,
    );
  },
  passesMask: false,
};

const pooledShape = (shape: SymbolicShape, fields: Fields): SymbolicShape => {
  const axes = spatialAxes(shape.length, fields);
  const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return fields['keepdims'] === true ? kept : kept.filter((_, axis) => !axes.includes(axis));
};

/** Those of one or two axes are of tfjs, where no axis stays. */
const globalPooling = (kind: 'Max' | 'Average', axes: 1 | 2 | 3): LayerKind => ({
  className: `Global${kind}Pooling${axes}D`,
  fields: { ...FORMAT, keepdims: false },
  shape: pooledShape,
  compute: (x, { fields }) => {
    const over = spatialAxes(x.rank, fields);
    const keeps = fields['keepdims'] === true;
    return kind === 'Max' ? largest(x, over, keeps) : x.mean(over, keeps);
  },
  passesMask: false,
  isNeeded: (config) => axes === 3 || told(config, 'keepdims') === true || (axes === 1 && isFirst(config)),
});

const isFirst = (config: Fields): boolean => isChannelsFirst({ dataFormat: told(config, 'dataFormat') });

export const SHAPE_KINDS: readonly LayerKind[] = [
  zeroPadding('ZeroPadding1D', 1),
  zeroPadding('ZeroPadding3D', 1),
  cropping('Cropping1D', 1),
  cropping('Cropping3D', 1),
  upSampling('UpSampling1D', 2, {}),
  upSampling('UpSampling3D', 2, FORMAT),
  upSampling(
    'UpSampling2D',
    2,
    { ...FORMAT, interpolation: 'nearest' },
    { isNeeded: (config) => SMOOTH.includes(String(config['interpolation'])) },
  ),
  resizing,
  centerCrop,
  globalPooling('Max', 1),
  globalPooling('Max', 2),
  globalPooling('Max', 3),
  globalPooling('Average', 2),
  globalPooling('Average', 3),
];
