/** The forgiving lookup: bad ids and weights are pruned, empty rows get a default. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { parseIds, type IdBatch, type IdsInput, type WeightsInput } from '../ids/parse_ids.js';
import { placeOf } from '../ids/id_place.js';
import type { Combiner } from '../base/types.js';
import { checkBagOptions } from './arguments.js';
import type { RowsOfIds, Tables } from './embedding_lookup.js';
import { checkPartitionStrategy, checkTables, lookUpPartitions, type PartitionStrategy } from './partitioned_table.js';
import { addIdDetails } from '../ids/id_out_of_range.js';

export interface SafeEmbeddingLookupOptions {
  /** How rows become one. Default: 'mean'. */
  combiner?: Combiner | undefined;
  /** One weight per id, in the form of the ids. Default: none. */
  weights?: WeightsInput | null | undefined;
  /** Rows are scaled to at most this L2 norm; null (default): off. */
  maxNorm?: number | null | undefined;
  /** How rows are dealt to a list of tables: 'mod' (default) or 'div'. */
  partitionStrategy?: PartitionStrategy | null | undefined;
  /** The row that stands in, with weight 1, for bags that are empty (after pruning); zeros without it (default). */
  defaultId?: number | null | undefined;
}

/** What is left of a batch: which ids (by position; -1: the default) in which bags. */
interface Pruned {
  readonly positions: Int32Array;
  readonly rowSplits: Int32Array;
}

/**
 * Returns combined rows of bags, with ids that cannot count left out.
 *
 * Negative ids are left out; so are ids with a weight <= 0, unless the combiner is 'sum'. A bag that is empty
 * then gives zeros, or the row `defaultId` with weight 1. Shapes, dtypes and differentiability as in `embeddingLookup`
 * with a combiner ('mean' by default); every row is kept.
 * Source: tf.nn.safe_embedding_lookup_sparse (TensorFlow 2.21).
 *
 * @param table - [rows, dim] float32: a tensor, a variable, or a list of row partitions.
 * @param ids - Whole numbers: dense of rank 2 or more, ragged or sparse.
 * @param options - How rows are combined and weighted.
 * @returns One row per bag.
 * @throws TypeError and ValueError as `embeddingLookup`; ids beyond the table are an error, and so is a `defaultId`
 * outside it.
 *
 * @example
 * const table = tf.tensor2d([[1, 2], [3, 4]]);
 * emb.safeEmbeddingLookup(table, [[1, -1], [-1, -1]], {combiner: 'mean', defaultId: 0}).print(); // [[3, 4], [1, 2]]
 */
export function safeEmbeddingLookup(table: Tables, ids: RowsOfIds, options?: SafeEmbeddingLookupOptions): tf.Tensor2D;
export function safeEmbeddingLookup(table: Tables, ids: IdsInput, options?: SafeEmbeddingLookupOptions): tf.Tensor;
export function safeEmbeddingLookup(table: Tables, ids: IdsInput, options: SafeEmbeddingLookupOptions = {}): tf.Tensor {
  const given = readOptions<SafeEmbeddingLookupOptions>(options, FIELDS, 'options', USAGE);
  const partitions = checkTables(table);
  const strategy = checkPartitionStrategy(given.partitionStrategy);
  const bagOptions = checkBagOptions({ combiner: given.combiner ?? 'mean', maxNorm: given.maxNorm });
  const defaultId = checkDefaultId(
    given.defaultId,
    partitions.reduce((rows, { shape }) => rows + shape[0], 0),
  );
  const batch = parseIds(ids, given.weights);
  const { rowSplits, batchShape } = batch;
  if (rowSplits === null) {
    throw new ValueError('ids', 'rank 2 or more', described(`ids of shape [${batch.idsShape?.join(', ') ?? ''}]`));
  }
  return tf.tidy(() => {
    const values = hostVector(batch.values) as Int32Array;
    const weights = batch.weights === null ? null : (hostVector(batch.weights) as Float32Array);
    const kept = prune(values, rowSplits, bagOptions.combiner === 'sum' ? null : weights, defaultId !== null);
    const bags = {
      values: tf.tensor1d(
        kept.positions.map((at) => (at < 0 ? defaultId! : values[at]!)),
        'int32',
      ),
      rowSplits: tf.tensor1d(kept.rowSplits, 'int32'),
      weights: keptWeights(batch, kept.positions),
    };
    // The default is a row of the table, so whatever is outside was given.
    const pooled = addIdDetails(
      () => lookUpPartitions(partitions, strategy, bags, bagOptions),
      ({ position }) => ({ place: placeOf(batch, kept.positions[position]!) }),
    );
    return pooled.reshape([...batchShape, pooled.shape[1]]);
  });
}

const FIELDS = ['combiner', 'weights', 'maxNorm', 'partitionStrategy', 'defaultId'] as const;
const USAGE = `emb.safeEmbeddingLookup(table, ids, {combiner: 'mean', defaultId: 0})`;

function checkDefaultId(defaultId: unknown, rows: number): number | null {
  if (defaultId === undefined || defaultId === null) return null;
  const expected = `a whole number in [0, ${rows}) or null`;
  if (typeof defaultId !== 'number') throw new ArgumentTypeError('defaultId', expected, defaultId);
  if (!Number.isInteger(defaultId) || defaultId < 0 || defaultId >= rows) {
    throw new ValueError('defaultId', expected, defaultId);
  }
  return defaultId;
}

function hostVector(vector: tf.Tensor | Int32Array | Float32Array): ArrayLike<number> {
  return vector instanceof tf.Tensor ? (vector.dataSync() as ArrayLike<number>) : vector;
}

function prune(values: Int32Array, rowSplits: Int32Array, weights: Float32Array | null, hasDefault: boolean): Pruned {
  const positions: number[] = [];
  const splits = new Int32Array(rowSplits.length);
  for (let bag = 0; bag + 1 < rowSplits.length; bag++) {
    const start = positions.length;
    for (let at = rowSplits[bag]!; at < rowSplits[bag + 1]!; at++) {
      if (values[at]! >= 0 && (weights === null || weights[at]! > 0)) positions.push(at);
    }
    if (hasDefault && positions.length === start) positions.push(-1);
    splits[bag + 1] = positions.length;
  }
  return { positions: Int32Array.from(positions), rowSplits: splits };
}

/** Weights of the ids that were kept, differentiable where the weights are a tensor. */
function keptWeights(batch: IdBatch, positions: Int32Array): tf.Tensor1D | null {
  const { weights } = batch;
  if (weights === null) return null;
  const flat = weights instanceof tf.Tensor ? weights.flatten() : tf.tensor1d(weights, 'float32');
  const last = flat.size;
  const withDefault = tf.concat1d([flat as tf.Tensor1D, tf.tensor1d([1])]);
  return tf.gather(
    withDefault,
    tf.tensor1d(
      positions.map((at) => (at < 0 ? last : at)),
      'int32',
    ),
  );
}
