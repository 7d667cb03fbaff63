/** Products of all pairs of features as one op in captured steps: the numbers of the layer, and nowhere else. */
import { EXACT_PAIR_DOTS, PAIR_DOTS } from '../../../src/capture/overrides/pair_dots.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { STEP_OPS } from '../../../src/backends/tensorflow/step_kernels.js';
import { Random } from '../../helpers/random.js';
import { opsRun } from './ops_run.js';
import { ROWS, describeSteps, expectCaptured, trainTwins } from '../training.js';

const SHAPES = [
  { count: 2, batch: 1, dim: 1 },
  { count: 3, batch: 5, dim: 2 },
  { count: 7, batch: 33, dim: 15 },
  { count: 27, batch: 70, dim: 16 },
  { count: 16, batch: 40, dim: 17 },
  { count: 33, batch: 9, dim: 64 },
  { count: 5, batch: 3, dim: 300 },
  { count: 1, batch: 4, dim: 8 },
];

function featuresOf(random: Random, { count, batch, dim }: (typeof SHAPES)[0]): tf.Tensor2D[] {
  return Array.from({ length: count }, () => tf.tensor2d(random.floats(batch * dim, -1, 1), [batch, dim]));
}

const pairOps = (f: () => unknown): Promise<string[]> => opsRun(/PairDots/, f);

/** Three tables whose rows, and those of a dense layer, are paired. */
function model(args: emb.DotInteractionArgs): tf.LayersModel {
  const ids = tf.input({ shape: [2], dtype: 'int32' });
  const rows = [0, 1, 2].map(() => {
    return emb.layers.embedding({ inputDim: ROWS, outputDim: 5, combiner: 'sum' }).apply(ids) as tf.SymbolicTensor;
  });
  const pairs = emb.layers.dotInteraction(args).apply(rows);
  return tf.model({
    inputs: ids,
    outputs: tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(pairs) as tf.SymbolicTensor,
  });
}

describeSteps('Products of pairs as one op', () => {
  for (const selfInteraction of [false, true]) {
    it(`agree with those of the layer, and so do gradients: selfInteraction ${selfInteraction}`, () => {
      const random = new Random(4);
      const layer = emb.layers.dotInteraction({ selfInteraction });
      for (const shape of SHAPES.filter(({ count }) => selfInteraction || count > 1)) {
        tf.tidy(() => {
          const features = featuresOf(random, shape);
          const stock = layer.apply(features) as tf.Tensor2D;
          const own = withOverrides([PAIR_DOTS], () => layer.apply(features)) as tf.Tensor2D;
          expect(own.shape).toEqual(stock.shape);
          const upstream = tf.tensor2d(random.floats(stock.size, -2, 2), stock.shape);
          const gradients = (): tf.Tensor[] =>
            tf.grads((...given: tf.Tensor[]) => layer.apply(given) as tf.Tensor)(features, upstream);
          const [ofStock, ofOwn] = [gradients(), withOverrides([PAIR_DOTS], gradients)];
          [[own, stock] as const, ...ofOwn.map((each, i) => [each, ofStock[i]!] as const)].forEach(([a, b]) => {
            expect(a.shape).toEqual(b.shape);
            const wanted = b.dataSync();
            a.dataSync().forEach((number, i) => {
              expect(Math.abs(number - wanted[i]!)).toBeLessThan(1e-5 * (1 + Math.abs(wanted[i]!)));
            });
          });
        });
      }
    });

    it(`train as op by op: selfInteraction ${selfInteraction}`, async () => {
      await expectCaptured(trainTwins(() => model({ selfInteraction })));
    });
  }

  it('are taken where every bit is that of the layer, which is so of products without a sum', async () => {
    const random = new Random(8);
    const layer = emb.layers.dotInteraction({ selfInteraction: true });
    const bits = (f: () => tf.Tensor): number[] => [...new Int32Array(tf.tidy(f).dataSync().slice().buffer)];
    const single = [2, 3, 40].map((batch) => ({ count: 4, batch, dim: 1 }));
    for (const shape of [...SHAPES, ...single]) {
      tf.engine().startScope();
      const features = featuresOf(random, shape);
      const dots = (): tf.Tensor => layer.apply(features) as tf.Tensor;
      let exact: number[] = [];
      const ops = await pairOps(() => (exact = bits(() => withOverrides([EXACT_PAIR_DOTS], dots))));
      const where = JSON.stringify(shape);
      expect(exact).withContext(where).toEqual(bits(dots));
      if (shape.dim === 1) expect(ops.length).withContext(where).toBeGreaterThan(0);
      tf.engine().endScope();
    }
  });

  it('are not compared, and not taken, where that takes more than a step', async () => {
    tf.engine().startScope();
    const features = featuresOf(new Random(9), { count: 64, batch: 1025, dim: 64 });
    const layer = emb.layers.dotInteraction({});
    const ops = await pairOps(() => tf.tidy(() => void withOverrides([EXACT_PAIR_DOTS], () => layer.apply(features))));
    expect(ops).toEqual([]);
    tf.engine().endScope();
  });

  it('are the same for any number of threads', () => {
    const features = featuresOf(new Random(2), { count: 27, batch: 300, dim: 16 });
    const usual = emb.backendInfo().kernels['EmbeddingBag']!.threads;
    tf.tidy(() => {
      try {
        const found = [1, 2].map((threads) => {
          emb.setThreads(threads);
          const dots = STEP_OPS.pairDots(features, false);
          return [dots, ...STEP_OPS.pairDotsGradient(features, false, dots)].map((each) => each.dataSync());
        });
        expect(found[1]).toEqual(found[0]!);
      } finally {
        emb.setThreads(usual);
      }
    });
    tf.dispose(features);
  });

  it('are asked for in steps of layers without skipGather, and nowhere else', async () => {
    const run = async (args: emb.DotInteractionArgs): Promise<string[]> => {
      const built = model(args);
      built.compile({ optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
      const [x, y] = [tf.ones([4, 2], 'int32'), tf.ones([4, 1])];
      const names = await pairOps(() => built.trainOnBatch(x, y));
      (built.optimizer as tf.Optimizer).dispose();
      built.dispose();
      tf.dispose([x, y]);
      return names;
    };
    expect(await run({})).toEqual(['EmbeddingPairDots']);
    expect(await run({ skipGather: true })).toEqual([]);
    const [a, b] = [tf.ones<tf.Rank.R2>([2, 3]), tf.ones<tf.Rank.R2>([2, 3])];
    expect(await pairOps(() => tf.tidy(() => void emb.layers.dotInteraction().apply([a, b])))).toEqual([]);
    tf.dispose([a, b]);
  });

  it('refuse matrices that do not fit', () => {
    tf.tidy(() => {
      const ones = (rows: number, dim: number): tf.Tensor2D => tf.ones([rows, dim]);
      const [one, other] = [ones(2, 3), ones(2, 4)];
      expect(() => STEP_OPS.pairDots([one, other], false)).toThrowError(emb.ValueError, /features.*\[2, 4\].*number 1/);
      expect(() => STEP_OPS.pairDotsGradient([one, one], false, ones(2, 3))).toThrowError(
        emb.ValueError,
        /upstream.*\[2, 1\].*\[2, 3\]/,
      );
    });
  });
});
