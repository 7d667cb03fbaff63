/** The inputs of a `DistributedEmbedding`: from what the caller gives to one entry per feature. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { PlanData } from '../../partition/plan.js';
import { sameNumbers } from '../../ids/row_splits.js';
import { isSymbolic } from '../../base/layer_arguments.js';
import type { FeatureStructure } from './structure.js';
import { flattenAs, featurePaths } from './structure.js';

/** One entry per feature, in the order of features. */
export interface FeatureInputs {
  readonly ids: readonly unknown[];
  /** null where a feature has none. */
  readonly weights: readonly unknown[];
  /** Whether they came as the flat list in which a model of tfjs hands them on, and results go back. */
  readonly isFlat: boolean;
}

/** What is known of the features when inputs are read. */
export interface InputForm {
  readonly structure: FeatureStructure;
  readonly count: number;
  /** Features that had weights when the layer was applied to symbolic tensors; null before. */
  readonly weighted: readonly number[] | null;
  /** Only where inputs come by device: the features of each, in order. */
  readonly byDevice: readonly (readonly number[])[] | null;
}

/** Throws where a layer is applied once more with weights for other features. `before`: null for the first time. */
export function checkSameWeighted(before: readonly number[] | null, weighted: readonly number[]): void {
  if (before === null || sameNumbers(before, weighted)) return;
  const text = (features: readonly number[]): string => (features.length === 0 ? 'none' : features.join(', '));
  const expected = `weights for the features that had some when the layer was first applied (${text(before)})`;
  throw new ValueError('weights', expected, described(`weights for ${text(weighted)}`));
}

/** One entry per feature, from a flat list that holds weights of the features `weighted` behind the ids of all. */
export function spreadWeights(list: readonly unknown[], count: number, weighted: readonly number[]): unknown[] {
  const weights: unknown[] = new Array<null>(count).fill(null);
  weighted.forEach((feature, place) => (weights[feature] = list[count + place] ?? null));
  return weights;
}

/** The features of each device, in the order in which their ids come. */
export function featuresByDevice(plan: PlanData): number[][] {
  return plan.ranks.map(({ tableParallel }) => [...(tableParallel?.inputIdsGlobal ?? [])]);
}

/** What the ids of each feature are called in errors, where they come by device: by the first that takes them. */
export function idPathsByDevice(byDevice: readonly (readonly number[])[]): string[] {
  const paths: string[] = [];
  byDevice.forEach((features, device) =>
    features.forEach((feature, place) => (paths[feature] ??= `inputs[${device}][${place}]`)),
  );
  return paths;
}

/** Whether the structure is a plain list of features, which looks the same when it is flat. */
function isPlainList(structure: FeatureStructure): boolean {
  return structure.kind === 'list' && structure.items.every(({ kind }) => kind === 'feature');
}

/** The flat list in which a model hands its tensors on: ids of all features, then weights of those that have some. */
function readFlat(inputs: unknown, form: InputForm): FeatureInputs | null {
  const { structure, count, weighted, byDevice } = form;
  if (weighted === null) return null;
  const list = (Array.isArray(inputs) ? inputs : [inputs]) as unknown[];
  if (list.length !== count + weighted.length) return null;
  if (!list.every(isSymbolic) && !list.every((item) => item instanceof tf.Tensor)) return null;
  // A model that is loaded hands on the tensor of its only input without a list.
  const isBare = isSymbolic(inputs);
  if (weighted.length === 0 && isPlainList(structure) && byDevice === null && !isBare) return null;
  // [values, rowSplits] of a single feature are no ids and weights.
  const areWeights = list.slice(count).every((item) => (item as tf.Tensor).dtype === 'float32');
  if (!areWeights) return null;
  return { ids: list.slice(0, count), weights: spreadWeights(list, count, weighted), isFlat: true };
}

/** A list of nothing but tensors, as a model hands them on; null for inputs of any other form. */
export function fedTensors(inputs: unknown, weights: unknown): tf.Tensor[] | null {
  if (!Array.isArray(inputs) || (weights !== undefined && weights !== null)) return null;
  return inputs.every((input) => input instanceof tf.Tensor) ? inputs : null;
}

function sameTensors(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!(a instanceof tf.Tensor) || !(b instanceof tf.Tensor)) return false;
  return a.dtype === b.dtype && sameNumbers(a.shape, b.shape) && sameNumbers(a.dataSync(), b.dataSync());
}

