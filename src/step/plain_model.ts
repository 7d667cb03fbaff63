/**
 * Whether a model consists of exact classes and functions of tfjs and of this package. Those are known to do the same
 * in every step; what anybody else wrote may depend on anything, which no recording of two steps would show.
 */
import * as tf from '@tensorflow/tfjs';
import { ConcatOneHotEmbedding } from '../layers/embedding/concat_one_hot_embedding.js';
import { Embedding } from '../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../layers/embedding/ragged_embedding.js';
import { IntegerLookupLayer } from '../layers/integer_lookup_layer.js';
import { CategoryEncoding } from '../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../layers/preprocessing/hashing_layer.js';
import { Normalization } from '../layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../layers/preprocessing/vocabulary_layer.js';
import { DistributedEmbedding } from '../layers/distributed_embedding/layer.js';
import { DotInteraction } from '../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../layers/feature_interaction/feature_cross.js';
import { KerasHardSigmoid } from '../layers/keras_hard_sigmoid.js';
import { GRU, GRUCell } from '../layers/recurrent/gru.js';
import {
  SparseAdagrad,
  SparseAdagradMomentum,
  SparseAdam,
  SparseFtrl,
  SparseRowWiseAdagrad,
  SparseSgd,
} from '../optimizers/train.js';
import { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { tableSettings } from '../ops/training/table_settings.js';
import { isStock, isStockFunction, isStockMethod, replacedMethod, takeStock } from './stock.js';

const OURS: ReadonlySet<unknown> = new Set([
  Embedding,
  RaggedEmbedding,
  DistributedEmbedding,
  ConcatOneHotEmbedding,
  DotInteraction,
  FeatureCross,
  Normalization,
  GRU,
  GRUCell,
]);
/** Ours that no graph repeats: what they give is computed in JavaScript. */
const READING: ReadonlySet<unknown> = new Set([
  IntegerLookupLayer,
  CategoryEncoding,
  DiscretizationLayer,
  HashingLayer,
  VocabularyLayer,
]);
/** By its name: it comes with an entry of its own. */
const OF_TPU = 'TfjsEmbeddings>TPUEmbedding';
const OPTIMIZERS: ReadonlySet<unknown> = new Set([
  SparseSgd,
  SparseAdagrad,
  SparseRowWiseAdagrad,
  SparseAdagradMomentum,
  SparseAdam,
  SparseFtrl,
]);

/** Takes down the methods of all these classes; to be called before anybody can replace them. */
export function takeMethods(): void {
  takeStock([tf.LayersModel, tf.Sequential, ...OURS, ...OPTIMIZERS] as { prototype: object }[]);
}

/** What `compile` left in a model. */
export interface Compiled {
  readonly loss: unknown;
  readonly metrics?: unknown;
  readonly optimizer_?: tf.Optimizer;
  readonly lossFunctions: readonly unknown[];
  readonly metricsTensors: readonly unknown[];
  readonly collectedTrainableWeights: readonly tf.LayerVariable[];
}

export function compiledOf(model: tf.LayersModel): Compiled {
  return model as unknown as Compiled;
}

/** All layers of a model, those of nested models and of wrappers included, each once. */
export function allLayers(model: tf.LayersModel): tf.layers.Layer[] {
  const found = new Set<tf.layers.Layer>();
  const visit = (layer: tf.layers.Layer | undefined): void => {
    if (layer === undefined || found.has(layer)) return;
    found.add(layer);
    const {
      layers,
      model: inner,
      layer: wrapped,
      forwardLayer,
      backwardLayer,
      cell,
      cells,
    } = layer as unknown as {
      layers?: tf.layers.Layer[];
      model?: tf.LayersModel;
      layer?: tf.layers.Layer;
      forwardLayer?: tf.layers.Layer;
      backwardLayer?: tf.layers.Layer;
      cell?: tf.layers.Layer;
      cells?: tf.layers.Layer[];
    };
    [...(layers ?? []), inner, wrapped, forwardLayer, backwardLayer, cell, ...(cells ?? [])].forEach(visit);
  };
  model.layers.forEach(visit);
  return [...found];
}

/** Objects that layers hold and that compute: activations, regularizers, constraints, initializers. */
export function isPart(value: object): boolean {
  return value instanceof tf.serialization.Serializable && !(value instanceof tf.layers.Layer);
}

/** Functions that tfjs itself puts on models; `compile` leaves the loss there as it was given. */
const OF_MODELS = new Set(['trainFunction', 'testFunction', 'predictFunction', 'loss', 'metrics']);

function ownFunction(holder: object, allowed: ReadonlySet<string> = new Set()): string | null {
  const found = Object.entries(holder).find(([name, value]) => {
    // A method of its own, even a stock one, stands before that of the class.
    const isOwn = typeof value === 'function' && !allowed.has(name);
    return isOwn && (name in (Object.getPrototypeOf(holder) as object) || !isStockMethod(value));
  });
  return found === undefined ? null : found[0];
}

/** Models within models: of these classes, or as files of Keras name them. */
function isStockModel(layer: tf.layers.Layer): boolean {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  return [tf.LayersModel, tf.Sequential, classNameMap['Functional']?.[0]].includes(layer.constructor as never);
}

/** Why a part of a layer may do something else in another step; null: it may not. */
function whyNotPart(part: object): string | null {
  if (!isStock(part) && part.constructor !== KerasHardSigmoid) return 'is not one of tfjs';
  const own = ownFunction(part) ?? replacedMethod(part);
  return own === null ? null : `has a function ${own} of its own`;
}

/** Why layers of a class that is neither of tfjs nor among those that are captured are not. */
function whyNotClass({ constructor }: tf.layers.Layer): string {
  if (READING.has(constructor)) return 'reads its input in JavaScript';
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  if (classNameMap[OF_TPU]?.[0] === (constructor as unknown))
    return 'looks up and steps tables of its own, which are no variables of the step';
  return `is of the class ${constructor.name}, which is not one of tfjs or of this package`;
}

function whyNotLayer(layer: tf.layers.Layer): string | null {
  const isModel = isStockModel(layer);
  if (!isModel && !OURS.has(layer.constructor) && !isStock(layer)) {
    return `layer ${layer.name} ${whyNotClass(layer)}`;
  }
  const own = ownFunction(layer, isModel ? OF_MODELS : undefined) ?? replacedMethod(layer);
  if (own !== null) return `layer ${layer.name} has a function ${own} of its own`;
  const { stateful, _losses: losses = [] } = layer as unknown as { stateful?: boolean; _losses?: unknown[] };
  if (stateful === true && !isModel) return `layer ${layer.name} keeps a state from batch to batch`;
  const fields = Object.entries(layer) as [string, unknown][];
  for (const [name, value] of fields) {
    // A model within a model may be compiled and trained by itself: its own optimizer takes no part.
    if (value === null || typeof value !== 'object' || !isPart(value) || (isModel && name === 'optimizer_')) continue;
    const reason = whyNotPart(value);
    if (reason !== null) return `the ${name} of layer ${layer.name} ${reason}`;
  }
  const penalties = fields.filter(
    ([name, value]) => /Regularizer$/.test(name) && name !== 'activityRegularizer' && value,
  );
  if (!isModel && !OURS.has(layer.constructor) && losses.length !== penalties.length) {
    return `layer ${layer.name} adds a loss of somebody's own`;
  }
  return null;
}

/** The losses or metrics that `compile` was given, in whatever structure. */
function leaves(given: unknown): unknown[] {
  if (Array.isArray(given)) return (given as unknown[]).flatMap(leaves);
  if (given !== null && typeof given === 'object') return Object.values(given).flatMap(leaves);
  return given === undefined || given === null ? [] : [given];
}

function whyNotOptimizer(optimizer: unknown): string | null {
  if (!(optimizer instanceof SparseOptimizer)) return 'its optimizer is not one of emb.train';
  if (!OPTIMIZERS.has(optimizer.constructor)) return 'its optimizer is of a class derived from those of emb.train';
  const own = ownFunction(optimizer) ?? replacedMethod(optimizer);
  if (own !== null) return `its optimizer has a function ${own} of its own`;
  return optimizer.hasGivenDense ? 'its dense variables are stepped by an optimizer that was given as `dense`' : null;
}

/** What a step does: it trains on a batch, takes the losses of one, or predicts one. */
export type Purpose = 'train' | 'evaluate' | 'predict';

function whyNotCompiled(model: tf.LayersModel): string | null {
  const { loss, metrics } = compiledOf(model);
  for (const [what, given] of [
    ['loss', loss],
    ['metric', metrics],
  ] as const) {
    const stranger = leaves(given).find((each) => typeof each !== 'string' && !isStockFunction(each));
    if (stranger !== undefined) return `a ${what} is a function that is not one of tfjs`;
  }
  return null;
}

function whyNotTrained(model: tf.LayersModel): string | null {
  const ofOptimizer = whyNotOptimizer(compiledOf(model).optimizer_);
  if (ofOptimizer !== null) return ofOptimizer;
  for (const weight of model.weights) {
    const ofTable = tableSettings(weight.read() as tf.Variable)?.optimizer ?? null;
    if (ofTable !== null && whyNotOptimizer(ofTable) !== null) return `a table's own optimizer is not one of emb.train`;
  }
  return null;
}

/** Why such steps of this model run op by op, in words that follow "because"; null: they may be captured. */
export function whyNotPlain(model: tf.LayersModel, purpose: Purpose): string | null {
  const { optimizer_ } = compiledOf(model);
  if (purpose !== 'predict' && (optimizer_ === undefined || optimizer_ === null)) return 'it was not compiled';
  if (model.constructor !== tf.LayersModel) return `it is of the class ${model.constructor.name}`;
  const own = ownFunction(model, OF_MODELS);
  if (own !== null) return `it has a function ${own} of its own`;
  const gone = model.weights.find((weight) => (weight as unknown as { val: tf.Variable }).val.isDisposed);
  if (gone !== undefined) return `its weight ${gone.name} was disposed`;
  return (
    (purpose === 'train' ? whyNotTrained(model) : null) ??
    (purpose === 'predict' ? null : whyNotCompiled(model)) ??
    allLayers(model)
      .map(whyNotLayer)
      .find((reason) => reason !== null) ??
    null
  );
}
