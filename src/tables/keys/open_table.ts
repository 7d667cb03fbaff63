/** A table whose rows are found by keys that nobody listed: they come as they are met, and go. */
import * as tf from '@tensorflow/tfjs';
import { isRecording } from '../../backends/recordings.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, checkDimension, checkName } from '../../base/layer_arguments.js';
import { nextName } from '../../base/layer_names.js';
import { readOptions } from '../../base/options.js';
import { afterWrites } from '../../tfjs/layer_weights.js';
import type { TableHolder } from '../table_holder.js';
import { readDeltaFile, writeDeltaFile } from './delta_file.js';
import type { DeltaCounts, DeltaSource, DeltaTarget, OpenTableMark, WrittenDelta } from './delta_types.js';
import { countsOf, KeyDeltas } from './key_deltas.js';
import { checkPackable } from '../storage.js';
import { writeNumbersAt } from './write_numbers.js';
import { brand } from '../../base/per_process.js';
import { refusePositional } from '../../base/positional.js';
import { readRowsAt } from '../../lookup/lookup.js';
import { ENTRY_WORDS, KEY_HIGH } from './key_index.js';
import { NO_ROW } from './open_rows.js';
import { OPEN_TABLE_ARGUMENTS, type OpenTableArgs } from './open_table_args.js';
import type { KeysInput } from '../../tfjs/models/key_inputs.js';
import { readKeys, type KeyBatch } from './read_keys.js';
import { KeyedTable } from './keyed_table.js';

/** What the keys of a table have come to. */
export interface OpenTableStats {
  /** Keys that have a row. */
  readonly size: number;
  readonly capacity: number;
  /** The share of the rows in use. */
  readonly load: number;
  /** Keys that got a row, and that lost it, so far. */
  readonly admitted: number;
  readonly evicted: number;
  /** The share of the keys of the last training step that had no row. */
  readonly unknownShare: number;
  /** Groups of the index that a search reads, of up to 4,096 keys. */
  readonly probeMean: number;
  readonly probeMax: number;
}

const PROBED = 4096;

/** The numbers of a list, each once and ascending, and the place where each stands last. */
function lastOfEach(list: Int32Array): { sorted: Int32Array; last: Int32Array } {
  const sorted = list.slice().sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[count++] = sorted[i]!;
  const last = new Int32Array(count);
  for (let i = 0; i < list.length; i++) {
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < list[i]!) low = middle + 1;
      else high = middle;
    }
    last[low] = i;
  }
  return { sorted: sorted.subarray(0, count), last };
}

/**
 * A table whose rows are found by keys: see `openTable`.
 *
 * Rows 0 to capacity - 1 belong to keys; those that unknown keys share come after them.
 */
export class OpenTable extends KeyedTable {
  static {
    brand(this, 'OpenTable');
  }
  #deltas: KeyDeltas | null = null;

