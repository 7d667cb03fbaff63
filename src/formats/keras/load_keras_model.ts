/** Models of Keras as layers models. */
import * as tf from '@tensorflow/tfjs';
import { checkBoolean } from '../../base/layer_arguments.js';
import { readOptions } from '../../base/options.js';
import { buildModel, type Building } from './import/build_model.js';
import { loadWeights } from './import/load_weights.js';
import { openModel, type KerasSource } from './import/model_source.js';
import { readCustomObjects, type CustomObject, type CustomObjects } from './import/names/user_classes.js';
import { keepKerasNames } from '../../tfjs/models/keras_names.js';
import type { NamedInputsModel } from '../../tfjs/models/named_calls.js';
import { attach } from '../../preprocessing/pipeline/attached_pipeline.js';
import { Pipeline } from '../../preprocessing/pipeline/pipeline.js';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import { mendModel } from '../../layers/mended/mend_model.js';
import { adopting, ofOurs } from '../../tfjs/models/own_models.js';
import { maskLosses } from '../../tfjs/training/masked_losses.js';

export type { CustomObject } from './import/names/user_classes.js';
export type { NamedInputsModel } from '../../tfjs/models/named_calls.js';

export interface LoadKerasOptions {
  /**
   * true (default): what cannot be honoured, and weights that are missing or left over, are errors. false: they are
   * warnings.
   */
  strict?: boolean | undefined;
  /**
   * Classes for those of the file that are no classes of Keras, by the names that the file has for them: `my>Dense` where
   * Python registered it under a package, `Dense` where it did not. Layers are made by their `fromConfig`, of the fields
   * of the file in camel case. A class that is not given is an error, even with the name of one of Keras.
   */
  customObjects?: Readonly<Record<string, CustomObject>> | undefined;
}

/** Frees layers, those with other holders too. */
function disposeLayers(layers: readonly tf.layers.Layer[]): void {
  for (const layer of layers) {
    const counted = layer as unknown as { _refCount: number | null };
    if (!layer.built || counted._refCount === 0) continue;
    counted._refCount = 1;
    layer.dispose();
  }
}

/** Frees all layers with the model: those of models within it that were called several times would stay. */
function disposeAll(model: NamedInputsModel, layers: readonly tf.layers.Layer[]): NamedInputsModel {
  const { dispose } = model;
  return Object.defineProperty(model, 'dispose', {
    configurable: true,
    writable: true,
    value: asOwn(() => {
      const result = dispose.call(model);
      if (result.refCountAfterDispose === 0) disposeLayers(layers);
      return result;
    }),
  });
}

/** Sizes that appear in the shapes of weights: a layer of any other size has none in the file. */
function sizesOf({ weights }: KerasSource): ReadonlySet<number> | null {
  return weights === null ? null : new Set(weights.names.flatMap((name) => weights.shapeOf(name)));
}

/** Makes the layers of a source and fills in its weights. Throws as `loadKerasModel` does; the source stays open. */
export function buildKerasModel(
  source: KerasSource,
  strict: boolean,
  customObjects: CustomObjects = new Map(),
): NamedInputsModel {
  const { topology, weights } = source;
  const sizes = strict ? sizesOf(source) : null;
  const building: Building = { version: topology.version, strict, made: [], sizes, customObjects };
  try {
    const built = adopting(() => buildModel(topology.root, building));
    mendModel(built.model, topology.version);
    if (weights !== null) loadWeights(built, weights, strict);
    if (built.names !== undefined) keepKerasNames(built.model, built.names);
    const model = disposeAll(built.model, building.made);
    maskLosses(model);
    return built.strings === undefined ? model : attach(model, new Pipeline({ columns: built.strings.columns }));
  } catch (error) {
    disposeLayers(building.made);
    throw error;
  }
}

/**
 * Returns a `tf.LayersModel` made from a model of Keras 2 or Keras 3: a `.keras` file, an HDF5 file (`.h5`), or a layers
 * model that the converter of TensorFlow.js wrote. Embedding layers become those of this package, whichever library they
 * come from (Keras, Keras RS, NVIDIA distributed-embeddings), so the model trains on with `emb.train`; combiners, names and
 * shared layers are kept. Where an output carries a mask, losses and metrics are means over the steps that it leaves, as
 * in Keras; the format of TensorFlow.js keeps nothing of that. Normalization, Discretization, CategoryEncoding,
 * IntegerLookup and Hashing of whole numbers compute what they compute in Keras, with what adapt found where a `.keras`
 * file holds it: vocabularies, factors of `tf_idf`, moments, boundaries. The model is not compiled.
 *
 * Strings do not enter layers models: StringLookup, TextVectorization and Hashing of an input of strings, and
 * HashedCrossing of several, become columns of `model.pipeline`, which makes the inputs of the model, one for each of these layers and under its name, of rows with
 * the inputs of the file: `model.predict(model.pipeline.apply([{city: 'Ulm', age: 30}]))`. It also takes inputs of one
 * number a row; others are given beside.
 *
 * `source`: a URL, a path (with the entry `tfjs-embeddings/node`), a File or Blob, bytes, or an IOHandler of TensorFlow.js.
 * `predict` of the model takes a tensor, a list in the order of `model.inputNames`, or an object of tensors by input name.
 * Inputs keep shape and dtype, but whole numbers of any size are int32; inputs and outputs in objects are in the order of
 * their sorted keys, as Keras flattens them.
 * Source: keras.saving.load_model (Keras 3.15) without its compiled state; tf.loadLayersModel (TensorFlow.js 4.22).
 *
 * @param source - A URL, a path, a File or Blob, bytes, or an IOHandler of TensorFlow.js.
 * @param options - Whether what cannot be honoured is an error; classes for those of the file that are not Keras's.
 * @returns The model.
 * @throws TypeError for another kind of source; ValueError, which names the layer and the field, for whatever would
 * compute something else here: unknown layers and functions, other dtypes, ragged inputs, code in Python; ValueError
 * for damaged files and for weights that do not fit. With `strict: false` fields that cannot be honoured are left out
 * with a warning.
 *
 * @example
 * const model = await emb.loadKerasModel('model.keras');
 * const ids = tf.tensor2d([[1, 4, 4]], [1, 3], 'int32');
 * model.predict({user_id: ids}).print();
 */
export async function loadKerasModel(source: unknown, options: LoadKerasOptions = {}): Promise<NamedInputsModel> {
  const read = readOptions<LoadKerasOptions>(options, ['strict', 'customObjects']);
  const strict = checkBoolean(read.strict, 'strict', true);
  const customObjects = readCustomObjects(read.customObjects);
  const found = await openModel(source);
  if ('artifacts' in found) {
    const model = await tf.loadLayersModel({ load: async () => ofOurs(found.artifacts) }, { strict });
    // Names of inputs are there once it is built.
    if (model instanceof tf.Sequential && model.outputs.length > 0) model.build();
    maskLosses(model);
    mendModel(model, 3);
    return model;
  }
  try {
    return buildKerasModel(found, strict, customObjects);
  } finally {
    found.close();
  }
}
