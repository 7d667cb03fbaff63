/** Lookups of layers: from the ids of each feature to bags, and from pooled rows to results; one feature or many. */
import { COMBINERS } from '../../base/types.js';
import * as tf from '@tensorflow/tfjs';
import type { Lookup } from '../../backends/contract.js';
import type { BagOptions } from '../../backends/kernel_set.js';
import { ValueError, described } from '../../base/errors.js';
import { isReadAsync } from '../../base/waiting_reads.js';
import { lookAhead, lookUp } from '../../lookup/lookup.js';
import { addIdDetails, strayIdOf, strayPosition } from '../../ids/id_out_of_range.js';
import { parseIds, type IdBatch, type IdsInput, type WeightsInput } from '../../ids/parse_ids.js';
import { placeOf } from '../../ids/id_place.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { raggedRowsOf, type RaggedRows } from '../../tfjs/stand_ins.js';
import { placeSplits, sharedUniformSplits } from '../../ids/row_splits.js';
import { checkDense, checkWeighted, type Feature, type FeaturePaths } from './layer_inputs.js';
import { fedPlace } from '../../tfjs/uncast_inputs.js';
import type { LayerOfTables } from '../layer_of_tables.js';
import type { BagTensors } from '../../backends/bag_tensors.js';
import { stepOps } from '../../backends/registry.js';
import { type Table, tableOf } from '../../backends/table.js';
import type { StepOps } from '../../backends/step_ops.js';
import { toInt32 } from '../../ids/whole_ids.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';
import { checkTensor } from '../../ids/values.js';

/**
 * float32 ids as int32 by an op, which never shows them to JavaScript. They come back as they are where the backend has
 * none, and where it refuses them: the check that reads them says which one is no id, and where. Call inside a tidy.
 */
export function asWholeIds(ids: unknown): unknown {
  const ops = stepOps();
  if (ops === null || !(ids instanceof tf.Tensor) || ids.dtype !== 'float32') return ids;
  try {
    checkTensor(ids, 'ids');
    return ops.wholeIds(ids);
  } catch {
    return ids;
  }
}

/** Padding ids. */
interface IdMask {
  /** The id 0 (`maskZero`). */
  readonly zero: boolean;
  /** Negative ids (padding of ragged rows). */
  readonly negative: boolean;
}

interface UnmaskedIds {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  /** Where each value lay among all ids; null where every id counts. */
  readonly positions: Int32Array | null;
}

/** The ids that count, in order, with the splits of their rows. */
export function unmaskedIds(ids: Int32Array, rowSplits: Int32Array, mask: IdMask): UnmaskedIds {
  const rows = rowSplits.length - 1;
  const values = new Int32Array(ids.length);
  const positions = new Int32Array(ids.length);
  const splits = new Int32Array(rows + 1);
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    const end = rowSplits[row + 1]!;
    for (let i = rowSplits[row]!; i < end; i++) {
      const id = ids[i]!;
      if ((mask.zero && id === 0) || (mask.negative && id < 0)) continue;
      values[kept] = id;
      positions[kept] = i;
      kept++;
    }
    splits[row + 1] = kept;
  }
  if (kept === ids.length) return { values, rowSplits: splits, positions: null };
  return { values: values.slice(0, kept), rowSplits: splits, positions: positions.slice(0, kept) };
}

/**
 * The weights at these positions (each at most once), differentiable. The gradient of tf.gather would be missing on
 * some backends and quadratic on another; a scatter is linear everywhere.
 */
function takeAt(weights: tf.Tensor1D, positions: Int32Array): tf.Tensor1D {
  const op = tf.customGrad((all, save) => {
    const index = tf.tensor1d(positions, 'int32');
    (save as tf.GradSaveFunc)([index]);
    const size = (all as tf.Tensor).size;
    return {
      value: tf.gather(all as tf.Tensor1D, index),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [places] = saved as [tf.Tensor1D];
        return places.size === 0 ? tf.zeros([size]) : tf.scatterND(places.expandDims(1), dy, [size]);
      },
    };
  });
  return op(weights) as tf.Tensor1D;
}

