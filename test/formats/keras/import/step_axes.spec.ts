/** Layers of one step in files of Keras: their axes are those of a step. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectClose } from '../../../helpers/tensors.js';

const keras = (name: string, config: object): object => {
  return { module: 'keras.layers', class_name: name, config, registered_name: null };
};

/** A model of one layer for each step of [3, 2, 4]. */
function ofSteps(inner: object): Promise<tf.LayersModel> {
  const shape = [null, 3, 2, 4];
  const tensor = { class_name: '__keras_tensor__', config: { shape, dtype: 'float32', keras_history: ['x', 0, 0] } };
  const steps = keras('TimeDistributed', { name: 'steps', layer: inner });
  const layers = [
    { ...keras('InputLayer', { batch_shape: shape, name: 'x' }), name: 'x', inbound_nodes: [] },
    { ...steps, name: 'steps', inbound_nodes: [{ args: [tensor], kwargs: {} }] },
  ];
  const config = { name: 'model', layers, input_layers: [['x', 0, 0]], output_layers: [['steps', 0, 0]] };
  return emb.loadKerasModel(
    tf.io.fromMemory({
      modelTopology: { keras_version: '3.15.1', model_config: keras('Functional', config) },
      weightSpecs: [],
      weightData: new ArrayBuffer(0),
    }),
  );
}

describe('a layer for each step of a file', () => {
  beforeAll(() => tf.setBackend('cpu'));

  for (const axis of [-1, -2, 1, 2, [1, 2], [-1, 1]]) {
    it(`normalizes along the axes of a step: ${JSON.stringify(axis)}`, async () => {
      const model = await ofSteps(keras('UnitNormalization', { name: 'unit', axis }));
      tf.tidy(() => {
        const x = tf.randomUniform([2, 3, 2, 4], -1, 1, 'float32', 4);
        // Of a step [batch, 2, 4].
        const alone = tf.unstack(x, 1).map((step) => emb.layers.unitNormalization({ axis }).apply(step) as tf.Tensor);
        expectClose([...(model.predict(x) as tf.Tensor).dataSync()], [...tf.stack(alone, 1).dataSync()], 1e-6);
      });
      model.dispose();
    });
  }
});
