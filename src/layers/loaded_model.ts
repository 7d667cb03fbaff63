/**
 * Layers models whose weights are read from where they are stored, a few rows at a time, into the tables that the model
 * has: no table lies in memory twice.
 */
import * as tf from '@tensorflow/tfjs';
import type { WriteRows } from '../backends/contract.js';
import { storeInUse } from '../backends/registry.js';
import { numbersShape, tableOf } from '../backends/table.js';
import type { Words } from '../codecs/codec.js';
import { perProcess } from '../base/per_process.js';
import type { NamedTensor } from '../base/types.js';
import { readRows, readTensor, type StoredArray, type StoredModel } from '../io/models/stored_model.js';
import { checkPackable } from '../tables/storage.js';
import { mendModel } from './mended/mend_model.js';
import { MODELS, addOnce, ofOurs, override, whenAsked } from '../tfjs/models/own_models.js';

interface Loadable {
  loadWeights(weights: tf.NamedTensorMap, strict?: boolean): void;
}

/** Whether tfjs is putting no weights into a model, which get them afterwards one by one. */
const waiting = (): { isWaiting: boolean } => perProcess('weights that come later', () => ({ isWaiting: false }));

/** tfjs makes a model with zeros, which cost no memory, only where it is given weights; it is given none. */
function waitForWeights(): void {
  addOnce('weights that come later', () => {
    override(MODELS.containers, 'loadWeights', (loadWeights: Loadable['loadWeights']) => {
      return function (this: Loadable, weights, strict): void {
        if (waiting().isWaiting) waiting().isWaiting = false;
        else loadWeights.call(this, weights, strict);
      };
    });
  });
}

function buildLayers({ artifacts }: StoredModel): Promise<tf.LayersModel> {
  waitForWeights();
  const given: tf.io.ModelArtifacts = { ...artifacts, weightData: new ArrayBuffer(0), weightSpecs: [] };
  const load = (): tf.io.ModelArtifacts =>
    whenAsked(ofOurs(given), 'weightSpecs', (isAsked) => (waiting().isWaiting = isAsked));
  return tf.loadLayersModel({ load: async () => load() });
}

/** State of this size and more belongs to tables; what is smaller may belong to dense layers. */
const TABLE_BYTES = 2 ** 20;

/** State of an optimizer: what is as large as a table comes to lie where tables do, and is then stepped there. */
async function readState(stored: StoredArray): Promise<tf.Tensor> {
  const { dtype, shape, pieces } = stored;
  const size = shape.reduce((product, each) => product * each, 4);
  if (pieces === null || dtype !== 'float32' || size < TABLE_BYTES) return readTensor(stored);
  const writer = storeInUse().begin(shape);
  try {
    await readRows(stored, writer.write as WriteRows<Words>);
    return writer.finish();
  } catch (error) {
    writer.cancel();
    throw error;
  }
}

/** What takes the rows of a weight as they are stored; null: it takes all its values at once. */
function rowsWriter(weight: tf.LayerVariable, { dtype, pieces }: StoredArray): WriteRows<Words> | null {
  const { codec, dim, variable, name } = tableOf(weight.read());
  if (pieces === null || variable.rank !== 2 || (dtype !== 'float32' && dtype !== 'int32')) return null;
  const write = storeInUse().rewrite(variable);
  if (write === null || dtype === variable.dtype) return write;
  return (firstRow, values) => {
    const words = new Int32Array((values.length / dim) * codec.words(dim));
    checkPackable(values as Float32Array, firstRow, { codec, dim }, name);
    codec.pack(values as Float32Array, dim, words);
    write(firstRow, words);
  };
}

async function writeWeight(weight: tf.LayerVariable, stored: StoredArray): Promise<void> {
  const write = rowsWriter(weight, stored);
  if (write !== null) return readRows(stored, write);
  const value = await readTensor(stored);
  try {
    weight.write(value);
  } finally {
    value.dispose();
  }
}

const textOf = (dtype: string, shape: readonly number[]): string => `${dtype} of shape [${shape.join(', ')}]`;

/** Whether an array is what a weight holds: as it is kept, or as the float32 numbers that packed rows stand for. */
function isFit(weight: tf.LayerVariable, { dtype, shape }: StoredArray): boolean {
  const table = tableOf(weight.read());
  const isSame = dtype === weight.dtype && tf.util.arraysEqual([...shape], weight.shape as number[]);
  return isSame || (!table.isPlain && dtype === 'float32' && tf.util.arraysEqual([...shape], table.shape));
}

async function fillWeights(model: tf.LayersModel, { weights: stored, refuse }: StoredModel): Promise<void> {
  // Layers of one name in several models have weights of one name: those come in the order of the model.
  const byName = new Map<string, StoredArray[]>();
  for (const each of stored) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const weights = [...new Map(model.weights.map((weight) => [weight.id, weight])).values()];
  const plan = weights.map((weight) => {
    const array = byName.get(weight.originalName)?.shift();
    if (array === undefined) throw refuse(`which has no ${weight.originalName}`);
    if (isFit(weight, array)) return { weight, array };
    const variable = weight.read();
    const own = textOf(tableOf(variable).isPlain ? weight.dtype : 'float32', numbersShape(variable));
    throw refuse(`whose ${array.name} is ${textOf(array.dtype, array.shape)}, where the layer has ${own}`);
  });
  const left = [...byName.values()].flat();
  if (left.length > 0) throw refuse(`whose ${left[0]!.name} no layer of the model has`);
  const trained = new Set(model.trainableWeights.map(({ id }) => id));
  for (const { weight, array } of plan) {
    // Models and layers in both directions that were frozen train when tfjs has made them again.
    if (array.isFrozen === true && trained.has(weight.id)) weight.trainable = false;
    await writeWeight(weight, array);
  }
}

async function fillOptimizer(model: tf.LayersModel, { state }: StoredModel): Promise<void> {
  const { optimizer } = model as { optimizer?: tf.Optimizer | null };
  if (optimizer === undefined || optimizer === null || state.length === 0) return;
  const read: NamedTensor[] = [];
  try {
    for (const each of state) read.push({ name: each.name, tensor: await readState(each) });
    await optimizer.setWeights(read as never);
  } finally {
    tf.dispose(read.map(({ tensor }) => tensor));
  }
}

/**
 * The layers of a stored model, with its weights and the state of its optimizer. Nothing of it is left where that fails.
 */
export async function loadStoredModel(stored: StoredModel): Promise<tf.LayersModel> {
  let model: tf.LayersModel;
  try {
    model = await buildLayers(stored);
    if (stored.kerasRules !== null) mendModel(model, stored.kerasRules);
  } catch (error) {
    throw stored.refuse('where layers cannot be made', (error as Error).message);
  }
  try {
    await fillWeights(model, stored);
    await fillOptimizer(model, stored);
    return model;
  } catch (error) {
    (model as { optimizer?: tf.Optimizer | null }).optimizer?.dispose();
    model.dispose();
    throw error;
  }
}
