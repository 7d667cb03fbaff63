/** Dots of rows as one op in captured steps: the numbers of tfjs, and only where it would multiply row by row. */
import { DOTS, nativeDots } from '../../../src/capture/overrides/dot.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { STEP_OPS } from '../../../src/backends/tensorflow/step_kernels.js';
import { Random } from '../../helpers/random.js';
import { opsRun } from './ops_run.js';
import { ROWS, describeSteps, expectCaptured, trainTwins } from '../training.js';

interface DotArgs {
  readonly axes: number | [number, number];
  readonly normalize?: boolean;
}

/** Users and items, whose score is the dot of their rows; the ids of both come from one input. */
function factorization(args: DotArgs, dims: [number, number] = [5, 5]): tf.LayersModel {
  const ids = tf.input({ shape: [2], dtype: 'int32' });
  const rows = dims.map((outputDim) => {
    return emb.layers.embedding({ inputDim: ROWS, outputDim, combiner: 'sum' }).apply(ids) as tf.SymbolicTensor;
  });
  const dot = tf.layers.dot(args).apply(rows) as tf.SymbolicTensor;
  return tf.model({ inputs: ids, outputs: tf.layers.activation({ activation: 'sigmoid' }).apply(dot) as never });
}

/** The ops of ours for dots that `f` runs. */
const dotOps = (f: () => unknown): Promise<string[]> => opsRun(/RowDots|ScaledRows/, f);

describeSteps('Dots of rows as one op', () => {
  it('agree with products that are summed up, and their gradients to the bit', () => {
    const random = new Random(8);
    for (const [rows, dim] of [
      [0, 3],
      [1, 1],
      [7, 2],
      [40, 15],
      [40, 16],
      [33, 17],
      [9, 300],
      [5000, 16],
      [3, 40_000],
    ]) {
      tf.tidy(() => {
        const matrix = (): tf.Tensor2D => tf.tensor2d(random.floats(rows! * dim!, -1, 1), [rows!, dim!]);
        const [a, b] = [matrix(), matrix()];
        const upstream = tf.tensor1d(random.floats(rows!, -2, 2));
        const stock = (x: tf.Tensor, y: tf.Tensor): tf.Tensor1D => x.mul(y).sum(1);
        const own = (x: tf.Tensor, y: tf.Tensor): tf.Tensor1D => nativeDots(x as tf.Tensor2D, y as tf.Tensor2D)!;
        const [expected, received] = [stock(a, b).dataSync(), own(a, b).dataSync()];
        const size = stock(a.abs(), b.abs()).dataSync();
        expect(received.length).toBe(rows!);
        received.forEach((dot, i) => expect(Math.abs(dot - expected[i]!)).toBeLessThanOrEqual(1e-6 * (1 + size[i]!)));
        const gradients = [stock, own].map((dots) => {
          return tf
            .grads((x, y) => dots(x!, y!).mul(upstream).sum())([a, b])
            .map((each) => each.dataSync());
        });
        expect(gradients[1]).toEqual(gradients[0]!);
      });
    }
  });

  it('are the same for any number of threads', () => {
    const random = new Random(2);
    tf.tidy(() => {
      const [a, b] = [0, 1].map(() => tf.tensor2d(random.floats(5000 * 21), [5000, 21]));
      const factors = tf.tensor1d(random.floats(5000));
      const usual = emb.backendInfo().kernels['EmbeddingBag']!.threads;
      try {
        const found = [1, 2].map((threads) => {
          emb.setThreads(threads);
          return [STEP_OPS.rowDots(a!, b!).dataSync(), STEP_OPS.scaledRows(factors, a!).dataSync()];
        });
        expect(found[1]).toEqual(found[0]!);
      } finally {
        emb.setThreads(usual);
      }
    });
  });

  it('are asked for where a layer multiplies row by row, and nowhere else', async () => {
    const opsOf = (
      args: DotArgs,
      shapes: [number[], number[]],
      dtype: 'float32' | 'int32' = 'float32',
    ): Promise<string[]> =>
      dotOps(() => {
        tf.tidy(() => {
          const [a, b] = shapes.map((shape) => tf.ones(shape, dtype));
          const layer = tf.layers.dot(args as never);
          const run = (): tf.Tensor => layer.apply([a!, b!]) as tf.Tensor;
          const [own, stock] = [withOverrides([DOTS], run), run()];
          expect([own.shape, own.dtype]).toEqual([stock.shape, stock.dtype]);
          expect(own.dataSync()).toEqual(stock.dataSync() as Float32Array);
        });
      });
    const square: [number[], number[]] = [
      [4, 3],
      [4, 3],
    ];
    for (const axes of [1, -1, [1, 1]] as const)
      expect(await opsOf({ axes } as DotArgs, square)).toEqual(['EmbeddingRowDots']);
    expect(await opsOf({ axes: 1, normalize: true }, square)).toEqual([]);
    expect(await opsOf({ axes: 1 }, square, 'int32')).toEqual([]);
    expect(
      await opsOf({ axes: 2 }, [
        [4, 2, 3],
        [4, 2, 3],
      ]),
    ).toEqual([]);
  });

  const CASES: Record<string, DotArgs> = {
    'the last axis': { axes: -1 },
    'rows of length one': { axes: 1, normalize: true },
  };
  for (const [title, args] of Object.entries(CASES)) {
    it(`train as op by op: ${title}`, async () => {
      await expectCaptured(trainTwins(() => factorization(args)));
    });
  }

  it('have one op for each gradient that is asked for', async () => {
    const model = factorization({ axes: 1 });
    model.layers.filter((layer) => layer instanceof emb.Embedding).at(-1)!.trainable = false;
    const optimizer = emb.train.sgd({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'binaryCrossentropy' });
    const [x, y] = [tf.ones([4, 2], 'int32'), tf.ones([4, 1])];
    expect(await dotOps(() => model.trainOnBatch(x, y))).toEqual(['EmbeddingRowDots', 'EmbeddingScaledRows']);
    emb.setCapture(false, model);
    expect(await dotOps(() => model.trainOnBatch(x, y))).toEqual([]);
    optimizer.dispose();
    model.dispose();
    tf.dispose([x, y]);
  });

  it('refuse matrices that do not fit', () => {
    tf.tidy(() => {
      const matrix = tf.ones<tf.Rank.R2>([4, 3]);
      expect(() => STEP_OPS.rowDots(matrix, tf.ones([4, 2]))).toThrowError(emb.ValueError, /\[4, 3\].*\[4, 2\]/);
      expect(() => STEP_OPS.rowDots(matrix, tf.ones([3, 3]))).toThrowError(emb.ValueError, /\[4, 3\].*\[3, 3\]/);
      expect(() => STEP_OPS.scaledRows(tf.ones([3]), matrix)).toThrowError(emb.ValueError, /factors/);
    });
  });
});