/** Ids on the host, checked to be whole. */
export function hostIds(ids: tf.Tensor): Int32Array {
  return toInt32(ids.dataSync(), 'ids');
}

/** The ids of a batch that count, as bags. */
interface UnmaskedBags {
  readonly bags: BagTensors;
  /** Where each of them lay among all ids; null: where it lies now. May read the ids. */
  positions(): Int32Array | null;
}

/** `weights`: one per id, flat. Call inside a tidy. */
function unmaskedBags(ids: Int32Array, rowSplits: Int32Array, weights: tf.Tensor1D | null, mask: IdMask): UnmaskedBags {
  const { values, rowSplits: splits, positions } = unmaskedIds(ids, rowSplits, mask);
  const bags = {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(splits, 'int32'),
    weights: weights === null || positions === null ? weights : takeAt(weights, positions),
  };
  return { bags, positions: () => positions };
}

/** The weights of the ids that count, by an op, differentiable. */
function presentWeights(ops: StepOps, ids: tf.Tensor1D, weights: tf.Tensor1D, mask: IdMask): tf.Tensor1D {
  return withLazyGradient(
    { weights },
    (save) => {
      save([ids]);
      return ops.presentWeights(ids, weights, mask);
    },
    (dy, saved) => ({ weights: () => ops.spreadWeights(saved[0] as tf.Tensor1D, dy as tf.Tensor1D, mask) }),
  ) as tf.Tensor1D;
}

/** Splits of rows: on the host, or a tensor that JavaScript need not see. */
type Splits = Int32Array | tf.Tensor1D;

/** A vector as it is: an op that gives it another shape would tell how long it is. */
function flat(tensor: tf.Tensor): tf.Tensor1D {
  return tensor.rank === 1 ? (tensor as tf.Tensor1D) : tensor.as1D();
}

function splitsTensor(splits: Splits): tf.Tensor1D {
  return splits instanceof tf.Tensor ? splits : tf.tensor1d(splits, 'int32');
}

function hostSplits(splits: Splits): Int32Array {
  return splits instanceof tf.Tensor ? splits.dataSync<'int32'>() : splits;
}

/** The same by ops, which never show the ids to JavaScript; null where the backend has none. */
function unmaskedByOps(
  ids: tf.Tensor,
  rowSplits: Splits,
  weights: tf.Tensor1D | null,
  mask: IdMask,
): UnmaskedBags | null {
  const ops = stepOps();
  if (ops === null || ids.dtype !== 'int32') return null;
  const all = flat(ids);
  const bags = {
    ...ops.presentIds(all, splitsTensor(rowSplits), mask),
    weights: weights === null ? null : presentWeights(ops, all, weights, mask),
  };
  return { bags, positions: () => unmaskedIds(all.dataSync<'int32'>(), hostSplits(rowSplits), mask).positions };
}

/** The position among all ids of one of those that count. */
function positionAmongAll({ positions }: UnmaskedBags, position: number): number {
  return positions()?.[position] ?? position;
}

/** A batch as bags with these splits, without the absent ids. Call inside a tidy. */
function bagsOfIds(
  { values, weights: given }: Pick<IdBatch, 'values' | 'weights'>,
  rowSplits: Splits,
  mask: IdMask | null,
): UnmaskedBags {
  const perId = given instanceof Float32Array ? tf.tensor1d(given, 'float32') : given;
  const weights = perId === null ? null : flat(perId);
  if (mask !== null) {
    const byOps = values instanceof tf.Tensor ? unmaskedByOps(values, rowSplits, weights, mask) : null;
    if (byOps !== null) return byOps;
    const ids = values instanceof tf.Tensor ? hostIds(values) : values;
    return unmaskedBags(ids, hostSplits(rowSplits), weights, mask);
  }
  const bags = {
    values: values instanceof tf.Tensor ? flat(values) : tf.tensor1d(values, 'int32'),
    rowSplits: splitsTensor(rowSplits),
    weights,
  };
  return { bags, positions: () => null };
}

