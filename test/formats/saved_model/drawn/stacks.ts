/** Layers one after the other, by the rank of what they take: vectors, sequences, images, volumes. */
import * as tf from '@tensorflow/tfjs';
import { GRU } from '../../../../src/layers/recurrent/gru.js';
import { stock, type Args, type Draft, type Symbolic } from './draft.js';

type Step = (draft: Draft, x: Symbolic) => tf.layers.Layer;

const CHANNELS_FIRST = { dataFormat: 'channelsFirst' };

function units(draft: Draft): Args {
  return { units: draft.r.whole(2, 5) };
}

const dense: Step = (draft) =>
  stock['dense']!({
    ...units(draft),
    ...draft.activation(),
    ...draft.flag('useBias'),
    ...draft.weight('kernel', 'bias'),
  });

/** Layers that take every rank and keep the shape. */
const ANY_RANK: readonly Step[] = [
  (draft) => stock['activation']!({ activation: 'tanh', ...draft.activation() }),
  (draft) => stock['reLU']!(draft.r.chance(0.5) ? {} : { maxValue: 1.5 }),
  (draft) => stock['leakyReLU']!(draft.r.chance(0.5) ? {} : { alpha: 0.125 }),
  () => stock['elu']!({}),
  (draft) => stock['thresholdedReLU']!(draft.r.chance(0.5) ? {} : { theta: 0.25 }),
  () => stock['dropout']!({ rate: 0.5, seed: 3 }),
  () => stock['gaussianNoise']!({ stddev: 1 }),
  () => stock['gaussianDropout']!({ rate: 0.5 }),
  () => stock['alphaDropout']!({ rate: 0.5 }),
  (draft) => stock['rescaling']!({ scale: draft.r.pick([0.5, -2]), offset: draft.r.pick([0, 0.25]) }),
  (draft, x) => {
    const shared = Array.from({ length: x.rank - 2 }, (_, i) => i + 1).filter((axis) => {
      return x.shape[axis] === null || draft.r.chance(0.5);
    });
    return stock['prelu']!({ ...draft.weight('alpha'), ...(shared.length > 0 ? { sharedAxes: shared } : {}) });
  },
];

/** TensorFlow.js cannot normalize volumes. */
const NORMALIZATIONS: readonly Step[] = [
  (draft) =>
    stock['batchNormalization']!({
      ...draft.flag('center'),
      ...draft.flag('scale'),
      epsilon: draft.r.pick([1e-3, 0.1]),
      momentum: 0.9,
      ...draft.weight('gamma', 'beta'),
    }),
  (draft, x) =>
    stock['layerNormalization']!({
      ...draft.flag('center'),
      ...draft.flag('scale'),
      epsilon: draft.r.pick([1e-3, 0.1]),
      ...(x.rank > 2 && draft.r.chance(0.3) ? { axis: [x.rank - 2, x.rank - 1] } : {}),
    }),
];

const VECTORS: readonly Step[] = [
  dense,
  dense,
  () => stock['softmax']!({}),
  (_draft, x) => stock['reshape']!({ targetShape: [x.shape[1], 1] }),
  (draft) => stock['repeatVector']!({ n: draft.r.whole(1, 4) }),
];

const RECURRENT = ['simpleRNN', 'gru', 'lstm', 'kerasGru', 'rnn'] as const;

function cell(draft: Draft): tf.layers.Layer {
  const kind = draft.r.pick(['simpleRNNCell', 'gruCell', 'lstmCell']);
  return stock[kind]!({
    ...units(draft),
    ...draft.activation(),
    ...draft.flag('useBias'),
    ...(kind === 'simpleRNNCell' ? {} : draft.activation('recurrentActivation')),
  });
}

export function recurrent(draft: Draft, more: Args = {}, kinds: readonly string[] = RECURRENT): tf.layers.Layer {
  const kind = draft.r.pick(draft.forKeras ? kinds.filter((each) => each !== 'rnn') : kinds);
  const loop = { ...draft.flag('goBackwards'), ...draft.flag('returnSequences'), ...more };
  if (kind === 'rnn') {
    const cells = Array.from({ length: draft.r.whole(1, 4) }, () => cell(draft));
    return stock['rnn']!({ cell: cells.length === 1 ? cells[0] : cells, ...loop });
  }
  const args = {
    ...units(draft),
    ...draft.activation(),
    ...draft.flag('useBias'),
    ...draft.weight('kernel', 'recurrent', 'bias'),
    ...(kind === 'simpleRNN' ? {} : draft.activation('recurrentActivation')),
    ...(kind === 'lstm' ? draft.flag('unitForgetBias') : {}),
    ...loop,
  };
  return kind === 'kerasGru' ? (new GRU(args) as tf.layers.Layer) : stock[kind]!(args);
}

