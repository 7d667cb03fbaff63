/**
 * Wide and deep: the wide part adds up one trained number per id and remembers single values; the deep part sends
 * learned vectors through a small network and generalizes over their combinations.
 * After Cheng et al. 2016, "Wide & Deep Learning for Recommender Systems".
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { InputSchema } from './features.js';
import type { Options } from './options.mjs';
import type { LearningRate } from './training.js';

/** Name of the layer that holds all tables. */
const TABLES = 'tables';
/** Numbers in a vector of the deep part. */
const DIM = 8;
/** Pulls the vectors of a step towards zero, by their squares. */
const L2 = 0.001;
/** The same for tables that step themselves: the share of a row, times the learning rate, that each step takes off. */
const DECAY = 0.5;
const HIDDEN = 32;
/** Share of feature vectors that a training step leaves out, so that no prediction hangs on a single one. */
const DROPOUT = 0.2;

interface ModelOptions extends Pick<Options, 'api' | 'seed' | 'placement' | 'batch'> {
  /** Mean ids per row of each input; the plan reckons with it. */
  readonly hotness: readonly number[];
  readonly learningRate: LearningRate;
}

const startingVectors = (seed: number) => tf.initializers.randomUniform({ minval: -0.05, maxval: 0.05, seed });

/** For each input a table of vectors, then one of numbers, in one layer: on one device or, by a plan, on many. */
function distributedTables(
  schema: readonly InputSchema[],
  { placement, batch, hotness }: ModelOptions,
  nextSeed: () => number,
): tf.layers.Layer {
  const embeddings = schema.flatMap(({ name, width, rows: inputDim }): tf.layers.Layer[] => {
    const embeddingsInitializer = startingVectors(nextSeed());
    const embeddingsRegularizer = tf.regularizers.l2({ l2: L2 });
    const vectors = { name: `deep_${name}`, inputDim, outputDim: DIM, embeddingsInitializer, embeddingsRegularizer };
    const numbers = { name: `wide_${name}`, inputDim, outputDim: 1, embeddingsInitializer: 'zeros' } as const;
    const { embedding, raggedEmbedding } = emb.layers;
    return width === null
      ? [raggedEmbedding({ ...vectors, combiner: 'mean' }), raggedEmbedding({ ...numbers, combiner: 'mean' })]
      : [embedding(vectors), embedding({ ...numbers, combiner: 'sum' })];
  });
  const expected = { batchSize: batch, hotness: hotness.flatMap((ids) => [ids, ids]) };
  return emb.layers.distributedEmbedding({ name: TABLES, embeddings, ...placement, ...expected });
}

/** The same tables by the TPU embedding API, which deals the rows of each out to all devices and steps them there. */
function tpuTables(
  schema: readonly InputSchema[],
  { api, learningRate: { nextCorrected: learningRate } }: ModelOptions,
  nextSeed: () => number,
): tf.layers.Layer {
  const { Adam, FeatureConfig, TableConfig } = emb.tpu;
  const decay = { weightDecayFactor: DECAY, multiplyWeightDecayFactorByLearningRate: true };
  const [vectors, numbers] = [new Adam({ learningRate, ...decay }), new Adam({ learningRate })];
  const featureConfig = schema.flatMap(({ name, width, rows: vocabularySize }) => {
    const common = { vocabularySize, combiner: 'mean' } as const;
    const initializer = startingVectors(nextSeed());
    const deep = new TableConfig({ ...common, dim: DIM, name: `deep_${name}`, initializer, optimizer: vectors });
    const wide = new TableConfig({ ...common, dim: 1, name: `wide_${name}`, initializer: 'zeros', optimizer: numbers });
    return [deep, wide].map((table) => new FeatureConfig({ table, maxSequenceLength: width ?? 0 }));
  });
  return emb.layers.tpuEmbedding({ name: TABLES, featureConfig, version: api === 'tpu-v1' ? 1 : 2 });
}

/** Sums the numbers of [batch, ids, 1], which come from devices one by one: in one order on any number of devices. */
function summed(numbers: tf.SymbolicTensor): tf.SymbolicTensor {
  const flat = tf.layers.flatten().apply(numbers);
  const ones = { units: 1, useBias: false, kernelInitializer: 'ones', trainable: false } as const;
  return tf.layers.dense(ones).apply(flat) as tf.SymbolicTensor;
}

export function buildModel(schema: readonly InputSchema[], options: ModelOptions): tf.LayersModel {
  let next = 1 + 100 * options.seed; // tfjs takes 0 for no seed
  const nextSeed = (): number => next++;
  const inputs = schema.map(({ name, width }) => tf.input({ shape: [width], dtype: 'int32', name }));
  const tables = (options.api === 'distributed' ? distributedTables : tpuTables)(schema, options, nextSeed);
  const outputs = tables.apply(inputs.flatMap((ids) => [ids, ids])) as tf.SymbolicTensor[];
  const wide = schema.map((_, i) => {
    const numbers = outputs[2 * i + 1]!; // [batch, 1], or [batch, ids, 1] where the layer does not add them up
    return numbers.shape.length === 2 ? numbers : summed(numbers);
  });
  const vectors = schema.map(({ width }, i) => {
    const looked = outputs[2 * i]!; // [batch, ids, DIM], of bags [batch, DIM]
    if (width === null) return looked;
    // One decision per vector, not per number. The mask of a step repeats, but rows are in another order each epoch.
    const noiseShape = [null, width, 1] as unknown as number[];
    const kept = tf.layers.dropout({ rate: DROPOUT, noiseShape, seed: nextSeed() }).apply(looked);
    return tf.layers.flatten().apply(kept) as tf.SymbolicTensor;
  });
  // A dense layer over all vectors side by side, as the sum of one layer for each input: joining and splitting costs
  // more than the product on the cpu backend. Kernels begin as parts of that one layer's would (He).
  const sizes = vectors.map(({ shape }) => shape.at(-1)!);
  const size = sizes.reduce((sum, each) => sum + each, 0);
  const parts = vectors.map((each, i) => {
    const he = { scale: (2 * sizes[i]!) / size, mode: 'fanIn', distribution: 'truncatedNormal' } as const;
    const kernelInitializer = tf.initializers.varianceScaling({ ...he, seed: nextSeed() });
    return tf.layers.dense({ units: HIDDEN, useBias: i === 0, kernelInitializer }).apply(each) as tf.SymbolicTensor;
  });
  const sum = parts.length === 1 ? parts[0]! : tf.layers.add().apply(parts);
  const hidden = tf.layers.activation({ activation: 'relu' }).apply(sum);
  const last = { units: 1, kernelInitializer: tf.initializers.glorotNormal({ seed: nextSeed() }) };
  const logit = tf.layers.add().apply([...wide, tf.layers.dense(last).apply(hidden) as tf.SymbolicTensor]);
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
  if (emb.tpuEmulator().report().devices.length === 1) return 0;
  return (model.getLayer(TABLES).output as tf.SymbolicTensor[]).filter(({ shape }) => shape.length === 2).length;
}
