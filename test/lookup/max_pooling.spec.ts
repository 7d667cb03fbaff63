/** The combiner `max`: results, gradients to the first maximum, and what it refuses. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { expectClose } from '../helpers/tensors.js';

const [ROWS, DIM] = [7, 3];
type Matrix = number[][];

/** Few values, so that rows are equal in some columns. */
function drawTable(random: Random): Matrix {
  return Array.from({ length: ROWS }, () => Array.from({ length: DIM }, () => random.whole(-3, 2) / 4));
}
function drawBags(random: Random): number[][] {
  return Array.from({ length: 5 }, (_, bag) => Array.from({ length: bag % 4 }, () => random.whole(0, ROWS)));
}

/** Pooled rows, and the gradient of sum(pooled * factors) by the table. */
function naive(table: Matrix, bags: number[][], factors: Matrix): { pooled: Matrix; gradient: Matrix } {
  const gradient = table.map((row) => row.map(() => 0));
  const pooled = bags.map((ids, bag) =>
    Array.from({ length: DIM }, (_, c) => {
      if (ids.length === 0) return 0;
      const most = Math.max(...ids.map((id) => table[id]![c]!));
      gradient[ids.find((id) => table[id]![c] === most)!]![c]! += factors[bag]![c]!;
      return most;
    }),
  );
  return { pooled, gradient };
}

