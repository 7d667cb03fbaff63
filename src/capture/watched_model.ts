/** All that a step of a model may depend on beside its tensors. */
import type * as tf from '@tensorflow/tfjs';
import type { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { settingsOf } from '../backends/table.js';
import type { EmbeddingTable } from '../tables/embedding_table.js';
import { Reach } from './known/reach.js';
import { compiledOf, type Purpose } from './steps.js';

/** The rate goes into the step as a number that is made anew each time. */
const RATE: ReadonlySet<string> = new Set(['learningRate']);

function visitOptimizers(reach: Reach, model: tf.LayersModel): void {
  const optimizers = new Set([compiledOf(model).optimizer_ as SparseOptimizer]);
  for (const weight of model.weights) {
    const ofTable = settingsOf(weight.read())?.optimizer ?? null;
    if (ofTable !== null) optimizers.add(ofTable as SparseOptimizer);
  }
  for (const optimizer of optimizers) {
    reach.visit(optimizer, 'its optimizer');
    reach.visit(optimizer.settings, 'the settings of its optimizer', RATE);
    reach.watched.addField('the state of its optimizer', optimizer, 'stateVersion');
  }
}

/** Goes to everything that such a step of the model reaches: whether all of it is known, and what of it may change. */
export function watchedModel(model: tf.LayersModel, purpose: Purpose): Reach {
  const isTrained = purpose === 'train';
  const trained = isTrained ? compiledOf(model).collectedTrainableWeights.map((weight) => weight.read()) : [];
  const isStepped = ({ variable }: EmbeddingTable): boolean =>
    variable !== null && variable.trainable && trained.includes(variable);
  const reach = new Reach(isTrained, isStepped);
  reach.visitTfjs();
  reach.visit(model, 'it');
  for (const weight of model.weights) reach.visit(weight, `weight ${weight.name}`);
  if (!isTrained) return reach;
  const { collectedTrainableWeights } = compiledOf(model);
  reach.watched.addField('collectedTrainableWeights', compiledOf(model), 'collectedTrainableWeights');
  reach.watched.addList(collectedTrainableWeights, 'collectedTrainableWeights');
  visitOptimizers(reach, model);
  return reach;
}
