/** A small model for each stock layer of tfjs, with an input for it. */
import * as tf from '@tensorflow/tfjs';
import { GRU } from '../../../src/layers/recurrent/gru.js';
import {
  random,
  stacked,
  merged,
  masked,
  applied,
  afterPadding,
  categories,
  normalizedAlongFirst,
  image,
  channelsFirst,
  type Make,
} from './stock_model.js';
import { NESTED_MASKS } from './nested_masks.js';
import { STOCK_SETTINGS } from './stock_settings.js';
import { adopting } from '../../../src/tfjs/models/own_models.js';

const activations =
  'elu selu relu relu6 linear sigmoid hardSigmoid kerasHardSigmoid softplus softsign tanh softmax logSoftmax gelu gelu_new mish swish'.split(
    ' ',
  );

const activationModels = activations.map((activation): [string, Make] => {
  return [`Dense, ${activation}`, () => stacked([4], [tf.layers.dense({ units: 5, activation: activation as never })])];
});

const initialStates: Make = () => {
  const [x, h, c] = [tf.input({ shape: [4, 3] }), tf.input({ shape: [5] }), tf.input({ shape: [5] })];
  const layer = tf.layers.lstm({ units: 5, returnState: true, returnSequences: true });
  const outputs = layer.apply([x, h, c]) as tf.SymbolicTensor[];
  return {
    model: tf.model({ inputs: [x, h, c], outputs }),
    inputs: [random([3, 4, 3]), random([3, 5]), random([3, 5])],
  };
};

const nested: Make = () => {
  const inner = tf.sequential({ layers: [tf.layers.dense({ units: 4, inputShape: [3] }), tf.layers.reLU()] });
  const [a, b] = [tf.input({ shape: [3], name: 'left' }), tf.input({ shape: [3], name: 'right' })];
  const both = [a, b].map((x) => inner.apply(x) as tf.SymbolicTensor);
  const shared = tf.layers.dense({ units: 2 });
  const sum = tf.layers.add().apply(both) as tf.SymbolicTensor;
  const outputs = [shared.apply(both[0]!), shared.apply(sum)] as tf.SymbolicTensor[];
  return { model: tf.model({ inputs: [a, b], outputs }), inputs: [random([3, 3]), random([3, 3], 9)] };
};

const merges: [string, Make][] = [
  ['Add', () => merged(tf.layers.add(), [4], [4], [4])],
  ['Add of other ranks', () => merged(tf.layers.add(), [2, 4], [4])],
  ['Average', () => merged(tf.layers.average(), [4], [4])],
  ['Multiply', () => merged(tf.layers.multiply(), [4], [4])],
  ['Maximum', () => merged(tf.layers.maximum(), [4], [4])],
  ['Minimum', () => merged(tf.layers.minimum(), [4], [4])],
  ['Concatenate', () => merged(tf.layers.concatenate(), [2, 4], [2, 3])],
  ['Concatenate, axis 1', () => merged(tf.layers.concatenate({ axis: 1 }), [2, 4], [3, 4])],
  ['Dot', () => merged(tf.layers.dot({ axes: -1 }), [4], [4])],
  ['Dot, normalized', () => merged(tf.layers.dot({ axes: -1, normalize: true }), [4], [4])],
  ['Dot of rank 3', () => merged(tf.layers.dot({ axes: [2, 1] }), [2, 4], [4, 3])],
  ['Dot of rank 3 and last axes', () => merged(tf.layers.dot({ axes: -1 }), [2, 4], [3, 4])],
  ['Dot of ranks 2 and 3', () => merged(tf.layers.dot({ axes: [1, 2] }), [4], [3, 4])],
  ['Dot of ranks 3 and 2', () => merged(tf.layers.dot({ axes: [1, 1] }), [4, 3], [4])],
];

