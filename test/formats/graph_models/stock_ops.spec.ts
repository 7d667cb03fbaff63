/** Ops that stock tfjs has, one a graph, against values of TensorFlow: a seeded sample of those that the generator makes. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { warningsWhile } from '../../helpers/warnings.js';
import { differenceOf, loadCase, stockCases, titleOf } from './stock_ops.js';

/** What is as in stock tfjs, on every backend or on one: it fails there, or differs. */
const AS_IN_STOCK: Readonly<Record<string, readonly string[]>> = {
  all: ['ListDiff', 'ScatterNd', 'TensorScatterUpdate'],
  cpu: [],
  wasm: ['Cast', 'ConcatV2', 'SparseToDense', 'StridedSlice', 'Where'],
  tensorflow: [],
};

describeForBackends(
  'stock ops of graphs as TensorFlow',
  ({ backend }) => {
    beforeAll(() => void emb.converter.registerOps());

    const left = [...AS_IN_STOCK['all']!, ...AS_IN_STOCK[backend]!];
    const cases = stockCases().filter(({ op }) => !left.includes(op));
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

    it('are most of the sample', () => {
      expect(cases.length / stockCases().length).toBeGreaterThan(0.85);
      expect(byOp.size).toBeGreaterThan(80);
    });
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
