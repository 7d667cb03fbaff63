/** A callback of `fit` that saves the model as it trains, and goes on where an earlier training stood. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { isRecord, readOptions } from '../base/options.js';
import { nodeBuiltin } from '../base/platform.js';
import type { NamedTensor } from '../base/types.js';
import { resumes, wholeModel, type LoopKind, type TrainingPosition } from '../tfjs/training/resumed_fits.js';
import { checkPath, filledPath, hasPlaces, urlOf } from './checkpoint_path.js';
import { numberOf, type Logs } from './logs.js';
import { setOptimizerState } from './model_state.js';
import { flagArgument, Monitor, numberArgument, verboseArgument, type MonitorArgs } from './monitor.js';

export interface ModelCheckpointArgs extends MonitorArgs {
  /**
   * A folder in Node, or a URL such as 'indexeddb://checkpoint'. {epoch}, {batch} and names of logs in it stand for their
   * numbers, as {epoch:02d} and {val_loss:.2f} do.
   */
  path: string;
  /** Whether only what improves `monitor` is saved. Default: false. */
  saveBestOnly?: boolean | undefined;
  /** When: after each epoch (default), or so many batches. */
  saveFreq?: 'epoch' | number | undefined;
  /** What the first save has to better, with `saveBestOnly`. Default: nothing. */
  initialValueThreshold?: number | null | undefined;
  /** Whether `fit` begins where the model of `path` stood, if there is one. Default: false. */
  restore?: boolean | undefined;
  /** 1: says what is saved. Default: 0. */
  verbose?: 0 | 1 | boolean | undefined;
}

const FIELDS = [
  'path',
  'monitor',
  'verbose',
  'saveBestOnly',
  'mode',
  'saveFreq',
  'initialValueThreshold',
  'restore',
] as const;
/** The key of the position in what a model says of itself. */
const POSITION = 'tfjs-embeddings/training';

function checkSaveFreq(value: unknown): number | null {
  if (value === undefined || value === 'epoch') return null;
  const expected = "'epoch' or a number of batches";
  if (typeof value === 'string') throw new ValueError('saveFreq', expected, value);
  if (typeof value !== 'number') throw new ArgumentTypeError('saveFreq', expected, value);
  if (!Number.isSafeInteger(value) || value < 1) throw new ValueError('saveFreq', expected, value);
  return value;
}

async function isThere(url: string): Promise<boolean> {
  const file = url.startsWith('file://') ? `${url.slice('file://'.length)}/model.json` : null;
  if (file === null) return Object.hasOwn(await tf.io.listModels(), url);
  return nodeBuiltin<{ existsSync(path: string): boolean }>('node:fs')?.existsSync(file) === true;
}

function isPosition(value: unknown): value is TrainingPosition & { best: number | null } {
  const isCount = (each: unknown): boolean => Number.isSafeInteger(each) && (each as number) >= 0;
  if (!isRecord(value)) return false;
  const { best } = value;
  return (
    ['epoch', 'batches', 'readings'].every((field) => isCount(value[field])) &&
    (best === null || typeof best === 'number')
  );
}

export class ModelCheckpoint extends tf.Callback {
  readonly #path: string;
  readonly #monitor: Monitor | null;
  readonly #saveFreq: number | null;
  readonly #restores: boolean;
  readonly #isVerbose: boolean;
  /** Kept from one call of `fit` to the next. */
  #best: number | null;
  #epoch = 0;
  /** Batches since the last save, where those are counted. */
  #batches = 0;
  /** Where this call began, and epochs of it that have ended. */
  #start: TrainingPosition = { epoch: 0, batches: 0, readings: 0 };
  #ended = 0;
  #isResumed = false;
  /** Whether the loop asked where it should begin, as those of models of this package do. */
  #isAsked = false;