const convolutions: [string, Make][] = [
  ['Conv1D', () => stacked([8, 3], [tf.layers.conv1d({ filters: 4, kernelSize: 3, strides: 2, activation: 'tanh' })])],
  [
    'Conv1D, dilated',
    () => stacked([9, 3], [tf.layers.conv1d({ filters: 4, kernelSize: 2, dilationRate: 3, padding: 'same' })]),
  ],
  [
    'Conv2D',
    () =>
      stacked(
        image,
        [tf.layers.conv2d({ filters: 4, kernelSize: [2, 3], strides: [2, 1], padding: 'same', activation: 'relu' })],
        [null, null, 3],
      ),
  ],
  [
    'Conv2D, channels first',
    () => stacked([3, 6, 7], [tf.layers.conv2d({ filters: 4, kernelSize: 3, useBias: false, ...channelsFirst })]),
  ],
  [
    'Conv3D',
    () => stacked([4, 5, 6, 2], [tf.layers.conv3d({ filters: 3, kernelSize: 2, strides: 2, padding: 'same' })]),
  ],
  [
    'Conv2DTranspose',
    () =>
      stacked(
        image,
        [tf.layers.conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2, padding: 'same' })],
        [null, null, 3],
      ),
  ],
  [
    'Conv2DTranspose, valid',
    () => stacked(image, [tf.layers.conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2 })]),
  ],
  [
    'Conv2DTranspose, valid, strides beyond the kernel',
    () => stacked(image, [tf.layers.conv2dTranspose({ filters: 2, kernelSize: 2, strides: 3 })]),
  ],
  [
    'Conv2DTranspose, valid, strides beyond the kernel, sizes of the batch',
    () => stacked(image, [tf.layers.conv2dTranspose({ filters: 2, kernelSize: 2, strides: 3 })], [null, null, 3]),
  ],
  [
    'Conv3DTranspose',
    () => stacked([3, 4, 2, 2], [tf.layers.conv3dTranspose({ filters: 3, kernelSize: 2, strides: 2 })]),
  ],
  [
    'DepthwiseConv2D',
    () => stacked(image, [tf.layers.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, padding: 'same' })]),
  ],
  [
    'SeparableConv2D',
    () =>
      stacked(image, [tf.layers.separableConv2d({ filters: 5, kernelSize: 3, depthMultiplier: 2, activation: 'elu' })]),
  ],
  ['MaxPooling1D', () => stacked([7, 3], [tf.layers.maxPooling1d({ poolSize: 3, strides: 2, padding: 'same' })])],
  ['AveragePooling1D', () => stacked([7, 3], [tf.layers.averagePooling1d({ poolSize: 2 })])],
  ['MaxPooling2D', () => stacked(image, [tf.layers.maxPooling2d({ poolSize: [2, 3], strides: [1, 2] })])],
  [
    'AveragePooling2D',
    () => stacked([3, 6, 7], [tf.layers.averagePooling2d({ poolSize: 2, padding: 'same', ...channelsFirst })]),
  ],
  ['MaxPooling3D', () => stacked([4, 5, 6, 2], [tf.layers.maxPooling3d({ poolSize: 2 })])],
  ['AveragePooling3D', () => stacked([4, 5, 6, 2], [tf.layers.averagePooling3d({ poolSize: 2, padding: 'same' })])],
  ['GlobalAveragePooling1D', () => stacked([4, 3], [tf.layers.globalAveragePooling1d({})])],
  ['GlobalMaxPooling1D', () => stacked([4, 3], [tf.layers.globalMaxPooling1d({})])],
  ['GlobalAveragePooling2D', () => stacked([3, 6, 7], [tf.layers.globalAveragePooling2d(channelsFirst)])],
  ['GlobalMaxPooling2D', () => stacked(image, [tf.layers.globalMaxPooling2d({})])],
];

const gruOfKeras = (args: object): tf.layers.Layer =>
  new GRU({ ...args, recurrentActivation: 'sigmoid', biasInitializer: 'glorotNormal' }) as tf.layers.Layer;

