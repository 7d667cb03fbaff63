/** The public lookup: any form of ids, with or without a combiner. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import type { BagOptions } from '../backends/kernel_set.js';
import { ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import {
  parseIds,
  type DenseIds,
  type IdBatch,
  type IdsInput,
  type RaggedIds,
  type WeightsInput,
} from '../ids/parse_ids.js';
import { placeOf } from '../ids/id_place.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { sharedUniformSplits } from '../ids/row_splits.js';
import { COMBINERS, isWeighing, type Combiner, type OutOfRange } from '../base/types.js';
import { checkCombiner, checkMaxNorm, checkOutOfRange, checkValidate } from './arguments.js';
import { checkPartitionStrategy, checkTables, lookUpPartitions, type PartitionStrategy } from './partitioned_table.js';
import { addIdDetails } from '../ids/id_out_of_range.js';

export type Table = tf.Tensor2D | tf.Tensor | tf.Variable;
/** A table, or the partitions of one. */
export type Tables = Table | readonly Table[];

/** A table that finds its rows by keys: `emb.openTable`. */
export interface KeyedTable {
  /**
   * Looks keys up.
   *
   * @param keys - Keys in any container.
   * @param options - As for ids.
   * @returns The rows, combined where there is a combiner.
   */
  lookUpKeys(keys: unknown, options: EmbeddingLookupOptions): tf.Tensor | RaggedTensor;
}

function isKeyed(table: unknown): table is KeyedTable {
  return typeof (table as Partial<KeyedTable> | null)?.lookUpKeys === 'function';
}

export interface EmbeddingLookupOptions {
  /** How rows become one; null (default): they stay apart. */
  combiner?: Combiner | null | undefined;
  /** One weight per id, in the form of the ids. Default: none. */
  weights?: WeightsInput | null | undefined;
  /** Rows are scaled to at most this L2 norm; null (default): off. */
  maxNorm?: number | null | undefined;
  /** What an id beyond the table does: `'error'` (default), or `'zero'`, a row of zeros. */
  outOfRange?: OutOfRange | undefined;
  /** How a list of n tables holds the rows: `'mod'` (default), row i in table i mod n; `'div'`, in contiguous ranges. */
  partitionStrategy?: PartitionStrategy | undefined;
  /** Checks ids and weights that already lie on a GPU too (webgpu), which reads them back. Default: false. */
  validate?: boolean | undefined;
}

/** Options with a combiner, and without. */
type Pooling = EmbeddingLookupOptions & { combiner: Combiner };
type PerId = EmbeddingLookupOptions & { combiner?: null | undefined };

/** Ids in one axis. */
type VectorOfIds = tf.Tensor1D | Exclude<DenseIds, tf.Tensor | number>;

/** Ids in two axes. */
export type RowsOfIds = RaggedIds | tf.Tensor2D | readonly (readonly number[])[];

/**
 * Returns the embeddings of ids, combined per bag when a combiner is given.
 *
 * Shapes: table [rows, dim] float32, a tensor, a variable or a list of row partitions. Without a combiner: dense ids of
 * shape s give a tensor s + [dim]; ragged ids give a RaggedTensor whose values are rows. With a combiner: dense ids
 * of rank 2 or more reduce their last axis; ragged ids the innermost one; sparse ids the last one; the result is a
 * float32 tensor batchShape + [dim]. All rows are kept: an empty one, trailing ones included, is zeros.
 * Repeated ids count each time. `outOfRange: 'zero'` takes an id outside the table as a row of zeros, which stays in
 * the divisor and has no gradient. `maxNorm` scales each row to at most that L2 norm before it is weighted.
 * Differentiable with respect to table and to weights that are tensors (a ragged result is not: use
 * `embeddingLookup(table, ragged.values)` for its flat rows).
 * A table made by `emb.openTable` is looked up by keys; in a step of an `emb.train` optimizer they get rows as in a layer.
 * Source: tf.nn.embedding_lookup(_sparse) (TensorFlow 2.21); embedding_lookup of NVIDIA distributed-embeddings 23.06.
 *
 * @param table - [rows, dim] float32: a tensor, a variable, or a list of row partitions; or an open table.
 * @param ids - Whole numbers in [0, rows): dense, ragged or sparse; or keys.
 * @param options - How rows are combined, weighted and checked.
 * @returns The rows, combined where there is a combiner.
 * @throws TypeError for a table, ids or weights of a wrong type; ValueError for rank-1 ids with a combiner, sparse ids
 * without one, negative ids or ids beyond the table, and weights that do not fit.
 *
 * @example
 * const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]);
 * emb.embeddingLookup(table, [[0, 1], [2, 2]], {combiner: 'sum'}).print(); // [[4, 6], [10, 12]]
 * emb.embeddingLookup(table, emb.RaggedTensor.fromRows([[2], []]), {combiner: 'mean'}).print(); // [[5, 6], [0, 0]]
 */