/** Whether two devices were given the same ids. */
function sameIds(a: unknown, b: unknown): boolean {
  if (sameTensors(a, b)) return true;
  if (a instanceof tf.Tensor || b instanceof tf.Tensor) return false;
  if (isSymbolic(a) || isSymbolic(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameIds(item, b[i]));
  if (isRecord(a) && isRecord(b)) {
    return Object.keys(a).every((key) => sameIds(a[key], b[key]));
  }
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Ids by device: each has its own features, in the order of the plan, for the whole batch. */
function readByDevice(
  value: unknown,
  byDevice: readonly (readonly number[])[],
  count: number,
  argument: string,
): unknown[] {
  const expected = `a list with the features of each of ${byDevice.length} devices, because dpInput is false`;
  const isList = Array.isArray(value);
  if (!isList) throw new ArgumentTypeError(argument, expected, value);
  const lists = value as unknown[];
  if (lists.length !== byDevice.length)
    throw new ValueError(argument, expected, described(`a list of ${lists.length}`));
  const parts: unknown[] = new Array<unknown>(count);
  const holders = new Map<number, string>();
  byDevice.forEach((features, device) => {
    const path = `${argument}[${device}]`;
    const list = `a list of ${features.length}: the ids of the features ${features.join(', ')}`;
    const given = lists[device];
    if (!Array.isArray(given)) throw new ArgumentTypeError(path, list, given);
    if (given.length !== features.length) throw new ValueError(path, list, described(`a list of ${given.length}`));
    features.forEach((feature, place) => {
      const ids = (given as unknown[])[place];
      const at = `${path}[${place}]`;
      if (ids === null || ids === undefined) throw new ArgumentTypeError(at, `the ids of feature ${feature}`, ids);
      const before = holders.get(feature);
      if (before !== undefined && !sameIds(parts[feature], ids)) {
        const same = `the ids of feature ${feature} as in ${before}, because both devices hold columns of its table`;
        throw new ValueError(at, same, described('other ids'));
      }
      if (before === undefined) holders.set(feature, at);
      parts[feature] = ids;
    });
  });
  return parts;
}

const PAIRS = 'Weights go beside the ids: layer.apply(ids, {weights}), null where a feature has none.';

/** A plain list that is longer than the features most likely holds weights. */
function checkPairs(inputs: unknown, { structure, count }: InputForm): void {
  if (!isPlainList(structure) || !Array.isArray(inputs) || inputs.length === count) return;
  const expected = `a list of ${count}, one per feature`;
  throw new ValueError('inputs', expected, described(`a list of ${inputs.length}`), PAIRS);
}

/** Reads the inputs of a call, and its weights, in the structure of the features. */
export function readInputs(inputs: unknown, weights: unknown, form: InputForm): FeatureInputs {
  const { structure, count, byDevice } = form;
  const flat = weights === undefined || weights === null ? readFlat(inputs, form) : null;
  if (flat !== null) return flat;
  checkMissing(inputs, byDevice);
  if (byDevice === null) checkPairs(inputs, form);
  const ids =
    byDevice === null ? flattenAs(structure, inputs, 'inputs') : readByDevice(inputs, byDevice, count, 'inputs');
  const perFeature = flattenAs(structure, weights ?? null, 'weights', true);
  const pair = ids.findIndex(isPair);
  if (pair >= 0) {
    const path = featurePaths(structure, 'inputs')[pair]!;
    throw new ValueError(path, 'ids', described('a pair that is no [values, rowSplits]'), PAIRS);
  }
  return { ids, weights: perFeature, isFlat: false };
}

function checkMissing(inputs: unknown, byDevice: unknown): void {
  if (inputs !== undefined && inputs !== null) return;
  const expected = byDevice === null ? 'the ids of all features' : 'the ids of each device, because dpInput is false';
  throw new ArgumentTypeError('inputs', expected, inputs);
}

/** `[ids, weights]` is not taken: it cannot be told from [values, rowSplits]. */
function isPair(ids: unknown): boolean {
  if (!Array.isArray(ids) || ids.length !== 2) return false;
  const [first, second] = ids as [unknown, unknown];
  const areTensors = first instanceof tf.Tensor && second instanceof tf.Tensor;
  const isWeighted = areTensors && (first.rank > 1 || second.dtype === 'float32');
  const isSymbolicPair = isSymbolic(first) || isSymbolic(second);
  const isMixed =
    typeof first === 'object' && first !== null && !Array.isArray(first) && !ArrayBuffer.isView(first) && !areTensors;
  return isWeighted || isSymbolicPair || isMixed;
}
