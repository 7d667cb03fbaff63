/** A callback of `fit` that ends training where it does not improve any more. */
import * as tf from '@tensorflow/tfjs';
import { checkCount, readOptions } from '../base/options.js';
import type { Logs } from './logs.js';
import { flagArgument, Monitor, numberArgument, verboseArgument, type MonitorArgs } from './monitor.js';
import { ModelState } from './model_state.js';

export interface EarlyStoppingArgs extends MonitorArgs {
  /** The least difference that counts. Default: 0. */
  minDelta?: number | undefined;
  /** Epochs without an improvement after which training ends. Default: 0. */
  patience?: number | undefined;
  /** 1: says when training ends. Default: 0. */
  verbose?: 0 | 1 | boolean | undefined;
  /** What is to be bettered: epochs that do not are counted as those without an improvement. Default: nothing. */
  baseline?: number | null | undefined;
  /** Whether the model has at the end what it had after its best epoch, with its optimizer. Default: false. */
  restoreBestWeights?: boolean | undefined;
  /** The first epoch, from 0, that is looked at. Default: 0. */
  startFromEpoch?: number | undefined;
}

const FIELDS = [
  'monitor',
  'minDelta',
  'patience',
  'verbose',
  'mode',
  'baseline',
  'restoreBestWeights',
  'startFromEpoch',
] as const;

export class EarlyStopping extends tf.Callback {
  readonly #monitor: Monitor;
  readonly #patience: number;
  readonly #isVerbose: boolean;
  readonly #baseline: number | null;
  readonly #restores: boolean;
  readonly #startFrom: number;
  #waited = 0;
  #best: number | null = null;
  #bestEpoch = 0;
  #bestState: ModelState | null = null;
  /** The number of the epoch after which training was ended; 0: it was not. */
  stoppedEpoch = 0;

  constructor(args: EarlyStoppingArgs = {}) {
    super();
    const given = readOptions<EarlyStoppingArgs>(args, FIELDS, 'args', 'emb.callbacks.earlyStopping({patience: 3})');
    this.#monitor = new Monitor('earlyStopping', given, numberArgument(given.minDelta, 'minDelta', 0));
    this.#patience = given.patience === undefined ? 0 : checkCount(given.patience, 'patience', 0);
    this.#isVerbose = verboseArgument(given.verbose);
    const { baseline = null } = given;
    this.#baseline = baseline === null ? null : numberArgument(baseline, 'baseline', 0);
    this.#restores = flagArgument(given.restoreBestWeights, 'restoreBestWeights', false);
    this.#startFrom = given.startFromEpoch === undefined ? 0 : checkCount(given.startFromEpoch, 'startFromEpoch', 0);
  }

  override onTrainBegin(): Promise<void> {
    this.#forget(); // what a run that failed has left
    this.#waited = 0;
    this.#best = null;
    this.#bestEpoch = 0;
    this.stoppedEpoch = 0;
    return Promise.resolve();
  }

  override async onEpochEnd(epoch: number, logs: Logs = {}): Promise<void> {
    const current = await this.#monitor.valueIn(logs);
    if (current === null || epoch < this.#startFrom) return;
    const improves = this.#monitor.improves(current, this.#best);
    // Weights that were never kept are the best, even after NaN.
    if (this.#restores && (improves || this.#bestState === null)) await this.#remember(epoch);
    this.#waited += 1;
    if (improves) {
      this.#best = current;
      // What betters the last best but not the baseline does not count.
      if (this.#baseline === null || this.#monitor.improves(current, this.#baseline)) this.#waited = 0;
      return;
    }
    if (this.#waited < this.#patience || epoch === 0) return;
    this.stoppedEpoch = epoch;
    this.model.stopTraining = true;
  }

  override async onTrainEnd(): Promise<void> {
    if (this.stoppedEpoch > 0 && this.#isVerbose) console.info(`Epoch ${this.stoppedEpoch + 1}: early stopping`);
    if (this.#bestState === null) return;
    try {
      if (this.#isVerbose) console.info(`Epoch ${this.#bestEpoch + 1} was the best: its weights come back`);
      await this.#bestState.restore(this.model);
    } finally {
      this.#forget();
    }
  }

  async #remember(epoch: number): Promise<void> {
    const state = await ModelState.of(this.model);
    this.#forget();
    this.#bestState = state;
    this.#bestEpoch = epoch;
  }

  #forget(): void {
    this.#bestState?.dispose();
    this.#bestState = null;
  }
}

/**
 * Returns a callback for `fit` and `fitDataset` that ends training when a number of its logs has not improved for
 * `patience` epochs, by the rules of Keras. With `restoreBestWeights` the model has at the end what it had after its best
 * epoch, and so has its optimizer: tables and slots, also where they lie on servers or devices, so that training can go on
 * from there.
 *
 * Edge cases: the first epoch never ends training. NaN is no improvement. A number that training does not tell ends
 * nothing, which is said in the console. The best weights take as much memory as the model and its optimizer, where their
 * values lie: on servers, that of the servers. They come back when `fit` ends by itself too; where it fails, they do not.
 *
 * Throws: TypeError and ValueError for arguments; ValueError for `mode: 'auto'` and a name that does not say whether less
 * or more is better.
 * Source: keras.callbacks.EarlyStopping (Keras 3), which restores the weights alone.
 *
 * @param args - What is watched, and how long.
 * @returns The callback.
 *
 * @example
 * const callbacks = emb.callbacks.earlyStopping({patience: 2, restoreBestWeights: true});
 * await model.fit(ids, labels, {epochs: 50, validationSplit: 0.2, callbacks});
 */
export function earlyStopping(args: EarlyStoppingArgs = {}): tf.Callback {
  return new EarlyStopping(args);
}
