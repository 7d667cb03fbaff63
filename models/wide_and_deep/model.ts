/**
 * Wide and deep: the wide part adds up one trained number per id and remembers single values; the deep part sends
 * learned vectors through a small network and generalizes over their combinations.
 * After Cheng et al. 2016, "Wide & Deep Learning for Recommender Systems".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Placement } from './device_options.mjs';
import type { InputSchema } from './data/encoder.js';

/** Name of the layer that holds all tables. */
const TABLES = 'tables';
const DIM = 8;
const HIDDEN = 32;
/** Share of feature vectors that a training step leaves out, so that no prediction hangs on a single one. */
const DROPOUT = 0.2;
/** Pulls the vectors of a step towards zero, by their squares. */
const L2 = 0.001;

interface ModelOptions {
  readonly seed: number;
  readonly placement: Placement;
  /** What the plan reckons with: rows per step, and mean ids per row of each input. */
  readonly batch: number;
  readonly hotness: readonly number[];
}

export function buildModel(
  schema: readonly InputSchema[],
  { seed, placement, batch, hotness }: ModelOptions,
): tf.LayersModel {
  let nextSeed = 1 + 100 * seed; // tfjs takes 0 for no seed
  const vectors = (name: string) => ({
    name: `deep_${name}`,
    outputDim: DIM,
    embeddingsInitializer: tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed: nextSeed++ }),
    embeddingsRegularizer: tf.regularizers.l2({ l2: L2 }),
  });
  const numbers = (name: string) => {
    return { name: `wide_${name}`, outputDim: 1, embeddingsInitializer: 'zeros' as const };
  };
  // For each input a table of the deep part and one of the wide part, all in one layer: on one device or on many.
  const embeddings = schema.flatMap(({ name, width, rows: inputDim }): tf.layers.Layer[] => {
    const { embedding, raggedEmbedding } = emb.layers;
    if (width === null) {
      const bags = { inputDim, combiner: 'mean' } as const;
      return [raggedEmbedding({ ...vectors(name), ...bags }), raggedEmbedding({ ...numbers(name), ...bags })];
    }
    return [embedding({ ...vectors(name), inputDim }), embedding({ ...numbers(name), inputDim, combiner: 'sum' })];
  });
  const tables = emb.layers.distributedEmbedding({
    name: TABLES,
    embeddings,
    ...placement,
    batchSize: batch,
    hotness: hotness.flatMap((ids) => [ids, ids]),
  });
  const inputs = schema.map(({ name, width }) => tf.input({ shape: [width], dtype: 'int32', name }));
  const outputs = tables.apply(inputs.flatMap((ids) => [ids, ids])) as tf.SymbolicTensor[];
  const deep = outputs.filter((_, i) => i % 2 === 0);
  const wide = outputs.filter((_, i) => i % 2 === 1);
  const vectorsOfRows = schema.map(({ width }, i) => {
    if (width === null) return deep[i]!;
    // One decision per vector, not per number. The mask of a step repeats, but rows are in another order each epoch.
    const noiseShape = [null, width, 1] as unknown as number[];
    const kept = tf.layers.dropout({ rate: DROPOUT, noiseShape, seed: nextSeed++ }).apply(deep[i]!);
    return tf.layers.flatten().apply(kept) as tf.SymbolicTensor;
  });
  // A dense layer over all vectors side by side, as the sum of one layer for each input: joining and splitting costs
  // more than the product on the cpu backend. Kernels begin as parts of that one layer's would (He).
  const sizes = vectorsOfRows.map(({ shape }) => shape.at(-1)!);
  const size = sizes.reduce((sum, each) => sum + each, 0);
  const parts = vectorsOfRows.map((vectors, i) => {
    const he = { scale: (2 * sizes[i]!) / size, mode: 'fanIn', distribution: 'truncatedNormal' } as const;
    const kernelInitializer = tf.initializers.varianceScaling({ ...he, seed: nextSeed++ });
    return tf.layers.dense({ units: HIDDEN, useBias: i === 0, kernelInitializer }).apply(vectors) as tf.SymbolicTensor;
  });
  const sum = parts.length === 1 ? parts[0]! : tf.layers.add().apply(parts);
  const hidden = tf.layers.activation({ activation: 'relu' }).apply(sum);
  const deepLogit = tf.layers
    .dense({ units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed++ }) })
    .apply(hidden) as tf.SymbolicTensor;
  const logit = tf.layers.add().apply([...wide, deepLogit]);
  const probability = tf.layers.activation({ activation: 'sigmoid' }).apply(logit) as tf.SymbolicTensor;
  return tf.model({ inputs, outputs: probability, name: 'wide_and_deep' });
}

/** Where the tables of the model lie. */
export function planOf(model: tf.LayersModel): emb.EmbeddingPlan {
  return (model.getLayer(TABLES) as emb.DistributedEmbedding).plan!;
}

/** Number of tables whose rows lie on several devices: what is pooled from them is summed in another order. */
export function tablesByRows({ tableGroups }: emb.EmbeddingPlan): number {
  return tableGroups.rowSlice.length;
}
