/** Retrieval with two towers: users and items meet in a dot product; the best items of a user are then a product away. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const USERS = 20;
const ITEMS = 30;
const tower = (name: string, inputDim: number): { ids: tf.SymbolicTensor; vector: tf.SymbolicTensor } => {
  const ids = tf.input({ shape: [1], dtype: 'int32', name });
  const rows = emb.layers.embedding({ name: `${name}_table`, inputDim, outputDim: 8, combiner: 'sum' }).apply(ids);
  const vector = tf.layers.dense({ units: 8 }).apply(rows as tf.SymbolicTensor) as tf.SymbolicTensor;
  return { ids, vector };
};
const [user, item] = [tower('user', USERS), tower('item', ITEMS)];
const score = tf.layers.dot({ axes: 1 }).apply([user.vector, item.vector]) as tf.SymbolicTensor;
const model = tf.model({ inputs: [user.ids, item.ids], outputs: score });
model.compile({ optimizer: emb.train.adam({ learningRate: 0.02 }), loss: 'meanSquaredError' });

// User u likes the items with the same remainder.
const pairs = Array.from({ length: USERS * ITEMS }, (_, i) => [Math.floor(i / ITEMS), i % ITEMS] as const);
const column = (values: number[]): tf.Tensor2D => tf.tensor2d(values, [values.length, 1], 'int32');
const x = [column(pairs.map(([u]) => u)), column(pairs.map(([, i]) => i))];
const y = tf.tensor2d(pairs.map(([u, i]) => [u % 5 === i % 5 ? 1 : 0]));
await model.fit(x, y, { epochs: 40, batchSize: 64, verbose: 0 });

// Index the items once; then each request is one row times one matrix.
const items = tf.model({ inputs: item.ids, outputs: item.vector });
const users = tf.model({ inputs: user.ids, outputs: user.vector });
const index = items.predict(column(Array.from({ length: ITEMS }, (_, i) => i))) as tf.Tensor2D;
const request = users.predict(column([7])) as tf.Tensor2D;
const best = tf.topk(tf.matMul(request, index, false, true), 6).indices.arraySync() as number[][];
console.log(best[0]!.map((id) => id % 5));