/** What is asked of the table, and how the answer becomes the result. */
interface FeatureLookup {
  readonly present: UnmaskedBags;
  readonly options: BagOptions;
  readonly shape: (rows: tf.Tensor2D) => tf.Tensor | RaggedTensor;
}

/** Padding ids; null: none. `isPadded`: negative ones were seen. */
function idMaskOf(feature: Feature, isDense: boolean, isPadded: boolean): IdMask | null {
  const { kind, combiner, maskZero, keysPad } = feature;
  if (keysPad !== undefined) return keysPad ? { zero: false, negative: true } : null;
  const zero = maskZero && combiner !== null && kind !== 'reduce';
  const negative = isDense && (isPadded || zero || !refusesPadding(feature));
  return zero || negative ? { zero, negative } : null;
}

/**
 * Whether a lookup of all ids fails where one is negative: `Embedding` looks for padding only then, since in most batches
 * there is none. With `outOfRange: 'zero'` nothing fails, and an absent id counts in no divisor.
 */
function refusesPadding({ kind, outOfRange }: Feature): boolean {
  return kind === 'embedding' && (outOfRange === 'error' || isReadAsync());
}

/** The number of samples of a batch, or null for a single id. */
function batchSizeOf(batch: FeatureIds): number | null {
  if (isFromModel(batch)) return batch.batchShape[0]!;
  const { kind, idsShape, nestedRowSplits, batchShape } = batch;
  if (kind === 'ragged') return nestedRowSplits![0]!.length - 1;
  return (kind === 'dense' ? idsShape![0] : batchShape[0]) ?? null;
}

/** Ragged rows that a model was given: their splits are a tensor, read by JavaScript only where it must know them. */
interface ModelRows extends IdBatch {
  readonly kind: 'ragged';
  readonly splits: tf.Tensor1D;
  /** See `RaggedRows`. */
  readonly length: number | null;
}

type FeatureIds = IdBatch | ModelRows;

function isFromModel(batch: FeatureIds): batch is ModelRows {
  return 'splits' in batch;
}

/** Throws ValueError where weights lie in other rows than the ids, of which there are as many. */
function checkSameSplits(ofIds: tf.Tensor1D, ofWeights: tf.Tensor1D, path: string): void {
  if (ofIds.dataId === ofWeights.dataId) return;
  const ops = stepOps();
  if (ops !== null) {
    // By ops, which a captured step runs too: what differs makes a weight that is refused.
    try {
      tf.tidy(() => ops.checkWeights(tf.where(ofIds.notEqual(ofWeights).any(), NaN, tf.scalar(0))));
      return;
    } catch {
      // Told below, with the row.
    }
  }
  const [ids, weights] = [ofIds.dataSync<'int32'>(), ofWeights.dataSync<'int32'>()];
  const end = ids.findIndex((each, i) => each !== weights[i]);
  if (end < 0) return;
  const count = (splits: Int32Array): number => splits[end]! - splits[end - 1]!;
  const received = described(`${count(weights)} in row ${end - 1}`);
  throw new ValueError(path, `rows as the ids have, ${count(ids)} values in row ${end - 1}`, received);
}

/** The weights of ragged rows, one for each id. */
function weightsOfRows(rows: RaggedRows, weights: unknown, path: string): tf.Tensor1D | null {
  if (weights === null || weights === undefined) return null;
  const given = raggedRowsOf(weights);
  const expected = 'ragged rows, as the ids have';
  if (given === null) throw new ValueError(path, expected, weights);
  if (given.rowSplits.size !== rows.rowSplits.size || given.values.size !== rows.values.size) {
    const sizes = ({ rowSplits, values }: RaggedRows): string => `${rowSplits.size - 1} rows of ${values.size} values`;
    throw new ValueError(path, `${sizes(rows)}, as the ids have`, described(sizes(given)));
  }
  checkSameSplits(rows.rowSplits, given.rowSplits, path);
  return given.values.dtype === 'float32' ? given.values : given.values.toFloat();
}

