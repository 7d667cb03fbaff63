/** Captured steps of tables of float16 whose rows are limited to a norm and regularized, or used several times. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';
import { ROWS, describeSteps, expectCaptured, modelOf, sigmoid, trainTwins } from '../training.js';

const WIDTH = 4;

/** Rows of 0 to 4 ids, padded with -1. */
const padded = (random: Random, batch: number): tf.Tensor2D => {
  const ids = Array.from({ length: batch }, () => {
    const length = random.whole(0, WIDTH + 1);
    return Array.from({ length: WIDTH }, (_, i) => (i < length ? random.whole(0, ROWS) : -1));
  });
  return tf.tensor2d(ids, [batch, WIDTH], 'int32');
};

/** Two uses of one table, combined in different ways, of rows of an odd number of columns. */
function twice(args: object): tf.LayersModel {
  const ids = tf.input({ shape: [WIDTH], dtype: 'int32' });
  const table = emb.embeddingTable({ inputDim: ROWS, outputDim: 5, storage: 'float16', seed: 3, ...args });
  const features = (['sum', 'mean'] as const).map((combiner) => {
    return emb.layers.raggedEmbedding({ table, combiner, maxNorm: 0.06 }).apply(ids) as tf.SymbolicTensor;
  });
  return tf.model({ inputs: ids, outputs: sigmoid(tf.layers.concatenate().apply(features) as tf.SymbolicTensor) });
}

describeSteps('Captured steps of float16 rows limited to a norm', () => {
  const half = { storage: 'float16', seed: 5 } as const;

  for (const maxNorm of [0.05, 1]) {
    it(`of ${maxNorm}, with a penalty`, async () => {
      const args = { ...half, maxNorm, embeddingsRegularizer: 'l1l2' } as const;
      await expectCaptured(trainTwins(() => modelOf(sigmoid, args), { steps: 20 }));
    });
  }

  it('with a bound on the norm over all gradients', async () => {
    const optimizer = (): tf.Optimizer => emb.train.sgd({ learningRate: 0.5, globalClipNorm: 0.01 });
    await expectCaptured(trainTwins(() => modelOf(sigmoid, { ...half, maxNorm: 0.05 }), { optimizer }));
  });

  it('used twice, with ids that change in number', async () => {
    await expectCaptured(trainTwins(() => twice({}), { ids: padded, steps: 20 }));
    await expectCaptured(trainTwins(() => twice({ embeddingsRegularizer: 'l1l2' }), { ids: padded, steps: 20 }));
  });
});
