/**
 * What backends on the memory of tfjs have in common: kernels of this package that its engine runs, and shows to a
 * profile, and the updates of a step as kernels take them.
 */
import * as tf from '@tensorflow/tfjs';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  optionsFor,
  SPARSE_APPLY,
  type BagTensors,
} from './bag_tensors.js';
import type { Gradients, LookedUp, Lookup, LookupGradient, RowGradientTensors, TableUpdate } from './contract.js';
import { SINGLE_ROW, type BagOptions } from './kernel_set.js';
import { stepOps } from './registry.js';
import { sharedUniformSplits } from '../ids/row_splits.js';
import { type Table, tableOf } from './table.js';

/** Runs a kernel on the backend in use, without the inputs that are not there. */
function runOnEngine<T>(
  kernelName: string,
  inputs: Readonly<Record<string, tf.Tensor | null | undefined>>,
  attrs: object,
): T {
  const given: tf.NamedTensorMap = {};
  for (const name in inputs) {
    const tensor = inputs[name];
    if (tensor !== null && tensor !== undefined) given[name] = tensor;
  }
  return tf.engine().runKernel(kernelName, given, attrs as never) as unknown as T;
}

/** One bag per id. Call inside a tidy. */
export function singleRows(values: tf.Tensor1D): BagTensors {
  // An op knows the number of ids when it runs, which may be another one when a step is repeated.
  const ofOp = stepOps()?.singleSplits(values);
  return {
    values,
    rowSplits: ofOp ?? tf.tensor1d(sharedUniformSplits(values.shape[0], 1), 'int32'),
    weights: null,
  };
}

/** Rows and their summed gradients as a lookup of bags of one id each. */
export function ofRows(ids: tf.Tensor1D, gradient: tf.Tensor2D): LookupGradient {
  return { gradient, bags: singleRows(ids), options: SINGLE_ROW };
}

/** One exact step of one table, by the sum over uses that are combined alike; bags of single ids may be among them. */
export interface JoinedUpdate extends Pick<TableUpdate, 'optimizer' | 'table' | 'slots' | 'hyper'> {
  readonly entries: readonly Pick<LookupGradient, 'gradient' | 'bags'>[];
  readonly options: BagOptions;
}

/**
 * Makes one gradient of several: a table is stepped once, with the sum over all its uses, since stepping it per use
 * would not be the optimizer's step. A single lookup stays as it is. Call inside a tidy.
 */
export function united(
  { table, entries, dense }: Pick<TableUpdate, 'table' | 'entries' | 'dense'>,
  gradients: Gradients,
): LookupGradient {
  if (entries.length === 1 && dense === null) return entries[0]!;
  const parts = entries.map((entry) => gradients.byRow(entry, table.rows, table));
  // Tied weights: the dense gradient joins as one that touches every row.
  if (dense !== null) parts.push({ uniqueIds: tf.range(0, table.rows, 1, 'int32'), rowGradients: dense });
  if (parts.length === 1) return ofRows(parts[0]!.uniqueIds, parts[0]!.rowGradients);
  const [ids, rows] = [parts.map(({ uniqueIds }) => uniqueIds), parts.map(({ rowGradients }) => rowGradients)];
  return ofRows(tf.concat1d(ids), tf.concat2d(rows, 0));
}

/** What is common to all uses, where their gradients may go to the kernel side by side; else null. */
function commonOptions({ entries, dense }: TableUpdate): BagOptions | null {
  if (dense !== null) return null;
  const common = entries.find(({ options }) => options !== SINGLE_ROW)?.options ?? SINGLE_ROW;
  const { combiner, outOfRange, maxNorm } = common;
  const fits = entries.every(({ options, bags }) => {
    // A single row that exists is the same under every combiner.
    if (options === SINGLE_ROW && maxNorm === 0 && bags.weights === null) return true;
    return options.combiner === combiner && options.outOfRange === outOfRange && options.maxNorm === maxNorm;
  });
  return fits ? common : null;
}

/** An update with one gradient. Call inside a tidy. */
export function unitedUpdate(update: TableUpdate, gradients: Gradients): JoinedUpdate {
  const one = united(update, gradients);
  return { ...update, entries: [one], options: one.options };
}

/**
 * The updates that may run as one call, by optimizer, each with its uses side by side where they are combined alike; those
 * of tables that `isJoined` leaves out by themselves, each with one use. Call inside a tidy.
 */
