/** A callback of `fit` that writes what TensorBoard shows: scalars, histograms of tables, and files of its projector. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { checkCount, readOptions } from '../base/options.js';
import type { SavedModelWriter } from '../base/platform.js';
import { knownTable, type Table } from '../backends/table.js';
import { openTables } from '../tables/keys/open_tables.js';
import { EventFile } from './event_file.js';
import type { SummaryValue } from './event_messages.js';
import { histogramOf } from './histogram.js';
import { logFolder, type LogFolder } from './log_folder.js';
import { numberOf, type Logs } from './logs.js';
import { checkLabels, writeProjector, type RowLabels } from './projector.js';
import { SampledRows } from './sampled_rows.js';

export interface TensorBoardArgs {
  /** A folder, in Node; else an object that takes the files, as that of `savedModel.export`. */
  logdir: string | SavedModelWriter;
  /** When losses and metrics are written: after each epoch, each batch, or so many batches. Default: 'epoch'. */
  updateFreq?: 'epoch' | 'batch' | number | undefined;
  /** Epochs from one histogram of a table to the next; 0: none. Default: 1. */
  histogramFreq?: number | undefined;
  /** Epochs from one set of the projector's files to the next; 0 (default): only when training ends. */
  embeddingsFreq?: number | undefined;
  /** Labels of rows in the projector, by the names of tables; rows of other tables show their numbers. */
  embeddingsMetadata?: Readonly<Record<string, RowLabels>> | undefined;
  /** Rows of a table that are read for histograms and the projector, evenly spread. Default: 10,000. */
  sampledRows?: number | undefined;
}

const FIELDS = [
  'logdir',
  'updateFreq',
  'histogramFreq',
  'embeddingsFreq',
  'embeddingsMetadata',
  'sampledRows',
] as const;

function countOf(value: unknown, argument: string, byDefault: number, least = 0): number {
  return value === undefined ? byDefault : checkCount(value, argument, least);
}

/** Batches from one record to the next; null: epochs alone. */
function checkUpdateFreq(value: unknown): number | null {
  if (value === undefined || value === 'epoch') return null;
  if (value === 'batch') return 1;
  const expected = "'epoch', 'batch' or a number of batches";
  if (typeof value === 'string') throw new ValueError('updateFreq', expected, value);
  if (typeof value !== 'number') throw new ArgumentTypeError('updateFreq', expected, value);
  if (!Number.isSafeInteger(value) || value < 1) throw new ValueError('updateFreq', expected, value);
  return value;
}

/** The tables of this package that a model has, by the names of their weights. */
function tablesOf(model: tf.LayersModel): Map<string, Table> {
  const found = new Map<string, Table>();
  for (const weight of model.weights) {
    const table = knownTable(weight.read());
    if (table?.settings) found.set(nameOf(table), table);
  }
  return found;
}

/** The name under which a table of a layer is shown. */
function nameOf({ settings }: Table): string {
  return settings!.name.replace(/\/embeddings$/, '');
}

/** How full the open tables of a model are, and what came and went. */
function keyScalars(model: tf.LayersModel): SummaryValue[] {
  return Object.values(openTables(model)).flatMap((open) => {
    const name = nameOf(open.table!);
    const { size, load, admitted, evicted, unknownShare, probeMean, probeMax } = open.stats();
    const told = { size, load, admitted, evicted, unknown_share: unknownShare };
    const numbers = { ...told, probe_mean: probeMean, probe_max: probeMax };
    return Object.entries(numbers).map(([tag, simpleValue]) => ({ tag: `${name}/${tag}`, simpleValue }));
  });
}

