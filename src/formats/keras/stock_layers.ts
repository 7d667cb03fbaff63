/** The layers that Keras and TensorFlow.js both have: which fields mean the same, and which values of others change nothing. */

import { KERAS_KINDS, kindFor } from '../../layers/keras/keras_layers.js';
import type { LayerKind } from '../../layers/keras/keras_layer.js';

/** A layer in both libraries. Names of fields are those of Keras. */
export interface StockLayer {
  /** Fields that both have. */
  readonly fields: readonly string[];
  /** Fields that only Keras has, with the values under which they have no effect here; the first one is written on export. */
  readonly fixed: Readonly<Record<string, readonly unknown[]>>;
  /** Fields of Keras by the name of the same field here, where they differ; the last one is that of Keras 3. */
  readonly renamed: Readonly<Record<string, readonly string[]>>;
  /** Whether the layer takes a list of inputs, even where there is one. */
  readonly merges: boolean;
}

type Options = Partial<Pick<StockLayer, 'fixed' | 'renamed' | 'merges'>>;

function layer(fields: string, { fixed = {}, renamed = {}, merges = false }: Options = {}): StockLayer {
  return { fields: fields.split(' ').filter((field) => field !== ''), fixed, renamed, merges };
}

/** `kernel` stands for kernel_initializer, kernel_regularizer and kernel_constraint. */
function weights(...names: string[]): string {
  return names.flatMap((name) => [`${name}_initializer`, `${name}_regularizer`, `${name}_constraint`]).join(' ');
}

const CONVOLUTION = `strides padding data_format dilation_rate activation use_bias kernel_size ${weights('bias')}`;
const CELL = `units activation use_bias dropout recurrent_dropout ${weights('kernel', 'recurrent', 'bias')}`;
const LOOP = 'return_sequences return_state go_backwards stateful unroll';
const LOOP_FIXED = { time_major: [false] };
const POOL = 'pool_size strides padding';
const LAST = { data_format: ['channels_last'] };
const ONE_GROUP = { groups: [1] };
/** TensorFlow.js takes another rate and computes with 1. */
const NO_DILATION = { dilation_rate: [[1, 1], 1, [1, 1, 1]] };
/** Fields of convolutions without those that are fixed. */
const without = (...left: string[]): string =>
  CONVOLUTION.split(' ')
    .filter((field) => !left.includes(field))
    .join(' ');

