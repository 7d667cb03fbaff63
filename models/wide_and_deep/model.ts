/**
 * Wide and deep: the wide part adds up one trained number per id and remembers single values; the deep part sends
 * learned vectors through a small network and generalizes over their combinations.
 * After Cheng et al. 2016, "Wide & Deep Learning for Recommender Systems".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { ApiName } from './api_options.mjs';
import type { InputSchema } from './data/encoder.js';
import { distributedTables, type DistributedOptions } from './tables/distributed_tables.js';
import type { LearningRate } from './learning_rate.js';
import { TABLES } from './tables/looked_up.js';
import { pooledTables, tpuTables } from './tables/tpu_tables.js';

const HIDDEN = 32;
/** Share of feature vectors that a training step leaves out, so that no prediction hangs on a single one. */
const DROPOUT = 0.2;
interface ModelOptions extends Omit<DistributedOptions, 'nextSeed'> {
  readonly api: ApiName;
  readonly seed: number;
  readonly learningRate: LearningRate;
}

export function buildModel(
  schema: readonly InputSchema[],
  { api, seed, learningRate, ...distributed }: ModelOptions,
): tf.LayersModel {
  let next = 1 + 100 * seed; // tfjs takes 0 for no seed
  const nextSeed = (): number => next++;
  const inputs = schema.map(({ name, width }) => tf.input({ shape: [width], dtype: 'int32', name }));
  const { deep, wide } =
    api === 'distributed'
      ? distributedTables(schema, inputs, { nextSeed, ...distributed })
      : tpuTables(schema, inputs, { nextSeed, learningRate, version: api === 'tpu-v1' ? 1 : 2 });
  const vectorsOfRows = schema.map(({ width }, i) => {
    if (width === null) return deep[i]!;
    // One decision per vector, not per number. The mask of a step repeats, but rows are in another order each epoch.
    const noiseShape = [null, width, 1] as unknown as number[];
    const kept = tf.layers.dropout({ rate: DROPOUT, noiseShape, seed: nextSeed() }).apply(deep[i]!);
    return tf.layers.flatten().apply(kept) as tf.SymbolicTensor;
  });
  // A dense layer over all vectors side by side, as the sum of one layer for each input: joining and splitting costs
  // more than the product on the cpu backend. Kernels begin as parts of that one layer's would (He).
  const sizes = vectorsOfRows.map(({ shape }) => shape.at(-1)!);
  const size = sizes.reduce((sum, each) => sum + each, 0);
  const parts = vectorsOfRows.map((vectors, i) => {
    const he = { scale: (2 * sizes[i]!) / size, mode: 'fanIn', distribution: 'truncatedNormal' } as const;
    const kernelInitializer = tf.initializers.varianceScaling({ ...he, seed: nextSeed() });
    return tf.layers.dense({ units: HIDDEN, useBias: i === 0, kernelInitializer }).apply(vectors) as tf.SymbolicTensor;
  });
  const sum = parts.length === 1 ? parts[0]! : tf.layers.add().apply(parts);
  const hidden = tf.layers.activation({ activation: 'relu' }).apply(sum);
  const deepLogit = tf.layers
    .dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed() }) })
    .apply(hidden) as tf.SymbolicTensor;
  const logit = tf.layers.add().apply([...wide, deepLogit]);
  const probability = tf.layers.activation({ activation: 'sigmoid' }).apply(logit) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs: probability, name: 'wide_and_deep' });
}

/** Where the tables of the model lie; null for those of the TPU embedding API, which have no plan. */
export function planOf(model: tf.LayersModel): emb.EmbeddingPlan | null {
  const layer = model.getLayer(TABLES);
  return layer instanceof emb.DistributedEmbedding ? layer.plan! : null;
}

/** Number of tables whose rows lie on several devices and are pooled there: sums are taken in another order. */
export function tablesByRows(model: tf.LayersModel): number {
  const plan = planOf(model);
  if (plan !== null) return plan.tableGroups.rowSlice.length;
  return pooledTables(model.getLayer(TABLES) as emb.tpu.TPUEmbeddingLayer);
}
