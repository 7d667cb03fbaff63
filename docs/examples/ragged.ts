/** Rows of ids of different lengths, without padding: looked up, trained in a loop of its own, and in a model. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const visits = emb.RaggedTensor.fromRows([[3, 7], [5], [], [1, 2, 3]]);
const layer = emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 4, combiner: 'sqrtn' });
console.log((layer.apply(visits) as tf.Tensor).shape); // the empty row gives zeros

const optimizer = emb.train.rowWiseAdagrad({ learningRate: 0.5 });
const wanted = tf.ones([4, 4]);
const loss = (): tf.Scalar => tf.losses.meanSquaredError(wanted, layer.apply(visits) as tf.Tensor);
const before = loss().dataSync()[0]!;
for (let step = 0; step < 50; step++) optimizer.minimize(loss);
console.log(`the loss has fallen: ${String(loss().dataSync()[0]! < before / 2)}`);

// A model takes them as they are.
const rows = emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 4, combiner: 'mean', inputShape: [null] });
const model = tf.sequential({ layers: [rows, tf.layers.dense({ units: 1 })] });
model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
await model.fit(visits, tf.ones([4, 1]), { epochs: 3, verbose: 0 });
console.log((model.predict(visits) as tf.Tensor).shape);
