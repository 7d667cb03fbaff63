/**
 * Windows that move over images and volumes in graphs. tfjs-converter takes channels for the last axis whatever a graph
 * says, knows no groups of channels and no padding side by side of the largest numbers; kernels of `wasm` begin the
 * largest number of a window at 0, take whole numbers for none, and leave short windows empty.
 */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../../base/errors.js';
import { padsOf, partsOf, type Window } from '../../../layers/keras/convolutions.js';
import { asOwnRun } from '../../../tfjs/engine/own_runs.js';
import { INT32_MIN } from '../../../base/types.js';
import { readInt32 } from '../../../ids/values.js';
import { textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { sizeOf } from '../host_array.js';
import { activated } from './products.js';

type Pads = [number, number][];

/** How a window moves; lists are of the axes of space. */
interface Moves {
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** What stands before and after each axis of space, where that is told; null: as `padding` says. */
  readonly pads: Pads | null;
  readonly padding: 'same' | 'valid';
  readonly isFirst: boolean;
}

const isChannelsFirst = (node: tf.GraphNode): boolean => textAttribute(node, 'data_format').startsWith('NC');

/** Numbers of an attribute, one an axis, of those of space; `dilations` and `rates` may be left out. */
function spatial(node: tf.GraphNode, name: string, axes: number): number[] {
  const given = (node.attrs[name] as number[] | undefined) ?? [];
  const all = given.length > 0 ? given : new Array<number>(axes + 2).fill(1);
  const channel = isChannelsFirst(node) ? 1 : axes + 1;
  if (all.length !== axes + 2 || all[0] !== 1 || all[channel] !== 1) {
    throw new ValueError(name, `${axes + 2} numbers, 1 for batches and channels`, all);
  }
  return all.filter((_, axis) => axis !== 0 && axis !== channel);
}

function movesOf(node: tf.GraphNode, axes: number, dilations = 'dilations'): Moves {
  const isFirst = isChannelsFirst(node);
  const padding = textAttribute(node, 'padding').toLowerCase();
  const common = { strides: spatial(node, 'strides', axes), dilations: spatial(node, dilations, axes), isFirst };
  if (padding === 'same' || padding === 'valid') return { ...common, padding, pads: null };
  const edges = (node.attrs['explicit_paddings'] as number[] | undefined) ?? [];
  if (padding !== 'explicit' || edges.length !== 2 * axes + 4 || edges.some((edge) => !(edge >= 0))) {
    throw new ValueError('padding', `SAME, VALID, or EXPLICIT with ${2 * axes + 4} explicit_paddings`, padding);
  }
  const first = isFirst ? 4 : 2;
  const pads = Array.from({ length: axes }, (_, axis): [number, number] => {
    return [edges[first + 2 * axis]!, edges[first + 2 * axis + 1]!];
  });
  return { ...common, padding: 'valid', pads };
}

/** What `run` makes of channels at the end, in the order of the graph. */
function channelsLast(x: tf.Tensor, isFirst: boolean, run: (x: tf.Tensor) => tf.Tensor): tf.Tensor {
  if (!isFirst) return run(x);
  const inner = Array.from({ length: x.rank - 2 }, (_, i) => i + 1);
  const y = run(tf.transpose(x, [0, ...inner.map((i) => i + 1), 1]));
  return tf.transpose(y, [0, x.rank - 1, ...inner]);
}

/** What stands before and after each axis of space, and how many places the window then has along it. */
interface Reach {
  readonly edges: Pads;
  readonly places: readonly number[];
}

function reachOf(x: tf.Tensor, window: Window, pads: Pads | null): Reach {
  const edges = window.sizes.map((_, axis) => pads?.[axis] ?? padsOf(window, axis, x.shape[axis + 1]!));
  const places = window.sizes.map((size, axis) => {
    const rest = x.shape[axis + 1]! + edges[axis]![0] + edges[axis]![1] - (size - 1) * window.dilations[axis]! - 1;
    if (rest < 0) throw new ValueError('input', `as many places as the window along axis ${axis + 1}`, x);
    return Math.floor(rest / window.strides[axis]!) + 1;
  });
  return { edges, places };
}

const windowOf = (sizes: readonly number[], { strides, dilations, padding }: Moves): Window => ({
  sizes,
  strides,
  dilations,
  padding,
});

/** What lies under each place of a window, beyond the edges this value. */
function underWindow(x: tf.Tensor, window: Window, { edges }: Reach, value: number): tf.Tensor[] {
  const isWhole = edges.every(([before, after]) => before + after === 0);
  return partsOf(isWhole ? x : tf.pad(x, [[0, 0], ...edges, [0, 0]], value), window);
}

function checkRank(x: tf.Tensor, axes: number): void {
  if (x.rank !== axes + 2) throw new ValueError('input', `rank ${axes + 2}`, x);
}

type Padding = 'same' | 'valid';

/** What makes a convolution of channels last, and what may be done with its result at once. */
type Convolve = (
  x: tf.Tensor,
  filter: tf.Tensor,
  moves: Moves,
  node: tf.GraphNode,
  args: readonly tf.Tensor[],
) => tf.Tensor;

const paddingOf = ({ pads, padding }: Moves): Padding =>
  pads === null ? padding : ([[0, 0], ...pads, [0, 0]] as unknown as Padding);

/** Activations that tfjs has in its kernels. */
const FUSED: Readonly<Record<string, tf.fused.Activation>> = {
  relu: 'relu',
  relu6: 'relu6',
  elu: 'elu',
  sigmoid: 'sigmoid',
  leakyrelu: 'leakyrelu',
  prelu: 'prelu',
};

/** What a kernel of tfjs does at once; null where it cannot. */
function fusedIn(node: tf.GraphNode, args: readonly tf.Tensor[]): object | null {
  const names = ((node.attrs['fused_ops'] as string[] | undefined) ?? []).map((name) => name.toLowerCase());
  const [first, second] = names[0] === 'biasadd' ? [names[0], names[1]] : [undefined, names[0]];
  const activation = second === undefined ? 'linear' : FUSED[second];
  if (activation === undefined || names.length > 2) return null;
  const isSloped = activation === 'prelu';
  return {
    activation,
    ...(first !== undefined && { bias: args[0] }),
    ...(isSloped && { preluActivationWeights: args.at(-1) }),
    ...(activation === 'leakyrelu' && { leakyreluAlpha: Number(node.attrs['leakyrelu_alpha'] ?? 0.2) }),
  };
}

/** A convolution of images, and what follows in the same op. */
function convolvedImages(
  run: typeof tf.fused.conv2d,
  x: tf.Tensor,
  filter: tf.Tensor,
  moves: Moves,
  node: tf.GraphNode,
  args: readonly tf.Tensor[],
): tf.Tensor {
  const common = {
    x: x as tf.Tensor4D,
    filter: filter as tf.Tensor4D,
    strides: moves.strides as [number, number],
    dilations: moves.dilations as [number, number],
    pad: paddingOf(moves),
  };
  const options = fusedIn(node, args);
  return options === null ? activated(run(common), args, node) : run({ ...common, ...options });
}

/** A filter may be of fewer channels: each group of channels has its own results. */
const convolved =
  (axes: number): Convolve =>
  (x, filter, moves, node, args) => {
    checkRank(x, axes);
    if (filter.rank !== axes + 2) throw new ValueError('filter', `rank ${axes + 2}`, filter);
    const [channels, own, results] = [x.shape.at(-1)!, filter.shape[axes]!, filter.shape[axes + 1]!];
    const groups = channels / own;
    if (!Number.isInteger(groups) || groups < 1 || results % groups !== 0) {
      throw new ValueError('filter', `one whose channels divide ${channels}`, filter);
    }
    const { places } = reachOf(x, windowOf(filter.shape.slice(0, axes), moves), moves.pads);
    const shape = [x.shape[0]!, ...places, results];
    if (sizeOf(shape) === 0) return tf.zeros(shape);
    if (groups > 1) {
      const [parts, kernels] = [tf.split(x, groups, -1), tf.split(filter, groups, -1)];
      const each = parts.map((part, i) => convolved(axes)(part, kernels[i]!, moves, PLAIN, []));
      return activated(tf.concat(each, -1), args, node);
    }
    if (axes === 2) return convolvedImages(tf.fused.conv2d, x, filter, moves, node, args);
    const [strides, dilations] = [moves.strides, moves.dilations] as [number, number, number][];
    return tf.conv3d(x as tf.Tensor5D, filter as tf.Tensor5D, strides!, moves.padding, 'NDHWC', dilations!);
  };

/** Each channel by itself. */
const byChannel: Convolve = (x, filter, moves, node, args) => {
  checkRank(x, 2);
  if (filter.rank !== 4 || filter.shape[2] !== x.shape[3]) {
    throw new ValueError('filter', `one of ${x.shape[3]} channels`, filter);
  }
  const { places } = reachOf(x, windowOf(filter.shape.slice(0, 2), moves), moves.pads);
  const shape = [x.shape[0]!, ...places, filter.shape[2]! * filter.shape[3]!];
  if (sizeOf(shape) === 0) return tf.zeros(shape);
  const run = tf.fused.depthwiseConv2d as unknown as typeof tf.fused.conv2d;
  return convolvedImages(run, x, filter, moves, node, args);
};

/** A node of a convolution alone. */
const PLAIN = { inputs: [], attrs: {} } as unknown as tf.GraphNode;

/** A convolution, with what `fused_ops` tell to add to each channel, and an activation. */
const convolution = (signature: string, axes: number, run: Convolve): GraphOp =>
  graphOp(signature, ([x, filter, ...args], node) => {
    const moves = movesOf(node, axes);
    return tf.tidy(() => channelsLast(x!, moves.isFirst, (given) => run(given, filter!, moves, node, args)));
  });

/** The gradient of a convolution for what it was made of. */
function transposed([sizes, filter, given]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const moves = movesOf(node, 2);
  const { isFirst } = moves;
  if (moves.dilations.some((rate) => rate !== 1))
    throw new ValueError('dilations', '1 along each axis', moves.dilations);
  const shape = Array.from(readInt32(sizes!, 'input_sizes'));
  checkRank(given!, 2);
  // The batch may be left out.
  const whole = shape.length === 2 ? [given!.shape[0]!, ...shape, filter!.shape[2]!] : shape;
  const [batch, ...rest] = whole;
  const [height, width, channels] = isFirst && shape.length > 2 ? [...rest.slice(1), rest[0]!] : rest;
  const [[top, bottom], [left, right]] = (moves.pads ?? [[0, 0], [0, 0]]) as [[number, number], [number, number]]; // prettier-ignore
  return tf.tidy(() =>
    channelsLast(given!, isFirst, (x) => {
      // What lies beyond the edges has gradients too, which nobody asks for.
      const edged: [number, number, number, number] = [
        batch!,
        height! + top + bottom,
        width! + left + right,
        channels!,
      ];
      const strides = moves.strides as [number, number];
      const all = tf.conv2dTranspose(x as tf.Tensor4D, filter as tf.Tensor4D, edged, strides, moves.padding);
      return moves.pads === null ? all : tf.slice(all, [0, top, left, 0], [batch!, height!, width!, channels!]);
    }),
  );
}

/** The largest of what lies under each place of a window. */
function largestOf(x: tf.Tensor, sizes: readonly number[], moves: Moves): tf.Tensor {
  const window = windowOf(sizes, moves);
  const reach = reachOf(x, window, moves.pads);
  const shape = [x.shape[0]!, ...reach.places, x.shape.at(-1)!];
  if (sizeOf(shape) === 0) return tf.zeros(shape, x.dtype);
  const parts = underWindow(x, window, reach, x.dtype === 'int32' ? INT32_MIN : -Infinity);
  return parts.reduce((a, b) => tf.maximum(a, b));
}

const largest = (name: string, axes: number): GraphOp =>
  graphOp(`${name}(input: T) -> output: T`, ([x], node) => {
    const [moves, sizes] = [movesOf(node, axes), spatial(node, 'ksize', axes)];
    checkRank(x!, axes);
    const { strides, padding, pads } = moves;
    return tf.tidy(() =>
      channelsLast(x!, moves.isFirst, (given) => {
        // The kernel of `wasm` of images is right and fast.
        const isStock = given.dtype === 'float32' && pads === null && axes === 2;
        if (!isStock || given.size === 0) return largestOf(given, sizes, moves);
        return tf.maxPool(given as tf.Tensor4D, sizes as [number, number], strides as [number, number], padding);
      }),
    );
  });

const average = (name: string, axes: number): GraphOp =>
  graphOp(`${name}(value: T) -> output: T`, ([x], node) => {
    const [moves, sizes] = [movesOf(node, axes), spatial(node, 'ksize', axes)];
    const { strides, padding, isFirst } = moves;
    checkRank(x!, axes);
    return tf.tidy(() =>
      channelsLast(x!, isFirst, (given) => {
        const { places } = reachOf(given, windowOf(sizes, moves), null);
        if (given.size === 0) return tf.zeros([given.shape[0]!, ...places, given.shape.at(-1)!]);
        return axes === 2
          ? tf.avgPool(given as tf.Tensor4D, sizes as [number, number], strides as [number, number], padding)
          : tf.avgPool3d(
              given as tf.Tensor5D,
              sizes as [number, number, number],
              strides as [number, number, number],
              padding,
            );
      }),
    );
  });

/** The largest number of each window, and where it stands: in its image, or in all of them. */
function largestWithPlaces([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const [moves, sizes] = [movesOf(node, 2), spatial(node, 'ksize', 2)];
  checkRank(x!, 2);
  if (x!.dtype !== 'float32') throw new ArgumentTypeError('input', 'floats', x!);
  const [batch, height, width, channels] = x!.shape as [number, number, number, number];
  const { edges, places: sizesAfter } = reachOf(x!, windowOf(sizes, moves), moves.pads);
  const [outHeight, outWidth] = sizesAfter as [number, number];
  const shape = [batch, outHeight, outWidth, channels];
  const [values, result, places] = [x!.dataSync(), new Float32Array(sizeOf(shape)), new Int32Array(sizeOf(shape))];
  const isOfAll = node.attrs['include_batch_in_index'] === true;
  for (let at = 0; at < result.length; at++) {
    const [channel, column, row] = [
      at % channels,
      Math.floor(at / channels) % outWidth,
      Math.floor(at / channels / outWidth) % outHeight,
    ];
    const image = Math.floor(at / channels / outWidth / outHeight);
    const [top, left] = [row * moves.strides[0]! - edges[0]![0], column * moves.strides[1]! - edges[1]![0]];
    let best = -1;
    for (let y = Math.max(0, top); y < Math.min(height, top + sizes[0]!); y++) {
      for (let z = Math.max(0, left); z < Math.min(width, left + sizes[1]!); z++) {
        const place = ((image * height + y) * width + z) * channels + channel;
        if (best < 0 || values[place]! > values[best]!) best = place;
      }
    }
    result[at] = values[best]!;
    places[at] = isOfAll ? best : best % (height * width * channels);
  }
  return [tf.tensor(result, shape), tf.tensor(places, shape, 'int32')];
}

/** The largest sum of a window and what lies under it. */
function dilated([x, filter]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const moves = movesOf(node, 2, 'rates');
  checkRank(x!, 2);
  if (filter!.rank !== 3 || filter!.shape[2] !== x!.shape[3]) {
    throw new ValueError('filter', `one of ${x!.shape[3]} channels`, filter!);
  }
  return tf.tidy(() => {
    const window = windowOf(filter!.shape.slice(0, 2), moves);
    const reach = reachOf(x!, window, null);
    const shape = [x!.shape[0]!, ...reach.places, x!.shape[3]!];
    if (sizeOf(shape) === 0) return tf.zeros(shape);
    const added = tf.reshape(filter!, [-1, x!.shape[3]!]);
    return underWindow(x!, window, reach, -Infinity)
      .map((part, i) => tf.add(part, tf.slice(added, [i, 0], [1, -1])))
      .reduce((a, b) => tf.maximum(a, b));
  });
}

/** Blocks of each image become channels. */
function spaceToDepth([x]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const size = Number(node.attrs['block_size']);
  checkRank(x!, 2);
  return tf.tidy(() =>
    channelsLast(x!, isChannelsFirst(node), (given) => {
      const [batch, height, width, channels] = given.shape as [number, number, number, number];
      if (!(size >= 1) || height % size !== 0 || width % size !== 0) {
        throw new ValueError('block_size', `a divisor of ${height} and ${width}`, described(`${size}`));
      }
      const blocks = tf.reshape(given, [batch, height / size, size, width / size, size, channels]);
      return tf.reshape(tf.transpose(blocks, [0, 1, 3, 2, 4, 5]), [batch, height / size, width / size, -1]);
    }),
  );
}

const OPS: readonly GraphOp[] = [
  convolution('Conv2D(input: T, filter: T) -> output: T', 2, convolved(2)),
  convolution('Conv3D(input: T, filter: T) -> output: T', 3, convolved(3)),
  convolution('DepthwiseConv2dNative(input: T, filter: T) -> output: T', 2, byChannel),
  convolution('_FusedConv2D(input: T, filter: T, args: T * num_args) -> output: T', 2, convolved(2)),
  convolution('FusedDepthwiseConv2dNative(input: T, filter: T, args: T * num_args) -> output: T', 2, byChannel),
  graphOp('Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T', transposed),
  largest('MaxPool', 2),
  largest('MaxPool3D', 3),
  average('AvgPool', 2),
  average('AvgPool3D', 3),
  graphOp('MaxPoolWithArgmax(input: T) -> output: T, argmax: Targmax', largestWithPlaces),
  graphOp('Dilation2D(input: T, filter: T) -> output: T', dilated),
  graphOp('SpaceToDepth(input: T) -> output: T', spaceToDepth),
];

/** Kernels of this package run in them, which pad rightly. */
export const WINDOW_OPS: readonly GraphOp[] = OPS.map((op) => ({
  ...op,
  run: (inputs, node) => asOwnRun(() => op.run(inputs, node)),
}));
