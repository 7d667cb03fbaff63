/** Captured steps of the layer with one id per feature, whose ids are checked feature by feature. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';
import { itIsCapturedRight, type BadInputs, type Batch } from './checked_models.js';
import { describeSteps } from '../training.js';

const [BATCH, SIZES] = [8, [3, 5, 7]] as const;

function modelOf(args: Partial<emb.ConcatOneHotEmbeddingArgs> = {}): tf.LayersModel {
  const table = emb.layers.concatOneHotEmbedding({ featureSizes: SIZES, embeddingWidth: 4, ...args });
  const ids = tf.input({ shape: [SIZES.length], dtype: 'int32' });
  const flat = tf.layers.flatten().apply(table.apply(ids)) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(flat) as tf.SymbolicTensor;
  return tf.model({ inputs: ids, outputs });
}

function draw(random: Random): Batch {
  const rows = Array.from({ length: BATCH }, () => SIZES.map((size) => random.whole(0, size)));
  return { x: tf.tensor2d(rows, [BATCH, SIZES.length], 'int32'), y: tf.tensor2d(rows.map(([id]) => [id! % 2])) };
}

/** The second id of the third sample; each is a row of the table, of another feature. */
function outOfRange(id: number): BadInputs {
  return {
    title: `the id ${id} of another feature`,
    x: () =>
      tf.tensor2d(
        Array.from({ length: BATCH }, (_, row) => [0, row === 2 ? id : 1, 2]),
        [BATCH, SIZES.length],
        'int32',
      ),
    error: emb.ValueError,
    message: new RegExp(
      `expected ids in \\[0, 5\\) for feature 1 \\(featureSizes\\[1\\]\\), received ${id} at \\[2, 1\\]`,
    ),
  };
}

describeSteps('Captured steps of one id per feature', () => {
  for (const [title, args] of [
    ['rows of float32', {}],
    ['rows with a penalty', { embeddingsRegularizer: 'l1l2' }],
    ['rows of float16', { storage: 'float16' }],
  ] as const) {
    describe(title, () => {
      const bad = [outOfRange(5), outOfRange(-1)];
      itIsCapturedRight({ build: () => modelOf(args as object), draw, bad });
    });
  }
});
