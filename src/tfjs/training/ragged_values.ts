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
import { keyReaderOf, type KeysInput } from '../models/key_inputs.js';
import { isStandIn, standInFor, takeRows } from '../stand_ins.js';
import { MODELS, override } from '../models/own_models.js';
import { BATCHES } from './dataset_batches.js';
import { datasetLoop } from './fit_loop.js';
import { rowsFrom, watchSteps } from './model_steps.js';
import { goingOn, positionOf, type Dataset, type Iterator, type ResumedArgs } from './resumed_fits.js';
import { weighBatch } from './sample_weights.js';

/** Rows of ids or of weights, of different lengths. */
export type RaggedValue = RaggedTensor | RowPairInput | SparseInput;

/** An input of a model: rows may have different lengths where the model has an input [null, null]; keys, where it takes those. */
export type ModelInput = tf.Tensor | RaggedValue | KeysInput;

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
  aliases: readonly string[] = [],
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
    const isFloat = input.dtype === 'float32';
    const values = isFloat ? Float32Array.from(ragged.values) : toInt32(ragged.values, path);
    const flat = tf.tensor1d(values, isFloat ? 'float32' : 'int32');
    const rows = { values: flat, rowSplits: tf.tensor1d(rowSplits, 'int32'), length: most };
    return standInFor(rows, { name: path, shape: [rowSplits.length - 1, most ?? longest], owns: true });
  });
}