  override attach(holder: TableHolder): tf.LayerVariable {
    const isFirst = this.variable === null;
    const weight = super.attach(holder);
    if (isFirst) afterWrites(weight, () => this.#deltas?.marks.changedAll());
    return weight;
  }

  override release(holder: TableHolder): number {
    const freed = super.release(holder);
    if (freed > 0) this.#deltas = null;
    return freed;
  }

  /** @returns How many keys have a row. */
  size(): number {
    this.keyRows.freeOld();
    return this.keyRows.now.index.size;
  }

  /**
   * Whether keys have rows.
   *
   * @param keys - Keys in any container.
   * @returns A list of booleans, flat.
   * @throws TypeError for what is no key; ValueError for keys of more than 64 bits.
   */
  has(keys: KeysInput): boolean[] {
    return Array.from(this.#found(keys).found, (row) => row >= 0);
  }

  #found(keys: KeysInput): { batch: KeyBatch; found: Int32Array } {
    const batch = readKeys(keys, this.keyKind, 'keys');
    const found = new Int32Array(batch.words.length / 2);
    this.keyRows.now.find(batch.words, found);
    return { batch, found };
  }

  /**
   * Returns the rows of keys as they are, [n, outputDim]; unknown ones are zeros, or the sum of the rows that they share.
   *
   * Nothing is learned, counted or put on the tape. With `returnExists`, `{values, exists}`: whether each key has a row.
   * Source: the lookup of tfra.dynamic_embedding.Variable (TensorFlow Recommenders Addons 0.7).
   *
   * @param keys - Keys in any container, read as one flat list.
   * @param options - `{returnExists}`.
   * @returns The rows, a tensor of the caller's.
   * @throws TypeError for what is no key; ValueError for keys of more than 64 bits.
   *
   * @example
   * const items = emb.openTable({ outputDim: 8, capacity: 1000, keys: 'string' });
   * items.upsert(['a', 'b'], tf.ones([2, 8]));
   * items.lookup(['b', 'c']).print(); // ones, zeros
   */
  lookup(keys: KeysInput, options: { returnExists: true }): { values: tf.Tensor2D; exists: boolean[] };
  lookup(keys: KeysInput, options?: { returnExists?: false | undefined }): tf.Tensor2D;
  lookup(keys: KeysInput, options: { returnExists?: boolean | undefined } = {}): tf.Tensor2D | object {
    const given = readOptions<{ returnExists: boolean }>(options, ['returnExists'], 'options');
    const returnExists = checkBoolean(given.returnExists, 'returnExists', false);
    const { batch, found } = this.#found(keys);
    const variable = this.built();
    const { outputDim } = this;
    const values = readRowsAt(
      variable,
      found.map((row) => (row >= 0 ? row : NO_ROW)),
    );
    const unknown = [...found.keys()].filter((i) => found[i]! < 0);
    const { words } = batch;
    for (let hash = 0; hash < this.keyRows.hashes; hash++) {
      const shared = unknown.map((i) => this.keyRows.rowOfUnknown(words[2 * i]!, words[2 * i + 1]!, hash));
      readRowsAt(variable, Int32Array.from(shared)).forEach((value, at) => {
        values[unknown[Math.floor(at / outputDim)]! * outputDim + (at % outputDim)]! += value;
      });
    }
    const tensor = tf.tensor2d(values, [found.length, outputDim]);
    return returnExists ? { values: tensor, exists: Array.from(found, (row) => row >= 0) } : tensor;
  }

  /**
   * Sets the rows of keys, which get one, past `admit`, where they have none; slots of new ones begin anew. Keys that come
   * twice take the last row given.
   * Source: the upsert of tfra.dynamic_embedding.Variable (TensorFlow Recommenders Addons 0.7).
   *
   * @param keys - Keys in any container, read as one flat list.
   * @param rows - [n, outputDim].
   * @throws TypeError for what is no key or no tensor; ValueError for rows of another shape, and where there is no room.
   */
  upsert(keys: KeysInput, rows: tf.Tensor): void {
    this.#refuseWithin('upsert');
    const batch = readKeys(keys, this.keyKind, 'keys');
    const count = batch.words.length / 2;
    const shape = `a float32 tensor [${count}, ${this.outputDim}]`;
    if (!(rows instanceof tf.Tensor) || rows.dtype !== 'float32') throw new ArgumentTypeError('rows', shape, rows);
    if (rows.rank !== 2 || rows.shape[0] !== count || rows.shape[1] !== this.outputDim) {
      throw new ValueError('rows', shape, rows);
    }
    this.built();
    checkPackable(rows.dataSync<'float32'>(), 0, this.form, this.name);
    const steps = this.keyRows.now;
    const found = new Int32Array(count);
    const { admitted, evicted } = steps.upsert(batch.words, found);
    const values = rows.dataSync<'float32'>();
    const { sorted, last } = lastOfEach(found);
    const ordered = new Float32Array(sorted.length * this.outputDim);
    for (let i = 0; i < sorted.length; i++) {
      const from = last[i]! * this.outputDim;
      ordered.set(values.subarray(from, from + this.outputDim), i * this.outputDim);
    }
    writeNumbersAt(this, sorted, ordered);
    for (const row of sorted) steps.index.changed?.add(row);
    this.table!.restartSlots(admitted.sort());
    if (this.keepTexts) {
      const texts = batch.texts!();
      found.forEach((row, i) => this.keyRows.texts.set(row, texts[i] as string));
    }
    this.keyRows.tell(evicted);
    this.keyRows.changed();
  }

  /**
   * Takes their rows from keys. Returns how many had one.
   *
   * @param keys - Keys in any container.
   * @returns How many keys lost a row.
   */
  remove(keys: KeysInput): number {
    this.#refuseWithin('remove');
    const { found } = this.#found(keys);
    const rows = new Set(found);
    rows.delete(-1);
    this.keyRows.now.remove([...rows]);
    for (const row of rows) this.keyRows.texts.delete(row);
    this.keyRows.changed();
    return rows.size;
  }

  /**
   * Takes the rows with the lowest scores by `evict` until at most `count` keys are left. Returns how many went.
   *
   * @param count - Keys that may stay.
   * @param options - `{trigger}`: nothing is done below so many keys; default `count`.
   * @returns How many keys went.
   */
  restrict(count: number, options: { trigger?: number | undefined } = {}): number {
    this.#refuseWithin('restrict');
    const expected = 'a whole number from 0 on';
    if (typeof count !== 'number') throw new ArgumentTypeError('count', expected, count);
    if (!Number.isSafeInteger(count) || count < 0) throw new ValueError('count', expected, count);
    const { trigger = count } = readOptions<{ trigger: number }>(options, ['trigger'], 'options');
    if (typeof trigger !== 'number') throw new ArgumentTypeError('trigger', expected, trigger);
    if (this.evict === null)
      throw new RuntimeError('restrict', 'a table with `evict`, whose scores decide', described('null'));
    const size = this.size();
    if (size < Math.max(trigger, count + 1)) return 0;
    const evicted = this.keyRows.now.restrict(count);
    this.keyRows.tell(evicted);
    this.keyRows.changed();
    return evicted.length / 2;
  }

  #refuseWithin(method: string): void {
    if (!isRecording() && !this.keyRows.now.isOpen) return;
    throw new RuntimeError(method, 'a call between steps', described('one within a step'));
  }

