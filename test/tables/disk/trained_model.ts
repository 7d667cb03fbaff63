/** A model of two uses of one table, and steps of drawn ids: what specs and their programs train. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Random } from '../../helpers/random.js';

export const [ROWS, DIM, BATCH] = [60, 3, 4];
export const START = { embeddingsInitializer: 'randomNormal', seed: 11 } as const;

export function modelOf(table: emb.EmbeddingTable, optimizer: tf.Optimizer): tf.LayersModel {
  const [a, b] = [0, 1].map(() => tf.input({ shape: [3], dtype: 'int32' }));
  const pooled = emb.layers.embedding({ table, combiner: 'mean' }).apply(a!) as tf.SymbolicTensor;
  const other = emb.layers.embedding({ table, combiner: 'sum', maxNorm: 0.5 }).apply(b!) as tf.SymbolicTensor;
  const joined = tf.layers.concatenate().apply([pooled, other]);
  const dense = tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.glorotUniform({ seed: 3 }) });
  const model = tf.model({ inputs: [a!, b!], outputs: dense.apply(joined) as tf.SymbolicTensor });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

/** Takes steps of drawn ids. */
export async function steps(model: tf.LayersModel, random: Random, count: number, rows = ROWS): Promise<void> {
  for (let step = 0; step < count; step++) {
    const ids = [0, 1].map(() => {
      const drawn = Int32Array.from({ length: BATCH * 3 }, () => Math.floor(rows * random.next() ** 2));
      return tf.tensor2d(drawn, [BATCH, 3], 'int32');
    });
    const y = tf.tensor2d(random.floats(BATCH), [BATCH, 1]);
    await model.trainOnBatch(ids, y);
    tf.dispose([...ids, y]);
  }
}
