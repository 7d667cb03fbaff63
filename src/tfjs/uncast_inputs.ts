/**
 * Ids that a model is fed reach the layer as they are, so that it can refuse what is no id.
 *
 * tfjs casts what it feeds to the dtype of the input, and a cast to int32 cuts fractions off without a word. It casts
 * nothing where an input has no dtype. So an int32 input that an embedding layer reads has none while a model feeds
 * it, and int32 at any other time.
 */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from './engine/own_functions.js';
import { asOwnRun } from './engine/own_runs.js';
import { isStandIn } from './stand_ins.js';
import { MODELS, override } from './models/own_models.js';
import { isModelInput } from './symbolic_ids.js';
import { checkWhole, isWhole } from '../base/live_tensor.js';
import { addIdDetails, withIdDetails, type BatchRow, type OutOfRangeId } from '../ids/id_out_of_range.js';
import { densePlace } from '../ids/id_place.js';
import { perProcess } from '../base/per_process.js';

type Shape = readonly (number | null)[];
type Fed = tf.Tensor | readonly tf.Tensor[] | Readonly<Record<string, tf.Tensor>>;

/** A model as its own methods see it. */
interface FedModel {
  readonly inputNames: readonly string[];
  readonly feedInputShapes: readonly Shape[];
  predictLoop(inputs: tf.Tensor[], batchSize: number): unknown;
}

type Predict = (this: FedModel, x: Fed, args?: object) => unknown;
type Standardize = (this: FedModel, x: Fed, ...rest: unknown[]) => [tf.Tensor[], tf.Tensor[]];

/** By input, the vector that it is given as it is; null where tfjs needs no help, or refuses the form. */
function vectorsFor({ inputNames, feedInputShapes }: FedModel, x: Fed | null): (tf.Tensor | null)[] | null {
  if (x === null || typeof x !== 'object' || !feedInputShapes.some(({ length }) => length === 1)) return null;
  const byName = x as Readonly<Record<string, tf.Tensor>>;
  const given =
    x instanceof tf.Tensor ? [x] : Array.isArray(x) ? (x as tf.Tensor[]) : inputNames.map((name) => byName[name]);
  const vectors = feedInputShapes.map(({ length }, i) => {
    return length === 1 && given[i] instanceof tf.Tensor ? given[i] : null;
  });
  // Of columns and the like tfjs says itself that they do not fit.
  if (vectors.some((vector) => vector !== null && vector.rank !== 1)) return null;
  return vectors;
}

/** The model with inputs that are columns, as tfjs makes them; `own`: what else differs from the model. */
function withColumns(model: FedModel, own: Partial<FedModel> = {}): FedModel {
  const feedInputShapes = model.feedInputShapes.map((shape) => (shape.length === 1 ? [shape[0]!, 1] : shape));
  return Object.assign(Object.create(model) as object, { feedInputShapes, ...own }) as FedModel;
}

function predictsVectors(predict: Predict): Predict {
  return function (x, args) {
    const vectors = vectorsFor(this, x);
    if (vectors === null) return predict.call(this, x, args);
    const predictLoop: FedModel['predictLoop'] = (inputs, batchSize) => {
      const fed = inputs.map((input, i) => vectors[i] ?? input);
      return this.predictLoop(fed, batchSize);
    };
    return predict.call(withColumns(this, { predictLoop }), x, args);
  };
}

function standardizesVectors(standardize: Standardize): Standardize {
  return function (x, ...rest) {
    checkFed(this as never, x);
    const vectors = vectorsFor(this, x);
    if (vectors === null) return standardize.call(this, x, ...rest);
    const [inputs, targets] = standardize.call(withColumns(this), x, ...rest);
    const fed = inputs.map((input, i) => {
      const vector = vectors[i] ?? null;
      if (vector === null) return input;
      input.dispose();
      return vector;
    });
    return [fed, targets];
  };
}

/** The row of a batch that holds the id, where a model was fed the batch. */
export function fedPlace(
  layer: tf.layers.Layer,
  input: number,
  ids: unknown,
  known: OutOfRangeId,
): Partial<OutOfRangeId> {
  if (!isFeeding() || !(ids instanceof tf.Tensor) || ids.rank < 1) return {};
  if (isStandIn(ids)) return { place: `${known.place} of the batch` };
  const shape = ids.shape.slice(1);
  const width = tf.util.sizeFromShape(shape);
  const position = known.position % width;
  const first = known.position - position;
  const row = Array.from(ids.dataSync().subarray(first, first + width));
  return { place: `${known.place} of the batch`, batchRow: { layer, input, shape, ids: row, position } };
}

