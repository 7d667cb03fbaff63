/** A table whose rows lie in a file, of which a cache in memory holds those that are asked for often. */
import * as tf from '@tensorflow/tfjs';
import type * as nodeOs from 'node:os';
import type * as nodePath from 'node:path';
import { devicesInUse } from '../../backends/registry.js';
import type { Table } from '../../backends/table.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean } from '../../base/layer_arguments.js';
import { checkCount, isRecord, readOptions } from '../../base/options.js';
import { brand } from '../../base/per_process.js';
import { nodeBuiltin } from '../../base/platform.js';
import { rowsAtOnce } from '../../base/row_blocks.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import { embeddingLookup, type EmbeddingLookupOptions } from '../../lookup/embedding_lookup.js';
import type { IdsInput } from '../../ids/parse_ids.js';
import { pathOf } from '../../io/byte_source.js';
import { EmbeddingTable } from '../embedding_table.js';
import type { ExtendArgs } from '../extension.js';
import { initializerOfRows } from '../initial_values.js';
import type { Initializer } from '../initializers.js';
import { WeightHolder } from '../keys/weight_holder.js';
import { isConverting, type WeightForm } from '../storage.js';
import type { TableHolder } from '../table_holder.js';
import { CachedRows } from './cached_rows.js';
import { DISK_TABLE_ARGUMENTS, THREADS, type DiskTableArgs } from './disk_table_args.js';
import { openRows } from './open_rows.js';
import { stateOf } from './row_file.js';
import { checkCacheBytes, RowReader, type DiskIo } from './row_reader.js';
import type { RowsAt } from './row_source.js';
import { TrainedRows } from './trained_rows.js';

const MOST_THREADS = 64;
/** Slots of a row that any optimizer has. */
const MOST_SLOTS = 4;

/** What a table did so far. */
export interface DiskTableStats {
  /** Rows that were asked for and lay in the cache, and rows that were read for it. */
  readonly hits: number;
  readonly misses: number;
  /** Bytes that the disk gave and took. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Rows that the cache has room for. */
  readonly cacheRows: number;
  /** Whether the file is read past the page cache. */
  readonly direct: boolean;
}

function readIo(io: unknown): Required<{ threads: number }> & { direct: boolean | null } {
  if (io === undefined || io === null) return { threads: THREADS, direct: null };
  const { threads, direct } = readOptions<DiskIo>(io, ['threads', 'direct'], 'io');
  const count = threads === undefined ? THREADS : checkCount(threads, 'io.threads', 1);
  if (count > MOST_THREADS) throw new ValueError('io.threads', `at most ${MOST_THREADS}`, count);
  return { threads: count, direct: direct === undefined ? null : checkBoolean(direct, 'io.direct', true) };
}

/** Rows that a cache of so many bytes has room for. */
function cacheRowsOf(cacheBytes: number, { rows, dim }: RowsAt): number {
  const perRow = dim * Float32Array.BYTES_PER_ELEMENT;
  const room = Math.floor(cacheBytes / perRow);
  if (room >= 1) return Math.min(rows, room);
  throw new ValueError('cacheBytes', `room for a row at least, which has ${perRow} bytes`, cacheBytes);
}

/**
 * A table whose rows lie in a file: see `diskTable`.
 *
 * Its weight belongs to no layer: models neither list nor save it, and refer to the file.
 */
export class DiskTable extends EmbeddingTable {
  static {
    brand(this, 'DiskTable');
  }
  readonly file: string;
  readonly tensor: string | null;
  readonly cacheBytes: number;
  readonly #io: DiskIo;
  readonly #reader: RowReader;
  readonly #rows: CachedRows;
  readonly #trained: TrainedRows | null;
  readonly #unlock: (() => void) | null;
  readonly #layers = new Set<TableHolder>();
  /** Whether nobody but its layers has it. */
  #isOfLayers = false;
  #holder: WeightHolder | null = null;
  readonly #cacheRows: number;
  #isClosed = false;

