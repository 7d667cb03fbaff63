/** Two towers whose items lie in a file, ten times as large as its cache: who likes what is made up of kinds. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../random.js';

const [DIM, USERS, KINDS, BATCH] = [16, 500, 10, 64];

export interface Trained {
  /** Mean losses of the first and the last tenth of the steps. */
  readonly first: number;
  readonly last: number;
  readonly stepsPerSecond: number;
  readonly stats: emb.DiskTableStats;
}

/** Trains a new file of items, and leaves its last checkpoint. */
export async function trainTowers(file: string, items: number, steps: number, seed: number): Promise<Trained> {
  const table = await emb.diskTable.create({
    ...{ name: 'items', file, rows: items, outputDim: DIM, seed, cacheBytes: (items * DIM * 4) / 10 },
  });
  const [user, item] = [tf.input({ shape: [1], dtype: 'int32' }), tf.input({ shape: [1], dtype: 'int32' })];
  const ofUser = emb.layers.embedding({ inputDim: USERS, outputDim: DIM, combiner: 'sum', seed }).apply(user);
  const ofItem = emb.layers.embedding({ table, combiner: 'sum' }).apply(item);
  const score = tf.layers.dot({ axes: -1 }).apply([ofUser, ofItem] as tf.SymbolicTensor[]) as tf.SymbolicTensor;
  const model = tf.model({ inputs: [user, item], outputs: score });
  const optimizer = emb.train.adagrad({ learningRate: 0.5 });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const random = new Random(seed);
  const count = steps * BATCH;
  const users = Int32Array.from({ length: count }, () => random.below(USERS));
  // Frequent items lie in front; others come once in a while.
  const drawn = Int32Array.from({ length: count }, () => Math.floor(items * random.next() ** 6));
  const likes = Float32Array.from(users, (each, i) => (each % KINDS === drawn[i]! % KINDS ? 1 : 0));
  const inputs = [users, drawn].map((ids) => tf.tensor2d(ids, [count, 1], 'int32'));
  const labels = tf.tensor2d(likes, [count, 1]);
  const losses: number[] = [];
  const from = performance.now();
  await model.fit(inputs, labels, {
    ...{ batchSize: BATCH, epochs: 1, shuffle: false, verbose: 0 },
    callbacks: { onBatchEnd: (_, logs) => void losses.push(logs!['loss'] as number) },
  });
  const stepsPerSecond = (1000 * steps) / (performance.now() - from);
  const stats = table.stats();
  const tenth = Math.ceil(steps / 10);
  const mean = (some: readonly number[]): number => some.reduce((sum, each) => sum + each, 0) / some.length;
  tf.dispose([inputs, labels]);
  model.dispose();
  optimizer.dispose();
  table.close();
  return { first: mean(losses.slice(0, tenth)), last: mean(losses.slice(-tenth)), stepsPerSecond, stats };
}
