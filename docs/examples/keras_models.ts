/** A model to Keras and back: a `.keras` file that Python loads, loaded here again by name, and trained on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const folder = mkdtempSync(join(tmpdir(), 'keras-'));
const file = join(folder, 'ratings.keras');

const users = tf.input({ shape: [1], dtype: 'int32', name: 'user_id' });
const items = tf.input({ shape: [3], dtype: 'int32', name: 'Item_Ids' });
const parts = [
  emb.layers.embedding({ inputDim: 100, outputDim: 4, combiner: 'sum', name: 'User_Table' }).apply(users),
  emb.layers.embedding({ inputDim: 50, outputDim: 4, combiner: 'mean', name: 'item_table' }).apply(items),
] as tf.SymbolicTensor[];
const score = tf.layers.dense({ units: 1, name: 'score' }).apply(tf.layers.concatenate().apply(parts));
const model = tf.model({ inputs: [users, items], outputs: score as tf.SymbolicTensor });

// In Python: import keras, keras_rs; keras.saving.load_model('ratings.keras')
await emb.exportKeras(model, file);

const inputs = {
  user_id: tf.tensor2d([[7], [42]], [2, 1], 'int32'),
  Item_Ids: tf.tensor2d(
    [
      [1, 2, 3],
      [4, 4, 9],
    ],
    [2, 3],
    'int32',
  ),
};
const loaded = await emb.loadKerasModel(file);
const [before, after] = [model.predict([inputs.user_id, inputs.Item_Ids]), loaded.predict(inputs)] as tf.Tensor[];
console.log('the predictions are equal:', tf.equal(before!, after!).all().dataSync()[0] === 1);
console.log((loaded.getLayer('User_Table') as emb.Embedding).combiner, loaded.inputNames.join(' '));

loaded.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
const { history } = await loaded.fit(inputs, tf.ones([2, 1]), { epochs: 5, verbose: 0 });
console.log('the loss has fallen:', history['loss']!.at(-1)! < history['loss']![0]!);
rmSync(folder, { recursive: true });