/** The rows that a model passes on as a tensor that stands for them. */
function readModelRows(feature: Feature, rows: RaggedRows, weights: unknown, paths: FeaturePaths): ModelRows {
  checkDense(feature, [rows.rowSplits.size - 1, null], paths.ids);
  const ids = asWholeIds(rows.values) as tf.Tensor1D;
  const values = ids.dtype === 'int32' ? ids : tf.tensor1d(toInt32(ids.dataSync(), paths.ids), 'int32');
  let read: Int32Array | null = null;
  const splits = (): Int32Array => (read ??= rows.rowSplits.dataSync<'int32'>());
  return {
    kind: 'ragged',
    values,
    splits: rows.rowSplits,
    length: rows.length ?? null,
    weights: weightsOfRows(rows, weights, paths.weights),
    batchShape: [rows.rowSplits.size - 1],
    idsShape: null,
    places: null,
    get rowSplits() {
      return splits();
    },
    get nestedRowSplits() {
      return [splits()];
    },
    get ragged() {
      return RaggedTensor.fromRowSplits(values, splits());
    },
  };
}

/** Where rows side by side have an id, other than 0 with `maskZero`: bool [rows, columns]. */
export function maskOfRows({ values, rowSplits, length = null }: RaggedRows, maskZero: boolean): tf.Tensor2D {
  const { splits, rows, columns } = placeSplits(rowSplits.dataSync<'int32'>(), length);
  const ids = maskZero ? values.dataSync() : null;
  const present = Uint8Array.from({ length: rows * columns }, (_, place) => {
    const id = splits[place]!;
    return splits[place + 1]! > id && ids?.[id] !== 0 ? 1 : 0;
  });
  return tf.tensor2d(present, [rows, columns], 'bool');
}

/** The ids of a feature and their weights, checked. `paths`: what they are called in errors. */
function readFeature(feature: Feature, ids: unknown, weights: unknown, paths: FeaturePaths): FeatureIds {
  checkWeighted(feature, weights !== null && weights !== undefined, paths.weights);
  const rows = raggedRowsOf(ids);
  if (rows !== null) return readModelRows(feature, rows, weights, paths);
  const batch = parseIds(ids as IdsInput, weights as WeightsInput | null, paths);
  if (batch.kind === 'dense') checkDense(feature, [...batch.idsShape!], paths.ids);
  if (batch.kind === 'sparse' && feature.combiner === null) {
    const note = `Sparse ids need a combiner: ${COMBINERS.join(', ')}.`;
    throw new ValueError(paths.ids, 'dense or ragged ids without a combiner', described('sparse ids'), note);
  }
  return batch;
}

/**
 * The lookup of a batch that was read. `spreads`: ragged rows without a combiner come side by side, with zeros after the
 * end of each. `isPadded`: some of its dense ids are negative. Call inside a tidy.
 */
function featureLookup(feature: Feature, batch: FeatureIds, spreads: boolean, isPadded: boolean): FeatureLookup {
  const { combiner, outOfRange, maxNorm } = feature;
  const isOfModel = isFromModel(batch);
  const options: BagOptions = { combiner: combiner ?? 'sum', outOfRange, maxNorm: maxNorm ?? 0 };
  const mask = idMaskOf(feature, batch.kind === 'dense', isPadded);
  if (combiner !== null && (isOfModel || batch.rowSplits !== null)) {
    return {
      present: bagsOfIds(batch, isOfModel ? batch.splits : batch.rowSplits!, mask),
      options,
      shape: (rows) => rows.reshape([...batch.batchShape, rows.shape[1]]),
    };
  }
  if (combiner === null && (spreads || isOfModel) && batch.kind === 'ragged') {
    const { splits, rows, columns } = placeSplits(batch.rowSplits!, isOfModel ? batch.length : null);
    return {
      present: bagsOfIds(batch, splits, mask),
      options,
      shape: (spread) => spread.reshape([rows, columns, spread.shape[1]]),
    };
  }
  // One id per bag. Mean and sqrtn of one row are the row, whatever it weighs.
  const { values } = batch;
  const weights = combiner === 'sum' ? batch.weights : null;
  const size = values instanceof tf.Tensor ? values.size : values.length;
  return {
    present: bagsOfIds({ values, weights }, sharedUniformSplits(size, 1), mask),
    options: { ...options, combiner: 'sum' },
    shape: (rows) => shapeRows(rows, batch),
  };
}