  constructor(args: ModelCheckpointArgs) {
    super();
    const usage = "emb.callbacks.modelCheckpoint({path: './checkpoint'})";
    const given = readOptions<ModelCheckpointArgs>(args, FIELDS, 'args', usage);
    this.#path = checkPath(given.path);
    this.#saveFreq = checkSaveFreq(given.saveFreq);
    this.#restores = flagArgument(given.restore, 'restore', false);
    this.#isVerbose = verboseArgument(given.verbose);
    const isBest = flagArgument(given.saveBestOnly, 'saveBestOnly', false);
    this.#monitor = isBest ? new Monitor('modelCheckpoint', given) : null;
    const { initialValueThreshold: threshold = null } = given;
    this.#best = threshold === null ? null : numberArgument(threshold, 'initialValueThreshold', 0);
    if (this.#restores && hasPlaces(this.#path)) {
      throw new ValueError('path', 'one without places, where restore is true', this.#path);
    }
  }

  /** Gives the model what was saved. Asked by `fit` before its first epoch. */
  async [resumes](model: tf.LayersModel, { isDataset, batchesPerEpoch }: LoopKind): Promise<TrainingPosition | null> {
    this.#isAsked = true;
    if (!this.#restores) return null;
    if (this.#saveFreq !== null && !(isDataset && batchesPerEpoch === null)) {
      const received = described(
        `${this.#saveFreq} batches, of ${isDataset ? 'a fitDataset with batchesPerEpoch' : 'fit'}`,
      );
      const note =
        'What was saved within an epoch goes on in fitDataset alone, as its data set can be read up to there.';
      throw new ValueError('saveFreq', "'epoch', where restore is true", received, note);
    }
    const url = urlOf(this.#path);
    if (!(await isThere(url))) return null;
    const position = await this.#load(model, url);
    this.#start = position;
    this.#isResumed = true;
    return position;
  }

  async #load(model: tf.LayersModel, url: string): Promise<TrainingPosition> {
    const from = url.startsWith('file://') ? `${url}/model.json` : url;
    const handler = tf.io.getLoadHandlers(from)[0];
    if (handler?.load === undefined) throw new ValueError('path', 'a place that models are loaded from', this.#path);
    const { weightData, weightSpecs = [], userDefinedMetadata } = await handler.load();
    const position: unknown = userDefinedMetadata?.[POSITION];
    if (!isPosition(position)) {
      throw new ValueError(
        'path',
        'a model that modelCheckpoint saved',
        described(`${this.#path}, which is another one`),
      );
    }
    const tensors = tf.io.decodeWeights(weightData as ArrayBuffer, weightSpecs);
    try {
      const isState = new Set(weightSpecs.filter(({ group }) => group === 'optimizer').map(({ name }) => name));
      const named = Object.entries(tensors);
      model.loadWeights(Object.fromEntries(named.filter(([name]) => !isState.has(name))));
      const state = named.flatMap(([name, tensor]): NamedTensor[] => (isState.has(name) ? [{ name, tensor }] : []));
      if (state.length > 0) await setOptimizerState(model, state);
    } finally {
      tf.dispose(tensors);
    }
    this.#best = position.best;
    if (this.#isVerbose) console.info(`Epoch ${position.epoch + 1}: goes on from ${this.#path}`);
    return position;
  }

  override onTrainBegin(): Promise<void> {
    if (this.#restores && !this.#isAsked) {
      const expected = 'a model of this package, where restore is true: one with a layer or an emb.input of it';
      return Promise.reject(new ValueError('restore', expected, described(`the stock model ${this.model.name}`)));
    }
    this.#isAsked = false;
    if (!this.#isResumed) this.#start = { epoch: 0, batches: 0, readings: 0 };
    this.#isResumed = false;
    this.#ended = 0;
    this.#batches = 0;
    return Promise.resolve();
  }

  override onEpochBegin(epoch: number): Promise<void> {
    this.#epoch = epoch;
    return Promise.resolve();
  }

  override async onBatchEnd(batch: number, logs: Logs = {}): Promise<void> {
    if (this.#saveFreq === null) return;
    this.#batches += 1;
    if (this.#batches < this.#saveFreq) return;
    this.#batches = 0;
    const done = batch + 1 + (this.#ended === 0 ? this.#start.batches : 0);
    const { readings } = this.#start;
    await this.#save(logs, { epoch: this.#epoch, batches: done, readings: readings + this.#ended });
  }

  override async onEpochEnd(epoch: number, logs: Logs = {}): Promise<void> {
    this.#ended += 1;
    if (this.#saveFreq !== null) return;
    await this.#save(logs, { epoch: epoch + 1, batches: 0, readings: this.#start.readings + this.#ended });
  }

  async #save(logs: Logs, position: TrainingPosition): Promise<void> {
    if (this.#monitor !== null) {
      const current = await this.#monitor.valueIn(logs);
      if (current === null || !this.#monitor.improves(current, this.#best)) return;
      this.#best = current;
    }
    const numbers: Record<string, number> = { epoch: this.#epoch + 1, batch: position.batches };
    for (const [name, value] of Object.entries(logs)) {
      if (name !== 'batch' && name !== 'size') numbers[name] = await numberOf(value);
    }
    const path = filledPath(this.#path, numbers);
    const model = wholeModel(this.model);
    const before = model.getUserDefinedMetadata() as object | undefined;
    model.setUserDefinedMetadata({ ...before, [POSITION]: { ...position, best: this.#best } });
    try {
      await model.save(urlOf(path), { includeOptimizer: true });
    } catch (error) {
      const { message } = error as Error;
      throw new RuntimeError('path', 'a place that models are saved to', described(`${path}: ${message}`));
    } finally {
      (model as unknown as { userDefinedMetadata?: object | undefined }).userDefinedMetadata = before;
    }
    if (this.#isVerbose) console.info(`Epoch ${numbers['epoch']}: saved to ${path}`);
  }
}

/**
 * Returns a callback for `fit` and `fitDataset` that saves the model with its optimizer, by the rules of Keras: after each
 * epoch or so many batches, all or only what improves `monitor`. What is saved is an ordinary model, tables and slots in
 * it, wherever they lie; in Node it is replaced whole or not at all.
 *
 * With `restore` a later `fit` with the same callback arguments goes on where the saved model stood, in another process
 * too: weights, optimizer, epoch, and the place in the data set, which is read up to there. Where nothing is saved yet it
 * begins anew. A training that was broken off then gives the same bits as one that was not, if the order of its data is
 * the same each time (`shuffle: false` in `fit`, a seed in `shuffle` of data sets, made anew) and no layer draws numbers.
 *
 * Edge cases: a save after so many batches can be resumed in `fitDataset` without `batchesPerEpoch`; the first epoch then
 * tells means of its remaining batches. A number that training does not tell saves nothing, which is said in the console.
 * With `saveBestOnly` the best number stays known from one `fit` to the next. An epoch that is saved within is not saved at
 * its end, unless that falls together.
 *
 * Throws: TypeError and ValueError for arguments, and when `fit` begins for a model at `path` that this callback did not
 * save or that has other weights; RuntimeError where it cannot be saved.
 * Source: keras.callbacks.ModelCheckpoint and BackupAndRestore (Keras 3).
 *
 * @param args - Where, when and what.
 * @returns The callback.
 *
 * @example
 * const callbacks = emb.callbacks.modelCheckpoint({path: './checkpoint', restore: true});
 * await model.fitDataset(rows.shuffle(10_000, 1).batch(512), {epochs: 20, callbacks});
 */
export function modelCheckpoint(args: ModelCheckpointArgs): tf.Callback {
  return new ModelCheckpoint(args);
}