  /**
   * @param given - See `DiskTableArgs`.
   * @param name - The name of the table.
   */
  constructor(given: DiskTableArgs, name: string) {
    if (typeof given.file !== 'string') throw new ArgumentTypeError('file', 'the path of a file', given.file);
    if (given.file === '') throw new ValueError('file', 'the path of a file', given.file);
    const tensor = given.tensor ?? null;
    if (tensor !== null && typeof tensor !== 'string') throw new ArgumentTypeError('tensor', 'a name', tensor);
    const memory = nodeBuiltin<typeof nodeOs>('node:os')?.totalmem() ?? Infinity;
    const cacheBytes = checkCacheBytes(given.cacheBytes, memory);
    const io = readIo(given.io);
    const trainable = checkBoolean(given.trainable, 'trainable', false);
    if (isConverting()) {
      throw new ValueError('model', 'tables that lie in memory', described(`disk table ${name}`));
    }
    const opened = openRows(given, tensor, trainable);
    const { at } = opened;
    let reader: RowReader | null = null;
    try {
      super({ inputDim: at.rows, outputDim: at.dim, trainable, optimizer: given.optimizer }, true, name);
      this.#cacheRows = cacheRowsOf(cacheBytes, at);
      const most = Math.max(at.format.bytes(at.dim), MOST_SLOTS * at.dim * Float32Array.BYTES_PER_ELEMENT);
      const how = { threads: io.threads, direct: io.direct ?? !trainable, writes: trainable, most };
      reader = new RowReader(at.path, how);
    } catch (error) {
      opened.unlock?.();
      throw error;
    }
    this.file = opened.file;
    this.tensor = opened.tensor;
    this.cacheBytes = cacheBytes;
    this.#io = isRecord(given.io) ? { ...given.io } : {};
    this.#reader = reader;
    this.#unlock = opened.unlock;
    this.#rows = new CachedRows(name, at, this.#reader, this.#cacheRows, () => this.built());
    const { rows, dim, format, own } = at;
    const form = trainable ? { rows, dim, format, state: stateOf(own!) } : null;
    const { region, cache } = this.#rows;
    this.#trained =
      form === null ? null : new TrainedRows(name, this.#reader, region, form, cache.rowAt, () => this.built());
    this.#rows.beside = this.#trained;
  }

  /** Where its rows lie. */
  override get store(): 'memory' | 'placed' {
    return 'memory';
  }

  override get listsWeight(): boolean {
    return false;
  }

  override get weightForm(): WeightForm {
    return { shape: [this.#cacheRows, this.outputDim], dtype: 'float32' };
  }

  override packing(_initializer: Initializer): Initializer {
    // The rows of the file come when they are asked for.
    return initializerOfRows({ rows: this.#cacheRows, columns: this.outputDim }, () => {});
  }

  /**
   * The weight, which holds the cache.
   *
   * @internal
   */
  built(): tf.Variable {
    this.#checkOpen('table');
    if (this.#holder === null) {
      this.#holder = new WeightHolder(`${this.name}_cache`, this.weightForm);
      super.attach(this.#holder);
    }
    return this.variable!;
  }

  override attach(holder: TableHolder): tf.LayerVariable {
    this.built();
    this.#layers.add(holder);
    return super.attach(holder);
  }

  override release(holder: TableHolder): number {
    const freed = super.release(holder);
    this.#layers.delete(holder);
    if (this.#isOfLayers && this.#layers.size === 0) this.close();
    return freed;
  }

  protected override created(table: Table): void {
    if (devicesInUse() !== null) {
      const expected = 'cpu, tensorflow or wasm: virtual devices and servers read no files';
      throw new RuntimeError('backend', expected, described(`${tf.getBackend()}, for disk table ${this.name}`));
    }
    table.elsewhere = this.#rows;
  }

  #checkOpen(method: string): void {
    if (this.#isClosed) throw new RuntimeError(method, 'a disk table that is open', described(`${this.name}, closed`));
  }

  /**
   * Refused: a file keeps its size.
   *
   * @param _args - How many rows.
   * @param layer - The name of the layer, in errors.
   */
  override extend(_args: ExtendArgs, layer: string): void {
    const received = described(`layer ${layer} on disk table ${this.name}`);
    throw new RuntimeError('extend', 'a table in memory', received, 'Make a larger file with emb.diskTable.create.');
  }

  /**
   * For `emb.embeddingLookup`.
   *
   * @internal
   */
  lookUpKeys(ids: unknown, options: EmbeddingLookupOptions): tf.Tensor | RaggedTensor {
    return embeddingLookup(this.built(), ids as IdsInput, options);
  }

  /**
   * Returns the rows of ids, for serving and evaluation.
   *
   * @param ids - Whole numbers in [0, rows), in any container.
   * @returns A tensor, the shape of the ids and outputDim; a RaggedTensor for ragged ids.
   * @throws ValueError for ids outside the table; RuntimeError, which names row and offset, where the file cannot be read.
   */
  lookup(ids: unknown): tf.Tensor | RaggedTensor {
    return this.lookUpKeys(ids, {});
  }

  /**
   * Begins to read the rows of ids that will be looked up, in the background.
   *
   * @param ids - Whole numbers; those outside the table are passed over.
   */
  prefetch(ids: ArrayLike<number>): void {
    this.#checkOpen('prefetch');
    this.#rows.prefetch(Int32Array.from(ids));
  }

  /**
   * Hands out all rows as they are now, in order, a chunk at a time; the cache stays as it is.
   *
   * @param options - `{chunkRows}`, of up to 4 MB by default.
   * @returns An async iterable of the chunks.
   * @yields `{firstRow, rows}`: a tensor [at most chunkRows, outputDim], which the caller disposes.
   * @throws RuntimeError, which names row and offset, where the file cannot be read.
   *
   * @example
   * for await (const { firstRow, rows } of table.export({ chunkRows: 1000 })) {
   *   console.log(firstRow, rows.shape);
   *   rows.dispose();
   * }
   */
  async *export(options: { chunkRows?: number } = {}): AsyncGenerator<{ firstRow: number; rows: tf.Tensor2D }> {
    const given = readOptions<{ chunkRows: number }>(options, ['chunkRows'], 'options').chunkRows;
    const chunk = given === undefined ? rowsAtOnce(this.outputDim) : checkCount(given, 'chunkRows', 1);
    for (let firstRow = 0; firstRow < this.inputDim; firstRow += chunk) {
      const count = Math.min(chunk, this.inputDim - firstRow);
      const values = this.#rows.readNow(Int32Array.from({ length: count }, (_, i) => firstRow + i));
      yield { firstRow, rows: tf.tensor2d(values, [count, this.outputDim]) };
    }
  }

  /** @returns How many rows were found in the cache and read, and what the disk did. */
  stats(): DiskTableStats {
    return {
      ...this.#rows.counts,
      bytesRead: this.#reader.bytesRead,
      bytesWritten: this.#trained?.bytesWritten ?? 0,
      cacheRows: this.#cacheRows,
      direct: this.#reader.isDirect,
    };
  }

  /**
   * Brings all rows and what optimizers keep of them to the disk. What a crash leaves from then on, whenever it comes, is
   * the file as it is now. Nothing is done for a table that is not trained.
   *
   * @throws RuntimeError within a step, and where the system refuses: the file is then that of the last checkpoint once it
   * is opened anew.
   */
  checkpoint(): void {
    this.#checkOpen('checkpoint');
    if (this.#rows.isInStep)
      throw new RuntimeError('checkpoint', 'a call between steps', described('one within a step'));
    this.#trained?.checkpoint();
  }

  /**
   * Makes a checkpoint where the table is trained, frees the cache and closes the file: lookups are refused from then on.
   * Closing twice does nothing.
   *
   * @throws RuntimeError where the system refuses the checkpoint; the table is closed all the same.
   */
  close(): void {
    if (this.#isClosed) return;
    try {
      this.checkpoint();
    } finally {
      this.#isClosed = true;
      this.#trained?.close();
      this.#rows.close();
      for (const layer of this.#layers) super.release(layer);
      if (this.#holder !== null) super.release(this.#holder);
      this.#unlock?.();
    }
  }

  override tableConfig(): Record<string, unknown> {
    const { optimizer, inputDim, outputDim } = super.tableConfig();
    return { inputDim, outputDim, optimizer };
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { file, tensor, cacheBytes } = this;
    const { trainable, optimizer, name } = super.getConfig();
    // tfjs writes texts in another case, but for those called so.
    const named = {
      file: { name: nodeBuiltin<typeof nodePath>('node:path')!.resolve(pathOf(file)) },
      tensor: tensor === null ? null : { name: tensor },
    };
    const own = { name, ...named, cacheBytes, io: this.#io, trainable, optimizer };
    return own as unknown as tf.serialization.ConfigDict;
  }

  /**
   * Opens the table that a config tells of.
   *
   * @internal
   */
  static fromConfig(config: Record<string, unknown>, name: string): DiskTable {
    const given = readOptions<DiskTableArgs>(config, DISK_TABLE_ARGUMENTS, 'table') as Record<string, unknown>;
    const textOf = (field: unknown): string | null => (isRecord(field) ? String(field['name']) : null);
    const [file, tensor] = [textOf(given['file']), textOf(given['tensor'])];
    const table = new DiskTable({ ...given, file: file!, tensor }, name);
    table.#isOfLayers = true;
    return table;
  }
}
