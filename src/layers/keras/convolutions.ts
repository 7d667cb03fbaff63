/** Convolutions that TensorFlow.js lacks: causal, in groups, of one axis by channel, and with gradients where they are dilated. */
import * as tf from '@tensorflow/tfjs';
import { isTapeOn } from '../../tfjs/lazy_gradient.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import {
  isChannelsFirst,
  sizesOf,
  told,
  weightFields,
  type Computing,
  type Fields,
  type LayerKind,
} from './keras_layer.js';

export interface Window {
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly padding: string;
}

export const windowOf = (fields: Fields, axes: number): Window => ({
  sizes: sizesOf(fields['kernelSize'], axes),
  strides: sizesOf(fields['strides'], axes),
  dilations: sizesOf(fields['dilationRate'], axes),
  padding: String(fields['padding']),
});

/** How far a window reaches along an axis. */
const reachOf = ({ sizes, dilations }: Window, axis: number): number => (sizes[axis]! - 1) * dilations[axis]! + 1;

/** Zeros before and after, along an axis of this size. */
export function padsOf(window: Window, axis: number, size: number): [number, number] {
  const [reach, stride] = [reachOf(window, axis), window.strides[axis]!];
  if (window.padding === 'causal') return [reach - 1, 0];
  if (window.padding !== 'same') return [0, 0];
  const missing = Math.max(0, (Math.ceil(size / stride) - 1) * stride + reach - size);
  return [missing >> 1, missing - (missing >> 1)];
}

/** The size of the result along an axis. */
function sizeAfter(window: Window, axis: number, size: number | null): number | null {
  if (size === null) return null;
  const [before, after] = padsOf(window, axis, size);
  return Math.floor((size + before + after - reachOf(window, axis)) / window.strides[axis]!) + 1;
}

export const padded = (x: tf.Tensor, window: Window, value = 0): tf.Tensor => {
  const pads = x.shape.map((size, i): [number, number] =>
    i === 0 || i === x.rank - 1 ? [0, 0] : padsOf(window, i - 1, size),
  );
  return pads.every(([a, b]) => a + b === 0) ? x : tf.pad(x, pads, value);
};

/** The places of a window, first axis first. */
function placesIn(sizes: readonly number[]): number[][] {
  return sizes.reduce<number[][]>(
    (all, size) => all.flatMap((each) => Array.from({ length: size }, (_, i) => [...each, i])),
    [[]],
  );
}

/** Every so many places along the axes of space, from the first one on. */
function stepped(x: tf.Tensor, strides: readonly number[], sizes: readonly number[]): tf.Tensor {
  return strides.reduce((y, stride, i) => {
    if (stride === 1) return y;
    const [axis, size] = [i + 1, sizes[i]!];
    const missing = y.shape.map((each, j): [number, number] => [0, j === axis ? size * stride - each : 0]);
    const parts = y.shape.flatMap((each, j) => (j === axis ? [size, stride] : [each]));
    const begin = parts.map(() => 0);
    const taken = parts.map((each, j) => (j === axis + 1 ? 1 : each));
    return tf.slice(tf.pad(y, missing).reshape(parts), begin, taken).squeeze([axis + 1]);
  }, x);
}

/** What lies under each place of a window, as it moves over an input that is padded already. */
export function partsOf(x: tf.Tensor, window: Window): tf.Tensor[] {
  const sizes = window.sizes.map((_, i) => Math.floor((x.shape[i + 1]! - reachOf(window, i)) / window.strides[i]!) + 1);
  const spans = sizes.map((size, i) => (size - 1) * window.strides[i]! + 1);
  return placesIn(window.sizes).map((place) => {
    const from = [0, ...place.map((each, axis) => each * window.dilations[axis]!), 0];
    return stepped(tf.slice(x, from, [x.shape[0]!, ...spans, x.shape.at(-1)!]), window.strides, sizes);
  });
}

/**
 * The sum over the places of a window of what each gives; x is padded already. Gradients of slices and products are there
 * for any window and on every backend, where those of tfjs's convolutions are for windows without gaps.
 */
