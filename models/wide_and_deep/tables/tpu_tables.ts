/** The tables of the model by the TPU embedding API, which deals the rows of each out to all devices. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { InputSchema } from '../data/encoder.js';
import type { LearningRate } from '../learning_rate.js';
import { DIM, TABLES, startingVectors, type LookedUp } from './looked_up.js';

/** Share of a row, times the learning rate, that each step takes off: as a penalty on the squares of vectors does. */
const DECAY = 0.5;

interface TpuOptions {
  readonly nextSeed: () => number;
  readonly learningRate: LearningRate;
  /** 1: the tables of TPUEmbedding; 2: those of TPUEmbeddingV2, on SparseCores. */
  readonly version: 1 | 2;
}

/** Sums the numbers of [batch, ids, 1], which come from devices one by one: in one order on any number of devices. */
function summed(numbers: tf.SymbolicTensor): tf.SymbolicTensor {
  const flat = tf.layers.flatten().apply(numbers);
  const ones = { units: 1, useBias: false, kernelInitializer: 'ones', trainable: false } as const;
  return tf.layers.dense(ones).apply(flat) as tf.SymbolicTensor;
}

/** For each input a table of vectors and one of numbers, which step themselves under any optimizer of the model. */
export function tpuTables(
  schema: readonly InputSchema[],
  inputs: readonly tf.SymbolicTensor[],
  { nextSeed, learningRate: { nextCorrected: learningRate }, version }: TpuOptions,
): LookedUp {
  const { Adam, FeatureConfig, TableConfig } = emb.tpu;
  const vectors = new Adam({
    learningRate,
    weightDecayFactor: DECAY,
    multiplyWeightDecayFactorByLearningRate: true,
  });
  const numbers = new Adam({ learningRate });
  const featureConfig = schema.flatMap(({ name, width, rows: vocabularySize }) => {
    const initializer = startingVectors(nextSeed());
    const common = { vocabularySize, combiner: 'mean' } as const;
    const deep = new TableConfig({ ...common, dim: DIM, name: `deep_${name}`, initializer, optimizer: vectors });
    const wide = new TableConfig({ ...common, dim: 1, name: `wide_${name}`, initializer: 'zeros', optimizer: numbers });
    return [deep, wide].map((table) => new FeatureConfig({ table, maxSequenceLength: width ?? 0 }));
  });
  const layer = emb.layers.tpuEmbedding({ name: TABLES, featureConfig, version });
  const outputs = layer.apply(inputs.flatMap((ids) => [ids, ids])) as tf.SymbolicTensor[];
  return {
    deep: outputs.filter((_, i) => i % 2 === 0),
    wide: schema.map(({ width }, i) => (width === null ? outputs[2 * i + 1]! : summed(outputs[2 * i + 1]!))),
  };
}

/** Number of tables whose rows are pooled where they lie, on several devices: those that give one row for a bag. */
export function pooledTables(layer: emb.tpu.TPUEmbeddingLayer): number {
  if (emb.tpuEmulator().report().devices.length === 1) return 0;
  return (layer.output as tf.SymbolicTensor[]).filter(({ shape }) => shape.length === 2).length;
}