/** The inputs as tensors, where some are ragged, or `named` ones come by name; null: tfjs takes them as they are. */
function fed(model: tf.LayersModel, x: unknown, argument: string, named = false): Fed | null {
  if (x instanceof tf.Tensor) return null;
  const names = model.inputNames;
  const readers = model.inputs.map(keyReaderOf);
  const takesKeys = readers.some((read) => read !== null);
  const given = takesKeys && names.length === 1 && !isOneOf(x, names) ? [x] : x;
  const all = valuesOf(given, names);
  if (!takesKeys && !all.some(isRagged) && !(named && isInputsByName(given, names))) return null;
  const { values, paths } = inOrder(model, given, argument);
  const own: tf.Tensor[] = [];
  try {
    const feeds = values.map((value, i) => {
      const read = readers[i]!;
      if (read !== null) {
        if (isStandIn(value)) return value;
        const keys = read(value, model.inputs[i]!.shape.slice(1), paths[i]!);
        own.push(keys);
        return keys;
      }
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

/** Whether what a model of one input is given is a list of one, or an object of names, and not the input itself. */
function isOneOf(x: unknown, names: readonly string[]): boolean {
  if (!Array.isArray(x)) return isRecord(x) && Object.keys(x).some((key) => names.includes(key));
  const [only] = x as [unknown];
  return x.length === 1 && typeof only === 'object' && only !== null && !Array.isArray(only);
}

/** Runs a call with the inputs as tensors. */
function withFed<T>(model: tf.LayersModel, x: unknown, named: boolean, call: (x: unknown) => T): T {
  const found = fed(model, x, 'x', named);
  if (found === null) return call(x);
  let result: T | undefined;
  try {
    return (result = call(found.feeds));
  } finally {
    const free = (): void => tf.dispose(found.own as tf.Tensor[]);
    if (result instanceof Promise) void result.then(free, free);
    else free();
  }
}

interface FitArgs extends ResumedArgs {
  readonly validationData?: unknown;
  readonly validationSplit?: number | undefined;
}

type Fit = (this: tf.LayersModel, x: unknown, y: unknown, args?: FitArgs) => Promise<unknown>;
type FitDataset = (this: tf.LayersModel, dataset: unknown, args: FitArgs) => Promise<unknown>;
type Targets = Fed['feeds'] | Readonly<Record<string, tf.Tensor>>;

/** Rows of inputs or of targets in any form. */
function rowsOf(given: Targets, rows: tf.Tensor1D): Targets {
  if (given instanceof tf.Tensor) return takeRows([given], rows)[0]!;
  if (Array.isArray(given)) return takeRows(given as tf.Tensor[], rows);
  const named = given as Readonly<Record<string, tf.Tensor>>;
  const taken = takeRows(Object.values(named), rows);
  return Object.fromEntries(Object.keys(named).map((name, i) => [name, taken[i]!]));
}

/** Data whose last part is to be validated on, cut in two. */
function cut(x: Targets, y: Targets, validationSplit: number): [x: Targets, y: Targets][] {
  const count = ([x].flat()[0] as tf.Tensor).shape[0]!;
  const kept = Math.floor(count * (1 - validationSplit));
  return tf.tidy(() =>
    [rowsFrom(0, kept), rowsFrom(kept, count - kept)].map((rows) => [rowsOf(x, rows), rowsOf(y, rows)]),
  ) as [Targets, Targets][];
}

/** `fit` of tfjs, fed with tensors. */
async function fitFed(fit: Fit, model: tf.LayersModel, x: unknown, y: unknown, args: FitArgs = {}): Promise<unknown> {
  const own: tf.TensorContainer[] = [];
  const feed = (value: unknown, argument: string): unknown => {
    const found = fed(model, value, argument);
    own.push(...(found?.own ?? []));
    return found?.feeds ?? value;
  };
  try {
    let [inputs, targets, options] = [feed(x, 'x'), y, args];
    const { validationSplit = 0, validationData = null } = args ?? {};
    if (Array.isArray(validationData)) {
      const [first, ...others] = validationData as unknown[];
      options = { ...args, validationData: [feed(first, 'validationData[0]'), ...others] };
    } else if (validationSplit > 0 && validationSplit < 1 && [inputs].flat().some(isStandIn)) {
      // tfjs would slice them.
      const [kept, rest] = cut(inputs as Targets, y as Targets, validationSplit);
      own.push(kept as never, rest as never);
      [inputs, targets] = kept!;
      options = { ...args, validationSplit: undefined, validationData: rest };
    }
    return await fit.call(model, inputs, targets, options);
  } finally {
    tf.dispose(own);
  }
}

/** The tensor of the model's first input. */
function firstInput(model: tf.LayersModel, xs: unknown): tf.Tensor {
  if (xs instanceof tf.Tensor) return xs;
  return Array.isArray(xs) ? (xs[0] as tf.Tensor) : (xs as Record<string, tf.Tensor>)[model.inputNames[0]!]!;
}

function tensorsIn(value: unknown): tf.Tensor[] {
  if (value instanceof tf.Tensor) return [value];
  if (value instanceof RaggedTensor || !(Array.isArray(value) || isRecord(value))) return [];
  return Object.values(value).flatMap(tensorsIn);
}

/** What data sets can do beside what tfjs asks of them. */
interface OwnDataset extends Dataset {
  [BATCHES]?(): Promise<Iterator>;
}

function isDataset(value: unknown): value is OwnDataset {
  return isRecord(value) && typeof value['iterator'] === 'function';
}

/** A data set whose ragged elements are tensors to tfjs. */
class FedDataset implements Dataset {
  #last: unknown = null;

  constructor(
    private readonly model: tf.LayersModel,
    private readonly dataset: OwnDataset,
  ) {}

  get size(): unknown {
    return this.dataset.size;
  }

  async iterator(): Promise<Iterator> {
    const { model, dataset } = this;
    const inner = await (dataset[BATCHES]?.() ?? dataset.iterator());
    const next = async (): ReturnType<Iterator['next']> => {
      const element = await inner.next();
      const { value } = element;
      this.#last = value;
      if (element.done || !isRecord(value)) return element;
      const { xs, weight } = value;
      const found = fed(model, xs, 'xs');
      if (weight instanceof tf.Tensor) weighBatch(firstInput(model, found?.feeds ?? xs), weight);
      if (found === null) return element;
      // The loop disposes of what it is given; parts of pairs were given too.
      const fedTensors = new Set([found.feeds].flat());
      for (const part of tensorsIn(xs)) if (!fedTensors.has(part)) part.dispose();
      this.#last = { ...value, xs: found.feeds };
      return { done: false, value: this.#last };
    };
    return { next };
  }

  /** Frees what it has given last. */
  freeLast(): void {
    for (const tensor of tensorsIn(this.#last)) if (!tensor.isDisposed) tensor.dispose();
  }
}

function fedDataset<T>(model: tf.LayersModel, dataset: T): T | FedDataset {
  return isDataset(dataset) ? new FedDataset(model, dataset) : dataset;
}

const fits = (stock: Fit): Fit =>
  async function (x, y, args) {
    const position = await positionOf(this, args, false);
    return fitFed(stock, this, x, y, position === null ? args : { ...args, initialEpoch: position.epoch });
  };

const fitsDataset = (stock: FitDataset): FitDataset =>
  async function (given, args) {
    // Progress shows how many batches there are.
    if (isDataset(given)) await given.ready?.();
    const position = await positionOf(this, args, true);
    const both = [given, args?.validationData].map((each) => fedDataset(this, each));
    let [dataset, options] = [both[0], args];
    if (isDataset(both[1])) options = { ...options, validationData: both[1] };
    if (position !== null && isDataset(dataset)) {
      dataset = goingOn(dataset, position, args.batchesPerEpoch ?? null);
      options = { ...options, initialEpoch: position.epoch };
    }
    const free = (): void => both.forEach((each) => each instanceof FedDataset && each.freeLast());
    return datasetLoop(this, () => stock.call(this, dataset, options), free);
  };

type Call = (this: tf.LayersModel, x: unknown, ...rest: unknown[]) => unknown;

/** A call whose inputs may be ragged; `named`: it takes them by name too. */
const feeds =
  (named: boolean) =>
  (stock: Call): Call =>
    function (x, ...rest) {
      return withFed(this, x, named, (given) => stock.call(this, given, ...rest));
    };

/** Makes models of ours take ragged inputs, and inputs by name in `predict` and `predictOnBatch`. */
export function takeRaggedValues(): void {
  watchSteps();
  const { graphs } = MODELS;
  override(graphs, 'fit', fits);
  override(graphs, 'fitDataset', fitsDataset);
  for (const name of ['evaluate', 'trainOnBatch']) override(graphs, name, feeds(false));
  for (const name of ['predict', 'predictOnBatch']) override(graphs, name, feeds(true));
  override(graphs, 'evaluateDataset', (stock: Call): Call => {
    return function (dataset, ...rest) {
      return stock.call(this, fedDataset(this, dataset), ...rest);
    };
  });
}