function shapeRows(rows: tf.Tensor2D, { idsShape, nestedRowSplits }: IdBatch): tf.Tensor | RaggedTensor {
  const dim = rows.shape[1];
  if (nestedRowSplits === null) return rows.reshape([...idsShape!, dim]);
  return RaggedTensor.fromNestedRowSplits(rows.dataSync<'float32'>(), nestedRowSplits, [dim]);
}

/** Every batch has the same number of samples, where it has samples. */
function checkBatchSizes(batches: readonly FeatureIds[], paths: readonly string[]): void {
  let first: { size: number; input: number } | null = null;
  batches.forEach((batch, input) => {
    const size = batchSizeOf(batch);
    if (size === null) return;
    first ??= { size, input };
    if (size === first.size) return;
    const expected = `a batch of ${first.size}, as ${paths[first.input]} has`;
    throw new ValueError(paths[input]!, expected, described(`one of ${size}`));
  });
}

/** What one call looks up: an entry per feature. */
export interface FeatureBatch {
  /** The layer, to which devices count what is looked up. */
  readonly owner: LayerOfTables;
  readonly ids: readonly unknown[];
  readonly weights: readonly unknown[];
  /** What they are called in errors. */
  readonly paths: { readonly ids: readonly string[]; readonly weights: readonly string[] };
  /** The feature and the table of each, in words; null: there is only the one of the layer. */
  readonly names: readonly (string | null)[];
  /** Whether features may have different numbers of samples. */
  readonly sizesMayDiffer?: boolean;
  /** Ids came to the devices with the input. */
  readonly idsArePlaced?: boolean;
  /** Reports tell the inputs of the layer apart. */
  readonly isReported?: boolean;
  /** Ragged rows without a combiner come as a tensor. */
  readonly spreads?: boolean;
}

/** Ids of a table are below this. */
function idRangeOf({ elsewhere, rows }: Table): number {
  return elsewhere?.rows ?? rows;
}

/** The first id outside its table, and of which lookup: kernels tell the id, and nothing of inputs. */
function findOutOfRange(requests: readonly Lookup[]): { input: number; position: number; id: number } | null {
  for (const [input, { table, bags, options }] of requests.entries()) {
    if (options.outOfRange !== 'error') continue;
    const ids = bags.values.dataSync<'int32'>();
    const position = strayPosition(ids, idRangeOf(table));
    if (position >= 0) return { input, position, id: ids[position]! };
  }
  return null;
}

/**
 * Notes padding that made a lookup fail: the inputs whose dense ids are negative here and there. Returns whether some were
 * found, so that the lookup can be made without them.
 */
function foundPadding(
  owner: LayerOfTables,
  features: readonly Feature[],
  batches: readonly IdBatch[],
  error: unknown,
): boolean {
  if (!((strayIdOf(error)?.id ?? 0) < 0)) return false;
  const found = batches.flatMap(({ kind, values }, input) => {
    if (kind !== 'dense' || features[input]!.kind !== 'embedding' || owner.paddedInputs.includes(input)) return [];
    const ids = values instanceof tf.Tensor ? hostIds(values) : values;
    return ids.some((id) => id < 0) ? [input] : [];
  });
  if (found.length > 0) owner.paddedInputs = [...owner.paddedInputs, ...found];
  return found.length > 0;
}

const REDUCE_NOTE =
  'Map ids to rows first (integerLookup, preprocessing.Hashing), or raise vocabularySize; ' +
  'negative ids are padding in dense ids only.';

