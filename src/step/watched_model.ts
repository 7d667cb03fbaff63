/** The fields of a model on which a step of it may depend beside its tensors. */
import type * as tf from '@tensorflow/tfjs';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { tableSettings } from '../ops/training/table_settings.js';
import { allLayers, compiledOf, isPart, type Purpose } from './plain_model.js';
import { WatchedFields } from './watched_fields.js';

/** Fields of layers that count calls and the like, and the optimizers of models within models. */
const BOOKKEEPING = [
  '_refCount',
  'inboundNodes',
  'outboundNodes',
  'history',
  'isTraining',
  'stopTraining_',
  'optimizer_',
];
/** What only steps that train look at. */
const OF_TRAINING = ['trainable_', '_trainable', '_trainableWeights'];

function addOptimizers(watched: WatchedFields, model: tf.LayersModel): void {
  const optimizers = new Set([compiledOf(model).optimizer_ as SparseOptimizer]);
  for (const weight of model.weights) {
    const ofTable = tableSettings(weight.read() as tf.Variable)?.optimizer ?? null;
    if (ofTable !== null) optimizers.add(ofTable as SparseOptimizer);
  }
  for (const optimizer of optimizers) {
    watched.add(optimizer, 'stateVersion', 'the state of its optimizer');
    for (const method of ['minimize', 'computeGradients', 'applyGradients']) watched.add(optimizer, method);
    // The rate goes into the step as a number that is made anew each time.
    watched.addAll(optimizer.settings, new Set(['learningRate']));
  }
}

/** Watches everything that such a step of the model may depend on beside its tensors. */
export function watchedModel(model: tf.LayersModel, purpose: Purpose): WatchedFields {
  const watched = new WatchedFields();
  const isTrained = purpose === 'train';
  const skipped = new Set(isTrained ? BOOKKEEPING : [...BOOKKEEPING, ...OF_TRAINING]);
  for (const field of ['inputs', 'outputs', 'layers']) watched.add(model, field);
  for (const layer of allLayers(model)) watched.addAll(layer, skipped, isPart);
  for (const weight of model.weights) watched.add(weight, 'val', 'the variable of a weight');
  if (!isTrained) return watched;
  for (const field of ['collectedTrainableWeights', 'calculateLosses']) watched.add(model, field);
  addOptimizers(watched, model);
  return watched;
}
