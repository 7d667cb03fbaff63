/** The tables of the model in one `DistributedEmbedding`: on one device or, by a plan, on many. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Placement } from '../device_options.mjs';
import type { InputSchema } from '../data/encoder.js';
import { DIM, TABLES, startingVectors, type LookedUp } from './looked_up.js';

/** Pulls the vectors of a step towards zero, by their squares. */
const L2 = 0.001;

export interface DistributedOptions {
  readonly nextSeed: () => number;
  readonly placement: Placement;
  /** What the plan reckons with: rows per step, and mean ids per row of each input. */
  readonly batch: number;
  readonly hotness: readonly number[];
}

/** For each input a table of vectors for the deep part and one of numbers for the wide part. */
export function distributedTables(
  schema: readonly InputSchema[],
  inputs: readonly tf.SymbolicTensor[],
  { nextSeed, placement, batch, hotness }: DistributedOptions,
): LookedUp {
  const vectors = (name: string) => ({
    name: `deep_${name}`,
    outputDim: DIM,
    embeddingsInitializer: startingVectors(nextSeed()),
    embeddingsRegularizer: tf.regularizers.l2({ l2: L2 }),
  });
  const numbers = (name: string) => {
    return { name: `wide_${name}`, outputDim: 1, embeddingsInitializer: 'zeros' as const };
  };
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
  const outputs = tables.apply(inputs.flatMap((ids) => [ids, ids])) as tf.SymbolicTensor[];
  return { deep: outputs.filter((_, i) => i % 2 === 0), wide: outputs.filter((_, i) => i % 2 === 1) };
}
