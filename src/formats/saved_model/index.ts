/** SavedModels: `emb.savedModel`. What writes and reads them is loaded on first use. */
import type * as tf from '@tensorflow/tfjs';
import { fromPlatform, type RunnableSavedModel, type SavedModelWriter } from '../../base/platform.js';
import type { SavedModelOptions } from './export_options.js';

/** How a SavedModel is loaded. */
export interface LoadSavedModelOptions {
  /** Of the graph. Default ['serve']. */
  tags?: readonly string[] | undefined;
  /** Runs this signature; the result is then never a layers model. */
  signature?: string | undefined;
}

/**
 * Writes a layers model as a SavedModel, which TensorFlow Serving, Python and tfjs-node run.
 *
 * Resolves once everything is on disk. The model may be sequential, functional or nested, with several inputs and
 * outputs, of the layers of this package and of tfjs. The signature `serving_default` has the model's inputs and outputs,
 * under the names of their layers, with their dtypes and shapes; `signatures` adds others, or replaces it:
 * `{name: {inputs: {alias: layer}, outputs: {alias: layer}}}`. Names are made fit for Python: letters, digits and `_`.
 * Ids come padded, as the model takes them. Only stock ops are used unless `customOps` is true; pooled lookups are then
 * the op `EmbeddingBag`, for which `tf.load_op_library(emb.opLibraryPath())` comes first. `integerLookup` looks up by the
 * vocabulary that it has, and learns nothing there. Layers act as in `predict`.
 * Tables of `emb.quantize` are written as the float32 numbers that they are read as.
 * TensorFlow is not needed for writing. Tables of any size are read in pieces. A folder is written whole or not at all: an
 * interrupted export leaves what was there; `overwrite: true` replaces a SavedModel. In a page, pass an object
 * `{write(path, chunks)}` in place of the folder.
 * Source: tf.saved_model.save (TensorFlow 2.21).
 *
 * @param model - A model of layers of tfjs and of this package.
 * @param directory - The path of a folder, or its `file://` URL, or what writes the files elsewhere.
 * @param options - Signatures, ragged inputs, custom ops and the optimizer's state.
 * @returns Resolves when all of it is there.
 * @throws TypeError for wrong types; ValueError for a layer that TensorFlow's ops cannot express, which it names,
 * unknown names and a folder that is taken; RuntimeError where the system refuses.
 *
 * @example
 * await emb.savedModel.export(model, './served/1');
 */
async function exportSavedModel(
  model: tf.LayersModel,
  directory: string | SavedModelWriter,
  options: SavedModelOptions = {},
): Promise<void> {
  const { exportModel } = await import('./export.js');
  return exportModel(model, directory, options);
}

/**
 * Loads a SavedModel from a folder; in Node.
 *
 * Returns a layers model where the SavedModel was written by `export`, with the optimizer and its state where those were
 * included, or by Keras 2 (`model.save`) of layers that are known here, with what `adapt` found, which is then not compiled;
 * where it takes strings, it has a `pipeline`, as models of `loadKerasModel` have. Any other becomes
 * `{predict(named), signatures, dispose()}`: tensors by name in, tensors by name out, run by TensorFlow through tfjs-node,
 * which must be installed; so does every SavedModel when `signature` names what to run. A warning says why a SavedModel of
 * Keras 2 is no layers model; SavedModels of Keras 3 tell of no layers. Numbers of 64 bits go in and come out as int32.
 * `tags` chooses among several graphs.
 * Variables are checked against their checksums. What an export was interrupted at is put right first.
 * Source: tf.saved_model.load (TensorFlow 2.21); tf.node.loadSavedModel (tfjs-node 4.22).
 *
 * @param directory - The path of the folder, or its `file://` URL.
 * @param options - Which signature of a SavedModel that is no layers model.
 * @returns A layers model where its layers are known, else the function of a signature.
 * @throws TypeError for wrong types; ValueError for folders that hold no SavedModel, damaged files, variables that do
 * not fit, tags and signatures that are not there, for graphs with ops that are not known to compute alone, such as
 * WriteFile, and for those that read files beside the folder; RuntimeError where tfjs-node is missing. `predict` throws
 * RuntimeError for what TensorFlow does not run, and for results beyond int32.
 *
 * @example
 * const model = await emb.savedModel.load('./served/1');
 */
async function loadSavedModel(
  directory: string,
  options: LoadSavedModelOptions = {},
): Promise<tf.LayersModel | RunnableSavedModel> {
  return fromPlatform('loadSavedModel', 'savedModel.load', 'savedModel.load()')(directory, options);
}

export { exportSavedModel as export, loadSavedModel as load };
