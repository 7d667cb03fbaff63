/** Weights of the rows of a batch in the loss: data sets carry them, and tfjs has a place for them in its steps alone. */
import * as tf from '@tensorflow/tfjs';
import { withLosses, withMaskedLosses, type Measure as Loss } from './masked_losses.js';

/** What a step of tfjs takes: inputs, targets, weights of samples; the last may be missing. */
export type StepData = readonly (tf.Tensor | null | undefined)[];
export type EagerStep = (data: StepData) => tf.Tensor[];

/** By the first tensor of the batch. */
const weights = new WeakMap<tf.Tensor, tf.Tensor1D>();

/** Gives the batch that starts with `first` its weights, which are disposed with the step. */
export function weighBatch(first: tf.Tensor, weight: tf.Tensor): void {
  weights.set(first, weight as tf.Tensor1D);
}

/** Takes the weights of a batch out; null: it has none. */
function takeWeight(data: StepData): tf.Tensor1D | null {
  const [first] = data;
  const weight = first instanceof tf.Tensor ? weights.get(first) : undefined;
  if (weight === undefined) return null;
  weights.delete(first as tf.Tensor);
  return weight;
}

/** The loss of each row of a batch: the mean over its steps, where it has any. */
const byRow =
  (loss: Loss): Loss =>
  (y, output) => {
    const losses = loss(y, output);
    return losses.rank > 1 ? losses.reshape([losses.shape[0]!, -1]).mean(1) : losses;
  };

/** A step of tfjs, which multiplies losses by weights, one for each row, as they are: those of steps come as one a row. */
export function withRowLosses(model: tf.LayersModel, data: StepData, step: EagerStep): tf.Tensor[] {
  const isWeighted = data
    .slice(model.inputs.length + model.outputs.length)
    .some((weight) => weight instanceof tf.Tensor);
  return isWeighted ? withLosses(model, byRow, () => step(data)) : step(data);
}

/** Runs a training step with the weights of its batch; what weights of classes say comes on top. */
export function trainWeighted(model: tf.LayersModel, data: StepData, step: EagerStep): tf.Tensor[] {
  const weight = takeWeight(data);
  if (weight === null) return step(data);
  const given = model.inputs.length + model.outputs.length;
  const ofClasses = data.slice(given);
  const all = tf.tidy(() =>
    model.outputs.map((_, i) => (ofClasses[i] ? tf.mul(weight, ofClasses[i]) : weight.clone())),
  );
  try {
    return step([...data.slice(0, given), ...all]);
  } finally {
    tf.dispose([weight, ...all]);
  }
}

/** Runs a step of an evaluation, `plain` without weights, with the losses of each row times its weight. */
export function evaluateWeighted(
  model: tf.LayersModel,
  data: StepData,
  steps: Record<'plain' | 'watched', EagerStep>,
): tf.Tensor[] {
  const weight = takeWeight(data);
  if (weight === null) return steps.watched(data);
  const weighted =
    (loss: Loss): Loss =>
    (y, output) =>
      tf.mul(byRow(loss)(y, output), weight);
  try {
    return withMaskedLosses(model, () => withLosses(model, weighted, () => steps.plain(data)));
  } finally {
    weight.dispose();
  }
}