describeForBackends('the combiner max', () => {
  let tensors = 0;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('takes the largest of each column, and its gradient goes to the first of these', () => {
    const random = new Random(3);
    for (let round = 0; round < 10; round++) {
      const [start, bags] = [drawTable(random), drawBags(random)];
      const factors = bags.map(() => Array.from(random.floats(DIM)));
      const expected = naive(start, bags, factors);
      tf.tidy(() => {
        const table = tf.variable(tf.tensor2d(start));
        const ids = emb.RaggedTensor.fromRows(bags);
        const loss = (): tf.Scalar => {
          const pooled = emb.embeddingLookup(table, ids as never, { combiner: 'max' }) as tf.Tensor;
          expectClose(pooled.dataSync(), expected.pooled.flat(), 0, 'pooled');
          return pooled.mul(tf.tensor2d(factors)).sum();
        };
        const { grads } = tf.variableGrads(loss, [table]);
        expectClose(grads[table.name]!.dataSync(), expected.gradient.flat(), 3, 'dense gradient');
        const [values, rowSplits] = [ids.values as Int32Array, ids.rowSplits];
        const dy = tf.tensor2d(factors);
        const byRow = emb.ops.embeddingBagGrad(dy, values, rowSplits, { combiner: 'max', table });
        const whole = tf.scatterND(byRow.uniqueIds.expandDims(1), byRow.rowGradients, [ROWS, DIM]);
        expectClose(whole.dataSync(), expected.gradient.flat(), 3, 'gradient by rows');
        const wanted = start.flat().map((w, i) => w - 0.5 * expected.gradient.flat()[i]!);
        const optimizer = emb.train.sgd({ learningRate: 0.5 });
        optimizer.minimize(loss, false, [table]);
        optimizer.dispose();
        expectClose(table.dataSync(), wanted, 3, 'after a step');
        table.assign(tf.tensor2d(start));
        emb.ops.sparseApply('sgd', { table, gradient: dy, values, rowSplits, combiner: 'max', learningRate: 0.5 });
        expectClose(table.dataSync(), wanted, 3, 'after sparseApply');
        table.dispose();
      });
    }
  });

  it('counts rows out of range as zeros where that is asked for, after norms are limited', () => {
    tf.tidy(() => {
      const table = tf.tensor2d([[-1, -1], [3, 4]]); // prettier-ignore
      const options = { combiner: 'max', outOfRange: 'zero', maxNorm: 1 } as const;
      const found = emb.embeddingLookup(table, [[0, 5], [1, 0]], options) as tf.Tensor; // prettier-ignore
      expectClose(found.dataSync(), [0, 0, 0.6, 0.8], 1);
      const parts = [tf.tensor2d([[-1, 2]]), tf.tensor2d([[-3, 5]])];
      const whole = emb.embeddingLookup(parts, [[0, 1], [1, 1]], { combiner: 'max' }) as tf.Tensor; // prettier-ignore
      expectClose(whole.dataSync(), [-1, 5, -3, 5], 1, 'partitions');
      const sparse = { indices: [[0, 0], [0, 1]], values: [0, 1], denseShape: [2, 2] }; // prettier-ignore
      expectClose(
        (emb.embeddingLookup(table, sparse as never, { combiner: 'max' }) as tf.Tensor).dataSync(),
        [3, 4, 0, 0],
      );
      const safe = emb.safeEmbeddingLookup(table, [[0, -1], [-1, -1]], { combiner: 'max' }) as tf.Tensor; // prettier-ignore
      expectClose(safe.dataSync(), [-1, -1, 0, 0]);
    });
  });

  it('refuses weights', () => {
    tf.tidy(() => {
      const table = tf.ones([2, 2]) as tf.Tensor2D;
      const weights = [[1, 2]];
      expectError(() => emb.embeddingLookup(table, [[0, 1]], { combiner: 'max', weights }), 'ValueError', 'combiner');
      const bags = { values: [0, 1], rowSplits: [0, 2], weights: [1, 2] };
      expectError(
        () => emb.ops.embeddingBag(table, bags.values, bags.rowSplits, { combiner: 'max', weights: bags.weights }),
        'ValueError',
        'weights',
      );
      const layer = emb.layers.embedding({ inputDim: 2, outputDim: 2, combiner: 'max' });
      expect(() => layer.apply([tf.tensor2d([[0, 1]], [1, 2], 'int32'), tf.tensor2d(weights)])).toThrowError(
        emb.ValueError,
        /'sum', 'mean' or 'sqrtn'/,
      );
    });
  });

  it('works in layers, with masks, and is saved with models', async () => {
    const weights = [tf.tensor2d([[9, 9], [-1, 2], [-3, 5]])]; // prettier-ignore
    const args = { inputDim: 3, outputDim: 2, combiner: 'max', weights } as const;
    const model = tf.sequential({ layers: [emb.layers.embedding({ ...args, inputLength: 3, maskZero: true })] });
    const ids = tf.tensor2d([[1, 2, 0], [0, 0, 0]], [2, 3], 'int32'); // prettier-ignore
    const predictions = model.predict(ids) as tf.Tensor;
    expectClose(predictions.dataSync(), [-1, 5, 0, 0]);
    let saved: tf.io.ModelArtifacts | null = null;
    await model.save(
      tf.io.withSaveHandler(async (artifacts) => ((saved = artifacts), { modelArtifactsInfo: {} as never })),
    );
    const again = await tf.loadLayersModel(tf.io.fromMemory(saved!));
    const same = again.predict(ids) as tf.Tensor;
    expectClose(same.dataSync(), [-1, 5, 0, 0]);
    const ragged = emb.layers.raggedEmbedding(args);
    const pooled = ragged.apply(emb.RaggedTensor.fromRows([[2, 1], [], [0]]) as never) as unknown as tf.Tensor;
    expectClose(pooled.dataSync(), [-1, 5, 0, 0, 9, 9]);
    const distributed = emb.layers.distributedEmbedding({
      embeddings: [{ inputDim: 3, outputDim: 2, combiner: 'max', weights }],
    } as never);
    const [of] = distributed.apply([ids]) as unknown as tf.Tensor[];
    expectClose(of!.dataSync().slice(2), [9, 9], 1, 'distributed');
    await expectAsync(emb.exportKeras(again, '/nowhere/model.keras')).toBeRejectedWithError(/combiner/);
    [model, again, ragged, distributed].forEach((each) => each.dispose());
    tf.dispose([weights, ids, predictions, same, pooled, of!]);
  });
});