const SEQUENCES: readonly Step[] = [
  (draft) => recurrent(draft),
  (draft) => recurrent(draft, { returnSequences: true }),
  (draft) => {
    // TensorFlow.js makes the second layer by the config of the first, and cannot where cells are given.
    const layer = recurrent(draft, {}, RECURRENT.slice(0, -1));
    return stock['bidirectional']!({ layer, mergeMode: draft.r.pick(['sum', 'mul', 'ave', 'concat']) });
  },
  dense,
  (draft) => stock['timeDistributed']!({ layer: dense(draft, undefined as never) }),
  (draft, x) =>
    stock['conv1d']!({
      filters: draft.r.whole(1, 4),
      kernelSize: Math.min(x.shape[1] ?? 2, draft.r.whole(1, 4)),
      ...(draft.r.chance(0.3) ? { dilationRate: 2, padding: 'same' } : { strides: draft.r.whole(1, 3) }),
      ...draft.padding(),
      ...draft.activation(),
      ...draft.flag('useBias'),
    }),
  (draft) => stock['maxPooling1d']!({ poolSize: 2, strides: draft.r.whole(1, 3), ...draft.padding() }),
  (draft) => stock['averagePooling1d']!({ poolSize: 2, ...draft.padding() }),
  () => stock['globalAveragePooling1d']!({}),
  () => stock['globalMaxPooling1d']!({}),
  () => stock['spatialDropout1d']!({ rate: 0.5 }),
  () => stock['permute']!({ dims: [2, 1] }),
  (_draft, x) => (x.shape[1] === null ? stock['globalMaxPooling1d']!({}) : stock['flatten']!()),
];

/** Whether a window fits where nothing is padded. */
function fits(x: Symbolic, size: number | number[], axes: readonly number[], dilation: number | number[] = 1): boolean {
  return axes.every((axis, i) => {
    const length = x.shape[axis];
    const window = ([size, size].flat()[i] ?? 1) as number;
    const rate = [dilation, dilation].flat()[i]!;
    return length === null || length === undefined || length >= (window - 1) * rate + 1;
  });
}

function window2d(draft: Draft, x: Symbolic, isFirst: boolean): Args {
  const kernelSize = draft.sizes(2, 3);
  const isSame = draft.r.chance(0.5) || !fits(x, kernelSize, isFirst ? [2, 3] : [1, 2]);
  return { kernelSize, padding: isSame ? 'same' : 'valid' };
}

const channels = (draft: Draft): Args => (draft.r.chance(0.25) ? CHANNELS_FIRST : {});

function convolution2d(draft: Draft, x: Symbolic, mayTurn = true): Args {
  const format = mayTurn ? channels(draft) : {};
  return {
    ...format,
    ...window2d(draft, x, 'dataFormat' in format),
    ...draft.activation(),
    ...draft.flag('useBias'),
    ...draft.weight('bias'),
  };
}

const IMAGES: readonly Step[] = [
  (draft, x) => {
    const args = { filters: draft.r.whole(1, 4), ...convolution2d(draft, x), ...draft.weight('kernel') };
    // TensorFlow takes either.
    const isDilated = draft.r.chance(0.25);
    return stock['conv2d']!({
      ...args,
      ...(isDilated ? { dilationRate: 2, padding: 'same' } : { strides: draft.sizes(2, 2) }),
    });
  },
  (draft, x) =>
    stock['conv2dTranspose']!({
      filters: draft.r.whole(1, 3),
      ...convolution2d(draft, x),
      strides: draft.sizes(2, 2),
    }),
  (draft, x) =>
    stock['depthwiseConv2d']!({
      ...convolution2d(draft, x, false),
      ...draft.weight('depthwise'),
      depthMultiplier: draft.r.whole(1, 3),
      strides: draft.r.whole(1, 3),
    }),
  (draft, x) =>
    stock['separableConv2d']!({
      filters: draft.r.whole(1, 4),
      ...convolution2d(draft, x, false),
      depthMultiplier: draft.r.whole(1, 3),
      strides: draft.r.whole(1, 3),
    }),
  (draft) => stock['maxPooling2d']!({ poolSize: 2, strides: draft.sizes(2, 2), padding: 'same', ...channels(draft) }),
  (draft) => stock['averagePooling2d']!({ poolSize: draft.sizes(2, 3), padding: 'same', ...channels(draft) }),
  (draft) => stock['zeroPadding2d']!({ padding: draft.sizes(2, 2), ...channels(draft) }),
  (draft) => stock['upSampling2d']!({ size: [draft.r.whole(1, 3), 2], ...channels(draft) }),
  (draft) =>
    stock['upSampling2d']!({
      size: [2, draft.r.whole(1, 3)],
      interpolation: draft.forKeras ? 'nearest' : 'bilinear',
    }),
  (draft) => stock['globalAveragePooling2d']!(channels(draft)),
  (draft) => stock['globalMaxPooling2d']!(channels(draft)),
  (draft) => stock['flatten']!(channels(draft)),
  (draft) => stock['permute']!({ dims: draft.r.pick([[3, 1, 2], [2, 3, 1], [1, 3, 2]]) }), // prettier-ignore
  (draft) => stock['dense']!({ ...units(draft), ...draft.activation() }),
];

