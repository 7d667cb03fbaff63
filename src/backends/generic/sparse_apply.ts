/**
 * `SparseApply*` from stock ops: the touched rows are gathered, stepped and scattered into a new table, which the
 * variable then takes over. Snapshots of the old table stay as they were. The cost grows with the table.
 */
import * as tf from '@tensorflow/tfjs';
import { UPDATES, stepsIdleRows, type UpdateName } from '../../rules/rules.js';
import { decayed, type Rows } from '../../rules/update_rule.js';
import type { BagTensors } from '../bag_tensors.js';
import { unpackHyper, type Hyper } from '../../rules/hyper.js';
import type { BagOptions } from '../kernel_set.js';
import { embeddingBagGrad } from './embedding_bag_grad.js';

const NORM_EPSILON = 1e-7;

function clipGradient(gradient: tf.Tensor2D, hyper: Hyper): tf.Tensor2D {
  const { clipNorm, clipGradientMin, clipGradientMax } = hyper;
  let clipped = gradient;
  if (clipNorm > 0) {
    const norm = clipped.square().sum().sqrt();
    clipped = clipped.mul(tf.div(clipNorm, norm.maximum(clipNorm)));
  }
  if (clipGradientMin !== -Infinity) clipped = clipped.maximum(clipGradientMin);
  if (clipGradientMax !== Infinity) clipped = clipped.minimum(clipGradientMax);
  return clipped;
}

/** Limits on weights, then the constraint. */
function limitRows(rows: tf.Tensor2D, hyper: Hyper): tf.Tensor2D {
  const { clipWeightMin, clipWeightMax, constraint, constraintMin, constraintMax, constraintRate } = hyper;
  let limited = rows;
  if (clipWeightMin !== -Infinity) limited = limited.maximum(clipWeightMin);
  if (clipWeightMax !== Infinity) limited = limited.minimum(clipWeightMax);
  // Not by relu, which makes 0 of NaN on some backends.
  if (constraint === 1) return tf.where(limited.less(0), tf.zerosLike(limited), limited as tf.Tensor) as tf.Tensor2D;
  if (constraint !== 2) return limited;
  const norms = limited.square().sum(1, true).sqrt();
  const clamped = norms.maximum(constraintMin).minimum(constraintMax);
  const desired = clamped.mul(constraintRate).add(norms.mul(1 - constraintRate));
  return limited.mul(desired.div(norms.add(NORM_EPSILON)));
}

/** Slots as matrices: those of row-wise Adagrad have one value per row. */
function slotMatrix(slot: tf.Tensor): tf.Tensor2D {
  return slot.reshape([slot.shape[0]!, -1]);
}

/** A step of the touched rows: decay, optimizer, limits. */
function stepTouched(optimizer: UpdateName, rows: Rows, gradient: tf.Tensor2D, hyper: Hyper): Rows {
  const table = decayed(rows.table, hyper.weightDecay);
  const next = UPDATES[optimizer].stepRows(tf, { table, slots: rows.slots }, clipGradient(gradient, hyper), hyper);
  return { table: limitRows(next.table, hyper), slots: next.slots };
}

/** One exact step on variables. */
export function sparseApply(
  optimizer: UpdateName,
  table: tf.Variable,
  slots: readonly tf.Variable[],
  gradient: tf.Tensor2D,
  bags: BagTensors,
  options: BagOptions,
  packed: ArrayLike<number>,
): void {
  const hyper = unpackHyper(packed);
  tf.tidy(() => {
    const matrix = table as unknown as tf.Tensor2D;
    const attributes = { ...options, rows: matrix.shape[0] };
    const [uniqueIds, sums] = embeddingBagGrad({ gradient, ...bags, table: matrix }, attributes);
    let whole: Rows = { table: matrix, slots: slots.map(slotMatrix) };
    const touched: Rows = {
      table: tf.gather(matrix, uniqueIds),
      slots: whole.slots.map((slot) => tf.gather(slot, uniqueIds)),
    };
    const everywhere = stepsIdleRows(optimizer, hyper);
    if (uniqueIds.size === 0 && !everywhere) return;
    if (everywhere) {
      const idle = { table: decayed(matrix, hyper.idleDecay), slots: whole.slots };
      const isMoved = UPDATES[optimizer].movesIdleRows === true;
      const next = isMoved ? UPDATES[optimizer].stepRows(tf, idle, tf.zerosLike(matrix), hyper) : whole;
      whole = { table: limitRows(next.table, hyper), slots: next.slots };
    }
    if (uniqueIds.size > 0) whole = scatterRows(whole, uniqueIds, stepTouched(optimizer, touched, sums, hyper));
    table.assign(whole.table);
    slots.forEach((slot, i) => slot.assign(whole.slots[i]!.reshape(slot.shape)));
  });
}

/** Matrices with some rows replaced. */
function scatterRows(whole: Rows, ids: tf.Tensor1D, rows: Rows): Rows {
  const places = ids.expandDims<tf.Tensor2D>(1);
  // tensorScatterUpdate of tfjs's cpu backend (4.22) writes into its input, so it gets a copy: mul(1) always makes one.
  const put = (into: tf.Tensor2D, each: tf.Tensor2D): tf.Tensor2D =>
    tf.tensorScatterUpdate(into.mul<tf.Tensor2D>(1), places, each);
  return { table: put(whole.table, rows.table), slots: whole.slots.map((slot, i) => put(slot, rows.slots[i]!)) };
}
