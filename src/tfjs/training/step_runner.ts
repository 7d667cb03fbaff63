/**
 * Who runs the steps of models of ours: each training step, and each batch that they evaluate or predict, goes to a subscriber,
 * which may capture it. In `fit` it gets the numbers of the batch's rows, and with them the inputs as they were given, so that
 * the rows can be gathered within the step.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { releaseFailedTape } from '../failed_tape.js';
import { whileFeeding } from '../uncast_inputs.js';
import { withMaskedLosses } from './masked_losses.js';
import { withRowLosses, type EagerStep, type StepData } from './sample_weights.js';

export type { EagerStep, StepData } from './sample_weights.js';

/** A batch by its rows. */
export interface BatchRows {
  /** Numbers of rows, int32. */
  readonly rows: tf.Tensor1D;
  /** What `fit` was given; `data` of the step is made of these rows of it. */
  readonly whole: StepData;
}

export interface StepRunner {
  /** The backend of tfjs whose steps it runs; on others those of tfjs are what it would run. */
  readonly backend: string;
  /** Whether `fit` should give this model rows instead of batches. */
  takesRows(model: tf.LayersModel): boolean;
  /** Runs a step; `eager` is that of tfjs, for a batch as it is. */
  run(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** The same for a batch by its rows. */
  runRows(model: tf.LayersModel, eager: EagerStep, batch: BatchRows): tf.Tensor[];
  /** Evaluates a batch, `eager` as tfjs does it. */
  evaluate(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** Whether this model's batches are predicted by `predict`. */
  predicts(model: tf.LayersModel): boolean;
  /** A batch of what `predict` is given: `count` rows from `start` on. */
  rowsOf(this: void, inputs: readonly tf.Tensor[], start: number, count: number): readonly tf.Tensor[];
  /** Predicts a batch, `eager` as tfjs does it; one tensor per output. */
  predict(model: tf.LayersModel, eager: EagerStep, data: StepData): tf.Tensor[];
  /** Called when a model was compiled. */
  compiled(model: tf.LayersModel): void;
  /** Called when a sequential model gets another model within; `before`: the one that it had, or itself. */
  rebuilt(before: tf.LayersModel, now: tf.LayersModel): void;
  /** Called when a model was disposed of by its last holder. */
  disposed(model: tf.LayersModel): void;
  /** Called at the end of `fit` and `fitDataset`, while their data are there. */
  fitted(model: tf.LayersModel): void;
}

const runner = (): { current: StepRunner | null } => perProcess('runner of steps', () => ({ current: null }));

/** Who is told of models, and runs their steps on its backend; null: nobody. */
export function stepRunner(): StepRunner | null {
  return runner().current;
}

/** Who runs steps on the backend in use; null: tfjs does. */
export function runnerInUse(): StepRunner | null {
  const { current } = runner();
  return current?.backend === tf.getBackend() ? current : null;
}

/** Gives `runner` the steps of models from now on. */
export function runSteps(given: StepRunner): void {
  runner().current ??= given;
}

/** Runs a step that feeds a model; one that fails leaves no tape. */
export function guarded(run: () => tf.Tensor[]): tf.Tensor[] {
  try {
    return whileFeeding(run);
  } catch (error) {
    releaseFailedTape();
    throw error;
  }
}

const { makeTrainFunction } = tf.LayersModel.prototype as unknown as { makeTrainFunction(): EagerStep };

/** The training step as tfjs makes it, with masks and weights of rows in its losses. */
export function trainStep(model: tf.LayersModel, stock = makeTrainFunction.call(model)): EagerStep {
  return (data) => withMaskedLosses(model, () => withRowLosses(model, data, stock));
}
