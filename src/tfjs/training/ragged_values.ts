/** Ragged rows and sparse ids as inputs of `fit`, `evaluate`, `predict` and the like, and inputs by name. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { longestRow } from '../../ids/row_splits.js';
import type { RowPairInput } from '../../ids/row_pair.js';
import { isSparse, type SparseInput } from '../../ids/sparse_values.js';
import { toInt32 } from '../../ids/whole_ids.js';
import { standInFor } from '../ragged_stand_in.js';
import { watchSteps } from './model_steps.js';
import { weighBatch } from './sample_weights.js';

/** Rows of ids or of weights, of different lengths. */
export type RaggedValue = RaggedTensor | RowPairInput | SparseInput;

/** An input of a model: rows may have different lengths where the model has an input [null, null]. */
export type ModelInput = tf.Tensor | RaggedValue;

/** The inputs of a model: one, a list in the order of its inputs, or an object by their names. */
export type ModelInputs = ModelInput | readonly ModelInput[] | { readonly [name: string]: ModelInput };

type ModelTargets = tf.Tensor | tf.Tensor[] | { [name: string]: tf.Tensor };

/** Arguments of `fit` whose data to validate on may be ragged. */
export type RaggedFitArgs = Omit<tf.ModelFitArgs, 'validationData'> & {
  validationData?: [x: ModelInputs, y: ModelTargets] | undefined;
};

/** Batches of inputs and targets, such as an `emb.data.Dataset` after `batch`. */
export interface BatchedData {
  /** Number of batches; null where it is not known. */
  readonly size: number | null;
  /**
   * Starts to read.
   *
   * @returns An iterator of `{xs, ys}`.
   */
  iterator(): Promise<{ next(): Promise<{ done: boolean; value: unknown }> }>;
}

/** Arguments of `fitDataset` for such data. */
export type BatchedFitArgs = Omit<tf.ModelFitDatasetArgs<tf.TensorContainer>, 'validationData'> & {
  validationData?: BatchedData | tf.ModelFitDatasetArgs<tf.TensorContainer>['validationData'] | undefined;
};

declare module '@tensorflow/tfjs' {
  interface LayersModel {
    fitDataset(dataset: BatchedData, args: BatchedFitArgs): Promise<tf.History>;
    evaluateDataset(dataset: BatchedData, args?: { batches?: number }): Promise<tf.Scalar | tf.Scalar[]>;
    fit(x: ModelInputs, y: ModelTargets, args?: RaggedFitArgs): Promise<tf.History>;
    evaluate(x: ModelInputs, y: ModelTargets, args?: tf.ModelEvaluateArgs): tf.Scalar | tf.Scalar[];
    predict(x: ModelInputs, args?: { batchSize?: number; verbose?: boolean }): tf.Tensor | tf.Tensor[];
    predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
    trainOnBatch(x: ModelInputs, y: ModelTargets): Promise<number | number[]>;
  }
  interface Sequential {
    fitDataset(dataset: BatchedData, args: BatchedFitArgs): Promise<tf.History>;
    evaluateDataset(dataset: BatchedData, args?: { batches?: number }): Promise<tf.Scalar | tf.Scalar[]>;
    fit(x: ModelInputs, y: ModelTargets, args?: RaggedFitArgs): Promise<tf.History>;
    evaluate(x: ModelInputs, y: ModelTargets, args?: tf.ModelEvaluateArgs): tf.Scalar | tf.Scalar[];
    predict(x: ModelInputs, args?: { batchSize?: number; verbose?: boolean }): tf.Tensor | tf.Tensor[];
    predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
    trainOnBatch(x: ModelInputs, y: ModelTargets): Promise<number | number[]>;
  }
}

interface Fed {
  /** What tfjs is given: a tensor, or one for each input. */
  readonly feeds: tf.Tensor | tf.Tensor[];
  /** Tensors that are disposed of when the call ends. */
  readonly own: readonly tf.Tensor[];
}

function isPair(value: unknown): value is { values: unknown; rowSplits: unknown } {
  return isRecord(value) && !(value instanceof tf.Tensor) && 'values' in value && 'rowSplits' in value;
}

function isRagged(value: unknown): value is RaggedValue {
  return value instanceof RaggedTensor || isPair(value) || isSparse(value);
}

/** Whether an object holds inputs by name: a pair or sparse ids could be one, but for its names. */
export function isInputsByName(x: unknown, names: readonly string[]): x is Record<string, unknown> {
  if (!isRecord(x) || x instanceof tf.Tensor || x instanceof RaggedTensor) return false;
  return Object.keys(x).some((key) => names.includes(key)) || !isRagged(x);
}