function byPlaces(
  x: tf.Tensor,
  window: Window,
  kernel: tf.Tensor,
  at: (part: tf.Tensor, kernel: tf.Tensor) => tf.Tensor,
): tf.Tensor {
  const rest = kernel.shape.slice(window.sizes.length);
  const parts = partsOf(x, window);
  const kernels = kernel.reshape([parts.length, -1]);
  return tf.addN(parts.map((part, i) => at(part, tf.slice(kernels, [i, 0], [1, -1]).reshape(rest))));
}

/** `wasm` has no gradients of convolutions, or wrong ones (tfjs 4.22). */
const isForGradients = (): boolean => isTapeOn() && tf.getBackend() === 'wasm';

const product = (part: tf.Tensor, kernel: tf.Tensor): tf.Tensor => {
  const rows = tf.matMul(part.reshape<tf.Tensor2D>([-1, part.shape.at(-1)!]), kernel as tf.Tensor2D);
  return rows.reshape([...part.shape.slice(0, -1), kernel.shape.at(-1)!]);
};

/** Every channel by its own numbers, `multiplier` results for each. */
const byChannel = (part: tf.Tensor, kernel: tf.Tensor): tf.Tensor => {
  const result = part.expandDims(-1).mul(kernel);
  return result.reshape([...part.shape.slice(0, -1), kernel.size]);
};

const isDilated = ({ dilations }: Window): boolean => dilations.some((rate) => rate !== 1);

/** A convolution of channels last with a kernel [window, channels, filters]. */
function convolved(x: tf.Tensor, kernel: tf.Tensor, window: Window, groups: number): tf.Tensor {
  if (groups > 1) {
    const parts = tf.split(x, groups, -1);
    const kernels = tf.split(kernel, groups, -1);
    return tf.concat(
      parts.map((part, i) => convolved(part, kernels[i]!, window, 1)),
      -1,
    );
  }
  const given = padded(x, window);
  if (isDilated(window) || isForGradients()) return byPlaces(given, window, kernel, product);
  const strides = window.strides as [number, number, number];
  if (window.sizes.length === 1) return tf.conv1d(given as tf.Tensor3D, kernel as tf.Tensor3D, strides[0], 'valid');
  if (window.sizes.length === 2) {
    return tf.conv2d(given as tf.Tensor4D, kernel as tf.Tensor4D, [strides[0], strides[1]], 'valid');
  }
  return tf.conv3d(given as tf.Tensor5D, kernel as tf.Tensor5D, strides, 'valid');
}

/** Each channel by a kernel [window, channels, multiplier]. */
function convolvedByChannel(x: tf.Tensor, kernel: tf.Tensor, window: Window): tf.Tensor {
  const given = padded(x, window);
  // Where it moves by more than a place, `wasm` takes other numbers (tfjs 4.22).
  if (isDilated(window) || tf.getBackend() === 'wasm') return byPlaces(given, window, kernel, byChannel);
  if (window.sizes.length === 2) {
    const strides = window.strides as [number, number];
    return tf.depthwiseConv2d(given as tf.Tensor4D, kernel as tf.Tensor4D, strides, 'valid');
  }
  // Of one axis: rows of one. TensorFlow wants steps that are alike.
  const [stride] = window.strides as [number];
  const wide = given.expandDims<tf.Tensor4D>(1);
  return tf.depthwiseConv2d(wide, kernel.expandDims<tf.Tensor4D>(0), [stride, stride], 'valid').squeeze([1]);
}

/**
 * What the gradient of a convolution gives to its input: zeros between places, then a convolution with the window turned
 * round. The kernel is [window, filters, channels].
 */
