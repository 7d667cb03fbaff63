/** Ids that weigh differently: how often each word occurs, how long ago a film was seen. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const ids = tf.input({ shape: [3], dtype: 'int32', name: 'words' });
const counts = tf.input({ shape: [3], name: 'counts' });
const layer = emb.layers.embedding({
  inputDim: 6,
  outputDim: 2,
  combiner: 'mean',
  weights: [tf.range(0, 12).reshape([6, 2])],
});
const pooled = layer.apply([ids, counts]) as tf.SymbolicTensor;
const model = tf.model({ inputs: [ids, counts], outputs: pooled });

// The mean divides by the sum of the weights: (3 * row 0 + 1 * row 4) / 4. A weight of 0 leaves an id out.
const words = tf.tensor2d([[0, 4, 5]], [1, 3], 'int32');
const times = tf.tensor2d([[3, 1, 0]]);
(model.predict([words, times]) as tf.Tensor).print();

// The same for ids without padding.
const table = layer.getWeights()[0]!;
const rows = emb.RaggedTensor.fromRows([[0, 4]]);
(emb.embeddingLookup(table, rows, { combiner: 'mean', weights: [[3, 1]] }) as tf.Tensor).print();
