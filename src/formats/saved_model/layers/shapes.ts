/** Layers that move numbers without changing them. */
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';
import type { Emitter } from './layer_call.js';

/** Axes of space behind the batch, for a value whose channels come first. */
function channelsLastOrder(rank: number): number[] {
  return [0, ...Array.from({ length: rank - 2 }, (_, i) => i + 2), 1];
}

export function channelsToLast(o: Operations, x: Value): Value {
  return o.transpose(x, channelsLastOrder(x.shape.length));
}

export function channelsToFirst(o: Operations, x: Value): Value {
  const rank = x.shape.length;
  return o.transpose(x, [0, rank - 1, ...Array.from({ length: rank - 2 }, (_, i) => i + 1)]);
}

const flatten: Emitter = ({ o, input, isChannelsFirst }) => {
  return o.flatten(isChannelsFirst && input.shape.length > 1 ? channelsToLast(o, input) : input);
};

const reshape: Emitter = ({ o, input, config }) => {
  const target = config['targetShape'] as readonly (number | null)[];
  const hasUnknown = target.some((size) => size === null || size < 0);
  const known = target.map((size) => (size === null || size < 0 ? null : size));
  // One size is left to TensorFlow: that of the batch, where all others are known.
  return o.reshape(input, [hasUnknown ? o.sizeAt(input, 0) : null, ...known], [input.shape[0]!, ...known]);
};

const permute: Emitter = ({ o, input, config }) => o.transpose(input, [0, ...(config['dims'] as readonly number[])]);

const repeatVector: Emitter = ({ o, input, config }) => {
  const n = config['n'] as number;
  return o.tile(o.expandDims(input, 1), [1, n, 1], [input.shape[0]!, n, input.shape[1]!]);
};

type Pair = readonly [number, number];

/** [top, bottom], [left, right] around the axes of space. */
function spatial(isChannelsFirst: boolean, [rows, columns]: readonly [Pair, Pair]): Pair[] {
  return isChannelsFirst ? [[0, 0], [0, 0], rows, columns] : [[0, 0], rows, columns, [0, 0]];
}

const zeroPadding: Emitter = ({ o, input, config, isChannelsFirst }) => {
  return o.pad(input, spatial(isChannelsFirst, config['padding'] as [Pair, Pair]));
};

const cropping: Emitter = ({ o, input, config, isChannelsFirst }) => {
  const widths = spatial(isChannelsFirst, config['cropping'] as [Pair, Pair]);
  return o.slice(
    input,
    widths.map(([before]) => before),
    widths.map(([, after]) => (after === 0 ? null : -after)),
  );
};

/** `resizing` of images, channels last. */
export function resize(
  o: Operations,
  x: Value,
  size: readonly [Value | number, Value | number],
  how: unknown,
  alignCorners = false,
): Value {
  const op = how === 'bilinear' ? 'ResizeBilinear' : 'ResizeNearestNeighbor';
  const known = size.map((each) => (typeof each === 'number' ? each : null));
  const resized = o.graph.node(op, [x, o.sizes(size)], {
    attr: { T: { type: 1 }, align_corners: { b: alignCorners } },
    dtype: 'float32',
    shape: [x.shape[0]!, known[0]!, known[1]!, x.shape[3]!],
    output: 'resized_images',
  });
  return resized;
}

const upSampling: Emitter = ({ o, input, config, isChannelsFirst }) => {
  const [rows, columns] = config['size'] as [number, number];
  const x = isChannelsFirst ? channelsToLast(o, input) : input;
  const grown = (axis: number, times: number): Value | number => {
    const size = x.shape[axis]!;
    return size === null ? o.mul(o.sizeAt(x, axis), times) : size * times;
  };
  const resized = resize(o, x, [grown(1, rows), grown(2, columns)], config['interpolation']);
  return isChannelsFirst ? channelsToFirst(o, resized) : resized;
};

export const SHAPE_LAYERS: Readonly<Record<string, Emitter>> = {
  Flatten: flatten,
  Reshape: reshape,
  Permute: permute,
  RepeatVector: repeatVector,
  ZeroPadding2D: zeroPadding,
  Cropping2D: cropping,
  UpSampling2D: upSampling,
};
