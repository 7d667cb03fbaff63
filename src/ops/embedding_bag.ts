/** The pooled lookup as a differentiable op, and its gradient kernels as functions. */
import * as tf from '@tensorflow/tfjs';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  type BagTensors,
} from '../backends/bag_tensors.js';
import type { LookupRequest } from '../backends/device_part.js';
import type { BagOptions } from '../backends/kernel_set.js';
import { backendPart } from '../backends/registry.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../errors.js';
import { checkRowConstraint, tableSettings, type TableSettings } from '../optimizers/table_settings.js';
import { readOptions } from '../options.js';
import { lookupScope } from '../optimizers/lookup_scope.js';
import { INT32_MAX } from '../types.js';
import { warnOnce } from '../warn_once.js';
import { checkBagOptions, checkMatrix, checkTable, type BagOptionsInput } from './arguments.js';
import { readBagTensors, type VectorInput } from './bag_arguments.js';
import { withPublicErrors } from './kernel_errors.js';
import { withLazyGradient } from './lazy_gradient.js';

export interface EmbeddingBagOptions extends BagOptionsInput {
  /** One float32 weight per id; gradients flow to it when it is a tensor. */
  weights?: VectorInput | null | undefined;
}

/**
 * Returns one combined row per bag of ids.
 *
 * Shapes: table [rows, dim] float32; values [nnz] int32; rowSplits [batch + 1] int32, from 0 to nnz, never falling;
 * weights [nnz] float32; result [batch, dim] float32. Bag b holds values[rowSplits[b] .. rowSplits[b + 1]).
 * An empty bag gives zeros for every combiner. Repeated ids count each time. The weighted mean divides by the sum of
 * the weights, sqrtn by the root of the sum of their squares; a divisor of 0 gives zeros. With `maxNorm` every row is
 * scaled to at most that L2 norm before it is weighted. Differentiable with respect to table and weights.
 * Throws TypeError for wrong types and dtypes; ValueError for wrong ranks, splits, an unknown combiner and, unless
 * `outOfRange: 'zero'`, for an id outside [0, rows).
 * Source: tf.nn.embedding_lookup_sparse (TensorFlow 2.21) over compressed rows.
 *
 * @example
 * const table = tf.tensor2d([[1, 2], [3, 4], [5, 6]]);
 * emb.ops.embeddingBag(table, [0, 2, 1], [0, 2, 3], {combiner: 'sum'}).print(); // [[6, 8], [3, 4]]
 */
export function embeddingBag(
  table: tf.Tensor2D | tf.Variable,
  values: VectorInput,
  rowSplits: VectorInput,
  options: EmbeddingBagOptions,
): tf.Tensor2D {
  const matrix = checkTable(table);
  const given = readOptions<EmbeddingBagOptions>(options, BAG_FIELDS);
  const checked = checkBagOptions(given);
  return tf.tidy(() => {
    const bags = readBagTensors(values, rowSplits, given.weights, checked.validate);
    return lookUpBags(matrix, bags, checked);
  });
}

const BAG_FIELDS = ['weights', 'combiner', 'outOfRange', 'maxNorm', 'validate'] as const;

/** Pooled rows that were looked up already, or null. */
type Known = tf.Tensor2D | null;

/** Several lookups, with arguments that were checked: where tables lie on devices, all devices work at the same time. */
export function lookUpMany(requests: readonly LookupRequest[]): tf.Tensor2D[] {
  return together(requests, lookUpBags);
}

/** The same lookups, never recorded for a penalty: penalties themselves look rows up. */
export function lookUpManyUnrecorded(requests: readonly LookupRequest[]): tf.Tensor2D[] {
  return together(requests, lookUpUnrecorded);
}

function together(requests: readonly LookupRequest[], lookUp: typeof lookUpBags): tf.Tensor2D[] {
  if (requests.length === 0) return [];
  const { devices } = backendPart();
  const known = devices === undefined ? null : withPublicErrors(() => devices.lookUp(requests));
  return requests.map(({ table, bags, options }, i) => {
    return lookUp(table as tf.Tensor2D, bags, options, known?.[i] ?? null);
  });
}

/** `embeddingBag` for arguments that were checked. `known`: the result, where the lookup itself has run. */
export function lookUpBags(
  table: tf.Tensor2D,
  bags: BagTensors,
  options: BagOptions,
  known: Known = null,
): tf.Tensor2D {
  const scope = lookupScope();
  if (scope !== null && table instanceof tf.Variable && scope.manages(table)) {
    const settings = tableSettings(table);
    checkRowConstraint(settings);
    if (settings?.regularized === true) scope.touch(table, bags.values);
  }
  return lookUpUnrecorded(table, bags, options, known);
}

/** The same lookup, never recorded for a penalty. */
function lookUpUnrecorded(table: tf.Tensor2D, bags: BagTensors, options: BagOptions, known: Known = null): tf.Tensor2D {
  const scope = lookupScope();
  if (scope !== null && table instanceof tf.Variable && scope.manages(table)) {
    return lookUpInScope(table, bags, options, known);
  }
  return lookUpDensely(table, bags, options, known);
}