/** The rows of all lookups; an id outside a table is told with the input that holds it. */
function lookUpNamed(
  features: readonly Feature[],
  requests: readonly Lookup[],
  { owner, ids, paths, names }: FeatureBatch,
  placeIn: (input: number, position: number) => { position: number; place: string | null },
): tf.Tensor2D[] {
  return addIdDetails(
    () => lookUp(requests),
    (kernelDetails) => {
      const first = findOutOfRange(requests);
      if (first === null) return {};
      const { input, id } = first;
      const rows = idRangeOf(requests[input]!.table);
      const known = { ...kernelDetails, id, rows, expected: `ids in [0, ${rows})`, ...placeIn(input, first.position) };
      return {
        ...known,
        argument: paths.ids[input]!,
        owner: `layer ${owner.name}${names[input] === null ? '' : `, ${names[input]}`}`,
        // The kernels' advice is of options that a FeatureConfig has not.
        ...(features[input]!.kind === 'reduce' ? { note: REDUCE_NOTE } : {}),
        ...fedPlace(owner, input, ids[input], known),
      };
    },
  );
}

/** What is asked for the features of a batch. */
function requestsOf(
  features: readonly Feature[],
  variables: readonly tf.Variable[],
  batches: readonly IdBatch[],
  { owner, idsArePlaced = false, isReported = false, spreads = false }: FeatureBatch,
): { lookups: ReturnType<typeof featureLookup>[]; requests: Lookup[] } {
  const isPadded = (input: number): boolean => owner.paddedInputs.includes(input);
  const lookups = features.map((feature, i) => featureLookup(feature, batches[i]!, spreads, isPadded(i)));
  const requests = lookups.map(({ present, options }, input): Lookup => {
    const request = { table: tableOf(variables[input]!), bags: present.bags, options, idsArePlaced };
    if (!isReported) return request;
    return { ...request, servedInput: { owner, input, samples: batchSizeOf(batches[input]!) ?? 1 } };
  });
  return { lookups, requests };
}

function batchesOf(features: readonly Feature[], { ids, weights, paths }: FeatureBatch): IdBatch[] {
  return features.map((feature, i) => {
    return readFeature(feature, raggedRowsOf(ids[i]) === null ? asWholeIds(ids[i]) : ids[i], weights[i], {
      ids: paths.ids[i]!,
      weights: paths.weights[i]!,
    });
  });
}

/** Starts the lookups of a batch to come, where the backend does that. */
export function lookFeaturesAhead(
  features: readonly Feature[],
  variables: readonly tf.Variable[],
  given: FeatureBatch,
): void {
  tf.tidy(() => {
    try {
      lookAhead(requestsOf(features, variables, batchesOf(features, given), given).requests);
    } catch (error) {
      // Ids that cannot be: their own step says so.
      if (!(error instanceof ValueError) && !(error instanceof TypeError)) throw error;
    }
  });
}

/** The result of each feature; all lookups go to the devices together. `check`: runs first, within the same tidy. */
export function lookUpFeatures(
  features: readonly Feature[],
  variables: readonly tf.Variable[],
  given: FeatureBatch,
  check: () => void,
): (tf.Tensor | RaggedTensor)[] {
  const { owner, paths, sizesMayDiffer = false } = given;
  let results: (tf.Tensor | RaggedTensor)[] = [];
  // RaggedTensors stay out of the tidy's result, which would walk through all their numbers.
  tf.tidy(() => {
    check();
    const batches = batchesOf(features, given);
    if (!sizesMayDiffer) checkBatchSizes(batches, paths.ids);
    const lookUpAll = (): (tf.Tensor | RaggedTensor)[] => {
      const { lookups, requests } = requestsOf(features, variables, batches, given);
      const rows = lookUpNamed(features, requests, given, (input, at) => {
        const position = positionAmongAll(lookups[input]!.present, at);
        return { position, place: placeOf(batches[input]!, position) };
      });
      return lookups.map(({ shape }, i) => shape(rows[i]!));
    };
    try {
      results = lookUpAll();
    } catch (error) {
      if (!foundPadding(owner, features, batches, error)) throw error;
      results = lookUpAll();
    }
    return results.filter((result) => result instanceof tf.Tensor) as tf.Tensor[];
  });
  return results;
}
