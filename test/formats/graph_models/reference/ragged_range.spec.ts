/** Ranges of float32, which TensorFlow makes by adding: each number is rounded before the next step. */
import * as tf from '@tensorflow/tfjs';
import { OPERATIONS } from '../../../../src/formats/graph_models/operations.js';
import { runOperation } from '../../../../src/formats/graph_models/run_operation.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectNoLeak } from '../../../helpers/tensors.js';

/** Sums of rounded numbers, as float32 has them; from 0 by 0.1 they leave what float64 would give at the eighth. */
const TENTHS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.70000005, 0.8000001, 0.9000001].map(Math.fround);

describeForBackends(
  'RaggedRange',
  () => {
    const range = (starts: number[], limits: number[], deltas: number[]): [number[], number[]] => {
      const [splits, values] = tf.tidy(() => {
        const inputs = [starts, limits, deltas].map((each) => tf.tensor1d(each, 'float32'));
        return runOperation(OPERATIONS.get('RaggedRange')!, inputs, {}).map((each) => each.clone()) as never;
      }) as unknown as [tf.Tensor, tf.Tensor];
      const found: [number[], number[]] = [[...splits.dataSync()], [...values.dataSync()]];
      tf.dispose([splits, values]);
      return found;
    };

    it('adds in float32', () => {
      expectNoLeak(() => {
        const [splits, values] = range([0, 5, 1], [1, 5, 0], [0.1, 1, -0.25]);
        expect(splits).toEqual([0, values.length - 4, values.length - 4, values.length]);
        expect(values.slice(0, TENTHS.length)).toEqual(TENTHS);
        expect(values.slice(-4)).toEqual([1, 0.75, 0.5, 0.25]);
        expect(values[7]).not.toBe(Math.fround(0.7));
      });
    });

    it('drifts as far as a thousand roundings take it', () => {
      expectNoLeak(() => {
        const [, values] = range([1e6], [1e6 + 100], [0.1]);
        // Where numbers are 1/16 apart, a step of 0.1 is one of 0.125.
        expect(values.length).toBeGreaterThanOrEqual(1000);
        expect(values.slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, i) => 1e6 + i * 0.125));
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
