/** Lookups for serving: what the TPU would give, on any backend. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { embeddingLookup } from '../../lookup/embedding_lookup.js';
import { tableOf } from '../../backends/table.js';
import { lookUp } from '../../lookup/lookup.js';
import { safeEmbeddingLookup } from '../../lookup/safe_embedding_lookup.js';
import { addIdDetails } from '../../ids/id_out_of_range.js';
import { placeOf } from '../../ids/id_place.js';
import type { IdBatch, IdsInput, WeightsInput } from '../../ids/parse_ids.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { GivenTableConfig } from '../config/table_config.js';
import { hostIds, kindOf, readFeatureIds } from '../features/feature_ids.js';
import { columnsOf } from '../features/host_ids.js';
import { FeatureNest, type FoundPart, type NestedFeatureConfigs } from '../features/feature_nest.js';
import { sequenceBags } from '../features/sequences.js';
import { quantized } from '../tables/quantized.js';

/** The variable of each table, as `embeddingTables` gives them. */
export type TablesByConfig = ReadonlyMap<GivenTableConfig, tf.Tensor | tf.Variable>;

/** One feature to look up: its config, ids and weights, and what they are called. */
interface Request {
  readonly feature: FeatureConfig;
  readonly table: tf.Tensor2D;
  readonly ids: unknown;
  readonly weights: unknown;
  readonly batch: IdBatch;
  readonly path: string;
}

function sizeOf(shape: readonly (number | null)[]): number {
  return shape.reduce<number>((product, size) => product * (size ?? 1), 1);
}

/** Each id by itself at its place in a sequence; zeros where there is none. */
function sequence({ table, batch }: Request, length: number): tf.Tensor2D {
  const bySample = { values: hostIds(batch), rowSplits: batch.rowSplits!, weights: null, columns: columnsOf(batch) };
  const { values, rowSplits, positions } = sequenceBags(bySample, length);
  const bags = { values: tf.tensor1d(values, 'int32'), rowSplits: tf.tensor1d(rowSplits, 'int32'), weights: null };
  const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
  return addIdDetails(
    () => lookUp([{ table: tableOf(table), bags, options }])[0]!,
    ({ position }) => ({ place: placeOf(batch, positions[position]!) }),
  );
}

/** Ids of a sample as one row. */
function combined({ table, feature, ids, weights, batch }: Request): tf.Tensor {
  const options = { combiner: feature.table.combiner, weights: (weights ?? null) as WeightsInput | null };
  const rank = batch.places?.denseShape.length ?? 2;
  const isSafe = batch.kind === 'sparse' && (feature.validateWeightsAndIndices || rank > 2);
  return isSafe
    ? safeEmbeddingLookup(table, ids as IdsInput, options)
    : embeddingLookup(table, ids as IdsInput, options);
}

function raggedWithShape(request: Request): tf.Tensor {
  const { feature, batch, path } = request;
  const { outputShape, table } = feature;
  const rows = batch.rowSplits!.length - 1;
  const size = sizeOf(outputShape!);
  const shape = outputShape as number[];
  if (outputShape!.includes(null)) {
    throw new ValueError(path, 'an outputShape whose sizes are all known', outputShape);
  }
  if (size === rows) return combined(request).reshape([...shape, table.dim]);
  if (size > rows && size % rows === 0) return sequence(request, size / rows).reshape([...shape, table.dim]);
  const expected = `a number of rows that divides outputShape [${shape.join(', ')}]`;
  throw new ValueError(path, expected, described(`${rows} rows`));
}

function lookUpFeature(request: Request): tf.Tensor {
  const { feature, batch, weights, path, ids, table } = request;
  const { maxSequenceLength, outputShape } = feature;
  const isSequence = maxSequenceLength > 0 && outputShape === null;
  if (batch.kind === 'dense') {
    if (!isSequence) return embeddingLookup(table, ids as IdsInput) as tf.Tensor;
    throw new ValueError(path, 'sparse or ragged ids, because the feature is a sequence', described('dense ids'));
  }
  if (batch.kind === 'ragged' && outputShape !== null) return raggedWithShape(request);
  const rank = batch.places?.denseShape.length ?? 2;
  if (!isSequence || rank !== 2) return combined(request);
  if (weights !== null && weights !== undefined) {
    throw new ValueError(path, 'no weights, because the feature is a sequence', described(`${batch.kind} weights`));
  }
  return sequence(request, maxSequenceLength).reshape([batch.rowSplits!.length - 1, maxSequenceLength, table.shape[1]]);
}

function givenTable(tables: unknown, { table }: FeatureConfig, path: string): tf.Tensor2D {
  const found = (tables as TablesByConfig).get(table.given) ?? (tables as TablesByConfig).get(table);
  const name = table.name ?? 'without a name';
  if (found === undefined) throw new ValueError('tables', `the table of ${path} (${name})`, described('none of it'));
  const [rows, dim] = [table.vocabularySize, table.dim];
  const expected = `table ${name}, float32 [${rows}, ${dim}]`;
  if (!(found instanceof tf.Tensor) || found.dtype !== 'float32')
    throw new ArgumentTypeError('tables', expected, found);
  if (found.rank !== 2 || found.shape[0] !== rows || found.shape[1] !== dim) {
    throw new ValueError('tables', expected, found);
  }
  checkLive(found as tf.Tensor, 'tables', expected);
  return found as tf.Tensor2D;
}

