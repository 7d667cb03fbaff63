import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { readActivation } from '../../../src/layers/feature_interaction/activations.js';
import { expectError } from '../../helpers/errors.js';

/** What tfjs registers each activation as. */
const CLASSES = [
  ...['elu', 'selu', 'relu', 'relu6', 'linear', 'sigmoid', 'hardSigmoid', 'kerasHardSigmoid', 'softplus', 'softsign'],
  ...['tanh', 'softmax', 'logSoftmax', 'gelu', 'gelu_new', 'mish', 'swish'],
];

describe('activations', () => {
  beforeAll(() => emb.ready());

  for (const name of CLASSES) {
    it(`are found by their names, as Keras writes them too: ${name}`, () => {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const given = [name, snake, { className: name, config: {} }, { class_name: snake, config: {} }];
      for (const each of given) expect(readActivation('a', each).getClassName()).toBe(name);
      expect(() => readActivation('a', 'none')).toThrowError(new RegExp(`\\b${name}\\b`));
    });
  }

  it('may be inside a layer, or its config; none is linear', () => {
    const layer = tf.layers.activation({ activation: 'tanh' });
    expect(readActivation('a', layer).getClassName()).toBe('tanh');
    for (const key of ['className', 'class_name']) {
      expect(readActivation('a', { [key]: 'Activation', config: { activation: 'silu' } }).getClassName()).toBe('swish');
      expect(readActivation('a', { [key]: 'Activation' }).getClassName()).toBe('linear');
    }
    for (const none of [null, undefined]) expect(readActivation('a', none).getClassName()).toBe('linear');
    expectError(() => readActivation('a', 'none'), 'ValueError', 'a', 'none');
    expectError(() => readActivation('a', 1), 'TypeError', 'a', '1');
    expectError(() => readActivation('a', 'zeros'), 'ValueError', 'a', 'zeros');
    const dense = tf.layers.dense({ units: 1 });
    expectError(() => readActivation('a', dense), 'ValueError', 'a', 'Dense');
  });
});
