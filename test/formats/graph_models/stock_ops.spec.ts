/** Ops that stock tfjs has, one a graph, against values of TensorFlow: a seeded sample of those that the generator makes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { warningsWhile } from '../../helpers/warnings.js';
import { differenceOf, loadCase, stockCases, titleOf } from './stock_ops.js';

describeForBackends(
  'stock ops of graphs as TensorFlow',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    const cases = stockCases();
    const byOp = new Map(cases.map(({ op }) => [op, cases.filter((each) => each.op === op)]));
    for (const [op, own] of byOp) {
      it(`${op}: ${own.length} cases`, async () => {
        await expectNoLeakAsync(async () => {
          await warningsWhile(async () => {
            for (const each of own) {
              const model = await loadCase(each);
              const difference = await differenceOf(model, each).catch((error: unknown) => String(error));
              expect(difference).withContext(titleOf(each)).toBeNull();
              model.dispose();
            }
          });
        });
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('stock tfjs after registerOps', () => {
  it('computes what it computed outside of graphs', async () => {
    await tf.setBackend('cpu');
    emb.converter.registerOps();
    tf.tidy(() => {
      // Stock's answer for nothing; graphs get TensorFlow's.
      expect(tf.all(tf.tensor1d([], 'bool')).dataSync()[0]).toBe(0);
    });
  });
});
