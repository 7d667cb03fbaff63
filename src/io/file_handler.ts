/**
 * `file://` in Node: models are saved whole or not at all, and loaded from their folder alone. Node entry only.
 */
import { takeOverFileScheme } from '../tfjs/file_scheme.js';
import { fromFile, nameFilesOfWeights } from '../tfjs/loaded_weights.js';
import { loadModel, loadWeights } from './model_file.js';
import { partsOf, saveModel } from './model_folder.js';
import { partsOfModel } from './saved_weights.js';

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` those of this package; once
 * per copy of tfjs.
 */
export function registerFileHandler(): void {
  const isFirst = takeOverFileScheme({
    loadWeights,
    load: async (path) => fromFile(path, await loadModel(path)),
    saveArtifacts: (folder, artifacts) => saveModel(folder, partsOf(artifacts)),
    saveModel: async (folder, model, config) => saveModel(folder, await partsOfModel(model, config)),
  });
  if (isFirst) nameFilesOfWeights();
}
