/** All columns of a data set in one record: learned in one pass, applied alike in training and serving. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkFormatVersion } from '../../base/format_version.js';
import { isRecord, readOptions } from '../../base/options.js';
import { brand } from '../../base/per_process.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { eachBatch, type AdaptOptions, type AsyncBatches } from '../cells/batches.js';
import { asNumber, asWhole, namedValue, type Cells } from '../cells/cells.js';
import { writeCells } from '../cells/written_cells.js';
import { HashedCrossing } from '../hashed_crossing.js';
import { BatchReader, type ColumnBatch } from './column_batch.js';
import { columnForm, isLearned } from './column_form.js';
import { maskName, maskOf, spreadRows, spreadSplits } from './missing_values.js';
import {
  readStep,
  restoredColumn,
  savedColumn,
  type ColumnInput,
  type ColumnStep,
  type Columns,
  type PreprocessingObject,
} from './column_steps.js';

export interface PipelineArgs {
  /** What becomes of each column, by its name. */
  columns: Columns;
}

/** The newest version of configs, which tells what missing values are read as; others say 1. */
const VERSION = 2;

export interface PipelineConfig {
  /** Of the format. */
  version: number;
  columns: Record<string, object | string>;
}

/** Inputs of a model by name. */
export type PipelineOutput = Record<string, tf.Tensor | RaggedTensor>;

/** What a pipeline adapts to: a batch, or an iterable of batches, of columns by name or of rows as objects. */
export type PipelineData = ColumnBatch | Iterable<ColumnBatch | object> | AsyncIterable<unknown> | AsyncBatches;

/**
 * Turns columns into the inputs of a model: what is learned of them is kept in one record, which saves with the model.
 *
 * - `columns`: by name, `'int'` or `'float'` (numbers as they are), `'ids'` (lists of ids), `'string'` (ids by a
 *   vocabulary that is learned), an object of `emb.preprocessing`, `{list: ...}` of one of these for rows of several
 *   values, `{type: ..., column: 'a', missing: 0}` for what is made of a column of another name, or of one with missing
 *   values, or `{cross: ['a', 'b'], by: new HashedCrossing(...)}`.
 * - `missing`: what null, undefined and NaN are read as, else an error; `'mask'`: 0, and a column NAME_mask of 1 and 0
 *   beside. In lists `'mask'` leaves them out. Lists that are null are empty.
 * - Batches are columns by name (arrays, typed arrays, UTF-8 columns, `{values, rowSplits}`, tensors) or lists of row
 *   objects. Elements `{features, ...}` and `{xs, ...}` of data sets are read as their features.
 * - One value a row gives a tensor [batch, 1], a list of values ragged rows; modes other than `int` a tensor
 *   [batch, places].
 * - `model.pipeline = pipeline` (or `emb.attach`) saves it with the model; a loaded model has it again. Strings do not
 *   enter models, SavedModels neither: apply the pipeline first, in Node, in a page or in the service before the model.
 * - Errors: TypeError and ValueError for what declares no column, and for batches without a column or with other values,
 *   named `data.COLUMN`; RuntimeError for `apply` and `inputs` before `adapt`.
 *
 * @example
 * const pipeline = new emb.preprocessing.Pipeline({ columns: { user: 'string', tags: { list: 'string' }, age: 'float' } });
 * pipeline.adapt([{ user: 'a', tags: ['x', 'y'], age: 30 }, { user: 'b', tags: ['x'], age: 41 }]);
 * pipeline.apply([{ user: 'b', tags: ['y', 'new'], age: 29 }]); // { user: [[1]], tags: [[1, 0]], age: [[29]] }
 */
export class Pipeline {
  static {
    brand(this, 'Pipeline');
  }
  readonly #steps: readonly ColumnStep[];

  /** @param args - The columns; see `PipelineArgs`. */
  constructor(args: PipelineArgs) {
    const { columns } = readOptions<PipelineArgs>(args, ['columns'], 'args');
    if (!isRecord(columns)) throw new ArgumentTypeError('columns', 'an object of columns by name', columns);
    this.#steps = Object.entries(columns).map(([name, input]) => readStep(name, input));
    if (this.#steps.length === 0) throw new ValueError('columns', 'at least one column', described('none'));
    const names = this.columnNames;
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice === undefined) return;
    throw new ValueError(`columns.${twice}`, 'a name of its own', described('the mask of another'));
  }

