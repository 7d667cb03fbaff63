/** Two inputs that look up one table: the item that is shown, and the items that a user has bought. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const items = emb.embeddingTable({ name: 'items', inputDim: 100, outputDim: 8 });
const shown = tf.input({ shape: [1], dtype: 'int32', name: 'shown' });
const bought = tf.input({ shape: [5], dtype: 'int32', name: 'bought' });
const shownRow = emb.layers.embedding({ table: items, combiner: 'sum' }).apply(shown) as tf.SymbolicTensor;
const boughtRow = emb.layers.raggedEmbedding({ table: items, combiner: 'mean' }).apply(bought) as tf.SymbolicTensor;
const score = tf.layers.dot({ axes: 1 }).apply([shownRow, boughtRow]) as tf.SymbolicTensor;
const model = tf.model({ inputs: [shown, bought], outputs: score });
model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });

const x = [tf.tensor2d([[3], [7]], [2, 1], 'int32'), tf.tensor2d([3, 4, -1, -1, -1, 9, 8, 7, -1, -1], [2, 5], 'int32')];
await model.fit(x, tf.tensor2d([[1], [0]]), { epochs: 3, verbose: 0 });
console.log(`${model.weights.length} weight of shape [${String(model.weights[0]?.shape)}]`);