const recurrent: [string, Make][] = [
  ['SimpleRNN', () => stacked([5, 3], [tf.layers.simpleRNN({ units: 4 })])],
  ['GRU', () => stacked([5, 3], [tf.layers.gru({ units: 4, returnSequences: true })], [null, 3])],
  ['GRU of Keras', () => stacked([5, 3], [gruOfKeras({ units: 4, returnSequences: true })], [null, 3])],
  ['GRU of Keras without biases, on masked words', () => masked([gruOfKeras({ units: 4, useBias: false })])],
  ['LSTM', () => stacked([5, 3], [tf.layers.lstm({ units: 4, goBackwards: true, recurrentActivation: 'sigmoid' })])],
  [
    'LSTM on masked words',
    () => masked([tf.layers.lstm({ units: 4, returnSequences: true }), tf.layers.lstm({ units: 3 })]),
  ],
  ['GRU on masked words, backwards', () => masked([tf.layers.gru({ units: 4, goBackwards: true })])],
  [
    'a mask that ends where sequences do',
    () => masked([tf.layers.lstm({ units: 4 }), tf.layers.repeatVector({ n: 5 }), tf.layers.gru({ units: 3 })]),
  ],
  ['LSTM with initial states', initialStates],
  [
    'RNN of stacked cells',
    () => {
      const cell = [
        tf.layers.lstmCell({ units: 4 }),
        tf.layers.gruCell({ units: 3 }),
        tf.layers.simpleRNNCell({ units: 2 }),
      ];
      return stacked([5, 3], [tf.layers.rnn({ cell, returnSequences: true })]);
    },
  ],
  [
    'ConvLSTM2D',
    () =>
      stacked(
        [3, 5, 6, 2],
        [tf.layers.convLstm2d({ filters: 2, kernelSize: 3, padding: 'same', returnSequences: true })],
      ),
  ],
  [
    'ConvLSTM2D, channels first',
    () => stacked([3, 2, 5, 6], [tf.layers.convLstm2d({ filters: 2, kernelSize: 2, ...channelsFirst })]),
  ],
  [
    'Bidirectional',
    () =>
      stacked(
        [5, 3],
        [tf.layers.bidirectional({ layer: tf.layers.lstm({ units: 2, returnSequences: true }), mergeMode: 'concat' })],
      ),
  ],
  [
    'Bidirectional on masked words',
    () => masked([tf.layers.bidirectional({ layer: tf.layers.gru({ units: 2 }) as tf.RNN, mergeMode: 'sum' })]),
  ],
  [
    'TimeDistributed',
    () => stacked([5, 3], [tf.layers.timeDistributed({ layer: tf.layers.dense({ units: 4 }) })], [null, 3]),
  ],
];

