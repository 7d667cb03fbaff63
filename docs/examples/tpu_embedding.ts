/** The TPU embedding API of TensorFlow, step by step: two tables, three features, one step of Adagrad. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

emb.configureTpuEmulator({ chips: 4, coresPerChip: 1 });
await emb.ready();
await tf.setBackend('tpu-emulator');

const { tpu, RaggedTensor } = emb;
const initializer = new tpu.RowIdInitializer();
const video = new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', name: 'video', initializer });
const user = new tpu.TableConfig({ vocabularySize: 16, dim: 2, combiner: 'mean', name: 'user', initializer });
const featureConfig = {
  watched: new tpu.FeatureConfig({ table: video }),
  favorited: new tpu.FeatureConfig({ table: video }),
  friends: new tpu.FeatureConfig({ table: user }),
};
const optimizer = new tpu.Adagrad({ learningRate: 0.1 });
const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer });

embedding.enqueue({
  watched: RaggedTensor.fromRows([[0], [0, 1], [0, 1], [1]]),
  favorited: RaggedTensor.fromRows([[0, 1], [1], [0], [0, 1]]),
  friends: RaggedTensor.fromRows([[3], [0, 1, 2], [3], [0, 1, 2]]),
});
const activations = embedding.dequeue();
console.log(embedding.outputShapes, activations.friends.shape);

// The dense part of a model: here the mean of the squares of all activations.
const inputs = [activations.watched, activations.favorited, activations.friends];
const loss = (...parts: tf.Tensor[]): tf.Scalar => tf.addN(parts.map((part) => part.square().mean())) as tf.Scalar;
const [watched, favorited, friends] = tf.grads(loss)(inputs);
embedding.applyGradients({ watched, favorited, friends });

const rows = embedding.embeddingTables.get(user)!.dataSync().slice(0, 8);
console.log(Array.from(rows, (value) => value.toFixed(2)).join(' '));

tf.dispose([inputs, watched!, favorited!, friends!]);
embedding.dispose();
tf.removeBackend('tpu-emulator');