  /**
   * The keys that have rows, ascending by row, a chunk after the other: `{keys, rows}`.
   *
   * @param options - `{chunkRows}`, keys at a time; default 65,536.
   * @returns An async iterable; `rows` [n, outputDim] are the caller's to dispose. Keys are a BigInt64Array, or a list of
   * strings where the table keeps texts; strings that it does not keep are their fingerprints.
   */
  async *export(
    options: { chunkRows?: number | undefined } = {},
  ): AsyncGenerator<{ keys: BigInt64Array | string[]; rows: tf.Tensor2D }> {
    const { chunkRows = 65_536 } = readOptions<{ chunkRows: number }>(options, ['chunkRows'], 'options');
    checkDimension(chunkRows, 'chunkRows');
    const variable = this.built();
    let chunk: number[] = [];
    const give = (): { keys: BigInt64Array | string[]; rows: tf.Tensor2D } => {
      const rows = Int32Array.from(chunk);
      chunk = [];
      const values = readRowsAt(variable, rows);
      return { keys: this.keyRows.keysAt(rows), rows: tf.tensor2d(values, [rows.length, this.outputDim]) };
    };
    for (const row of this.keyRows.now.index.rows()) {
      chunk.push(row);
      if (chunk.length === chunkRows) yield give();
    }
    if (chunk.length > 0) yield give();
  }

