/** Variables that nobody named are told by what they are, never by the number that tfjs gave them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { tableOf, variableText } from '../../src/backends/table.js';
import { expectError } from '../helpers/errors.js';

describe('variables in errors', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('have the name that they were given, else their shape', () => {
    const [plain, named] = tf.tidy(() => [
      tf.variable(tf.zeros([4, 2])),
      tf.variable(tf.zeros([3]), true, 'names/of/its/own'),
    ]);
    expect(variableText(plain!)).toBe('without a name, of shape [4, 2]');
    expect(variableText(named!)).toBe('names/of/its/own');
    tableOf(plain!).givenName = 'items/accumulators';
    expect(variableText(plain!)).toBe('items/accumulators');
    tf.dispose([plain!, named!]);
  });

  it('are told by their layer where an optimizer holds them', () => {
    const layer = emb.layers.embedding({ name: 'words', inputDim: 4, outputDim: 2, combiner: 'sum' });
    const optimizer = emb.train.adam({ learningRate: 0.1 });
    const ids = tf.zeros([1, 1], 'int32');
    optimizer.minimize(() => (layer.apply(ids) as tf.Tensor).sum() as tf.Scalar);
    const slots = Object.values(tf.engine().registeredVariables).filter((each) =>
      /^words.embeddings.*\//.test(variableText(each)),
    );
    expect(slots.map(variableText).sort()).toEqual(['words/embeddings/momenta', 'words/embeddings/velocities']);
    for (const slot of slots) expect(slot.name).toMatch(/^\d+$/);
    optimizer.dispose();
    layer.dispose();
    ids.dispose();
  });

  it('whose gradient has another shape are told by name, dense ones too', () => {
    const [plain, kernel] = tf.tidy(() => [
      tf.variable(tf.zeros([4, 2])),
      tf.variable(tf.zeros([3, 2]), true, 'a/kernel'),
    ]);
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    const gradient = tf.ones([3, 3]);
    const wrong = (variable: tf.Variable): void => optimizer.applyGradients({ [variable.name]: gradient });
    const key = `grads[${JSON.stringify(plain!.name)}]`;
    expectError(() => wrong(plain!), 'ValueError', key, 'shape [3, 3]');
    expect(() => wrong(plain!)).toThrowError(/is the variable without a name, of shape \[4, 2\]\.$/);
    expectError(() => wrong(kernel!), 'ValueError', 'grads["a/kernel"]', 'shape [3, 3]');
    optimizer.dispose();
    tf.dispose([plain!, kernel!, gradient]);
  });
});
