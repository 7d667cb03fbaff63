/** Lookups as the layers need them: padding left out, results in the shape of the batch. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../backends/bag_tensors.js';
import { ValueError, described } from '../errors.js';
import { embeddingBag } from '../ops/embedding_bag.js';
import { tellingStrays } from '../ops/stray_id.js';
import { readIds, type IdBatch, type IdsInput, type WeightsInput } from '../ragged/door.js';
import { densePlace, placeOf } from '../ragged/id_place.js';
import { uniformSplits } from '../ragged/row_splits.js';
import { toInt32 } from '../ragged/whole_ids.js';
import type { Combiner, OutOfRange } from '../types.js';
import { presentIds, takeAt, type Absence } from './present_ids.js';

/** How a layer looks rows up. */
export interface LookupRule {
  readonly combiner: Combiner;
  readonly maxNorm: number | null;
  readonly outOfRange: OutOfRange;
}

/** Ids on the host, checked to be whole. */
export function hostIds(ids: tf.Tensor): Int32Array {
  return toInt32(ids.dataSync(), 'ids');
}

/** The ids of a batch that count, as bags. */
export interface PresentBags {
  readonly bags: BagTensors;
  /** Where each of them lay among all ids; null: where it lies now. */
  readonly positions: Int32Array | null;
}

/** `weights`: one per id, flat. Call inside a tidy. */
function presentBags(
  ids: Int32Array,
  rowSplits: Int32Array,
  weights: tf.Tensor1D | null,
  absence: Absence,
): PresentBags {
  const { values, rowSplits: splits, positions } = presentIds(ids, rowSplits, absence);
  const bags = {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(splits, 'int32'),
    weights: weights === null || positions === null ? weights : takeAt(weights, positions),
  };
  return { bags, positions };
}

/** The position among all ids of one of those that count. */
export function positionAmongAll({ positions }: PresentBags, position: number): number {
  return positions?.[position] ?? position;
}

/** A batch as bags with these splits, without the absent ids. Call inside a tidy. */
export function bagsOfIds(
  { values, weights: given }: Pick<IdBatch, 'values' | 'weights'>,
  rowSplits: Int32Array,
  absence: Absence | null,
): PresentBags {
  const perId = given instanceof Float32Array ? tf.tensor1d(given, 'float32') : given;
  const weights = perId === null ? null : perId.as1D();
  if (absence !== null)
    return presentBags(values instanceof tf.Tensor ? hostIds(values) : values, rowSplits, weights, absence);
  const bags = {
    values: values instanceof tf.Tensor ? values.as1D() : tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights,
  };
  return { bags, positions: null };
}

/** One row per bag over the ids that count: [bags, dim]. `place`: where an id of all ids was given. */
function lookUpPresent(
  table: tf.Variable,
  present: PresentBags,
  rule: LookupRule,
  place: (position: number) => string | null,
): tf.Tensor2D {
  const { values, rowSplits, weights } = present.bags;
  return tellingStrays(
    () => embeddingBag(table, values, rowSplits, { ...rule, weights }),
    (stray) => {
      const position = positionAmongAll(present, stray.position);
      return { position, place: place(position) };
    },
  );
}

/** The same for a dense batch, whose last axis is combined: shape[:-1] + [dim]. */
export function poolPadded(
  table: tf.Variable,
  ids: tf.Tensor,
  weights: tf.Tensor | null,
  absence: Absence,
  rule: LookupRule,
): tf.Tensor {
  const batch = ids.shape.slice(0, -1);
  const length = ids.shape.at(-1)!;
  const splits = uniformSplits(
    batch.reduce((product, size) => product * size, 1),
    length,
  );
  const present = presentBags(hostIds(ids), splits, weights && weights.as1D(), absence);
  const pooled = lookUpPresent(table, present, rule, (position) => densePlace(ids.shape, position));
  return pooled.reshape([...batch, pooled.shape[1]]);
}

/** One row per place, zeros where the id is absent: shape + [dim]. Each place is a bag of its own. */
export function spreadPadded(table: tf.Variable, ids: tf.Tensor, absence: Absence, rule: LookupRule): tf.Tensor {
  const present = presentBags(hostIds(ids), uniformSplits(ids.size, 1), null, absence);
  const rows = lookUpPresent(table, present, rule, (position) => densePlace(ids.shape, position));
  return rows.reshape([...ids.shape, rows.shape[1]]);
}

/** Ragged ids spread over [rows, longest]: which place holds an id, as the splits of one bag per place. */
export function placeSplits(rowSplits: Int32Array): { splits: Int32Array; rows: number; longest: number } {
  const rows = rowSplits.length - 1;
  let longest = 0;
  for (let row = 0; row < rows; row++) longest = Math.max(longest, rowSplits[row + 1]! - rowSplits[row]!);
  const splits = new Int32Array(rows * longest + 1);
  for (let row = 0, place = 0; row < rows; row++) {
    for (let column = 0; column < longest; column++, place++) {
      splits[place + 1] = Math.min(rowSplits[row]! + column + 1, rowSplits[row + 1]!);
    }
  }
  return { splits, rows, longest };
}

/** Ragged ids as rows over [rows, longest, dim], zeros after the end of each row. Call inside a tidy. */
export function spreadRagged(table: tf.Variable, batch: IdBatch, rule: LookupRule): tf.Tensor3D {
  const { splits, rows, longest } = placeSplits(batch.rowSplits!);
  const present = bagsOfIds({ values: batch.values, weights: null }, splits, null);
  const spread = lookUpPresent(table, present, rule, (position) => placeOf(batch, position));
  return spread.reshape([rows, longest, spread.shape[1]]);
}

/** A pooled lookup of ids in any form, without the absent ones. */
export function poolIds(
  table: tf.Variable,
  ids: unknown,
  weights: unknown,
  absence: Absence,
  rule: LookupRule,
): tf.Tensor {
  const batch = readIds(ids as IdsInput, weights as WeightsInput | null);
  if (batch.rowSplits === null) {
    throw new ValueError('ids', 'rank 2 or more when a combiner is given', described('rank 1 or less'));
  }
  const present = bagsOfIds(batch, batch.rowSplits, absence);
  const pooled = lookUpPresent(table, present, rule, (position) => placeOf(batch, position));
  return pooled.reshape([...batch.batchShape, pooled.shape[1]]);
}
