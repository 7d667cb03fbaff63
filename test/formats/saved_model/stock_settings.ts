/** Stock layers with arguments that the other models do not show. */
import * as tf from '@tensorflow/tfjs';
import { ids, random, stacked, merged, withStates, masked, image, channelsFirst, type Make } from './stock_model.js';

export const STOCK_SETTINGS: readonly [string, Make][] = [
  [
    'Conv1D of an open length',
    () => stacked([8, 3], [tf.layers.conv1d({ filters: 2, kernelSize: 3, padding: 'same' })], [null, 3]),
  ],
  [
    'Conv2D, dilated, without a bias',
    () =>
      stacked(image, [
        tf.layers.conv2d({ filters: 2, kernelSize: 2, dilationRate: [2, 1], useBias: false, activation: 'selu' }),
      ]),
  ],
  [
    'Conv2D, channels first, strides and a bias',
    () =>
      stacked(
        [3, 6, 7],
        [tf.layers.conv2d({ filters: 4, kernelSize: 3, strides: 2, padding: 'same', ...channelsFirst })],
      ),
  ],
  [
    'Conv2DTranspose, channels first',
    () =>
      stacked(
        [3, 5, 4],
        [
          tf.layers.conv2dTranspose({
            filters: 2,
            kernelSize: [2, 3],
            strides: [1, 2],
            activation: 'tanh',
            ...channelsFirst,
          }),
        ],
      ),
  ],
  [
    'Conv3D, dilated',
    () => stacked([6, 5, 6, 2], [tf.layers.conv3d({ filters: 2, kernelSize: 2, dilationRate: 2, useBias: false })]),
  ],
  [
    'DepthwiseConv2D, strides and activation',
    () =>
      stacked(image, [
        tf.layers.depthwiseConv2d({ kernelSize: [3, 2], strides: 2, useBias: false, activation: 'relu6' as never }),
      ]),
  ],
  [
    'SeparableConv2D, strides, without a bias',
    () =>
      stacked(image, [
        tf.layers.separableConv2d({ filters: 3, kernelSize: 3, strides: 2, padding: 'same', useBias: false }),
      ]),
  ],
  [
    'AveragePooling1D, same',
    () => stacked([7, 3], [tf.layers.averagePooling1d({ poolSize: 3, strides: 2, padding: 'same' })]),
  ],
  [
    'MaxPooling2D, channels first',
    () => stacked([3, 6, 7], [tf.layers.maxPooling2d({ poolSize: 3, strides: 2, padding: 'same', ...channelsFirst })]),
  ],
  [
    'MaxPooling3D, same',
    () => stacked([5, 4, 3, 2], [tf.layers.maxPooling3d({ poolSize: [2, 3, 2], strides: [2, 1, 1], padding: 'same' })]),
  ],
  [
    'AveragePooling3D, valid',
    () => stacked([5, 4, 3, 2], [tf.layers.averagePooling3d({ poolSize: [2, 1, 3], strides: [1, 2, 1] })]),
  ],
  ['GlobalMaxPooling2D, channels first', () => stacked([3, 6, 7], [tf.layers.globalMaxPooling2d(channelsFirst)])],
  [
    'ZeroPadding2D, channels first',
    () => stacked([3, 4, 5], [tf.layers.zeroPadding2d({ padding: [1, 2], ...channelsFirst })]),
  ],
  [
    'Cropping2D, channels first',
    () =>
      stacked(
        [3, 6, 7],
        [
          tf.layers.cropping2D({
            cropping: [
              [1, 2],
              [0, 3],
            ],
            ...channelsFirst,
          }),
        ],
      ),
  ],
  [
    'UpSampling2D, channels first',
    () => stacked([3, 2, 4], [tf.layers.upSampling2d({ size: [3, 1], ...channelsFirst })]),
  ],
  [
    'Dense without a bias, relu',
    () => stacked([4], [tf.layers.dense({ units: 3, useBias: false, activation: 'relu' })]),
  ],
  [
    'BatchNormalization, neither center nor scale',
    () => stacked([3, 4], [tf.layers.batchNormalization({ center: false, scale: false, epsilon: 0.1 })]),
  ],
  [
    'LayerNormalization, epsilon',
    () => stacked([3, 4], [tf.layers.layerNormalization({ epsilon: 0.5, scale: false })]),
  ],
  ['PReLU of an image', () => stacked(image, [tf.layers.prelu({ sharedAxes: [1, 2] })])],
  [
    'SimpleRNN, all states, without a bias',
    () => withStates(tf.layers.simpleRNN({ units: 3, useBias: false, activation: 'relu', returnState: true })),
  ],
  [
    'GRU, last state and all steps',
    () => withStates(tf.layers.gru({ units: 3, returnSequences: true, returnState: true, goBackwards: true })),
  ],
  [
    'GRU, other activations',
    () =>
      stacked([5, 3], [tf.layers.gru({ units: 3, activation: 'elu', recurrentActivation: 'sigmoid', useBias: false })]),
  ],
  [
    'LSTM without a bias',
    () =>
      stacked([5, 3], [tf.layers.lstm({ units: 3, useBias: false, activation: 'softsign', unitForgetBias: false })]),
  ],
  [
    'LSTM on masked steps, backwards, all of them',
    () => masked([tf.layers.lstm({ units: 3, goBackwards: true, returnSequences: true })]),
  ],
  ...(['simpleRNN', 'gru', 'lstm'] as const).map((kind): [string, Make] => [
    `${kind} with initial states on masked words, all steps`,
    () => {
      const { model, inputs } = masked([]);
      const states = Array.from({ length: kind === 'lstm' ? 2 : 1 }, () => tf.input({ shape: [3] }));
      const layer = tf.layers[kind]({ units: 3, returnSequences: true });
      const outputs = layer.apply([model.outputs[0]!, ...states]) as tf.SymbolicTensor;
      return {
        model: tf.model({ inputs: [...model.inputs, ...states], outputs }),
        inputs: [...inputs, ...states.map((_, i) => random([3, 3], i))],
      };
    },
  ]),
  ['SimpleRNN on masked words', () => masked([tf.layers.simpleRNN({ units: 3, returnSequences: true })])],
  [
    'ConvLSTM2D, strides, dilated, without a bias',
    () =>
      stacked(
        [3, 7, 6, 2],
        [tf.layers.convLstm2d({ filters: 2, kernelSize: 2, dilationRate: 2, useBias: false, goBackwards: true })],
      ),
  ],
  ...(['sum', 'mul', 'ave', 'concat'] as const).map((mergeMode): [string, Make] => [
    `Bidirectional, ${mergeMode}`,
    () => stacked([5, 3], [tf.layers.bidirectional({ layer: tf.layers.gru({ units: 2 }) as tf.RNN, mergeMode })]),
  ]),
  [
    'Bidirectional on masked words, all steps',
    () =>
      masked([
        tf.layers.bidirectional({
          layer: tf.layers.lstm({ units: 2, returnSequences: true }) as tf.RNN,
          mergeMode: 'concat',
        }),
      ]),
  ],
  [
    'TimeDistributed convolution',
    () =>
      stacked([3, 5, 4, 2], [tf.layers.timeDistributed({ layer: tf.layers.conv2d({ filters: 2, kernelSize: 2 }) })]),
  ],
  ['Embedding on masked words, dense', () => masked([tf.layers.dense({ units: 2 }), tf.layers.lstm({ units: 2 })])],
  [
    'Masking, another value',
    () => {
      const { model, inputs } = stacked([3, 2], [tf.layers.masking({ maskValue: -1 }), tf.layers.gru({ units: 2 })]);
      tf.dispose(inputs);
      return {
        model,
        inputs: [
          tf.tensor3d([
            [
              [1, 2],
              [-1, -1],
              [3, 0],
            ],
            [
              [-1, -1],
              [-1, -1],
              [-1, -1],
            ],
          ]),
        ],
      };
    },
  ],
  [
    'Concatenate of masked words',
    () => {
      const input = tf.input({ shape: [5], dtype: 'int32' });
      const looked = [true, true].map((maskZero) => {
        return tf.layers.embedding({ inputDim: 9, outputDim: 2, maskZero }).apply(input) as tf.SymbolicTensor;
      });
      const joined = tf.layers.concatenate().apply(looked) as tf.SymbolicTensor;
      const outputs = tf.layers.flatten().apply(joined) as tf.SymbolicTensor;
      return { model: tf.model({ inputs: input, outputs }), inputs: [ids([3, 5], 9)] };
    },
  ],
  ['Dot of another axis', () => merged(tf.layers.dot({ axes: 2, normalize: true }), [2, 4], [3, 4])],
  ['Rescaling of open images', () => stacked([4, 5, 3], [tf.layers.rescaling({ scale: 1 / 255 })], [null, null, 3])],
];
