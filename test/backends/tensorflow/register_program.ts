/** Looks up with lookups alone, then with Node's entry too; prints a line of what ran for each. */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-node';
import { RaggedTensor, backendInfo, embeddingLookup } from '../../../src/lookup/index.js';

function lookUp(): void {
  const pooled = tf.tidy(() => {
    const table = tf.tensor2d([1, 2, 4, 8], [2, 2]);
    return embeddingLookup(table, RaggedTensor.fromRows([[0, 1], []]), { combiner: 'sum' }).arraySync();
  });
  console.log(JSON.stringify([pooled, backendInfo().kernels['EmbeddingBag']!.implementation]));
}

await tf.setBackend('tensorflow');
lookUp();
await import('../../../src/node.js');
lookUp();