function transposed(x: tf.Tensor, kernel: tf.Tensor, window: Window): tf.Tensor {
  const axes = window.sizes.length;
  const wide = window.strides.reduce((y, stride, axis) => {
    if (stride === 1) return y;
    const at = axis + 1;
    const apart = y.expandDims(at + 1);
    const zeros = apart.shape.map((_, i): [number, number] => (i === at + 1 ? [0, stride - 1] : [0, 0]));
    return tf.pad(apart, zeros).reshape(y.shape.map((size, i) => (i === at ? size * stride : size)));
  }, x);
  const ends = window.sizes.map((_, axis): [number, number] => {
    const [reach, stride, size] = [reachOf(window, axis), window.strides[axis]!, x.shape[axis + 1]!];
    const before = window.padding === 'same' ? Math.max(reach - stride, 0) >> 1 : 0;
    const after = sizeBefore(window, axis, size)! - size * stride;
    return [reach - 1 - before, before + after];
  });
  const given = tf.pad(wide, [
    [0, 0],
    ...ends.map(([a, b]): [number, number] => [Math.max(0, a), Math.max(0, b)]),
    [0, 0],
  ]);
  const turned = tf.reverse(
    kernel,
    Array.from({ length: axes }, (_, i) => i),
  );
  const order = [...Array.from({ length: axes }, (_, i) => i), axes + 1, axes];
  const plain: Window = { ...window, strides: window.strides.map(() => 1), padding: 'valid' };
  return convolved(given, turned.transpose(order), plain, 1);
}

/** The size of the result of a transposed convolution along an axis. */
function sizeBefore(window: Window, axis: number, size: number | null): number | null {
  if (size === null) return null;
  const [reach, stride] = [reachOf(window, axis), window.strides[axis]!];
  return size * stride + (window.padding === 'same' ? 0 : Math.max(0, reach - stride));
}

/** Channels at the end, where the layer has them first. */
export function withChannelsLast(x: tf.Tensor, fields: Fields, run: (x: tf.Tensor) => tf.Tensor): tf.Tensor {
  if (!isChannelsFirst(fields)) return run(x);
  const { rank } = x;
  const inner = Array.from({ length: rank - 2 }, (_, i) => i + 1);
  const y = run(x.transpose([0, ...inner.map((i) => i + 1), 1]));
  return y.transpose([0, rank - 1, ...inner]);
}

const channelsOf = (shape: SymbolicShape, fields: Fields): number => shape.at(isChannelsFirst(fields) ? 1 : -1)!;

function resultShape(
  shape: SymbolicShape,
  fields: Fields,
  filters: number,
  size: (window: Window, axis: number, size: number | null) => number | null,
): SymbolicShape {
  const axes = shape.length - 2;
  const window = windowOf(fields, axes);
  const first = isChannelsFirst(fields);
  const inner = Array.from({ length: axes }, (_, axis) => size(window, axis, shape[axis + (first ? 2 : 1)]!));
  return first ? [shape[0]!, filters, ...inner] : [shape[0]!, ...inner, filters];
}

const COMMON = {
  kernelSize: 1,
  strides: 1,
  padding: 'valid',
  dataFormat: 'channelsLast',
  dilationRate: 1,
  activation: null,
  useBias: true,
  ...weightFields('bias', 'zeros'),
} as const;

/** Adds the bias and applies the function. */
function finished(x: tf.Tensor, { weight, activate }: Computing): tf.Tensor {
  const bias = weight('bias');
  return activate(bias === null ? x : x.add(bias));
}

type Run = (given: tf.Tensor, computing: Computing, window: ReturnType<typeof windowOf>) => tf.Tensor;

/** Runs where channels come last; bias and function follow. */
function overWindows(axes: number, run: Run): LayerKind['compute'] {
  return (x, computing) => {
    const { fields } = computing;
    return withChannelsLast(x, fields, (given) => finished(run(given, computing, windowOf(fields, axes)), computing));
  };
}

/** What Keras writes of all convolutions, and most of them have not. */
const FIXED = {
  groups: [1],
  output_padding: [null],
  kernel_regularizer: [null],
  kernel_constraint: [null],
} as const;

const withBias = (fields: Fields, filters: number): Readonly<Record<string, readonly number[]>> =>
  fields['useBias'] === true ? { bias: [filters] } : {};

const dilates = (config: Fields): boolean => [told(config, 'dilationRate') ?? 1].flat().some((rate) => rate !== 1);
const isGrouped = (config: Fields): boolean => (config['groups'] ?? 1) !== 1;

