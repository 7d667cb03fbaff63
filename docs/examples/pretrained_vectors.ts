/** A table that begins with vectors from elsewhere, and keeps them: only the layers above it are trained. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

// Row i is the vector of word i; row 0 is for words that are not known.
const vectors = tf.tensor2d([
  [0, 0, 0],
  [0.9, 0.1, 0],
  [0.8, 0.2, 0.1],
  [0, 0.1, 0.9],
]);
const words = emb.layers.raggedEmbedding({
  inputDim: 4,
  outputDim: 3,
  combiner: 'mean',
  weights: [vectors],
  trainable: false,
  inputShape: [4],
});
const model = tf.sequential({ layers: [words, tf.layers.dense({ units: 1, activation: 'sigmoid' })] });
model.compile({ optimizer: emb.train.adam({ learningRate: 0.05 }), loss: 'binaryCrossentropy' });

const texts = emb.RaggedTensor.fromRows([[1, 2], [3], [2, 1, 1], [3, 3]]).toPadded({ defaultValue: -1, maxLength: 4 });
await model.fit(texts, tf.tensor2d([[1], [0], [1], [0]]), { epochs: 40, verbose: 0 });
const isUnchanged = tf.equal(words.getWeights()[0]!, vectors).all().dataSync()[0] === 1;
console.log(`vectors unchanged: ${String(isUnchanged)}`);
(model.predict(texts) as tf.Tensor).greater(0.5).print();