/** With a kernel of one number, every volume is large enough. */
const VOLUMES: readonly Step[] = [
  (draft) =>
    stock['conv3d']!({
      filters: draft.r.whole(1, 3),
      kernelSize: draft.sizes(3, 2),
      padding: 'same',
      ...(draft.r.chance(0.3) ? { dilationRate: 2 } : {}),
      ...draft.activation(),
      ...draft.flag('useBias'),
    }),
  (draft) =>
    stock['conv3dTranspose']!({
      filters: draft.r.whole(1, 3),
      kernelSize: 2,
      strides: draft.r.whole(1, 3),
      ...draft.padding(),
      ...draft.activation(),
      ...draft.flag('useBias'),
    }),
  () => stock['maxPooling3d']!({ poolSize: 2, padding: 'same' }),
  () => stock['averagePooling3d']!({ poolSize: [1, 2, 2], strides: 1, padding: 'same' }),
  (draft) =>
    stock[draft.forKeras ? 'conv3d' : 'convLstm2d']!({
      filters: draft.r.whole(1, 3),
      kernelSize: draft.r.whole(1, 3),
      padding: 'same',
      ...draft.activation(),
      ...draft.flag('useBias'),
      ...(draft.forKeras
        ? {}
        : {
            ...draft.activation('recurrentActivation'),
            ...draft.flag('returnSequences'),
            ...draft.flag('goBackwards'),
            ...draft.flag('unitForgetBias'),
          }),
    }),
  (draft) => stock['timeDistributed']!({ layer: stock['conv2d']!({ filters: 2, kernelSize: draft.r.whole(1, 3), padding: 'same' }) }), // prettier-ignore
  () => stock['flatten']!(),
];

const BY_RANK: Readonly<Record<number, readonly Step[]>> = { 2: VECTORS, 3: SEQUENCES, 4: IMAGES, 5: VOLUMES };

/** The largest number of values in a row. */
const MOST_VALUES = 600;

/** Whether all sizes that are known are good ones. */
function isSound({ shape }: Symbolic): boolean {
  const sizes = shape.slice(1);
  const known = sizes.filter((size): size is number => size !== null);
  if (sizes.at(-1) === null || sizes.indexOf(null) > 0) return false;
  return known.every((size) => size > 0) && tf.util.sizeFromShape(known) <= MOST_VALUES;
}

/** One more layer. */
export function step(draft: Draft, x: Symbolic): Symbolic {
  const own = BY_RANK[x.rank] ?? [];
  for (;;) {
    const make = draft.r.pick(draft.r.chance(0.35) ? (x.rank > 4 ? ANY_RANK : [...ANY_RANK, ...NORMALIZATIONS]) : own);
    const layer = make(draft, x);
    const next = draft.apply(layer, x);
    if (isSound(next)) return next;
    tf.dispose(layer.weights.map((weight) => weight.read() as tf.Tensor));
  }
}

/** Some layers. */
export function stack(draft: Draft, x: Symbolic, most: number): Symbolic {
  let result = x;
  for (let i = draft.r.whole(1, most + 1); i > 0; i--) result = step(draft, result);
  return result;
}

/** A vector for each row. */
export function vectorOf(draft: Draft, x: Symbolic): Symbolic {
  if (x.rank === 2) return x;
  const isOpen = x.shape.slice(1).includes(null);
  if (x.rank === 3 && (isOpen || draft.r.chance(0.5)))
    return draft.apply(recurrent(draft, { returnSequences: false }), x);
  if (x.rank === 4 && (isOpen || draft.r.chance(0.5))) return draft.apply(stock['globalMaxPooling2d']!({}), x);
  return draft.apply(stock['flatten']!(), x);
}
