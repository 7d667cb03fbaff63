/**
 * Captured steps of batch normalization before activations, where gradients are ops of ours. Layers before it have no
 * bias: its gradient is 0 but for rounding, which Adam would make as large as any other.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, expectCaptured, modelOf, sigmoid, trainTwins, type Head } from '../training.js';

const ACTIVATIONS = [
  ...['elu', 'selu', 'relu', 'relu6', 'linear', 'sigmoid', 'hardSigmoid', 'softplus', 'softsign', 'tanh', 'softmax'],
  ...['gelu', 'gelu_new', 'mish', 'swish'],
] as const;

const { batchNormalization, dense, flatten, reshape } = tf.layers;
const activated = (activation: string): tf.layers.Layer => tf.layers.activation({ activation: activation as 'relu' });

/** Layers one after the other. */
const chain =
  (...layers: (() => tf.layers.Layer)[]): Head =>
  (x) =>
    layers.reduce((at, make) => make().apply(at) as tf.SymbolicTensor, x);

const scaled = (...layers: (() => tf.layers.Layer)[]): Head => {
  return (x) => sigmoid(chain(...layers)(x));
};

describeSteps('Captured steps of batch normalization', () => {
  for (const activation of ACTIVATIONS) {
    it(`before ${activation}`, async () => {
      const layers = [
        () => dense({ units: 5, useBias: false }),
        () => batchNormalization(),
        () => activated(activation),
      ];
      await expectCaptured(trainTwins(() => modelOf(scaled(...layers))));
    });
  }

  for (const [title, layers] of [
    ['before the layer of relu', [() => batchNormalization(), () => tf.layers.reLU()]],
    ['before one of leaky relu', [() => batchNormalization(), () => tf.layers.leakyReLU()]],
    ['before one whose slope is trained', [() => batchNormalization(), () => tf.layers.prelu()]],
    [
      'twice, at other momentums',
      [
        () => batchNormalization({ momentum: 0.5 }),
        () => dense({ units: 4, activation: 'relu' }),
        () => batchNormalization({ momentum: 0.9, gammaRegularizer: 'l1l2', gammaConstraint: 'nonNeg' }),
        () => activated('relu6'),
      ],
    ],
    ['frozen', [() => batchNormalization({ trainable: false }), () => activated('relu')]],
    [
      'of images',
      [
        () => dense({ units: 12 }),
        () => reshape({ targetShape: [3, 4, 1] }),
        () => tf.layers.conv2d({ filters: 2, kernelSize: 2, useBias: false }),
        () => batchNormalization(),
        () => activated('relu'),
        () => flatten(),
      ],
    ],
  ] as [string, (() => tf.layers.Layer)[]][]) {
    it(title, () => expectCaptured(trainTwins(() => modelOf(scaled(...layers)))));
  }

  it('with the gradient of cross-entropy through softmax', async () => {
    const head = chain(
      () => dense({ units: 2, useBias: false }),
      () => batchNormalization(),
      () => activated('softmax'),
    );
    await expectCaptured(trainTwins(() => modelOf(head), { loss: 'sparseCategoricalCrossentropy' }));
  });

  it('before dots of pairs', async () => {
    const head: Head = (x) => {
      const features = [4, 4, 4].map((units) =>
        chain(
          () => dense({ units, useBias: false }),
          () => batchNormalization(),
        )(x),
      );
      return sigmoid(emb.layers.dotInteraction().apply(features) as tf.SymbolicTensor);
    };
    await expectCaptured(trainTwins(() => modelOf(head)));
  });
});