export function joinedUpdates(
  updates: readonly TableUpdate[],
  gradients: Gradients,
  isJoined: (table: Table) => boolean = () => true,
): JoinedUpdate[][] {
  const groups = new Map<unknown, JoinedUpdate[]>();
  for (const update of updates) {
    const isOne = !isJoined(update.table);
    const common = isOne ? null : commonOptions(update);
    const joined = common === null ? unitedUpdate(update, gradients) : { ...update, options: common };
    const key = isOne ? update : update.optimizer;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [joined]);
    else group.push(joined);
  }
  return [...groups.values()];
}

/** The pooled rows of one lookup. */
export function lookUpByKernel({ table, bags, options }: Lookup): LookedUp {
  const attrs = optionsFor(table, options);
  const pooled = runOnEngine<tf.Tensor2D>(EMBEDDING_BAG, { table: table.tensor, ...bags }, attrs);
  return { pooled, handle: null };
}

/** Lookups by one call, where there are several; of tables that `isJoined` leaves out one by one. */
export function dispatchLookups(
  together: (lookups: readonly Lookup[]) => LookedUp[],
  lookups: readonly Lookup[],
  one: (lookup: Lookup) => LookedUp = lookUpByKernel,
  isJoined: (table: Table) => boolean = () => true,
): LookedUp[] {
  // By itself, as lists would cost as much as a small lookup.
  if (lookups.length === 1) return [one(lookups[0]!)];
  const joined = lookups.filter(({ table }) => isJoined(table));
  const found = joined.length < 2 ? joined.map(one) : together(joined);
  if (joined.length === lookups.length) return found;
  return lookups.map((lookup) => (isJoined(lookup.table) ? found.shift()! : one(lookup)));
}

/** The slots of a table as inputs of kernels. */
export function slotInputs<T>(slots: readonly T[]): Record<string, T> {
  return Object.fromEntries(slots.map((slot, i) => [`slot${i}`, slot]));
}

/** Steps one table, of one entry, and its slots, which have no other holders. */
export function stepByKernel({ optimizer, table, slots, entries, options, hyper }: JoinedUpdate): void {
  const { gradient, bags } = entries[0]!;
  runOnEngine(
    SPARSE_APPLY[optimizer],
    { table: table.tensor, gradient, ...bags, ...slotInputs(slots) },
    { ...optionsFor(table, options), hyper: Array.from(hyper) },
  );
}

function byRow({ gradient, bags, options }: LookupGradient, rows: number, table: Table | null): RowGradientTensors {
  if (options.maxNorm > 0 && !table!.isPlain) return ofTouchedRows({ gradient, bags, options }, rows, table!);
  const inputs = { gradient, ...bags, table: options.maxNorm > 0 ? table!.tensor : null };
  const attrs = { ...options, rows };
  const [uniqueIds, rowGradients] = runOnEngine<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, attrs);
  return { uniqueIds, rowGradients };
}

/** The same where rows that are not plain are limited to a norm: float32 rows of those that are touched stand for them. */
function ofTouchedRows({ gradient, bags, options }: LookupGradient, rows: number, table: Table): RowGradientTensors {
  return tf.tidy(() => {
    const { maxNorm } = options;
    const unlimited = { gradient, bags, options: { ...options, maxNorm: 0 } };
    const { uniqueIds, rowGradients: sums } = byRow(unlimited, rows, null);
    const inputs = { table: table.tensor, ...singleRows(uniqueIds) };
    const touched = runOnEngine<tf.Tensor2D>(EMBEDDING_BAG, inputs, optionsFor(table, SINGLE_ROW));
    return { uniqueIds, rowGradients: throughNorm(touched, sums, maxNorm) };
  });
}

/** The gradient of rows by that of the same rows scaled down to a norm. */
function throughNorm(rows: tf.Tensor2D, gradient: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  const ops = stepOps();
  if (ops !== null) return ops.normGradient(rows, gradient, maxNorm);
  const [count] = rows.shape;
  const limited = { ...ofRows(tf.range(0, count, 1, 'int32'), gradient), options: { ...SINGLE_ROW, maxNorm } };
  return byRow(limited, count, tableOf(rows)).rowGradients;
}

function byWeight(table: Table, { gradient, bags, options }: LookupGradient): tf.Tensor1D {
  return runOnEngine(
    EMBEDDING_BAG_WEIGHTS_GRAD,
    { table: table.tensor, gradient, ...bags },
    optionsFor(table, options),
  );
}

export const KERNEL_GRADIENTS: Gradients = { byRow, byWeight };
