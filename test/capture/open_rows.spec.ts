/** Captured steps whose number of ids, or of touched rows, changes from step to step. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { openOutputs } from '../../src/capture/row_counts.js';
import type { Random } from '../helpers/random.js';
import { ROWS, describeSteps, expectCaptured, modelOf, sigmoid, trainTwins, type Options } from './training.js';
import { expectEqual } from './twins.js';

const WIDTH = 5;

/** Rows of 0 to 5 ids, padded with -1; in some batches all are empty. */
function padded(random: Random, batch: number, isEmpty = false): tf.Tensor2D {
  const ids = Array.from({ length: batch }, () => {
    const length = isEmpty ? 0 : random.whole(0, WIDTH + 1);
    return Array.from({ length: WIDTH }, (_, i) => (i < length ? random.whole(0, ROWS) : -1));
  });
  return tf.tensor2d(ids, [batch, WIDTH], 'int32');
}

const some: Options['ids'] = (random, batch) => padded(random, batch);

/** One table under two combiners, one of which skips the id 0, and a second table, all of ragged rows. */
function raggedModel(args: Partial<emb.RaggedEmbeddingArgs> = {}): tf.LayersModel {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 4, embeddingsRegularizer: 'l1l2' });
  const { raggedEmbedding } = emb.layers;
  const outputs = [
    raggedEmbedding({ table, combiner: 'sum', maskZero: true }),
    raggedEmbedding({ table, combiner: 'sqrtn' }),
    raggedEmbedding({ inputDim: ROWS, outputDim: 3, combiner: 'mean', ...args }),
  ].map((layer) => layer.apply(ids) as tf.SymbolicTensor);
  return tf.model({ inputs: ids, outputs: sigmoid(tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor) });
}

describeSteps('Captured steps with numbers of ids that change', () => {
  it('equal the steps op by op, for ragged rows as padding', async () => {
    await expectCaptured(trainTwins(() => raggedModel(), { ids: some, steps: 20 }));
    await expectCaptured(trainTwins(() => raggedModel({ maxNorm: 0.1 }), { ids: some }));
  });

  it('mask the id 0', async () => {
    await expectCaptured(trainTwins(() => modelOf(sigmoid, { maskZero: true })));
  });

  it('clip by the norm over all gradients, and by that of a table with an optimizer of its own', async () => {
    const optimizer = (): tf.Optimizer => emb.train.adam({ learningRate: 0.01, globalClipNorm: 0.01 });
    await expectCaptured(trainTwins(() => modelOf(), { optimizer }));
    await expectCaptured(trainTwins(() => raggedModel(), { optimizer, ids: some, steps: 20 }));
    const own = { optimizer: emb.train.sgd({ learningRate: 0.5, globalClipNorm: 0.01 }) };
    await expectCaptured(trainTwins(() => modelOf(sigmoid, own)));
  });

  // Ops leave out what is empty: a step recorded then would leave it out for ever.
  const globalClipNorm = 0.01;
  for (const [title, optimizer] of [
    ['as they are', () => emb.train.sgd({ learningRate: 0.5 })],
    ['clipped', () => emb.train.sgd({ learningRate: 0.5, globalClipNorm })],
  ] as const) {
    it(`are recorded only from batches that have ids, gradients ${title}`, async () => {
      const ids: Options['ids'] = (random, batch, step) => padded(random, batch, step < 4 || step % 5 === 0);
      await expectCaptured(trainTwins(() => raggedModel(), { ids, steps: 16, optimizer }));
    });
  }

  it('run op by op where batches without ids are all there is', async () => {
    const ids: Options['ids'] = (random, batch) => padded(random, batch, true);
    const found = await trainTwins(() => raggedModel(), { ids, steps: 14 });
    expect(found.captured.info.reason).toMatch(/some batches have no ids/);
    expectEqual(found, 0);
  });

  it('tell an id out of range by its place among the ids as they were given', async () => {
    const model = raggedModel();
    model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }), loss: 'binaryCrossentropy' });
    const x = tf.tensor2d(
      [
        [1, 2, -1, -1, -1],
        [3, 4, 5, -1, 6],
      ],
      [2, WIDTH],
      'int32',
    );
    const bad = tf.tensor2d(
      [
        [1, -1, -1, -1, -1],
        [-1, -1, 7, ROWS, -1],
      ],
      [2, WIDTH],
      'int32',
    );
    const y = tf.tensor2d([[0], [1]]);
    for (let step = 0; step < 5; step++) await model.trainOnBatch(x, y);
    expect(emb.stepInfo(model).captured).toBeTrue();
    const before = model.getWeights().map((weight) => weight.dataSync().slice());
    await expectAsync(model.trainOnBatch(bad, y)).toBeRejectedWithError(emb.ValueError, /\[1, 3\].*50|50.*\[1, 3\]/);
    model.getWeights().forEach((weight, i) => expect(weight.dataSync()).toEqual(before[i]!));
    expect(emb.stepInfo(model).captured).toBeTrue();
    model.optimizer.dispose();
    model.dispose();
    tf.dispose([x, bad, y]);
  });
});

const sized = (name: string, isOpen: readonly boolean[], ranks: readonly number[] = isOpen.map(() => 1)) => ({
  name,
  attributes: [],
  isOpen,
  ranks,
});

describe('first sizes that the ids decide', () => {
  it('of pooled rows are those of the row splits of each lookup', () => {
    const [tables, values, weights, numbers] = [
      [false, false],
      [true, true],
      [true, false],
      [false, false],
    ];
    for (const splits of [
      [true, false],
      [false, true],
    ]) {
      const isOpen = [tables, values, splits, weights, numbers].flat() as boolean[];
      expect(openOutputs(sized('EmbeddingBags', isOpen))).toEqual(splits);
    }
    expect(openOutputs(sized('EmbeddingBag', [false, true, false, true]))).toEqual([false]);
    expect(openOutputs(sized('EmbeddingBag', [false, true, true, true]))).toEqual([true]);
  });

  it('are none of a sum, and of a product only beside a number', () => {
    expect(openOutputs(sized('Sum', [true, false]))).toEqual([false]);
    expect(openOutputs(sized('Mul', [true, false], [1, 0]))).toEqual([true]);
    expect(openOutputs(sized('Mul', [true, false], [1, 1]))).toBeNull();
    expect(openOutputs(sized('Relu', [true]))).toBeNull();
    expect(openOutputs(sized('Relu', [false]))).toEqual([]);
  });
});
