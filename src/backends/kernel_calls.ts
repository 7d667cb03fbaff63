/** Kernels of this package that the engine of tfjs runs: it shows them to a profile, and every backend has them. */
import * as tf from '@tensorflow/tfjs';
import { runOnEngine } from '../tfjs/engine/engine_run.js';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  PACKED_APPLY,
  PACKED_BAG,
  PACKED_BAG_WEIGHTS_GRAD,
  SPARSE_APPLY,
} from './bag_tensors.js';
import type { Gradients, LookedUp, Lookup, LookupGradient, RowGradientTensors } from './contract.js';
import type { JoinedUpdate } from './joined_updates.js';
import { SINGLE_ROW } from './kernel_set.js';
import { packedForm, type PackedForm } from './packed/packed_table.js';
import { currentBackend } from './registry.js';
import { ofRows, singleRows } from './single_rows.js';

/** The pooled rows of one lookup. */
export function lookUpByKernel({ table, bags, options }: Lookup): LookedUp {
  const form = packedForm(table);
  const kernel = form === undefined ? EMBEDDING_BAG : PACKED_BAG;
  const pooled = runOnEngine<tf.Tensor2D>(kernel, { table: table as tf.Tensor, ...bags }, { ...options, ...form });
  return { pooled, handle: null };
}

/** Lookups of float32 rows by one call, where there are several; of packed rows one by one. */
export function lookUpsBy(
  together: (lookups: readonly Lookup[]) => LookedUp[],
  lookups: readonly Lookup[],
  one: (lookup: Lookup) => LookedUp = lookUpByKernel,
): LookedUp[] {
  const plain = lookups.filter(({ table }) => packedForm(table) === undefined);
  const found = plain.length < 2 ? plain.map(one) : together(plain);
  if (plain.length === lookups.length) return found;
  return lookups.map((lookup) => (packedForm(lookup.table) === undefined ? found.shift()! : lookUpByKernel(lookup)));
}

/** Steps one table, of one entry, and its slots, which nobody else sees. */
export function stepByKernel({ optimizer, table, slots, entries, options, hyper }: JoinedUpdate): void {
  const { gradient, bags } = entries[0]!;
  const [slot0, slot1] = slots;
  const form = packedForm(table);
  const kernel = form === undefined ? SPARSE_APPLY[optimizer] : PACKED_APPLY;
  const ofRows = form === undefined ? {} : { optimizer, ...form };
  runOnEngine(kernel, { table, gradient, ...bags, slot0, slot1 }, { ...ofRows, ...options, hyper: Array.from(hyper) });
}

function byRow(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D | null,
): RowGradientTensors {
  const form = options.maxNorm > 0 && table !== null ? packedForm(table) : undefined;
  if (form !== undefined) return ofPackedRows({ gradient, bags, options }, rows, table!, form);
  const inputs = { gradient, ...bags, table: options.maxNorm > 0 ? table : null };
  const attrs = { ...options, rows };
  const [uniqueIds, rowGradients] = runOnEngine<[tf.Tensor1D, tf.Tensor2D]>(EMBEDDING_BAG_GRAD, inputs, attrs);
  return { uniqueIds, rowGradients };
}

/** The same where packed rows are limited to a norm: float32 rows of those that are touched stand for them. */
function ofPackedRows(
  { gradient, bags, options }: LookupGradient,
  rows: number,
  table: tf.Tensor2D,
  form: PackedForm,
): RowGradientTensors {
  return tf.tidy(() => {
    const { maxNorm } = options;
    const unlimited = { gradient, bags, options: { ...options, maxNorm: 0 } };
    const { uniqueIds, rowGradients: sums } = byRow(unlimited, rows, null);
    const inputs = { table, ...singleRows(uniqueIds) };
    const touched = runOnEngine<tf.Tensor2D>(PACKED_BAG, inputs, { ...SINGLE_ROW, ...form });
    return { uniqueIds, rowGradients: throughNorm(touched, sums, maxNorm) };
  });
}

/** The gradient of rows by that of the same rows scaled down to a norm. */
function throughNorm(rows: tf.Tensor2D, gradient: tf.Tensor2D, maxNorm: number): tf.Tensor2D {
  const { ops } = currentBackend();
  if (ops !== null) return ops.normGradient(rows, gradient, maxNorm);
  const [count] = rows.shape;
  const limited = { ...ofRows(tf.range(0, count, 1, 'int32'), gradient), options: { ...SINGLE_ROW, maxNorm } };
  return byRow(limited, count, rows).rowGradients;
}

function byWeight(table: tf.Tensor2D, { gradient, bags, options }: LookupGradient): tf.Tensor1D {
  const form = packedForm(table);
  const kernel = form === undefined ? EMBEDDING_BAG_WEIGHTS_GRAD : PACKED_BAG_WEIGHTS_GRAD;
  return runOnEngine(kernel, { table, gradient, ...bags }, { ...options, ...form });
}

export const KERNEL_GRADIENTS: Gradients = { byRow, byWeight };