  /**
   * The keys of rows, as `emb.topK` and lookups number them.
   *
   * @param rows - Row numbers of keys.
   * @returns A BigInt64Array, or a list of strings.
   * @throws RuntimeError for strings that the table does not keep; ValueError for a row that no key has.
   */
  keysOf(rows: ArrayLike<number>): BigInt64Array | string[] {
    if (this.keyKind === 'string' && !this.keepTexts) {
      const note = 'Fingerprints of strings are not turned back into them.';
      throw new RuntimeError('keysOf', `a table with keepTexts: true`, described(`table ${this.name} without`, note));
    }
    const { index } = this.keyRows.now;
    const asked = Int32Array.from(rows);
    const stray = asked.findIndex((row, i) => row !== rows[i] || row < 0 || row >= this.capacity || !index.isUsed(row));
    if (stray >= 0)
      throw new ValueError('rows', 'rows that keys have', described(`${rows[stray]} at position ${stray}`));
    return this.keyRows.keysAt(asked);
  }

  protected override resized(): void {
    this.#deltas = null;
  }

  #marking(method: string): KeyDeltas {
    this.#refuseWithin(method);
    this.built();
    return (this.#deltas ??= new KeyDeltas(this, this.keyRows));
  }

  /**
   * Marks the table as it is now, between steps: `writeDelta` tells what changed since. From the first mark on rows that
   * change are noted, which takes 18 bytes for each row, and each mark costs what the rows that changed since cost; the
   * first reads all rows. Where nothing changed since it, the last mark is returned again.
   *
   * @returns The mark.
   * @throws RuntimeError within a step.
   */
  mark(): OpenTableMark {
    return this.#marking('mark').mark();
  }

  /**
   * Writes the rows that changed since a mark, by key, and the keys that are gone, as a safetensors file; a file of that
   * name is replaced, whole or not at all. With null it is all rows, from which a table of any capacity begins. What is written is the table as it was when this was called, and training may
   * go on meanwhile. It costs what the rows that changed cost, unless a step changed all of them (`lazy: false`,
   * `applyGradients`, weights that were set): then all rows are compared. Slots of optimizers are not in it, nor counts of
   * keys without a row. What writes the variable of a table by itself, past optimizers and `setWeights`, is not noticed.
   *
   * @param file - A path, or a WritableStream where there are no files.
   * @param options - `{since}`: a mark, which leads on from that of the delta before; null: none.
   * @returns How many rows and removed keys were written, and the mark that they lead to: the next `since`.
   * @throws RuntimeError within a step, and where the system refuses; ValueError for a mark of another table, and for one
   * that is no longer kept: as many changed rows are as the table has, 65,536 at least.
   *
   * @example
   * const items = emb.openTable({ name: 'items', outputDim: 2, capacity: 100, keys: 'string' });
   * const since = items.mark();
   * items.upsert(['tea'], tf.ones([1, 2]));
   * await items.writeDelta('items-1.safetensors', { since }); // { rows: 1, removed: 0, mark }
   */
  async writeDelta(file: DeltaTarget, options: { since: OpenTableMark | null }): Promise<WrittenDelta> {
    const { since } = readOptions<{ since: OpenTableMark | null }>(options, ['since'], 'options');
    const { delta, to } = this.#marking('writeDelta').collect(since as OpenTableMark | null);
    await writeDeltaFile(file, delta);
    return { ...countsOf(delta), mark: to };
  }

  /**
   * Brings the table up to date with a file that `writeDelta` of the same table wrote elsewhere: rows of its keys, and
   * those that unknown keys share, are then the same to the bit, and so are counts and the number of steps. It may have
   * another capacity, if that is enough, and lie on any backend; `onEvict` is told which keys went. Deltas are applied in
   * their order, from the table that they were marked in: a sum over keys and bits of rows is compared before and after,
   * and nothing is written where it is another. What was written since null takes the place of all that is there.
   *
   * @param source - A path, a URL, bytes or a Blob.
   * @returns How many rows were written, and how many keys went.
   * @throws ValueError for a file that is no such delta, is damaged, or of another table, for one that was applied before
   * or before which another is due, and where the table has no room. RuntimeError within a step, and where the file
   * cannot be read.
   *
   * @example
   * const { items } = emb.openTables(replica, ['items']);
   * await items.applyDelta('items-1.safetensors');
   */
  async applyDelta(source: DeltaSource): Promise<DeltaCounts> {
    const delta = await readDeltaFile(source);
    return this.#marking('applyDelta').apply(delta);
  }