const convolution = (axes: 1 | 2 | 3): LayerKind => ({
  className: `Conv${axes}D`,
  fields: { filters: 1, ...COMMON, groups: 1, ...weightFields('kernel', 'glorotUniform') },
  weights: (shape, fields) => {
    const [filters, groups] = [fields['filters'] as number, fields['groups'] as number];
    const sizes = sizesOf(fields['kernelSize'], axes);
    return { kernel: [...sizes, channelsOf(shape, fields) / groups, filters], ...withBias(fields, filters) };
  },
  shape: (shape, fields) => resultShape(shape, fields, fields['filters'] as number, sizeAfter),
  compute: overWindows(axes, (given, { fields, weight }, window) =>
    convolved(given, weight('kernel')!, window, fields['groups'] as number),
  ),
  passesMask: false,
  isNeeded: (config) => dilates(config) || isGrouped(config) || config['padding'] === 'causal',
});

const transposedConvolution = (axes: 1 | 2 | 3): LayerKind => ({
  className: `Conv${axes}DTranspose`,
  fields: { filters: 1, ...COMMON, ...weightFields('kernel', 'glorotUniform') },
  weights: (shape, fields) => {
    const filters = fields['filters'] as number;
    const sizes = sizesOf(fields['kernelSize'], axes);
    return { kernel: [...sizes, filters, channelsOf(shape, fields)], ...withBias(fields, filters) };
  },
  shape: (shape, fields) => resultShape(shape, fields, fields['filters'] as number, sizeBefore),
  compute: overWindows(axes, (given, { weight }, window) => transposed(given, weight('kernel')!, window)),
  passesMask: false,
  fixed: FIXED,
  isNeeded: (config) => axes === 1 || dilates(config),
});

const depthwise = (axes: 1 | 2): LayerKind => ({
  className: `DepthwiseConv${axes}D`,
  fields: { depthMultiplier: 1, ...COMMON, ...weightFields('depthwise', 'glorotUniform') },
  weights: (shape, fields) => {
    const [channels, multiplier] = [channelsOf(shape, fields), fields['depthMultiplier'] as number];
    const sizes = sizesOf(fields['kernelSize'], axes);
    return { depthwise: [...sizes, channels, multiplier], ...withBias(fields, channels * multiplier) };
  },
  shape: (shape, fields) =>
    resultShape(shape, fields, channelsOf(shape, fields) * (fields['depthMultiplier'] as number), sizeAfter),
  compute: overWindows(axes, (given, { weight }, window) => convolvedByChannel(given, weight('depthwise')!, window)),
  passesMask: false,
  fixed: FIXED,
  isNeeded: (config) => axes === 1 || dilates(config),
});

const separable = (axes: 1 | 2): LayerKind => ({
  className: `SeparableConv${axes}D`,
  fields: {
    filters: 1,
    depthMultiplier: 1,
    ...COMMON,
    ...weightFields('depthwise', 'glorotUniform'),
    ...weightFields('pointwise', 'glorotUniform'),
  },
  weights: (shape, fields) => {
    const [channels, multiplier] = [channelsOf(shape, fields), fields['depthMultiplier'] as number];
    const filters = fields['filters'] as number;
    const sizes = sizesOf(fields['kernelSize'], axes);
    return {
      depthwise: [...sizes, channels, multiplier],
      pointwise: [...sizes.map(() => 1), channels * multiplier, filters],
      ...withBias(fields, filters),
    };
  },
  shape: (shape, fields) => resultShape(shape, fields, fields['filters'] as number, sizeAfter),
  compute: overWindows(axes, (given, { weight }, window) => {
    const channels = convolvedByChannel(given, weight('depthwise')!, window);
    const pointwise = weight('pointwise')!;
    return product(channels, pointwise.reshape(pointwise.shape.slice(-2)));
  }),
  passesMask: false,
  fixed: FIXED,
  isNeeded: (config) => axes === 1 || dilates(config) || isChannelsFirst({ dataFormat: told(config, 'dataFormat') }),
});

export const CONVOLUTION_KINDS: readonly LayerKind[] = [
  convolution(1),
  convolution(2),
  convolution(3),
  transposedConvolution(1),
  transposedConvolution(2),
  transposedConvolution(3),
  depthwise(1),
  depthwise(2),
  separable(1),
  separable(2),
];
