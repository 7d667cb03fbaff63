/** Stock layers that a saved model gives back as they were. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { ours } from '../models/own_models.js';

const IMAGE = [5, 5, 2];

const LAYERS: readonly [string, () => tf.layers.Layer][] = [
  [
    'a depthMultiplier of SeparableConv2D',
    () => tf.layers.separableConv2d({ filters: 2, kernelSize: 2, depthMultiplier: 3, inputShape: IMAGE }),
  ],
  [
    'a regularizer of DepthwiseConv2D',
    () =>
      tf.layers.depthwiseConv2d({
        kernelSize: 2,
        depthwiseRegularizer: 'l1l2',
        inputShape: IMAGE,
      }),
  ],
  ['gelu_new', () => tf.layers.dense({ units: 2, activation: 'gelu_new' as 'relu', inputShape: IMAGE })],
  [
    'hard_sigmoid of Keras 3',
    () => tf.layers.dense({ units: 2, activation: 'kerasHardSigmoid' as 'relu', inputShape: IMAGE }),
  ],
];

describe('configs of stock layers', () => {
  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  for (const [what, make] of LAYERS) {
    it(`hold ${what}`, async () => {
      const tensors = tf.memory().numTensors;
      const model = ours.sequential({ layers: [make()] });
      const held: { artifacts?: tf.io.ModelArtifacts } = {};
      await model.save(
        tf.io.withSaveHandler(async (artifacts) => {
          held.artifacts = artifacts;
          return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
        }),
      );
      const loaded = await emb.loadLayersModel(tf.io.fromMemory(held.artifacts!));
      expect(loaded.layers[0]!.getConfig()).toEqual(model.layers[0]!.getConfig());
      const x = tf.randomUniform([2, ...IMAGE], -4, 4, 'float32', 3);
      const [mine, theirs] = [model, loaded].map((each) => each.predict(x) as tf.Tensor);
      expect(Array.from(theirs!.dataSync())).toEqual(Array.from(mine!.dataSync()));
      tf.dispose([x, mine!, theirs!]);
      model.dispose();
      loaded.dispose();
      expect(tf.memory().numTensors).toBe(tensors);
    });
  }

  it('compute the hard_sigmoid of Keras 3 as Keras does', () => {
    tf.tidy(() => {
      const layer = tf.layers.activation({ activation: 'kerasHardSigmoid' as 'relu' });
      const x = [-5, -3, -2.5, 0, 1, 2.9, 3, 8];
      const found = Array.from((layer.apply(tf.tensor1d(x)) as tf.Tensor).dataSync());
      x.forEach((each, i) => expect(found[i]).toBeCloseTo(Math.min(Math.max(each + 3, 0), 6) / 6, 6));
    });
  });
});