const others: [string, Make][] = [
  ['Activation', () => stacked([4], [tf.layers.activation({ activation: 'tanh' })])],
  ['Dense of rank 3', () => stacked([2, 4], [tf.layers.dense({ units: 3 })], [null, 4])],
  ['ReLU', () => stacked([4], [tf.layers.reLU({ maxValue: 1 })])],
  ['LeakyReLU', () => stacked([4], [tf.layers.leakyReLU({ alpha: 0.2 })])],
  ['PReLU', () => stacked([2, 4], [tf.layers.prelu({ sharedAxes: [1] })])],
  ['ELU', () => stacked([4], [tf.layers.elu()])],
  ['ThresholdedReLU', () => stacked([4], [tf.layers.thresholdedReLU({ theta: 0.5 })])],
  ['Softmax', () => stacked([2, 4], [tf.layers.softmax({ axis: -1 })])],
  ['Dropout', () => stacked([4], [tf.layers.dropout({ rate: 0.5 })])],
  ['SpatialDropout1D', () => stacked([2, 4], [tf.layers.spatialDropout1d({ rate: 0.5 })])],
  ['GaussianNoise', () => stacked([4], [tf.layers.gaussianNoise({ stddev: 1 })])],
  ['GaussianDropout', () => stacked([4], [tf.layers.gaussianDropout({ rate: 0.5 })])],
  ['AlphaDropout', () => stacked([4], [tf.layers.alphaDropout({ rate: 0.5 })])],
  ['Flatten', () => stacked([2, 3, 4], [tf.layers.flatten(channelsFirst)])],
  ['Reshape', () => stacked([6, 2], [tf.layers.reshape({ targetShape: [3, -1] })])],
  ['Reshape of a size that is open', () => stacked([6, 2], [tf.layers.reshape({ targetShape: [-1, 4] })], [null, 2])],
  ['Permute', () => stacked([2, 3, 4], [tf.layers.permute({ dims: [3, 1, 2] })])],
  ['RepeatVector', () => stacked([4], [tf.layers.repeatVector({ n: 3 })])],
  [
    'ZeroPadding2D',
    () =>
      stacked(image, [
        tf.layers.zeroPadding2d({
          padding: [
            [1, 2],
            [0, 3],
          ],
        }),
      ]),
  ],
  [
    'Cropping2D',
    () =>
      stacked(image, [
        tf.layers.cropping2D({
          cropping: [
            [1, 0],
            [2, 3],
          ],
        }),
      ]),
  ],
  ['UpSampling2D', () => stacked(image, [tf.layers.upSampling2d({ size: [2, 3] })], [null, null, 3])],
  ['UpSampling2D, bilinear', () => stacked(image, [tf.layers.upSampling2d({ interpolation: 'bilinear' })])],
  ['BatchNormalization', () => stacked([4], [tf.layers.batchNormalization({})])],
  [
    'BatchNormalization, axis 1',
    () => normalizedAlongFirst(stacked([3, 4, 2], [tf.layers.batchNormalization({ axis: 1, scale: false })])),
  ],
  ['LayerNormalization', () => stacked([3, 4], [tf.layers.layerNormalization()])],
  [
    'LayerNormalization of two axes',
    () => stacked([3, 4], [tf.layers.layerNormalization({ axis: [1, 2], center: false })]),
  ],
  [
    'Masking',
    () => {
      const rows = [
        [
          [1, 2],
          [0, 0],
          [3, 0],
        ],
      ];
      const { model } = stacked([3, 2], [tf.layers.masking(), tf.layers.simpleRNN({ units: 2 })]);
      return { model, inputs: [tf.tensor3d(rows)] };
    },
  ],
  ['Embedding', () => masked([tf.layers.flatten()], false)],
  ['Rescaling', () => stacked(image, [tf.layers.rescaling({ scale: 0.5, offset: -1 })])],
  ['Resizing', () => applied(stacked(image, [tf.layers.resizing({ height: 3, width: 9 })]))],
  [
    'Resizing to the nearest',
    () =>
      applied(
        stacked(image, [
          tf.layers.resizing({ height: 3, width: 9, interpolation: 'nearest', cropToAspectRatio: true } as never),
        ]),
      ),
  ],
  ['CenterCrop', () => afterPadding(tf.layers.centerCrop({ height: 4, width: 3 }))],
  [
    'CenterCrop of a smaller image',
    () => {
      const { model, inputs } = afterPadding(tf.layers.centerCrop({ height: 11, width: 10 }));
      const [, padding, crop] = model.layers as [unknown, tf.layers.Layer, tf.layers.Layer];
      return { model, inputs, right: () => tf.tidy(() => crop.apply(padding.apply(inputs[0]!)) as tf.Tensor) };
    },
  ],
  ['CategoryEncoding', () => categories(3, 'multiHot')],
  ['CategoryEncoding, count', () => categories(3, 'count')],
  ['CategoryEncoding, one of each', () => categories(1, 'oneHot')],
  ['models in models, shared layers', nested],
];

/** Treated as models of this package, whose masks and states are those of Keras. */
export const STOCK_MODELS: readonly (readonly [string, Make])[] = [
  ...activationModels,
  ...merges,
  ...convolutions,
  ...recurrent,
  ...others,
  ...STOCK_SETTINGS,
  ...NESTED_MASKS,
].map(([title, make]) => [title, () => adopting(make)]);
