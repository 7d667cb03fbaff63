/**
 * Whether a model consists of exact classes and functions of tfjs and of this package. Those are known to do the same
 * in every step; what users wrote may depend on anything, which no recording of two steps would show.
 */
import * as tf from '@tensorflow/tfjs';
import { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import { settingsOf } from '../backends/table.js';
import { isOwn } from '../tfjs/engine/own_functions.js';
import { isPure } from './functions/pure.js';
import { compiledOf, type Purpose } from './steps.js';
import { isOptimizer } from './known/plain_classes.js';
import { isStockFunction } from './known/stock.js';
import { watchedModel } from './watched_model.js';

/** The losses or metrics that `compile` was given, in whatever structure. */
export function leaves(given: unknown): unknown[] {
  if (Array.isArray(given)) return (given as unknown[]).flatMap(leaves);
  if (given !== null && typeof given === 'object') return Object.values(given).flatMap(leaves);
  return given === undefined || given === null ? [] : [given];
}

/** Whether it is a loss or metric of tfjs or of this package, or is as good as one by a user's promise. */
function isKnownFunction(given: unknown): boolean {
  return isStockFunction(given) || isPure(given) || (typeof given === 'function' && isOwn(given));
}

/** A function by its name. */
export function functionText(given: unknown): string {
  const name = typeof given === 'function' ? given.name : '';
  return name === '' ? 'a function' : `a function ${name}`;
}

function whyNotOptimizer(optimizer: unknown): string | null {
  if (!(optimizer instanceof SparseOptimizer)) return 'its optimizer is not one of emb.train';
  if (!isOptimizer(optimizer)) return 'its optimizer is of a class derived from those of emb.train';
  return optimizer.hasGivenDense ? 'its dense variables are stepped by an optimizer that was given as `dense`' : null;
}

function whyNotCompiled(model: tf.LayersModel): string | null {
  const { loss, metrics } = compiledOf(model);
  for (const [what, given] of [
    ['loss', loss],
    ['metric', metrics],
  ] as const) {
    const stranger = leaves(given).find((each) => typeof each !== 'string' && !isKnownFunction(each));
    if (stranger !== undefined)
      return `a ${what} is ${functionText(stranger)} that is not one of tfjs or of this package, nor marked by emb.pure`;
  }
  return null;
}

function whyNotTrained(model: tf.LayersModel): string | null {
  const ofOptimizer = whyNotOptimizer(compiledOf(model).optimizer_);
  if (ofOptimizer !== null) return ofOptimizer;
  for (const weight of model.weights) {
    const ofTable = settingsOf(weight.read())?.optimizer ?? null;
    if (ofTable !== null && whyNotOptimizer(ofTable) !== null) return `a table's own optimizer is not one of emb.train`;
  }
  return null;
}

/** Why such steps of this model run op by op, in words that follow "because"; null: they may be captured. */
export function whyNotPlain(model: tf.LayersModel, purpose: Purpose): string | null {
  const { optimizer_ } = compiledOf(model);
  if (purpose !== 'predict' && (optimizer_ === undefined || optimizer_ === null)) return 'it was not compiled';
  if (model.constructor !== tf.LayersModel) return `it is of the class ${model.constructor.name}`;
  // What the model itself reaches comes first: its weights are read below, by whatever function.
  const { unknown } = watchedModel(model, 'predict');
  if (unknown !== null) return unknown;
  const gone = model.weights.find((weight) => (weight as unknown as { val: tf.Variable }).val.isDisposed);
  if (gone !== undefined) return `its weight ${gone.name} was disposed`;
  return (
    (purpose === 'train' ? whyNotTrained(model) : null) ??
    (purpose === 'predict' ? null : whyNotCompiled(model)) ??
    watchedModel(model, purpose).unknown
  );
}
