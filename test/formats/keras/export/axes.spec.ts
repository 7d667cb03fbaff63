import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { checkAxis } from '../../../../src/formats/keras/export/axes.js';
import { expectError } from '../../../helpers/errors.js';

/** A layer after it was called with tensors of rank 3. */
function called(layer: tf.layers.Layer, count = 1): tf.layers.Layer {
  const inputs = Array.from({ length: count }, () => tf.input({ shape: [2, 2] }));
  layer.apply(count === 1 ? inputs[0]! : inputs);
  return layer;
}

const AXES = [-2, -1, 1, 2];

describe('axes of layers that go to Keras', () => {
  it('are those along which tfjs works', () => {
    for (const axis of AXES) {
      const along = [tf.layers.batchNormalization({ axis }), tf.layers.softmax({ axis })];
      for (const layer of along) {
        const check = (): void => checkAxis(called(layer));
        if (axis === -1 || axis === 2) expect(check).not.toThrow();
        else expectError(check, 'ValueError', `${layer.name}.axis`, String(axis));
      }
      const joining = (): void => checkAxis(called(tf.layers.concatenate({ axis, name: 'joined' }), 2));
      if (axis < -1) expectError(joining, 'ValueError', 'joined.axis', String(axis));
      else expect(joining).not.toThrow();
      expect(() => checkAxis(called(emb.layers.unitNormalization({ axis })))).not.toThrow();
    }
    expect(() => checkAxis(called(tf.layers.dense({ units: 1 })))).not.toThrow();
  });
});