function kernelInputs(inputs: Record<string, tf.Tensor | null>): tf.NamedTensorMap {
  return Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null)) as tf.NamedTensorMap;
}

/** Runs a kernel and turns an id out of range into the public error. */
function runChecked<T>(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T {
  backendPart();
  return withPublicErrors(() => tf.engine().runKernel(name, kernelInputs(inputs), attrs as never) as unknown as T);
}

function runEmbeddingBag(table: tf.Tensor2D, bags: BagTensors, options: BagOptions): tf.Tensor2D {
  return runChecked(EMBEDDING_BAG, { table, ...bags }, options);
}

/**
 * A lookup of a managed table: on the tape it depends on the optimizer's anchor (and on the weights), and its backward
 * pass queues what an update kernel needs instead of a gradient as large as the table.
 */
function lookUpInScope(table: tf.Variable, bags: BagTensors, options: BagOptions, known: Known): tf.Tensor2D {
  const scope = lookupScope()!;
  const matrix = table as unknown as tf.Tensor2D;
  const inputs = bags.weights === null ? { anchor: scope.anchor } : { anchor: scope.anchor, weights: bags.weights };
  const pooled = withLazyGradient(
    inputs,
    (save) => {
      // In this order: what was saved by a lookup that fails would never be freed.
      const result = known ?? runEmbeddingBag(matrix, bags, options);
      save(present(bags));
      return result;
    },
    // What the backward pass needs comes through `saved`: tensors local to a layer's call are disposed by then.
    (dy, saved) => ({
      anchor: () => {
        const [gradient, values, rowSplits, weights] = [dy, ...saved].map((tensor) => tf.keep(tensor.clone()));
        const kept = { values, rowSplits, weights: weights ?? null } as BagTensors;
        scope.push({ table, gradient: gradient as tf.Tensor2D, ...kept, options });
        return tf.scalar(0);
      },
      weights: () => runWeightsGrad(matrix, dy as tf.Tensor2D, asBags(saved), options),
    }),
  );
  return pooled as tf.Tensor2D;
}

/** The tensors of a batch in the order in which `asBags` reads them. */
function present({ values, rowSplits, weights }: BagTensors): tf.Tensor[] {
  return weights === null ? [values, rowSplits] : [values, rowSplits, weights];
}

function asBags([values, rowSplits, weights]: tf.Tensor[]): BagTensors {
  return { values, rowSplits, weights: weights ?? null } as BagTensors;
}

/** One entry per touched row, ids ascending. */
export type RowGradientTensors = { uniqueIds: tf.Tensor1D; rowGradients: tf.Tensor2D };

export function runGrad(
  gradient: tf.Tensor2D,
  bags: BagTensors,
  options: BagOptions,
  table: tf.Tensor2D,
): RowGradientTensors {
  const inputs = { gradient, ...bags, table: options.maxNorm > 0 ? table : null };
  const attrs = { ...options, rows: table.shape[0] };
  const [uniqueIds, rowGradients] = runChecked<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, attrs);
  return { uniqueIds, rowGradients };
}

function runWeightsGrad(table: tf.Tensor2D, gradient: tf.Tensor2D, bags: BagTensors, options: BagOptions): tf.Tensor1D {
  const weights = bags.weights!;
  const refuse = (): never => refuseSecond('the gradient of a lookup with respect to its weights');
  return withLazyGradient(
    { table, gradient, weights },
    () => runChecked(EMBEDDING_BAG_WEIGHTS_GRAD, { table, gradient, ...bags }, options),
    () => ({ table: refuse, gradient: refuse, weights: refuse }),
  ) as tf.Tensor1D;
}

function refuseSecond(what: string): never {
  throw new RuntimeError('gradient', 'first-order gradients only', described(`a request to differentiate ${what}`));
}

/** A lookup outside a scope: its gradient is a tensor of the table's shape, as stock optimizers need it. */
function lookUpDensely(table: tf.Tensor2D, bags: BagTensors, options: BagOptions, known: Known = null): tf.Tensor2D {
  const settings = table instanceof tf.Variable ? tableSettings(table) : undefined;
  const pooled = withLazyGradient(
    bags.weights === null ? { table } : { table, weights: bags.weights },
    (save) => {
      const result = known ?? runEmbeddingBag(table, bags, options);
      save([table, ...present(bags)]);
      return result;
    },
    (dy, [matrix, ...saved]) => ({
      table: () => {
        if (settings !== undefined) sayDense(settings, matrix as tf.Tensor2D);
        return denseTableGradient(matrix as tf.Tensor2D, dy as tf.Tensor2D, asBags(saved), options);
      },
      weights: () => runWeightsGrad(matrix as tf.Tensor2D, dy as tf.Tensor2D, asBags(saved), options),
    }),
  );
  return pooled as tf.Tensor2D;
}

/**
 * The dense gradient that stock optimizers need: as large as the table. It is linear in the pooled gradient, and the
 * lookup itself is its transpose, so it can be differentiated again; not with respect to weights, nor under maxNorm.
 */