/** Runs the lookup of a layer with one table; an id outside the table is told with the layer. */
export function addLayerDetails<T>(layer: tf.layers.Layer, owner: string, ids: unknown, run: () => T): T {
  return addIdDetails(run, (known) => ({ owner, ...fedPlace(layer, 0, ids, known) }));
}

/** Which input of a model this tensor of its graph is; -1: none, something lies between. */
function inputNumber(model: tf.LayersModel, tensor: tf.SymbolicTensor): number {
  const direct = model.inputs.indexOf(tensor);
  if (direct >= 0) return direct;
  for (const nested of model.layers) {
    if (!(nested instanceof tf.LayersModel)) continue;
    const place = inputNumber(nested, tensor);
    const numbers = nested.inboundNodes.map(({ inputTensors }) => model.inputs.indexOf(inputTensors[place]!));
    const outer = place < 0 ? undefined : numbers.find((number) => number >= 0);
    if (outer !== undefined) return outer;
  }
  return -1;
}

/** The first row of an input that holds the same ids; -1: none. */
function rowOf(input: tf.Tensor, { ids }: BatchRow): number {
  if (isStandIn(input)) return -1;
  const values = input.dataSync();
  return Array.from({ length: input.shape[0]! }, (_, row) => row).findIndex((row) => {
    return ids.every((id, i) => values[row * ids.length + i] === id);
  });
}

/** Where the inputs of a model hold the row; null: nowhere. */
function placeIn(model: tf.LayersModel, inputs: readonly tf.Tensor[], row: BatchRow): string | null {
  for (const { inputTensors } of (row.layer as tf.layers.Layer).inboundNodes) {
    const input = inputs[inputNumber(model, inputTensors[row.input]!)];
    const found = input === undefined ? -1 : rowOf(input, row);
    if (found >= 0) return densePlace([found + 1, ...row.shape], found * row.ids.length + row.position);
  }
  return null;
}

/** A loop of a model over batches; `argument`: which of its arguments holds the inputs. */
export function addFedRows<Args extends unknown[], T>(
  loop: (this: tf.LayersModel, ...args: Args) => T,
  argument: number,
): (this: tf.LayersModel, ...args: Args) => T {
  return function (...args) {
    const inputs = [args[argument]].flat() as tf.Tensor[];
    const tell = (error: unknown): unknown =>
      withIdDetails(error, ({ place, batchRow }) => {
        return { place: (batchRow && placeIn(this, inputs, batchRow)) ?? place, batchRow: null };
      });
    try {
      const result = loop.apply(this, args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw tell(error);
      }) as T;
    } catch (error) {
      throw tell(error);
    }
  };
}

interface Feeding {
  /** How many models are being fed right now, one within the other. */
  depth: number;
  /** Number of the feeding in progress, or of the last one. */
  number: number;
}

const state = (): Feeding => perProcess('feeding of models', () => ({ depth: 0, number: 0 }));

function isFeeding(): boolean {
  return state().depth > 0;
}

/** The number of the feeding in progress; null outside of one. */
export function feedingNumber(): number | null {
  const { depth, number } = state();
  return depth > 0 ? number : null;
}

/** Runs what feeds a model. */
export function whileFeeding<T>(run: () => T): T {
  const shared = state();
  if (shared.depth === 0) shared.number++;
  shared.depth++;
  try {
    return asOwnRun(run);
  } finally {
    shared.depth--;
  }
}

/** Checks that inputs of a model hold as many values as their shapes say; targets may come behind them. */
export function checkFed(model: tf.LayersModel, given: Fed | readonly (tf.Tensor | null | undefined)[]): void {
  const all = given instanceof tf.Tensor ? [given] : Object.values(given ?? {});
  const inputs = all.slice(0, model.inputs.length);
  const odd = inputs.findIndex((input) => input instanceof tf.Tensor && !isWhole(input));
  if (odd >= 0) checkWhole(inputs[odd] as tf.Tensor, inputs.length === 1 ? 'x' : `x[${odd}]`);
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Has models of ours feed their inputs as they are, and take vectors for inputs of one axis. */
export function feedUncast(): void {
  const feeding = (method: Method): Method => {
    return function (...args) {
      return whileFeeding(() => method.apply(this, args));
    };
  };
  override(MODELS.containers, 'call', feeding);
  override(MODELS.graphs, 'execute', feeding);
  override(MODELS.graphs, 'predict', predictsVectors);
  override(MODELS.graphs, 'standardizeUserDataXY', standardizesVectors);
}

/** Turns off the cast of what an int32 input of a model is fed. */
export function disableInputCast(input: tf.SymbolicTensor): void {
  if (input.dtype !== 'int32' || !isModelInput(input)) return;
  Object.defineProperty(input, 'dtype', {
    configurable: true,
    enumerable: true,
    get: asOwn(() => (isFeeding() ? null : 'int32')),
  });
}
