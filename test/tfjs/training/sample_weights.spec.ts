/** Weights of rows in the loss of an evaluation, where the loss has a value for each step of a row. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { weighBatch, type EagerStep } from '../../../src/tfjs/training/sample_weights.js';

interface Tested {
  makeTestFunction(): void;
  testFunction: EagerStep;
}

describe('weights of the rows of a batch', () => {
  for (const [title, shape, differences] of [
    ['of one value a row', [2, 1], [[3], [1]]],
    [
      'of three steps a row',
      [2, 3, 1],
      [
        [[3], [0], [3]],
        [[1], [1], [4]],
      ],
    ],
  ] as const) {
    it(`multiply the mean of a row: ${title}`, async () => {
      const input = emb.input({ shape: shape.slice(1) });
      const output = tf.layers.activation({ activation: 'linear' }).apply(input) as tf.SymbolicTensor;
      const model = tf.model({ inputs: input, outputs: output });
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const tested = model as unknown as Tested;
      tested.makeTestFunction();
      const before = tf.memory().numTensors;
      const x = tf.tensor((differences as unknown as number[][]).flat(3), [...shape]);
      const y = tf.zeros([...shape]);
      weighBatch(x, tf.tensor1d([0.5, 4]));
      const [loss] = tested.testFunction([x, y]);
      // By hand: squares 9 and 1, or means of squares (9 + 0 + 9) / 3 = 6 and (1 + 1 + 16) / 3 = 6.
      const wanted = shape.length === 2 ? (0.5 * 9 + 4 * 1) / 2 : (0.5 * 6 + 4 * 6) / 2;
      expect((await loss!.data())[0]).toBeCloseTo(wanted, 5);
      tf.dispose([x, y, loss!]);
      expect(tf.memory().numTensors).toBe(before);
      model.dispose();
    });
  }
});