function denseTableGradient(
  table: tf.Tensor2D,
  gradient: tf.Tensor2D,
  bags: BagTensors,
  options: BagOptions,
): tf.Tensor2D {
  const refuse = (): never => refuseSecond('the gradient of a lookup with weights or maxNorm');
  const isLinear = options.maxNorm === 0;
  const others = { ...(bags.weights && { weights: bags.weights }), ...(isLinear ? {} : { table }) };
  const dense = withLazyGradient(
    { gradient, ...others },
    (save) => {
      const { uniqueIds, rowGradients } = runGrad(gradient, bags, options, table);
      save(present(bags));
      if (uniqueIds.size === 0) return tf.zerosLike(table);
      return tf.scatterND(uniqueIds.expandDims(1) as tf.Tensor2D, rowGradients, table.shape);
    },
    (dy, saved) => ({
      gradient: () => (isLinear ? lookUpDensely(dy as tf.Tensor2D, asBags(saved), options) : refuse()),
      weights: refuse,
      table: refuse,
    }),
  );
  return dense as tf.Tensor2D;
}

function sayDense(settings: TableSettings, table: tf.Tensor2D): void {
  if (settings.optimizer !== null) {
    throw new ValueError(
      'optimizer',
      `an emb.train optimizer in compile, because table ${settings.name} has an optimizer of its own`,
      described('a stock optimizer, which trains every variable itself'),
    );
  }
  const [rows, dim] = table.shape;
  const kilobytes = ((rows * dim * 4) / 1000).toFixed(1);
  warnOnce(
    `table ${settings.name} [${rows}, ${dim}] is trained by a stock optimizer: each step builds and applies a dense ` +
      `gradient of ${kilobytes} kB, whatever the batch (said for the first such table only). emb.train.sgd, adagrad, ` +
      `adam, ... touch only the rows of the batch and train the same.`,
    'dense gradient',
  );
}

export interface EmbeddingBagGradOptions extends EmbeddingBagOptions {
  /** Number of rows of the table; not needed when `table` is given. */
  rows?: number | undefined;
  /** Needed with `maxNorm`, whose scaling is differentiated through. */
  table?: tf.Tensor2D | tf.Variable | undefined;
}

/**
 * Returns the gradient of `embeddingBag` with respect to its table, as the rows that it touches.
 *
 * Shapes: gradient [batch, dim] float32 (of the pooled rows); values, rowSplits, weights as in `embeddingBag`;
 * uniqueIds [u] int32, ascending; rowGradients [u, dim] float32. Rows outside the table under `outOfRange: 'zero'`
 * have no gradient. Errors as in `embeddingBag`.
 * Source: tf.IndexedSlices of tf.nn.embedding_lookup_sparse (TensorFlow 2.21), ids made unique.
 *
 * @example
 * const {uniqueIds, rowGradients} =
 *     emb.ops.embeddingBagGrad(tf.ones([2, 2]), [0, 2, 0], [0, 2, 3], {combiner: 'sum', rows: 3});
 * uniqueIds.print(); // [0, 2]
 * rowGradients.print(); // [[2, 2], [1, 1]]
 */
export function embeddingBagGrad(
  gradient: tf.Tensor2D,
  values: VectorInput,
  rowSplits: VectorInput,
  options: EmbeddingBagGradOptions,
): RowGradientTensors {
  const given = readOptions<EmbeddingBagGradOptions>(options, [...BAG_FIELDS, 'rows', 'table']);
  const checked = checkBagOptions(given);
  const table = given.table === undefined || given.table === null ? null : checkTable(given.table);
  const rows = checkRows(given.rows, table);
  if (table === null && checked.maxNorm > 0) {
    throw new ArgumentTypeError('table', 'the table, because maxNorm is set', undefined);
  }
  return tf.tidy(() => {
    const bags = readBagTensors(values, rowSplits, given.weights, checked.validate);
    const batch = bags.rowSplits.shape[0] - 1;
    const matrix = checkMatrix(gradient, batch, table?.shape[1] ?? null, 'gradient');
    if (table !== null) return runGrad(matrix, bags, checked, table);
    const attrs = { ...checked, rows };
    const [uniqueIds, rowGradients] = runChecked<[tf.Tensor1D, tf.Tensor2D]>(
      EMBEDDING_BAG_GRAD,
      { gradient: matrix, ...bags, table: null },
      attrs,
    );
    return { uniqueIds, rowGradients };
  });
}

/** The number of rows: the table's own, or the one given. */
function checkRows(rows: unknown, table: tf.Tensor2D | null): number {
  const expected = table === null ? 'the number of rows of the table' : `${table.shape[0]}, as table has, or nothing`;
  if (rows === undefined || rows === null) {
    if (table !== null) return table.shape[0];
    throw new ArgumentTypeError('rows', expected, rows);
  }
  if (typeof rows !== 'number') throw new ArgumentTypeError('rows', expected, rows);
  const fits = table === null ? Number.isInteger(rows) && rows >= 0 && rows <= INT32_MAX : rows === table.shape[0];
  if (!fits) throw new ValueError('rows', expected, rows);
  return rows;
}
