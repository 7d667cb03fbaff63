/** A data set: rows of named columns that are read as they are needed, cut into batches, and fed to models. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { checkBoolean } from '../base/layer_arguments.js';
import { checkCount, readOptions } from '../base/options.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { input } from '../layers/ragged_input.js';
import { readCells } from '../preprocessing/cells/cells.js';
import { columnForm, isLearned, type ColumnForm } from '../preprocessing/pipeline/column_form.js';
import { maskName } from '../preprocessing/pipeline/missing_values.js';
import { BATCHES, modelBatches } from '../tfjs/training/dataset_batches.js';
import type { Chunk, Column } from './chunk.js';
import { isPreprocessor, type ColumnSpec, type Declaration, type Preprocessor } from './column_spec.js';
import { encodeChunk, isOwn, learnedCells, learnedColumns } from './encoded_column.js';
import { cellsOf, type RawChunk } from './raw_column.js';
import {
  batchRows,
  chooseRows,
  firstChunks,
  laterChunks,
  randomAt,
  readAhead,
  shuffleRows,
  skipRows,
  takeRows,
  type Chunks,
} from './row_stream.js';

/** A value of a feature: of a row, or of a batch of rows. */
export type FeatureValue = string | number | ArrayLike<number> | readonly string[] | tf.Tensor | RaggedTensor;

/** A row, or a batch: tensors, RaggedTensors where rows have different lengths. The caller disposes tensors. */
export interface DatasetElement {
  readonly features: Readonly<Record<string, FeatureValue>>;
  readonly label?: FeatureValue | Readonly<Record<string, FeatureValue>>;
  readonly weight?: FeatureValue;
}

/** Where rows come from. */
export interface RowSource {
  /** Rows; null: not known, or not yet. */
  readonly size: number | null;
  /** Reads what tells the number of rows. */
  ready?(): Promise<void>;
  /** Starts to read; may be called again. */
  open(): AsyncIterable<RawChunk>;
}

export interface DatasetFacts {
  readonly source: RowSource;
  readonly declaration: Declaration;
  readonly naValues: ReadonlySet<string>;
}

export interface BatchOptions {
  /** Whether a last batch of fewer rows is left out. */
  dropRemainder?: boolean | undefined;
}

/** What is read of the rows. */
interface Reading {
  chunkOf(raw: RawChunk): Chunk;
  /** Whether the rows are learned from: those that the next reading gives. */
  readonly isLearning: boolean;
}

/** The rows of a data set after some operations. */
interface Stream {
  /** Rows, or batches; null: not known. */
  size(): number | null;
  open(reading: Reading): Chunks;
  /** Rows of a batch; null: elements are rows. */
  readonly batchSize: number | null;
  /** Whether a reading comes to no end. */
  readonly isEndless: boolean;
  /** Whether two readings give the rows in the same order. */
  readonly isOrdered: boolean;
}

function checkSeed(value: unknown): number {
  return checkCount(value, 'seed', 0);
}

/** The tensor of a column. */
function tensorOf({ values, width, rowSplits }: Column, count: number): tf.Tensor | RaggedTensor {
  if (rowSplits !== null) {
    if (ArrayBuffer.isView(values)) return RaggedTensor.fromRowSplits(values as Int32Array, rowSplits);
    throw new RuntimeError('columns', 'lists of numbers in a batch', described('lists of strings'));
  }
  if (!ArrayBuffer.isView(values)) return tf.tensor2d(values as string[], [count, width], 'string');
  const dtype = values instanceof Int32Array ? 'int32' : 'float32';
  // The backend may keep what it is given; a view is part of a chunk.
  return tf.tensor2d(values.slice() as Float32Array, [count, width], dtype);
}

function rowValue({ values, width, rowSplits }: Column, row: number): FeatureValue {
  const all = values as Float32Array | readonly string[];
  if (rowSplits !== null) return all.slice(rowSplits[row], rowSplits[row + 1]);
  return width === 1 ? all[row]! : all.slice(row * width, (row + 1) * width);
}