function valuesOf(x: unknown, names: readonly string[]): readonly unknown[] {
  if (isInputsByName(x, names)) return Object.values(x);
  return Array.isArray(x) ? (x as unknown[]) : [x];
}

/** The values of an object in the order of these names; `aliases` are other names for the same inputs. */
export function namedValues(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  argument: string,
  aliases: readonly string[] = names,
): unknown[] {
  const known = [...new Set([...names, ...aliases])];
  const expected = `an object with the inputs ${names.join(', ')}`;
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const meant = closestName(key, known);
    const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
    throw new ValueError(`${argument}.${key}`, expected, described('an input of another name'), note);
  }
  return names.map((name, i) => {
    const key = Object.hasOwn(given, name) ? name : aliases[i];
    const value = key !== undefined && Object.hasOwn(given, key) ? given[key] : undefined;
    if (value === undefined) throw new ValueError(`${argument}.${name}`, expected, described('no such key'));
    return value;
  });
}

/** The values in the order of the inputs, with what each is called in errors. */
function inOrder(model: tf.LayersModel, x: unknown, argument: string): { values: unknown[]; paths: string[] } {
  const names = model.inputNames;
  if (!isInputsByName(x, names)) {
    const list = Array.isArray(x) ? (x as unknown[]) : [x];
    const paths = list.map((_, i) => (list.length === 1 ? argument : `${argument}[${i}]`));
    if (list.length === names.length) return { values: list, paths };
    throw new ValueError(argument, `${names.length} inputs (${names.join(', ')})`, described(`${list.length}`));
  }
  const values = namedValues(x, names, argument);
  return { values, paths: names.map((name) => `${argument}.${name}`) };
}

function asRagged(value: RaggedValue, path: string): RaggedTensor {
  if (value instanceof RaggedTensor) {
    const { nestedRowSplits, innerShape } = value;
    if (nestedRowSplits.length === 1 && innerShape.length === 0) return value;
    throw new ValueError(
      path,
      'rows of single values: one ragged axis',
      described(`shape [${value.shape.map(String).join(', ')}]`),
    );
  }
  if (isSparse(value)) {
    const ragged = RaggedTensor.fromSparse(value);
    if (ragged.nestedRowSplits.length === 1) return ragged;
    throw new ValueError(path, 'sparse ids of rank 2', described(`rank ${ragged.nestedRowSplits.length + 1}`));
  }
  const { values, rowSplits } = value as { values: never; rowSplits: never };
  return RaggedTensor.fromRowSplits(values, rowSplits);
}

/** The values in the dtype of the input. */
function typed(ragged: RaggedTensor, dtype: tf.DataType | null, path: string): tf.Tensor1D {
  if (dtype === 'float32') return tf.tensor1d(Float32Array.from(ragged.values), 'float32');
  return tf.tensor1d(toInt32(ragged.values, path), 'int32');
}

function standInOf(value: RaggedValue, input: tf.SymbolicTensor, path: string): tf.Tensor2D {
  const ragged = asRagged(value, path);
  const { rowSplits } = ragged;
  if (input.shape.length !== 2) {
    const received = described(`ragged rows for an input of shape [${input.shape.map(String).join(', ')}]`);
    throw new ValueError(path, 'a tensor: only inputs of shape [null, null] are ragged', received);
  }
  const longest = longestRow(rowSplits);
  const most = input.shape[1] ?? null;
  if (most !== null && longest > most) {
    throw new ValueError(path, `rows of at most ${most} values, as the input says`, described(`one of ${longest}`));
  }
  return tf.tidy(() => {
    const rows = { values: typed(ragged, input.dtype, path), rowSplits: tf.tensor1d(rowSplits, 'int32'), length: most };
    return standInFor(rows, { name: path, shape: [rowSplits.length - 1, most ?? longest], owns: true });
  });
}

/** The inputs as tensors, where some are ragged, or `named` ones come by name; null: tfjs takes them as they are. */
function fed(model: tf.LayersModel, x: unknown, argument: string, named = false): Fed | null {
  const names = model.inputNames;
  const all = valuesOf(x, names);
  if (!all.some(isRagged) && !(named && isInputsByName(x, names))) return null;
  const { values, paths } = inOrder(model, x, argument);
  const own: tf.Tensor[] = [];
  try {
    const feeds = values.map((value, i) => {
      if (value instanceof tf.Tensor) return value;
      if (!isRagged(value)) throw new ArgumentTypeError(paths[i]!, 'a tensor, a RaggedTensor or sparse ids', value);
      const made = standInOf(value, model.inputs[i]!, paths[i]!);
      own.push(made);
      return made;
    });
    return { feeds: feeds.length === 1 ? feeds[0]! : feeds, own };
  } catch (error) {
    tf.dispose(own);
    throw error;
  }
}