  /** @returns How many keys there are, came and went, and how full the index is. */
  stats(): OpenTableStats {
    const size = this.size();
    const { index, admitted, evicted } = this.keyRows.now;
    const { entries } = index;
    let [probed, sum, most] = [0, 0, 0];
    for (const row of index.rows()) {
      const probes = index.probes(entries[row * ENTRY_WORDS]!, entries[row * ENTRY_WORDS + KEY_HIGH]!);
      [sum, most] = [sum + probes, Math.max(most, probes)];
      if (++probed === PROBED) break;
    }
    return {
      size,
      capacity: this.capacity,
      load: size / this.capacity,
      admitted,
      evicted,
      unknownShare: this.keyRows.unknownShare,
      probeMean: probed === 0 ? 0 : sum / probed,
      probeMax: most,
    };
  }

  /**
   * Makes the table that a config tells of.
   *
   * @internal
   */
  static fromConfig(config: Record<string, unknown>, name: string): OpenTable {
    const { paddingKey, keys } = config;
    const padding = keys !== 'string' && typeof paddingKey === 'string' ? BigInt(paddingKey) : paddingKey;
    return new OpenTable({ ...config, paddingKey: padding } as never, name);
  }
}

/**
 * Returns a table whose rows are found by keys that nobody listed: whole numbers of 64 bits, or strings.
 *
 * Keys get rows as training steps meet them (`admit`), and lose them where there are more than `capacity` (`evict`).
 * Layers and `emb.embeddingLookup` take it as `table` and are then fed keys in place of ids. Each row begins with
 * numbers that depend on `seed`, the key and the column alone. Predictions, evaluations and `lookup` only read: what they
 * do not find is `unknown`. Trained by `emb.train` optimizers; a model saves keys, rows, slots and counts, and goes on to
 * the bit. Every number of 64 bits is a key, 0 and -1 too; signed and unsigned ones of the same bits are one. Strings are
 * told apart by a fingerprint of 64 bits (FarmHash64): NFC and NFD are two.
 *
 * Below 65,536 rows a table is one shard; from there on it has 256, by the low bits of the key's hash (fmix64 of
 * MurmurHash3), and row r belongs to shard r mod 256. A shard that is full evicts until `keep` of its rows are left.
 * Source: dynamicemb (recsys-examples 25.09), TensorFlow Recommenders Addons 0.7 and MPZCH of TorchRec 1.3, in one.
 *
 * @param args - Sizes and rules; see `OpenTableArgs`.
 * @returns A new table.
 * @throws TypeError for missing or wrongly typed arguments; ValueError for sizes below 1, unknown names and numbers out
 * of range; RuntimeError under a stock optimizer; ValueError in a step with more distinct keys than rows.
 *
 * @example
 * const items = emb.openTable({ name: 'items', outputDim: 16, capacity: 100_000, keys: 'string' });
 * const model = tf.sequential({ layers: [
 *   emb.layers.embedding({ table: items, combiner: 'mean', inputShape: [2] }),
 *   tf.layers.dense({ units: 1 }),
 * ] });
 * model.compile({ optimizer: emb.train.adagrad({learningRate: 0.1}), loss: 'meanSquaredError' });
 * await model.fit([['tea', 'milk'], ['tea', 'salt']], tf.tensor2d([[1], [0]]), { epochs: 5, verbose: 0 });
 * items.size(); // 3
 */
export function openTable(args: OpenTableArgs): OpenTable;
export function openTable(...all: [OpenTableArgs]): OpenTable {
  refusePositional('emb.openTable', ['outputDim', 'capacity'], all);
  const given = readOptions<OpenTableArgs>(all[0], OPEN_TABLE_ARGUMENTS, 'args');
  return new OpenTable(given, checkName(given.name) ?? nextName('open_table'));
}