/** By the name of the class, which is the same in both. */
const SHARED: ReadonlyMap<string, StockLayer> = new Map([
  ['Dense', layer(`units activation use_bias ${weights('kernel', 'bias')}`, { fixed: { lora_rank: [null] } })],
  ['Activation', layer('activation')],
  ['Dropout', layer('rate noise_shape seed')],
  ['SpatialDropout1D', layer('rate seed', { fixed: { noise_shape: [null] } })],
  ['GaussianNoise', layer('stddev')],
  ['GaussianDropout', layer('rate')],
  ['AlphaDropout', layer('rate noise_shape')],
  ['Flatten', layer('data_format')],
  ['Reshape', layer('target_shape')],
  ['Permute', layer('dims')],
  ['RepeatVector', layer('n')],
  ['Masking', layer('mask_value')],
  ['Add', layer('', { merges: true })],
  ['Average', layer('', { merges: true })],
  ['Maximum', layer('', { merges: true })],
  ['Minimum', layer('', { merges: true })],
  ['Multiply', layer('', { merges: true })],
  ['Concatenate', layer('axis', { merges: true })],
  ['Dot', layer('axes normalize', { merges: true })],
  [
    'BatchNormalization',
    layer(
      `axis momentum epsilon center scale ${weights('beta', 'gamma')} moving_mean_initializer moving_variance_initializer`,
      { fixed: { renorm: [false], synchronized: [false], virtual_batch_size: [null], adjustment: [null] } },
    ),
  ],
  [
    'LayerNormalization',
    layer(`axis epsilon center scale beta_initializer gamma_initializer beta_regularizer gamma_regularizer`, {
      fixed: { beta_constraint: [null], gamma_constraint: [null], rms_scaling: [false] },
    }),
  ],
  ['ReLU', layer('max_value', { fixed: { negative_slope: [0], threshold: [0] } })],
  ['LeakyReLU', layer('', { renamed: { alpha: ['alpha', 'negative_slope'] } })],
  ['PReLU', layer(`${weights('alpha')} shared_axes`)],
  ['ELU', layer('alpha')],
  ['ThresholdedReLU', layer('theta')],
  ['Softmax', layer('axis')],
  ['Conv1D', layer(`filters ${without('data_format')} ${weights('kernel')}`, { fixed: { ...ONE_GROUP, ...LAST } })],
  ['Conv2D', layer(`filters ${CONVOLUTION} ${weights('kernel')}`, { fixed: ONE_GROUP })],
  ['Conv3D', layer(`filters ${CONVOLUTION} ${weights('kernel')}`, { fixed: ONE_GROUP })],
  [
    'Conv2DTranspose',
    layer(`filters ${without('dilation_rate')} ${weights('kernel')}`, {
      fixed: { output_padding: [null], ...ONE_GROUP, ...NO_DILATION },
    }),
  ],
  [
    'Conv3DTranspose',
    layer(`filters ${without('dilation_rate', 'data_format')} ${weights('kernel')}`, {
      fixed: { output_padding: [null], ...ONE_GROUP, ...NO_DILATION, ...LAST },
    }),
  ],
  [
    'DepthwiseConv2D',
    layer(`depth_multiplier ${without('dilation_rate')} ${weights('depthwise')}`, {
      fixed: { ...ONE_GROUP, ...NO_DILATION },
    }),
  ],
  [
    'SeparableConv2D',
    layer(`filters depth_multiplier ${without('data_format')} ${weights('depthwise', 'pointwise')}`, {
      fixed: { ...ONE_GROUP, ...LAST, kernel_regularizer: [null], kernel_constraint: [null] },
    }),
  ],
  ['Cropping2D', layer('cropping data_format')],
  ['UpSampling2D', layer('size data_format', { fixed: { interpolation: ['nearest'] } })],
  ['ZeroPadding2D', layer('padding data_format')],
  ['MaxPooling1D', layer(POOL, { fixed: LAST })],
  ['AveragePooling1D', layer(POOL, { fixed: LAST })],
  ['MaxPooling2D', layer(`${POOL} data_format`)],
  ['AveragePooling2D', layer(`${POOL} data_format`)],
  ['MaxPooling3D', layer(`${POOL} data_format`)],
  ['AveragePooling3D', layer(`${POOL} data_format`)],
  ['GlobalMaxPooling1D', layer('', { fixed: { ...LAST, keepdims: [false] } })],
  ['GlobalAveragePooling1D', layer('data_format keepdims')],
  ['GlobalMaxPooling2D', layer('data_format', { fixed: { keepdims: [false] } })],
  ['GlobalAveragePooling2D', layer('data_format', { fixed: { keepdims: [false] } })],
  ['SimpleRNN', layer(`${CELL} ${LOOP}`, { fixed: LOOP_FIXED })],
  ['LSTM', layer(`${CELL} recurrent_activation unit_forget_bias ${LOOP}`, { fixed: LOOP_FIXED })],
  ['GRU', layer(`${CELL} recurrent_activation reset_after ${LOOP}`, { fixed: LOOP_FIXED })],
  ['Bidirectional', layer('layer merge_mode')],
  ['TimeDistributed', layer('layer')],
  ['Rescaling', layer('scale offset')],
]);

/** The fields of a layer of ours that is told by a description. */
function described({ fields, fixed = {} }: LayerKind): StockLayer {
  const names = Object.keys(fields).map((field) => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return { ...layer(names.join(' ')), fixed };
}

/** Layers of Keras with the fields that they have here, of which those of tfjs know the usual values alone. */
export const STOCK_LAYERS: ReadonlyMap<string, StockLayer> = new Map([
  ...[...KERAS_KINDS].map(([className, kind]) => [className, described(kind)] as const),
  ...SHARED,
]);

/** The fields of the layer that computes what such a config tells; undefined where there is none. */
export function layerFor(className: string, config: Readonly<Record<string, unknown>>): StockLayer | undefined {
  const kind = kindFor(className, config);
  return kind === null ? SHARED.get(className) : described(kind);
}

/** The fields of a layer of this class here, which may have the name of another one in tfjs. */
export function layerOf(registered: string): StockLayer | undefined {
  const className = registered.replace('TfjsEmbeddings>', '');
  const kind = className === registered ? undefined : KERAS_KINDS.get(className);
  return kind === undefined ? SHARED.get(className) : described(kind);
}

/** Fields that choose code or tell what only Python needs. */
export const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'autocast',
  'build_config',
  'fused',
  'implementation',
  'input_shape',
  'name',
  'renorm_clipping',
  'renorm_momentum',
  'seed',
  'trainable',
  'use_cudnn',
  // Where it has one, because ids are masked, the graph is checked.
  'zero_output_for_mask',
]);