/** Runs a call with the inputs as tensors. */
function withFed<T>(model: tf.LayersModel, x: unknown, named: boolean, call: (x: unknown) => T): T {
  const found = fed(model, x, 'x', named);
  if (found === null) return call(x);
  try {
    return call(found.feeds);
  } finally {
    tf.dispose(found.own as tf.Tensor[]);
  }
}

interface FitArgs {
  validationData?: readonly unknown[] | null | undefined;
  validationSplit?: number | undefined;
}

type Targets = tf.Tensor | readonly tf.Tensor[] | Readonly<Record<string, tf.Tensor>>;

/** Rows of targets in any form. */
function rowsOfTargets(y: Targets, start: number, count: number): Targets {
  const rows = (tensor: tf.Tensor): tf.Tensor => tensor.slice(start, count);
  if (y instanceof tf.Tensor) return rows(y);
  if (Array.isArray(y)) return (y as tf.Tensor[]).map(rows);
  return Object.fromEntries(Object.entries(y as Record<string, tf.Tensor>).map(([name, each]) => [name, rows(each)]));
}

/** Rows of inputs in any form; ragged ones stay on the host. */
function rowsOfInputs(x: unknown, names: readonly string[], start: number, count: number): unknown {
  const rows = (value: unknown): unknown => {
    if (value instanceof tf.Tensor) return value.slice(start, count);
    if (!isRagged(value)) return value;
    return asRagged(value, 'x').slice(start, start + count);
  };
  if (isInputsByName(x, names))
    return Object.fromEntries(Object.entries(x).map(([name, value]) => [name, rows(value)]));
  return Array.isArray(x) ? (x as unknown[]).map(rows) : rows(x);
}

function tensorsIn(value: unknown): tf.Tensor[] {
  if (value instanceof tf.Tensor) return [value];
  if (value instanceof RaggedTensor || !(Array.isArray(value) || isRecord(value))) return [];
  return Object.values(value).filter((each): each is tf.Tensor => each instanceof tf.Tensor);
}

function sampleCount(x: unknown, names: readonly string[]): number {
  const [first] = valuesOf(x, names);
  return first instanceof tf.Tensor ? first.shape[0]! : asRagged(first as RaggedValue, 'x').rowSplits.length - 1;
}

