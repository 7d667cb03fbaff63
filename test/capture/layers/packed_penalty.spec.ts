/** Captured steps of tables of float16 with a penalty on the rows that a step touches. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type BadInputs, type Batch } from './checked_models.js';
import { ROWS, describeSteps, expectCaptured, modelOf, sigmoid, trainTwins } from '../training.js';
import { drawIds } from '../twins.js';

const [BATCH, WIDTH] = [8, 4];

const apply = (layer: tf.layers.Layer, ids: tf.SymbolicTensor): tf.SymbolicTensor =>
  layer.apply(ids) as tf.SymbolicTensor;

/** Rows of an odd number of columns under two layers, and others beside them, of float32 too. */
function build(): tf.LayersModel {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const { embedding, raggedEmbedding } = emb.layers;
  const packed = { inputDim: ROWS, storage: 'float16', seed: 5 } as const;
  const table = emb.embeddingTable({ ...packed, outputDim: 5, embeddingsRegularizer: 'l1l2' });
  const features = [
    embedding({ table, combiner: 'mean' }),
    raggedEmbedding({ table, combiner: 'sum' }),
    embedding({ ...packed, outputDim: 8, combiner: 'sum', embeddingsRegularizer: tf.regularizers.l2({ l2: 0.1 }) }),
    embedding({ inputDim: ROWS, outputDim: 2, combiner: 'sum', embeddingsRegularizer: 'l2' }),
  ].map((layer) => apply(layer, ids));
  return tf.model({ inputs: ids, outputs: sigmoid(apply(tf.layers.concatenate(), features as never)) });
}

function draw(random: Random): Batch {
  const x = drawIds(random, BATCH, WIDTH, ROWS);
  return { x, y: tf.tidy(() => x.sum(1, true).mod(2).toFloat()) };
}

const bad: BadInputs = {
  title: 'an id out of range',
  x: () => tf.fill([BATCH, WIDTH], ROWS, 'int32'),
  error: emb.ValueError,
  message: /expected ids in \[0, 50\), received 50/,
};

describeSteps('Captured steps of float16 with penalties', () => {
  describe('on tables of one model', () => itIsCapturedRight({ build, draw, bad: [bad] }));

  for (const [name, optimizer] of [
    ['sgd', () => emb.train.sgd({ learningRate: 0.1 })],
    ['rowWiseAdagrad', () => emb.train.rowWiseAdagrad({ learningRate: 0.05 })],
    ['sgd with a bound on the norm', () => emb.train.sgd({ learningRate: 0.5, globalClipNorm: 0.05 })],
  ] as const) {
    it(`equal the steps op by op under ${name}, with ids that change in number`, async () => {
      const padded = (random: Random, batch: number): tf.Tensor2D =>
        tf.tidy(
          () => drawIds(random, batch, WIDTH, ROWS).sub(random.whole(0, 9)).maximum(-1).cast('int32') as tf.Tensor2D,
        );
      const ragged = (): tf.LayersModel => {
        const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
        const args = { inputDim: ROWS, outputDim: 7, storage: 'float16', embeddingsRegularizer: 'l1l2' } as const;
        const pooled = apply(emb.layers.raggedEmbedding({ ...args, combiner: 'sqrtn' }), ids);
        return tf.model({ inputs: ids, outputs: sigmoid(pooled) });
      };
      await expectCaptured(trainTwins(ragged, { optimizer, ids: padded, steps: 25 }));
    });
  }

  it('take factors of the regularizer that change between steps', async () => {
    type OfTable = Partial<{ readonly table: { readonly regularizer: { l2: number } | null } }>;
    const regularizer = (model: tf.LayersModel): { l2: number } => {
      const found = model.layers.map((layer) => (layer as OfTable).table?.regularizer ?? null);
      return found.find((each) => each !== null)!;
    };
    const build16 = (): tf.LayersModel =>
      modelOf(sigmoid, { storage: 'float16', embeddingsRegularizer: tf.regularizers.l2({ l2: 0.01 }) });
    const between = (model: tf.LayersModel, step: number): void => {
      regularizer(model).l2 = step < 8 ? 0.01 : 1;
    };
    await expectCaptured(trainTwins(build16, { between, steps: 20 }));
  });
});
