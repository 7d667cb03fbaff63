/** Captured training steps as users see them: which models have them, why others have not, and how to switch them off. */
import * as tf from '@tensorflow/tfjs';
import { environmentVariable, registeredBackend } from '../backends/registry.js';
import { BACKEND_NAME } from '../backends/tensorflow/node_backend.js';
import type { TensorFlowTables } from '../backends/tensorflow/tensorflow_tables.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import { platform } from '../base/platform.js';
import { isOwnModel } from '../tfjs/models/own_models.js';

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

/** What a step does: it trains on a batch, takes the losses of one, or predicts one. */
export type Purpose = 'train' | 'evaluate' | 'predict';

/** How the training steps of a model run. */
export interface StepInfo {
  /** Whether steps of some kind run as one call. */
  readonly captured: boolean;
  /** Why steps run op by op, in one sentence; null where nothing speaks against capturing them. */
  readonly reason: string | null;
  /** Kinds of steps that are captured: one per purpose (training, evaluation, prediction), shape of the batch and set of trainable variables. */
  readonly signatures: number;
  /**
   * Kinds of steps that gave way to others since the model was compiled: of each purpose, the 16 that were used last
   * are kept. A kind that comes again is captured again.
   */
  readonly evictions: number;
}

interface Choices {
  on: boolean;
  /** Whether the ops of this package were there when it was last asked. */
  hasOps: boolean;
  /** Models that were switched on or off by themselves. */
  readonly models: WeakMap<tf.LayersModel, boolean>;
}

const VARIABLE = 'TFJS_EMBEDDINGS_CAPTURE';

/** TFJS_EMBEDDINGS_CAPTURE: 0 or 1. */
function onFromEnvironment(): boolean {
  const text = environmentVariable(VARIABLE) ?? '1';
  if (text === '0' || text === '1') return text === '1';
  throw new ValueError(VARIABLE, '0 or 1', text);
}

const choices = (): Choices =>
  perProcess('choices of captured steps', () => ({ on: onFromEnvironment(), hasOps: false, models: new WeakMap() }));

/** Why a user wants nothing captured, of a model of ours or of any function; null: it may be. */
export function whyChosenOff(model?: tf.LayersModel): string | null {
  const { on, models } = choices();
  const chosen = model === undefined ? undefined : models.get(model);
  if (chosen === false) return 'setCapture switched it off for this model';
  return !on && chosen !== true ? `setCapture or ${VARIABLE} switched it off` : null;
}

/** Why nothing is captured, whatever the model or the function is; null: it may be. */
export function whySwitchedOff(model?: tf.LayersModel): string | null {
  const chosen = whyChosenOff(model);
  if (chosen !== null) return chosen;
  if (model !== undefined && !isOwnModel(model)) return 'it holds no layer and no emb.input of this package';
  return platform().capturer === undefined ? 'there are no native kernels' : null;
}

/** Why the backend in use captures nothing; null: it does. Ops of ours are registered when they are first needed. */
export function whyNotBackend(what = ' steps'): string | null {
  const name = tf.getBackend();
  if (name !== BACKEND_NAME) return `the backend is ${name}, and only ${BACKEND_NAME} captures${what}`;
  const shared = choices();
  // Once they are there they stay.
  shared.hasOps ||= (registeredBackend(BACKEND_NAME) as TensorFlowTables | undefined)?.hasOps() === true;
  return shared.hasOps ? null : 'the ops of this package are not there';
}

/** The model that tfjs trains: a sequential one has another within. */
export function trained(model: tf.LayersModel): tf.LayersModel {
  return model instanceof tf.Sequential ? ((model as unknown as { model?: tf.LayersModel }).model ?? model) : model;
}

/** What was chosen for a model is chosen for the one that takes its place. */
export function moveChoice(from: tf.LayersModel, to: tf.LayersModel): void {
  const { models } = choices();
  const isOn = models.get(from);
  if (isOn !== undefined) models.set(to, isOn);
}

function checkModel(model: unknown): tf.LayersModel {
  if (model instanceof tf.LayersModel) return trained(model);
  throw new ArgumentTypeError('model', 'a tf.LayersModel', model);
}

/**
 * Returns how the training steps of a model run: `{captured, reason, signatures, evictions}`.
 *
 * On the `tensorflow` backend with native kernels, a step is recorded twice and from then on runs as one call of
 * TensorFlow, where every layer, loss, metric and optimizer is one of tfjs or of this package, exactly, and both
 * recordings agree. Any other step runs op by op, and `reason` says why; it gives the same numbers.
 *
 * @param model - A layers model.
 * @returns Whether its steps are captured, why not, how many kinds of step are, and how many gave way to others.
 * @throws TypeError for anything but a model.
 *
 * @example
 * await model.fit(x, y, { epochs: 1 });
 * emb.stepInfo(model); // {captured: true, reason: null, signatures: 2, evictions: 0}
 */
export function stepInfo(model: tf.LayersModel): StepInfo {
  const inner = checkModel(model);
  const off = whySwitchedOff(inner);
  if (off !== null) return { captured: false, reason: sentence(off), signatures: 0, evictions: 0 };
  const { reason, captured, evictions } = platform().capturer!.infoOf(inner);
  return {
    captured: captured > 0,
    reason: reason === null ? null : sentence(reason, { isPartly: captured > 0 }),
    signatures: captured,
    evictions,
  };
}

/** The reason as users read it. */
export function sentence(reason: string, { what = 'Steps', isPartly = false } = {}): string {
  return `${isPartly ? `Some ${what.toLowerCase()}` : what} run op by op, because ${reason}.`;
}

/**
 * Switches captured steps on or off, for all models or for one; they are on from the start, unless the environment
 * variable TFJS_EMBEDDINGS_CAPTURE is 0. A model that is switched off frees its graphs. Returns nothing.
 *
 * @param on - Whether steps are captured.
 * @param model - The model; without it, all models.
 * @throws TypeError for other arguments.
 *
 * @example
 * emb.setCapture(false); // steps run op by op from now on
 */
export function setCapture(on: boolean, model?: tf.LayersModel): void {
  if (typeof on !== 'boolean') throw new ArgumentTypeError('on', 'true or false', on);
  const shared = choices();
  if (model === undefined) {
    shared.on = on;
    return;
  }
  const inner = checkModel(model);
  shared.models.set(inner, on);
  if (!on) platform().capturer?.forget(inner);
}