export function embeddingLookup(table: Tables, ids: RowsOfIds, options: Pooling): tf.Tensor2D;
export function embeddingLookup(table: Tables, ids: IdsInput, options: Pooling): tf.Tensor;
export function embeddingLookup(table: Tables, ids: VectorOfIds, options?: PerId): tf.Tensor2D;
export function embeddingLookup(table: Tables, ids: DenseIds, options?: PerId): tf.Tensor;
export function embeddingLookup(table: Tables, ids: RaggedIds, options?: PerId): RaggedTensor;
export function embeddingLookup(
  table: Tables,
  ids: IdsInput,
  options?: EmbeddingLookupOptions,
): tf.Tensor | RaggedTensor;
export function embeddingLookup(
  table: KeyedTable,
  keys: unknown,
  options?: EmbeddingLookupOptions,
): tf.Tensor | RaggedTensor;
export function embeddingLookup(
  table: Tables | KeyedTable,
  ids: unknown,
  options: EmbeddingLookupOptions = {},
): tf.Tensor | RaggedTensor {
  const given = readOptions<EmbeddingLookupOptions>(options, FIELDS, 'options', USAGE);
  if (isKeyed(table)) return table.lookUpKeys(ids, given);
  const partitions = checkTables(table);
  const strategy = checkPartitionStrategy(given.partitionStrategy);
  const combiner = given.combiner === undefined || given.combiner === null ? null : checkCombiner(given.combiner);
  const bagOptions: BagOptions = {
    combiner: combiner ?? 'sum',
    outOfRange: checkOutOfRange(given.outOfRange),
    maxNorm: checkMaxNorm(given.maxNorm),
    validate: checkValidate(given.validate),
  };
  const batch = parseIds(ids as IdsInput, given.weights, undefined, given.validate === true ? true : undefined);
  if (batch.weights !== null && !isWeighing(combiner)) {
    throw new ValueError('combiner', `'sum', 'mean' or 'sqrtn' when weights are given`, combiner);
  }
  const look = (bags: BagTensors): tf.Tensor2D => lookUpPartitions(partitions, strategy, bags, bagOptions);
  return addIdDetails(
    () => (combiner === null ? lookUpRows(look, batch) : lookUpPooled(look, batch)),
    ({ position }) => ({ place: placeOf(batch, position) }),
  );
}

const USAGE = `emb.embeddingLookup(table, ids, {combiner: 'sum'})`;
const FIELDS = ['combiner', 'weights', 'maxNorm', 'outOfRange', 'partitionStrategy', 'validate'] as const;

/** The ids of a batch as flat tensors, with the given row splits. Call inside a tidy. */
function toBagTensors(batch: IdBatch, rowSplits: Int32Array): BagTensors {
  const { values, weights } = batch;
  const flatWeights = weights instanceof tf.Tensor ? weights.flatten() : weights && tf.tensor1d(weights, 'float32');
  return {
    values: (values instanceof tf.Tensor ? values.flatten() : tf.tensor1d(values, 'int32')) as tf.Tensor1D,
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights: flatWeights as tf.Tensor1D | null,
  };
}

function lookUpPooled(look: (bags: BagTensors) => tf.Tensor2D, batch: IdBatch): tf.Tensor {
  const { rowSplits, batchShape } = batch;
  if (rowSplits === null) {
    const received = described(`ids of shape [${batch.idsShape?.join(', ') ?? ''}]`);
    throw new ValueError('ids', 'rank 2 or more when a combiner is given (1-D ids are ambiguous)', received);
  }
  return tf.tidy(() => {
    const pooled = look(toBagTensors(batch, rowSplits));
    return pooled.reshape([...batchShape, pooled.shape[1]]);
  });
}

function lookUpRows(look: (bags: BagTensors) => tf.Tensor2D, batch: IdBatch): tf.Tensor | RaggedTensor {
  if (batch.kind === 'sparse') {
    throw new ValueError('combiner', `one of ${COMBINERS.join(', ')} for sparse ids`, described('none'));
  }
  const size = batch.values instanceof tf.Tensor ? batch.values.size : batch.values.length;
  const rowsOf = (): tf.Tensor2D => look(toBagTensors(batch, sharedUniformSplits(size, 1)));
  if (batch.ragged !== null) {
    const rows = rowsFromTidy(rowsOf);
    return RaggedTensor.fromNestedRowSplits(rows.data, batch.ragged.nestedRowSplits, [rows.dim]);
  }
  return tf.tidy(() => {
    const rows = rowsOf();
    return rows.reshape([...batch.idsShape!, rows.shape[1]]);
  });
}

/** Reads rows to the host and frees their tensor. */
function rowsFromTidy(rowsOf: () => tf.Tensor2D): { data: Float32Array; dim: number } {
  const rows = tf.tidy(rowsOf);
  try {
    return { data: rows.dataSync<'float32'>(), dim: rows.shape[1] };
  } finally {
    rows.dispose();
  }
}
