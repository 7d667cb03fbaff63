/** Embeddings side by side, numbers beside them, and a few dense layers. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { SyntheticConfig, SyntheticTables } from './configs.js';

export interface SyntheticModel {
  readonly model: tf.LayersModel;
  readonly embeddings: emb.DistributedEmbedding;
}

export function buildModel(
  { hidden, numerical }: SyntheticConfig,
  { tables, inputTableMap, hotness }: SyntheticTables,
  strategy: emb.StrategyName,
  batchSize: number,
): SyntheticModel {
  const embeddings = emb.layers.distributedEmbedding({
    name: 'embeddings',
    embeddings: tables.map((table, seed) => ({ ...table, seed })),
    inputTableMap,
    hotness,
    strategy,
    batchSize,
  });
  const ids = hotness.map((length, i) => tf.input({ shape: [length], dtype: 'int32', name: `ids_${i}` }));
  const numbers = tf.input({ shape: [numerical], name: 'numbers' });
  const pooled = embeddings.apply(ids) as tf.SymbolicTensor[];
  let x = tf.layers.concatenate().apply([...pooled, numbers]) as tf.SymbolicTensor;
  hidden.forEach((units, i) => {
    const kernelInitializer = tf.initializers.glorotNormal({ seed: i + 1 });
    x = tf.layers.dense({ units, activation: 'relu', kernelInitializer }).apply(x) as tf.SymbolicTensor;
  });
  const kernelInitializer = tf.initializers.glorotNormal({ seed: 99 });
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid', kernelInitializer }).apply(x);
  return { model: tf.model({ inputs: [...ids, numbers], outputs: outputs as tf.SymbolicTensor }), embeddings };
}