interface Methods {
  fit(this: tf.LayersModel, x: unknown, y: unknown, args?: FitArgs): Promise<unknown>;
  evaluate(this: tf.LayersModel, x: unknown, y: unknown, args?: object): unknown;
  predict(this: tf.LayersModel, x: unknown, args?: object): unknown;
  predictOnBatch(this: tf.LayersModel, x: unknown): unknown;
  trainOnBatch(this: tf.LayersModel, x: unknown, y: unknown): Promise<unknown>;
  fitDataset(this: tf.LayersModel, dataset: unknown, args: FitArgs): Promise<unknown>;
  evaluateDataset(this: tf.LayersModel, dataset: unknown, args?: object): Promise<unknown>;
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** `fit` whose data, or data to validate on, are ragged. */
async function fitRagged(
  model: tf.LayersModel,
  fit: Methods['fit'],
  given: [unknown, unknown, FitArgs],
): Promise<unknown> {
  const [x, y, args] = given;
  const names = model.inputNames;
  const { validationSplit = 0 } = args;
  const cut: unknown[] = [];
  const own: tf.Tensor[] = [];
  const feed = (value: unknown, argument: string): unknown => {
    const found = fed(model, value, argument);
    own.push(...(found?.own ?? []));
    return found?.feeds ?? value;
  };
  try {
    let [trained, targets, options] = [x, y, args];
    // tfjs would slice them.
    if (isMissing(args.validationData) && validationSplit > 0 && validationSplit < 1) {
      const count = sampleCount(x, names);
      const kept = Math.floor(count * (1 - validationSplit));
      const parts = [
        [0, kept],
        [kept, count - kept],
      ] as const;
      const [first, rest] = parts.map(([start, rows]) => {
        return [rowsOfInputs(x, names, start, rows), rowsOfTargets(y as Targets, start, rows)];
      });
      cut.push(...first!, ...rest!);
      [trained, targets] = first!;
      const { validationSplit: _cut, ...others } = args;
      options = { ...others, validationData: rest };
    }
    if (!isMissing(options.validationData)) {
      const [inputs, ...others] = options.validationData;
      options = { ...options, validationData: [feed(inputs, 'validationData[0]'), ...others] };
    }
    return await fit.call(model, feed(trained, 'x'), targets, options);
  } finally {
    tf.dispose([...own, ...cut.flatMap(tensorsIn)]);
  }
}

interface Iterator {
  next(): Promise<{ done: boolean; value: unknown }>;
}
interface Dataset {
  readonly size: unknown;
  iterator(): Promise<Iterator>;
}

/** Data that can tell their size once they are opened. */
interface Ready {
  ready(): Promise<unknown>;
}

/** The tensor of the model's first input. */
function firstInput(model: tf.LayersModel, xs: unknown): tf.Tensor {
  if (xs instanceof tf.Tensor) return xs;
  return Array.isArray(xs) ? (xs[0] as tf.Tensor) : (xs as Record<string, tf.Tensor>)[model.inputNames[0]!]!;
}

/** A data set whose ragged elements are tensors to tfjs. */
function fedDataset(model: tf.LayersModel, dataset: unknown): unknown {
  if (!isRecord(dataset) || typeof dataset['iterator'] !== 'function') return dataset;
  const iterator = async (): Promise<Iterator> => {
    const inner = await (dataset as unknown as Dataset).iterator();
    const next = async (): ReturnType<Iterator['next']> => {
      const element = await inner.next();
      const { value } = element;
      if (element.done || !isRecord(value)) return element;
      const { xs, weight } = value;
      const found = fed(model, xs, 'xs');
      if (weight instanceof tf.Tensor) weighBatch(firstInput(model, found?.feeds ?? xs), weight);
      if (found === null) return element;
      // The loop disposes of what it is given; parts of pairs were given too.
      for (const part of valuesOf(xs, model.inputNames)) if (isRagged(part)) tf.dispose(tensorsIn(part));
      return { done: false, value: { ...value, xs: found.feeds } };
    };
    return { next };
  };
  // All that the loops of tfjs ask for.
  return { iterator, size: dataset['size'] };
}

const MARK = Symbol.for('tfjs-embeddings.raggedValues');

/** Makes all models take ragged inputs, and inputs by name in `predict` and `predictOnBatch`; may be called again. */
export function takeRaggedValues(): void {
  const methods = tf.LayersModel.prototype as unknown as Methods & Record<symbol, true>;
  if (Object.hasOwn(methods, MARK)) return;
  Object.defineProperty(methods, MARK, { value: true });
  watchSteps();
  const stock = pick(methods);
  const replace = <K extends keyof Methods>(name: K, method: Methods[K]): void => {
    Object.defineProperty(methods, name, { configurable: true, writable: true, value: method });
  };
  replace('fit', function (x, y, args = {}) {
    const isGiven = [x, args?.validationData?.[0]].some((each) => valuesOf(each, this.inputNames).some(isRagged));
    return isGiven ? fitRagged(this, stock.fit, [x, y, args]) : stock.fit.call(this, x, y, args);
  });
  replace('evaluate', function (x, y, args) {
    return withFed(this, x, false, (feeds) => stock.evaluate.call(this, feeds, y, args));
  });
  replace('predict', function (x, args) {
    return withFed(this, x, true, (feeds) => stock.predict.call(this, feeds, args));
  });
  replace('predictOnBatch', function (x) {
    return withFed(this, x, true, (feeds) => stock.predictOnBatch.call(this, feeds));
  });
  replace('trainOnBatch', async function (x, y) {
    const found = fed(this, x, 'x');
    try {
      return await stock.trainOnBatch.call(this, found?.feeds ?? x, y);
    } finally {
      tf.dispose((found?.own ?? []) as tf.Tensor[]);
    }
  });
  replace('fitDataset', async function (dataset, args) {
    // Progress shows how many batches there are.
    if (isRecord(dataset) && typeof dataset['ready'] === 'function') await (dataset as unknown as Ready).ready();
    const { validationData } = args ?? {};
    const options = isRecord(validationData) ? { ...args, validationData: fedDataset(this, validationData) } : args;
    return stock.fitDataset.call(this, fedDataset(this, dataset), options as FitArgs);
  });
  replace('evaluateDataset', function (dataset, args) {
    return stock.evaluateDataset.call(this, fedDataset(this, dataset), args);
  });
}

function pick(methods: Methods): Methods {
  const { fit, evaluate, predict, predictOnBatch, trainOnBatch, fitDataset, evaluateDataset } = methods;
  return { fit, evaluate, predict, predictOnBatch, trainOnBatch, fitDataset, evaluateDataset };
}