/**
 * Rows of named columns, read as they are needed: memory holds batches, not files.
 *
 * Made by `emb.data.fromArrays`, `fromCsv`, `fromParquet` and `fromArrow`. Each operation returns another data set, and
 * nothing is read before it is iterated: `for await (const {features, label} of dataset)` gives rows as plain values or,
 * after `batch`, tensors, and RaggedTensors for lists of different lengths. `model.fitDataset(dataset.batch(n), …)` feeds
 * features to the inputs of the same names. Source: tf.data.Dataset (TensorFlow 2.21), as far as it goes.
 *
 * @example
 * const rows = emb.data.fromArrays({visits: [[1, 2], [3]], click: [0, 1]}, {label: 'click'});
 * for await (const {features, label} of rows.shuffle(100, 7).batch(32)) console.log(String(features.visits), label.shape);
 */
export class Dataset implements AsyncIterable<DatasetElement> {
  readonly #facts: DatasetFacts;
  readonly #stream: Stream;
  readonly #reading: Reading;
  /** Those of the features, which each row is made of. */
  readonly #names: readonly string[];

  /** @internal Data sets are made by `emb.data.fromArrays` and the like. */
  constructor(facts: DatasetFacts, stream: Stream | null = null) {
    const { source, declaration, naValues } = facts;
    this.#facts = facts;
    this.#names = this.#features().flatMap((spec) => {
      return hasMask(spec) ? [spec.name, maskName(spec.name)] : [spec.name];
    });
    this.#stream = stream ?? {
      size: () => source.size,
      batchSize: null,
      isEndless: false,
      isOrdered: true,
      async *open({ chunkOf }) {
        for await (const raw of source.open()) if (raw.count > 0) yield chunkOf(raw);
      },
    };
    this.#reading = { chunkOf: (raw) => encodeChunk(raw, declaration, naValues), isLearning: false };
  }

  /** Number of rows or, after `batch`, of batches; null where it is not known before all are read. */
  get size(): number | null {
    return this.#stream.size();
  }

  /**
   * Reads what tells the number of rows, where a file does; `fitDataset` does so by itself.
   *
   * @returns This. Throws what opening the files throws.
   *
   * @example
   * const {size} = await emb.data.fromParquet('clicks.parquet', {columns: {user: 'int'}}).ready();
   */
  async ready(): Promise<this> {
    await this.#facts.source.ready?.();
    return this;
  }

  /** Names of the features. */
  get featureNames(): string[] {
    return [...this.#names];
  }

  #with(stream: Partial<Stream>): Dataset {
    return new Dataset(this.#facts, { ...this.#stream, ...stream });
  }

  /** The size of what is made of these rows; a count is made once. */
  #sized(of: (size: number) => number | null): () => number | null {
    const { size } = this.#stream;
    let known: { from: number; to: number | null } | null = null;
    return () => {
      const from = size();
      if (from === null) return null;
      if (known?.from !== from) known = { from, to: of(from) };
      return known.to;
    };
  }

  #features(): ColumnSpec[] {
    const { columns, labels, weight } = this.#facts.declaration;
    return columns.filter(({ name }) => !labels.includes(name) && name !== weight);
  }

  /**
   * Returns the rows in random order: a buffer of `bufferSize` rows is mixed, half of it goes out, and more rows come in.
   * A buffer of all rows makes each order as likely. Each reading has another order; with a seed, the n-th reading has the
   * same one in each run. Throws TypeError and ValueError for numbers of another kind, ValueError after `batch`.
   *
   * @param bufferSize - Rows that are held.
   * @param seed - Whole number from 0 on; without it, orders are those of `Math.random`.
   * @returns Another data set. Source: tf.data.Dataset.shuffle with reshuffle_each_iteration.
   *
   * @example
   * dataset.shuffle(10_000, 1).batch(512);
   */
  shuffle(bufferSize: number, seed?: number): Dataset {
    const size = checkCount(bufferSize, 'bufferSize', 1);
    this.#refuseAfterBatch('shuffle');
    const given = seed === undefined ? null : checkSeed(seed);
    const { open } = this.#stream;
    let reading = 0;
    return this.#with({
      isOrdered: false,
      open: (rows) => {
        const stream = rows.isLearning ? reading : reading++;
        const draw = given === null ? null : randomAt(given, stream);
        let drawn = 0;
        return shuffleRows(open(rows), size, draw === null ? Math.random : () => draw(drawn++));
      },
    });
  }

  /**
   * Returns batches of `batchSize` rows; the last one has the rest, unless `dropRemainder`. Columns become tensors
   * [rows, 1], or [rows, length] for lists of one length, float32, int32 or string; lists of any length become
   * RaggedTensors. Throws ValueError for data that are batched already.
   *
   * @param batchSize - Rows of a batch.
   * @param options - See `BatchOptions`.
   * @returns Another data set, whose `size` counts batches. Source: tf.data.Dataset.ragged_batch and batch.
   *
   * @example
   * dataset.batch(512, {dropRemainder: true});
   */
  batch(batchSize: number, options: BatchOptions = {}): Dataset {
    const size = checkCount(batchSize, 'batchSize', 1);
    this.#refuseAfterBatch('batch');
    const { dropRemainder } = readOptions<BatchOptions>(options, ['dropRemainder']);
    const drops = checkBoolean(dropRemainder, 'dropRemainder', false);
    const { open } = this.#stream;
    return this.#with({
      batchSize: size,
      size: this.#sized((rows) => (drops ? Math.floor(rows / size) : Math.ceil(rows / size))),
      open: (reading) => batchRows(open(reading), size, drops),
    });
  }

  /**
   * Returns the elements again and again. @param count - How often; without it, endlessly: give `batchesPerEpoch` then.
   * @returns Another data set. Source: tf.data.Dataset.repeat.
   *
   * @example
   * dataset.batch(512).repeat(3);
   */
  repeat(count?: number): Dataset {
    const times = count === undefined ? Infinity : checkCount(count, 'count', 0);
    const { open } = this.#stream;
    return this.#with({
      size: this.#sized((count) => (count === 0 ? 0 : times === Infinity ? null : count * times)),
      isEndless: times === Infinity || (times > 0 && this.#stream.isEndless),
      async *open(reading) {
        for (let i = 0; i < times; i++) {
          let isEmpty = true;
          for await (const chunk of open(reading)) {
            isEmpty = false;
            yield chunk;
          }
          // An endless repetition of nothing would never come back.
          if (isEmpty) return;
        }
      },
    });
  }

  /**
   * Returns the same elements, some of which are read before they are asked for, while a step is computed.
   *
   * @param count - Elements, or chunks of rows before `batch`, that are read ahead.
   * @returns Another data set. Source: tf.data.Dataset.prefetch.
   *
   * @example
   * dataset.batch(512).prefetch(2);
   */
  prefetch(count: number): Dataset {
    const ahead = checkCount(count, 'count', 0);
    const { open } = this.#stream;
    return this.#with({ open: (reading) => (ahead === 0 ? open(reading) : readAhead(open(reading), ahead)) });
  }

  /**
   * Returns the first rows or, after `batch`, batches.
   *
   * @param count - How many, at most.
   * @returns Another data set. Source: tf.data.Dataset.take.
   *
   * @example
   * dataset.take(1000);
   */
  take(count: number): Dataset {
    const taken = checkCount(count, 'count', 0);
    const { open, batchSize } = this.#stream;
    return this.#with({
      size: this.#sized((size) => Math.min(size, taken)),
      isEndless: false,
      open: (reading) => (batchSize === null ? takeRows : firstChunks)(open(reading), taken),
    });
  }

  /**
   * Returns all rows or, after `batch`, batches but the first.
   *
   * @param count - How many are left out.
   * @returns Another data set. Source: tf.data.Dataset.skip.
   *
   * @example
   * dataset.skip(1000);
   */
  skip(count: number): Dataset {
    const skipped = checkCount(count, 'count', 0);
    const { open, batchSize } = this.#stream;
    return this.#with({
      size: this.#sized((size) => Math.max(0, size - skipped)),
      open: (reading) => (batchSize === null ? skipRows : laterChunks)(open(reading), skipped),
    });
  }

  /**
   * Returns two data sets: each row is in one of them, the first with the given chance, and in the same one in each
   * reading. Throws ValueError for fractions out of (0, 1), after `batch`, and after `shuffle` without a fixed order.
   *
   * @param fraction - Share of the rows in the first data set.
   * @param seed - Another seed draws other rows.
   * @returns The two. Source: keras.utils.split_dataset (Keras 3), with rows drawn at random.
   *
   * @example
   * const [train, test] = dataset.split(0.9);
   */
  split(fraction: number, seed = 0): [Dataset, Dataset] {
    const expected = 'a number between 0 and 1';
    if (typeof fraction !== 'number') throw new ArgumentTypeError('fraction', expected, fraction);
    if (!(fraction > 0 && fraction < 1)) throw new ValueError('fraction', expected, fraction);
    const given = checkSeed(seed);
    this.#refuseAfterBatch('split');
    this.#refuseUnordered('split');
    const chance = (): ((row: number) => boolean) => {
      const draw = randomAt(given, 0);
      return (row) => draw(row) < fraction;
    };
    const { open } = this.#stream;
    const of = (isFirst: boolean): Dataset =>
      this.#with({
        size: this.#sized((size) => {
          const chosen = chance();
          let count = 0;
          for (let row = 0; row < size; row++) if (chosen(row) === isFirst) count += 1;
          return count;
        }),
        open: (reading) => {
          const chosen = chance();
          return chooseRows(open(reading), (row) => chosen(row) === isFirst);
        },
      });
    return [of(true), of(false)];
  }

  /**
   * Returns every n-th row, so that `count` workers have all of them. Throws ValueError after `batch`, and after
   * `shuffle`, where two workers could get the same row.
   *
   * @param count - Number of workers.
   * @param index - Number of this one, from 0 on.
   * @returns Another data set. Source: tf.data.Dataset.shard.
   *
   * @example
   * dataset.shard(4, 0);
   */
  shard(count: number, index: number): Dataset {
    const workers = checkCount(count, 'count', 1);
    const worker = checkCount(index, 'index', 0);
    if (worker >= workers) throw new ValueError('index', `a number below count (${workers})`, index);
    this.#refuseAfterBatch('shard');
    this.#refuseUnordered('shard');
    const { open } = this.#stream;
    return this.#with({
      size: this.#sized((size) => Math.ceil((size - worker) / workers)),
      open: (reading) => chooseRows(open(reading), (row) => row % workers === worker),
    });
  }

  /**
   * Returns the inputs of a model for the features: [null] ragged for lists of any length, [length] for lists of one
   * length, [1] for all else, with the names of the columns. Throws ValueError for columns of strings, which models do
   * not take.
   *
   * @returns Symbolic tensors by name, to be used once.
   *
   * @example
   * const {visits, age} = dataset.inputs();
   */
  inputs(): Record<string, tf.SymbolicTensor> {
    const symbols: Record<string, tf.SymbolicTensor> = {};
    for (const spec of this.#features()) {
      const { name, item, isList, length, part } = spec;
      const made = isPreprocessor(item) ? formOf(item, spec) : null;
      if (item === 'string' || made?.dtype === 'string') {
        const note = `Give it an object of emb.preprocessing: columns: {${name}: new emb.preprocessing.StringLookup()}.`;
        throw new ValueError(`columns.${name}`, 'numbers for the inputs of a model', described('strings'), note);
      }
      const isFloat = item === 'float' || (item === 'date' && part === 'days');
      const dtype = made?.dtype ?? (isFloat ? 'float32' : 'int32');
      const form = made ?? { length: isList ? length : 1, isRagged: isList && length === null };
      symbols[name] = input({ shape: [form.length], ragged: form.isRagged, dtype, name });
      if (hasMask(spec)) symbols[maskName(name)] = input({ shape: [1], name: maskName(name) });
    }
    return symbols;
  }

  /**
   * Returns the features as a Pipeline takes them, which turns rows of the same columns into the same inputs when the
   * model serves: by the names that columns have in the data, with the same values for what is missing. It shares the
   * objects of `emb.preprocessing`, and is saved with a model as `model.pipeline`. Throws ValueError for columns of
   * strings, dates and lists of one length, which a pipeline does not read.
   *
   * @returns The `columns` of a Pipeline.
   *
   * @example
   * model.pipeline = new emb.preprocessing.Pipeline({ columns: dataset.pipelineColumns() });
   */
  pipelineColumns(): Readonly<Record<string, never>> {
    const columns = this.#features().map(({ name, source, item, isList, length, missing }): [string, unknown] => {
      if (item === 'string' || item === 'date' || length !== null) {
        const received = described(length === null ? `a column of type ${item as string}` : 'lists of one length');
        throw new ValueError(
          `columns.${name}`,
          'numbers, lists of any length or an object of emb.preprocessing',
          received,
        );
      }
      const type = isList ? { list: item } : item;
      return [name, source === name && missing === 'error' ? type : { type, column: source, missing }];
    });
    // Of any type that a pipeline asks for: it checks them itself.
    return Object.fromEntries(columns) as Record<string, never>;
  }

  /**
   * Learns the vocabularies, bins and the like of the columns' objects of `emb.preprocessing` that have none yet, from the
   * rows that this data set gives, after `split`, `take` and the like: call it on those to train on.
   *
   * @returns This.
   * @throws What `adapt` of the objects throws, and what reading the rows does; ValueError for rows without end.
   *
   * @example
   * const dataset = await emb.data.fromCsv('train.csv', {columns: {city: new emb.preprocessing.StringLookup()}}).adapt();
   */
  async adapt(): Promise<this> {
    const { declaration, naValues } = this.#facts;
    // Columns may share an object, which learns of all of them.
    const learners = new Map<Preprocessor, Learner>();
    const learning = declaration.columns.flatMap((spec) => {
      const { item } = spec;
      if (!isPreprocessor(item) || !isUnlearned(item)) return [];
      const learner = learners.get(item) ?? item.learner?.() ?? null;
      if (learner === null) return [];
      learners.set(item, learner);
      return [{ spec, learner }];
    });
    if (learning.length === 0) return this;
    if (this.#stream.isEndless) {
      const note = 'Call adapt before repeat, or on rows that take has counted.';
      throw new ValueError('adapt', 'rows that come to an end', described('rows repeated without end'), note);
    }
    const reading: Reading = {
      isLearning: true,
      chunkOf: (raw) => ({
        count: raw.count,
        columns: new Map(learning.flatMap(({ spec }) => learnedColumns(cellsOf(spec, raw, naValues)))),
      }),
    };
    for await (const { columns } of this.#stream.open(reading)) {
      for (const { spec, learner } of learning) {
        const cells = learnedCells(spec, columns);
        // An object of the caller's takes values one by one.
        const taken = isOwn(spec.item as Preprocessor) || cells === null ? cells : readCells(cells.flat);
        if (taken !== null) learner.take(taken as never, true);
      }
    }
    for (const learner of learners.values()) learner.end();
    return this;
  }

  /**
   * Reads the elements, as `for await` does.
   *
   * @returns An iterator. Tensors of batches are the caller's to dispose.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<DatasetElement> {
    const isBatched = this.#stream.batchSize !== null;
    for await (const chunk of this.#stream.open(this.#reading)) {
      if (isBatched) yield this.#batchOf(chunk);
      else for (let row = 0; row < chunk.count; row++) yield this.#element(chunk, (column) => rowValue(column, row));
    }
  }

  /**
   * Reads batches for `fitDataset` and `evaluateDataset` of stock models, which take tensors alone.
   *
   * @returns An iterator of tfjs.
   * @throws RuntimeError before `batch`; ValueError for weights of rows and for ragged columns, which such models do not take.
   */
  async iterator(): Promise<{ next(): Promise<{ done: boolean; value: unknown }> }> {
    return this[BATCHES](true);
  }

  /**
   * Reads batches for models of this package.
   *
   * @param isStock - Whether it is for other models.
   * @returns An iterator of tfjs.
   */
  async [BATCHES](isStock = false): Promise<{ next(): Promise<{ done: boolean; value: unknown }> }> {
    if (this.#stream.batchSize !== null) return modelBatches(this[Symbol.asyncIterator](), isStock);
    throw new RuntimeError('dataset', 'batches', described('rows'), 'Call batch(n) first.');
  }

  #batchOf(chunk: Chunk): DatasetElement {
    const made: tf.Tensor[] = [];
    try {
      return this.#element(chunk, (column) => {
        const value = tensorOf(column, chunk.count);
        if (value instanceof tf.Tensor) made.push(value);
        return value;
      });
    } catch (error) {
      tf.dispose(made);
      throw error;
    }
  }

  #element({ columns }: Chunk, valueOf: (column: Column) => FeatureValue): DatasetElement {
    const { labels, weight } = this.#facts.declaration;
    const value = (name: string): FeatureValue => valueOf(columns.get(name)!);
    const features = Object.fromEntries(this.#names.map((name) => [name, value(name)]));
    const label =
      labels.length === 1 ? value(labels[0]!) : Object.fromEntries(labels.map((name) => [name, value(name)]));
    return {
      features,
      ...(labels.length > 0 && { label }),
      ...(weight !== null && { weight: weightOf(value(weight)) }),
    };
  }

  #refuseAfterBatch(what: string): void {
    if (this.#stream.batchSize === null) return;
    throw new ValueError(what, 'rows', described('batches'), `Call ${what} before batch.`);
  }

  #refuseUnordered(what: string): void {
    if (this.#stream.isOrdered) return;
    const note = `Call ${what} before shuffle: each reading has another order.`;
    throw new ValueError(what, 'rows in one order', described('shuffled rows'), note);
  }
}