/** Numbers of how training goes; `batch` and `size` are none. */
async function scalars(logs: Logs, prefix: string): Promise<{ train: SummaryValue[]; validation: SummaryValue[] }> {
  const [train, validation]: [SummaryValue[], SummaryValue[]] = [[], []];
  for (const [name, value] of Object.entries(logs)) {
    if (name === 'batch' || name === 'size') continue;
    const isValidation = name.startsWith('val_');
    const tag = `${prefix}${isValidation ? name.slice(4) : name}`;
    (isValidation ? validation : train).push({ tag, simpleValue: await numberOf(value) });
  }
  return { train, validation };
}

/** Numbers that a histogram has a place for, and how many others there were. */
function finite(values: Float32Array): { numbers: Float32Array; others: number } {
  const numbers = values.filter((value) => Number.isFinite(value));
  return { numbers, others: values.length - numbers.length };
}

export class TensorBoard extends tf.Callback {
  readonly #folder: LogFolder;
  readonly #updateFreq: number | null;
  readonly #histogramFreq: number;
  readonly #embeddingsFreq: number;
  readonly #labels: Readonly<Record<string, unknown>>;
  readonly #mostRows: number;
  #train: EventFile;
  #validation: EventFile;
  readonly #rows = new Map<string, SampledRows>();
  /** Batches of all calls of `fit`. */
  #batches = 0;
  /** The number of the last epoch. */
  #lastEpoch = -1;
  /** What is added to numbers of epochs, which each call counts from 0 or from `initialEpoch`; null: not known yet. */
  #shift: number | null = null;

