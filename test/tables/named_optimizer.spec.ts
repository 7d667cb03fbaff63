/** Optimizers of tables that are given by name, and as configs of Keras. */
import * as emb from 'tfjs-embeddings';
import { readNamedOptimizer } from '../../src/tables/named_optimizer.js';
import { expectError } from '../layers/setup.js';

const FTRL = {
  learning_rate: 0.5,
  learning_rate_power: -0.75,
  initial_accumulator_value: 0.25,
  l1_regularization_strength: 0.125,
  l2_regularization_strength: 0.0625,
  beta: 2,
};

describe('optimizers of tables', () => {
  it('pass on every field of Ftrl of Keras', () => {
    for (const className of ['Ftrl', 'keras>Ftrl']) {
      const read = readNamedOptimizer({ class_name: className, config: FTRL })!;
      const own = emb.train.ftrl({
        learningRate: 0.5,
        learningRatePower: -0.75,
        initialAccumulatorValue: 0.25,
        l1: 0.125,
        l2: 0.0625,
        beta: 2,
      });
      expect(read.settings).toEqual(own.settings);
      read.dispose();
      own.dispose();
    }
  });

  it('refuse a class name that is no text, and a config that is no object', () => {
    expectError(() => readNamedOptimizer({ className: 5, config: {} }), 'TypeError', 'optimizer');
    expectError(() => readNamedOptimizer({ className: 'Ftrl', config: 5 }), 'ValueError', 'optimizer');
    expectError(() => readNamedOptimizer({ className: 'Lion', config: {} }), 'ValueError', 'optimizer', 'Lion');
  });
});