/** Weights of a batch have one axis. */
function weightOf(value: FeatureValue): FeatureValue {
  if (!(value instanceof tf.Tensor)) return value;
  const flat = tf.tidy(() => value.flatten().toFloat());
  value.dispose();
  return flat;
}

type Learner = NonNullable<ReturnType<NonNullable<Preprocessor['learner']>>>;

const hasMask = ({ missing, isList }: ColumnSpec): boolean => missing === 'mask' && !isList;

/** What a preprocessor makes of a column; one of the caller's: numbers, or vectors of its `width`. */
function formOf(item: Preprocessor, { name, isList, length }: ColumnSpec): ColumnForm {
  const rowLength = isList ? length : 1;
  if (isOwn(item)) return columnForm(item, rowLength, `columns.${name}`);
  const { width = null } = item as { width?: number | null };
  if (width === null) return { dtype: 'int32', length: rowLength, isRagged: rowLength === null };
  return { dtype: 'float32', length: rowLength === null ? null : rowLength * width, isRagged: rowLength === null };
}

/** Fields of configs that are null before `adapt`. */
const LEARNED = ['vocabulary', 'binBoundaries', 'mean'];

function isUnlearned(item: Preprocessor): boolean {
  if (isOwn(item)) return !isLearned(item);
  if (typeof item.adapt !== 'function') return false;
  const config = item.getConfig() as Record<string, unknown>;
  return LEARNED.some((field) => field in config && config[field] === null);
}