  constructor(args: TensorBoardArgs) {
    super();
    const given = readOptions<TensorBoardArgs>(args, FIELDS, 'args', `emb.callbacks.tensorBoard({logdir: 'logs'})`);
    this.#folder = logFolder(given.logdir);
    this.#updateFreq = checkUpdateFreq(given.updateFreq);
    this.#histogramFreq = countOf(given.histogramFreq, 'histogramFreq', 1);
    this.#embeddingsFreq = countOf(given.embeddingsFreq, 'embeddingsFreq', 0);
    this.#mostRows = countOf(given.sampledRows, 'sampledRows', 10_000, 1);
    const labels: unknown = given.embeddingsMetadata ?? {};
    if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) {
      throw new ArgumentTypeError('embeddingsMetadata', 'an object of labels by the names of tables', labels);
    }
    this.#labels = labels as Readonly<Record<string, unknown>>;
    this.#train = new EventFile(this.#folder, 'train');
    this.#validation = new EventFile(this.#folder, 'validation');
  }

  override async onTrainBegin(): Promise<void> {
    // What a run that failed has left open.
    await this.#close();
    this.#shift = null;
    const tables = tablesOf(this.model);
    for (const [name, labels] of Object.entries(this.#labels)) {
      const table = tables.get(name);
      if (table === undefined) {
        const expected = `names of tables of the model: ${[...tables.keys()].join(', ') || 'it has none'}`;
        throw new ValueError('embeddingsMetadata', expected, name);
      }
      checkLabels(labels, table.shape[0]!, `embeddingsMetadata.${name}`);
    }
    // What is compared with later.
    if (this.#histogramFreq > 0) for (const rows of this.#sampled()) await rows.look();
  }

  override async onBatchEnd(_batch: number, logs: Logs = {}): Promise<void> {
    const step = this.#batches++;
    if (this.#updateFreq === null || (step + 1) % this.#updateFreq !== 0) return;
    await this.#train.add(step, (await scalars(logs, 'batch_')).train);
  }

  override async onEpochEnd(epoch: number, logs: Logs = {}): Promise<void> {
    this.#shift ??= Math.max(0, this.#lastEpoch + 1 - epoch);
    const step = this.#shift + epoch;
    this.#lastEpoch = step;
    const { train, validation } = await scalars(logs, 'epoch_');
    const { learningRate } = this.model.optimizer as unknown as { learningRate?: unknown };
    if (typeof learningRate === 'number') train.push({ tag: 'epoch_learning_rate', simpleValue: learningRate });
    train.push(...keyScalars(this.model));
    if (this.#histogramFreq > 0 && (step + 1) % this.#histogramFreq === 0) train.push(...(await this.#histograms()));
    await this.#train.add(step, train);
    await this.#validation.add(step, validation);
    if (this.#embeddingsFreq > 0 && (step + 1) % this.#embeddingsFreq === 0) await this.#project();
  }

  override async onTrainEnd(): Promise<void> {
    await this.#project();
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.#folder.close();
    this.#train = new EventFile(this.#folder, 'train');
    this.#validation = new EventFile(this.#folder, 'validation');
  }

  /** The tables as they are now: they may have got more rows. */
  #sampled(): SampledRows[] {
    return [...tablesOf(this.model)].map(([name, table]) => {
      const known = this.#rows.get(name);
      if (known?.isOf(table) === true) return known;
      const rows = new SampledRows(name, table, this.#mostRows);
      this.#rows.set(name, rows);
      return rows;
    });
  }

  async #histograms(): Promise<SummaryValue[]> {
    const found: SummaryValue[] = [];
    for (const rows of this.#sampled()) {
      const { norms, changed } = await rows.look();
      const { numbers, others } = finite(norms);
      if (numbers.length > 0) found.push({ tag: `${rows.name}/row_norms`, histogram: histogramOf(numbers) });
      if (others > 0) found.push({ tag: `${rows.name}/rows_not_finite`, simpleValue: others });
      if (changed === null) continue;
      found.push({ tag: `${rows.name}/touched_share`, simpleValue: changed.length / rows.ids.length });
      if (changed.length > 0) found.push({ tag: `${rows.name}/touched_rows`, histogram: histogramOf(changed) });
    }
    return found;
  }

  async #project(): Promise<void> {
    const tables = [];
    for (const rows of this.#sampled()) {
      const { name, ids, dim } = rows;
      const labels = (this.#labels[name] ?? null) as RowLabels | null;
      if (labels !== null) checkLabels(labels, rows.rows, `embeddingsMetadata.${name}`);
      tables.push({ name, ids, dim, values: await rows.read(), labels });
    }
    if (tables.length > 0) await writeProjector(this.#folder, tables);
  }
}

/**
 * Returns a callback for `fit` and `fitDataset` that writes event files of TensorBoard below `logdir`: losses, metrics
 * and the learning rate as scalars (`epoch_loss`, of validation in the run `validation`), and for each table of this
 * package a histogram of the norms of its rows (`<table>/row_norms`), the share of rows that changed since the record
 * before (`touched_share`) and a histogram of their numbers (`touched_rows`); of an open table also what its `stats` tell
 * (`size`, `load`, `admitted`, `evicted`, `unknown_share`, `probe_mean`, `probe_max`). When training ends it writes
 * `projector_config.pbtxt` with rows and labels for the projector. Works on every backend and in pages.
 *
 * Of a table with more than `sampledRows` rows (10,000) as many are read, evenly spread and each time the same, so that
 * the cost does not grow with the table. NaN and infinite norms are in no histogram; `rows_not_finite` counts them. A
 * second call of `fit` with the same callback goes on with the numbers of epochs and begins new files. Python's
 * EventAccumulator reads all records.
 *
 * Throws: TypeError and ValueError for arguments; ValueError when `fit` begins for labels of an unknown table or in a
 * wrong number; RuntimeError for a folder that cannot be written.
 * Source: tf.keras.callbacks.TensorBoard (TensorFlow 2.21), tf.node.tensorBoard (tfjs-node 4.22), which needs the backend
 * `tensorflow`.
 *
 * @param args - Where to write, and how often.
 * @returns The callback.
 *
 * @example
 * await model.fit(ids, labels, {epochs: 10, callbacks: emb.callbacks.tensorBoard({logdir: './logs'})});
 */
export function tensorBoard(args: TensorBoardArgs): tf.Callback {
  return new TensorBoard(args);
}
