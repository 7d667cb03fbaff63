/** Two towers as one file of ONNX: a user goes in, the best items come out, in onnxruntime without this package. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const [USERS, ITEMS] = [20, 30];
const file = process.argv[2] ?? join(tmpdir(), 'two_towers.onnx');
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
await model.fit(x, tf.tensor2d(pairs.map(([u, i]) => [u % 5 === i % 5 ? 1 : 0])), { epochs: 40, verbose: 0 });

// The items' vectors become a weight, and the search for the best of them a layer behind the tower of users.
const items = tf.model({ inputs: item.ids, outputs: item.vector });
const candidates = items.predict(column(Array.from({ length: ITEMS }, (_, i) => i))) as tf.Tensor2D;
const best = emb.layers.bruteForceRetrieval({ candidates, k: 6, name: 'best' }).apply(user.vector);
const served = tf.model({ inputs: user.ids, outputs: best as tf.SymbolicTensor[] });
await emb.onnx.export(served, file);
const difference = await emb.onnx.check(file, served, column([7, 3]));
console.log(`within 1e-5 of the model: ${difference < 1e-5}`);