  /**
   * Returns one equal to that whose `getConfig()` this is.
   *
   * @param config - What `getConfig()` gave.
   * @returns A new pipeline.
   */
  static fromConfig(config: object): Pipeline {
    const columns = isRecord(config) ? config['columns'] : undefined;
    if (!isRecord(columns)) throw new ArgumentTypeError('config', 'an object as getConfig() returns it', config);
    checkFormatVersion('config', 'a pipeline', (config as { version?: unknown }).version, VERSION);
    const entries = Object.entries(columns).map(([name, saved]): [string, ColumnInput] => [
      name,
      restoredColumn(name, saved),
    ]);
    return new Pipeline({ columns: Object.fromEntries(entries) });
  }

  /** The names of the columns that `apply` gives. */
  get columnNames(): string[] {
    return this.#steps.flatMap((step) => (hasMask(step) ? [step.name, maskName(step.name)] : [step.name]));
  }

  /**
   * Learns vocabularies, boundaries and means of all columns in one pass, and returns this.
   *
   * @param data - A batch, or an iterable of batches; of an async one, or of a data set of `tf.data`, a promise comes
   * back.
   * @param options - How many batches are read.
   * @returns This pipeline.
   */
  adapt(data: ColumnBatch | Iterable<ColumnBatch>, options?: AdaptOptions): this;
  adapt(data: AsyncIterable<unknown> | AsyncBatches, options?: AdaptOptions): Promise<this>;
  adapt(data: PipelineData, options?: AdaptOptions): this | Promise<this> {
    const learners = this.#steps.flatMap((step) => {
      const learner = typeof step.does === 'object' && 'learner' in step.does ? step.does.learner?.() : null;
      return learner === null || learner === undefined ? [] : [{ step, learner }];
    });
    const isBatch = Array.isArray(data) || (isRecord(data) && !(Symbol.iterator in data) && !isAsync(data));
    const batches = isBatch ? [data][Symbol.iterator]() : data;
    return eachBatch(
      batches,
      options,
      (batch, at) => {
        const reader = new BatchReader(batch, isBatch ? 'data' : `data[${at}]`);
        for (const { step, learner } of learners) {
          const [cells] = reader.columnsOf(step).cells;
          if (cells!.count > 0) learner.take(cells!, true);
        }
      },
      () => {
        for (const { learner } of learners) learner.end();
        return this;
      },
    );
  }

  /**
   * Returns the inputs of a model by name, which `predict`, `fit` and the like take as they are. The caller disposes of
   * the tensors.
   *
   * @param rows - A batch: columns by name, or rows as objects.
   * @returns A tensor or ragged rows for each column.
   */
  apply(rows: ColumnBatch | object): PipelineOutput {
    const reader = new BatchReader(rows, 'data');
    const made: PipelineOutput = {};
    try {
      for (const step of this.#steps) {
        const { cells, missing } = reader.columnsOf(step);
        const result = applyStep(step, cells);
        made[step.name] = missing === null ? result : spread(result, missing);
        if (!hasMask(step)) continue;
        const count = missing?.length ?? cells[0]!.count;
        made[maskName(step.name)] = tf.tensor2d(maskOf(count, missing), [count, 1]);
      }
    } catch (error) {
      tf.dispose(Object.values(made).filter((each) => each instanceof tf.Tensor));
      throw error;
    }
    return made;
  }

  /**
   * Returns symbolic inputs for `tf.model` of the shapes and names that `apply` gives.
   *
   * @returns A symbolic tensor for each column, by name.
   * @throws RuntimeError where vectors have no length before `adapt`; ValueError for a column of texts (`invert`).
   */
  inputs(): Record<string, tf.SymbolicTensor> {
    const symbols: Record<string, tf.SymbolicTensor> = {};
    for (const step of this.#steps) {
      symbols[step.name] = symbolicInput(step);
      const name = maskName(step.name);
      if (hasMask(step)) symbols[name] = tf.input({ shape: [1], dtype: 'float32', name });
    }
    return symbols;
  }

  /**
   * Returns how many ids each column may give, the `inputDim` of its embedding; null where it gives none or it is not
   * known.
   *
   * @returns Numbers of ids by column.
   */
  inputDims(): Record<string, number | null> {
    return Object.fromEntries(this.#steps.map(({ name, does }) => [name, inputDimOf(does)]));
  }

  /**
   * Returns declarations, and what was learned, as plain JSON values.
   *
   * @returns What `fromConfig` takes.
   */
  getConfig(): PipelineConfig {
    const version = this.#steps.some(({ missing }) => missing !== 'error') ? VERSION : 1;
    return { version, columns: Object.fromEntries(this.#steps.map((step) => [step.name, savedColumn(step)])) };
  }
}

function isAsync(data: object): boolean {
  return Symbol.asyncIterator in data || typeof (data as { iterator?: unknown }).iterator === 'function';
}

function applyStep({ does, isList }: ColumnStep, columns: readonly Cells[]): tf.Tensor | RaggedTensor {
  if (does instanceof HashedCrossing) return does.applyCells(columns) as tf.Tensor;
  const cells = columns[0]!;
  if (typeof does === 'string') {
    const values =
      does === 'int'
        ? Int32Array.from(cells.flat, (value, i) => asInt32(value, i, cells))
        : Float32Array.from(cells.flat, (value, i) => asNumber(value, i, cells.places));
    if (isList) return writeCells(cells, values) as RaggedTensor;
    return tf.tensor(values, [cells.count, 1], does === 'int' ? 'int32' : 'float32');
  }
  return (does as PreprocessingObject).applyCells(cells) as tf.Tensor | RaggedTensor;
}

function asInt32(value: unknown, position: number, { isFloat32, places }: Cells): number {
  const whole = asWhole(value, position, isFloat32, places);
  if (whole >= -(2 ** 31) && whole < 2 ** 31) return whole;
  const [argument, received] = namedValue(String(whole), position, places);
  throw new ValueError(argument, 'whole numbers of 32 bits', received, 'Look larger ones up or hash them.');
}

function symbolicInput({ name, does, isList }: ColumnStep): tf.SymbolicTensor {
  const input = (shape: (number | null)[], dtype: 'int32' | 'float32', isRagged = false): tf.SymbolicTensor => {
    const symbol = tf.input({ shape: shape as tf.Shape, dtype, name });
    if (isRagged) (symbol.sourceLayer as { ragged?: boolean }).ragged = true;
    return symbol;
  };
  if (typeof does === 'string') return input([isList ? null : 1], does === 'float' ? 'float32' : 'int32', isList);
  const { dtype, length, isRagged } = columnForm(does, isList ? null : 1, `columns.${name}`);
  if (dtype !== 'string') return input([length], dtype, isRagged);
  throw new ValueError(`columns.${name}`, 'numbers for the inputs of a model', described('strings'));
}

const hasMask = ({ missing, isList }: ColumnStep): boolean => missing === 'mask' && !isList;

/** The result of the rows that have a value as that of all rows: zeros, or no values, for the others. */
function spread(result: tf.Tensor | RaggedTensor, missing: Uint8Array): tf.Tensor | RaggedTensor {
  if (!(result instanceof tf.Tensor)) {
    const { values, rowSplits } = result;
    return RaggedTensor.fromRowSplits(values, spreadSplits(rowSplits, missing));
  }
  const width = result.shape[1]!;
  const values = result.dataSync() as unknown as Float32Array;
  result.dispose();
  return tf.tensor(spreadRows(values, width, missing), [missing.length, width], result.dtype);
}

function inputDimOf(does: ColumnStep['does']): number | null {
  if (typeof does === 'string') return null;
  const { vocabularySize, numBins, binBoundaries, width } = does as {
    vocabularySize?: () => number;
    numBins?: number | null;
    binBoundaries?: readonly number[] | null;
    width?: number | null;
  };
  if (width !== null && width !== undefined) return null;
  if (vocabularySize !== undefined) return isLearned(does) ? vocabularySize.call(does) : null;
  return binBoundaries === undefined || binBoundaries === null ? (numBins ?? null) : binBoundaries.length + 1;
}