/** Looks all parts up; the results in their order. */
export function lookUpForServing(
  nest: FeatureNest,
  found: readonly FoundPart[],
  weights: readonly unknown[],
  tables: unknown,
): tf.Tensor[] {
  const parts = found.map(({ feature: place, part: ids, path }, i) => {
    const feature = nest.features[place]!;
    if (kindOf(ids) === null) {
      throw new ValueError(path, 'a tensor, arrays, a RaggedTensor or sparse ids', ids);
    }
    const weightsPath = path.replace(/^[^.[]*/, 'weights');
    const batch = readFeatureIds(ids, weights[i], path, weightsPath);
    return { feature, ids, weights: weights[i], batch, path, table: givenTable(tables, feature, path) };
  });
  return tf.tidy(() =>
    parts.map((request) => {
      const { quantizationConfig } = request.feature.table;
      const table = quantizationConfig === null ? request.table : quantized(request.table, quantizationConfig);
      return addIdDetails(
        () => lookUpFeature({ ...request, table }),
        ({ argument }) => (argument === 'ids' || argument === 'values' ? { argument: request.path } : {}),
      );
    }),
  );
}

/**
 * Returns the embeddings of features, in the structure in which their ids came.
 *
 * `inputs`: ids in the structure of `featureConfig`, of which any part may be missing; `weights`: in the structure of the
 * inputs, null where there are none; `tables`: a Map from TableConfig to a float32 tensor or variable
 * [vocabularySize, dim]. Runs on any backend, and gradients reach tables that are variables.
 * Dense ids give their shape and [dim], uncombined. Sparse ids lose their last axis, ragged ones of rank 2 their rows, to
 * the combiner; empty rows are zeros. With `maxSequenceLength` and without `outputShape` they give
 * [batch, maxSequenceLength, dim]. Ragged ids with an `outputShape` are combined and reshaped, or, where that is a multiple
 * of the rows, padded or cut to a sequence, weights then being ignored. Sparse ids are pruned as `safeEmbeddingLookup`
 * prunes, unless `validateWeightsAndIndices` is false and they have two axes. Quantized tables give quantized values.
 * Source: tf.tpu.experimental.embedding.serving_embedding_lookup (TensorFlow 2.21).
 *
 * @param inputs - The ids, in the structure of the features.
 * @param weights - In the same structure; null where there are none.
 * @param tables - The table of each TableConfig.
 * @param featureConfig - The features.
 * @returns float32 tensors in the structure of the ids.
 * @throws ValueError for parts that featureConfig does not have, what is no ids, weights of dense ids, of sequences and
 * of another kind than the ids, sequences of dense ids, ragged ids of rank 3 or more and rows that do not fit
 * `outputShape`.
 *
 * @example
 * const table = new emb.tpu.TableConfig({vocabularySize: 3, dim: 2, combiner: 'sum'});
 * const featureConfig = {seen: new emb.tpu.FeatureConfig({table})};
 * const tables = new Map([[table, tf.tensor2d([[1, 2], [3, 4], [5, 6]])]]);
 * const seen = emb.RaggedTensor.fromRows([[0, 1], [2]]);
 * emb.tpu.servingEmbeddingLookup({seen}, null, tables, featureConfig).seen.print(); // [[4, 6], [5, 6]]
 */
export function servingEmbeddingLookup(
  inputs: unknown,
  weights: unknown,
  tables: TablesByConfig,
  featureConfig: NestedFeatureConfigs,
): unknown {
  const nest = new FeatureNest(featureConfig);
  if (!((tables as unknown) instanceof Map)) {
    throw new ArgumentTypeError('tables', 'a Map from emb.tpu.TableConfig to its values', tables);
  }
  return serve(nest, inputs, weights, tables);
}

/** The same for a structure that was read. */
export function serve(nest: FeatureNest, inputs: unknown, weights: unknown, tables: unknown): unknown {
  const { found, pack } = nest.subset(inputs, 'inputs');
  const given = weights === null || weights === undefined ? null : weightsOf(nest, weights, found);
  return pack(lookUpForServing(nest, found, given ?? found.map(() => null), tables));
}

/** The weights of the parts that are there. */
function weightsOf(nest: FeatureNest, weights: unknown, inputs: readonly FoundPart[]): unknown[] {
  const { found } = nest.subset(weights, 'weights');
  const byFeature = new Map(found.map(({ feature, part }) => [feature, part]));
  const present = new Set(inputs.map(({ feature }) => feature));
  for (const { feature, part, path } of found) {
    if (!present.has(feature) && part !== null && part !== undefined) {
      throw new ValueError(path, 'weights of features that are among the inputs', part);
    }
  }
  return inputs.map(({ feature }) => byFeature.get(feature) ?? null);
}
