/** A table whose rows are found by keys that nobody listed: they come as they are met, and go. */
import * as tf from '@tensorflow/tfjs';
import type { Fill } from '../../backends/fill.js';
import { devicesInUse } from '../../backends/registry.js';
import { isRecording, refuseRecording } from '../../backends/recordings.js';
import { writeRowsAt } from '../../backends/stores/table_rows.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, checkDimension, checkName } from '../../base/layer_arguments.js';
import { nextName } from '../../base/layer_names.js';
import { readOptions } from '../../base/options.js';
import { brand } from '../../base/per_process.js';
import { refusePositional } from '../../base/positional.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { EmbeddingLookupOptions } from '../../lookup/embedding_lookup.js';
import { lookupScope, readRowsAt } from '../../lookup/lookup.js';
import { isTapeOn } from '../../tfjs/lazy_gradient.js';
import { EmbeddingTable } from '../embedding_table.js';
import type { ExtendArgs } from '../extension.js';
import { filledRows, initializerOfRows } from '../initial_values.js';
import type { Initializer } from '../initializers.js';
import { fillOf } from '../table_fill.js';
import type { TableHolder } from '../table_holder.js';
import { roundingSeed } from '../table_seed.js';
import { ENTRY_WORDS, KEY_HIGH, MOST_ROWS } from './key_index.js';
import { readAdmit, readEvict, readUnknown, type Admit, type Evict, type Unknown } from './key_rules.js';
import { lookUpKeys } from './look_up_keys.js';
import { NO_ROW, OpenRows } from './open_rows.js';
import { checkKind, evictConfig, OPEN_TABLE_ARGUMENTS, tableArgs, type OpenTableArgs } from './open_table_args.js';
import type { KeyWords } from './key_steps.js';
import { WeightHolder } from './weight_holder.js';
import type { KeysInput } from '../../tfjs/models/key_inputs.js';
import { readKeys, type KeyBatch, type KeyKind } from './read_keys.js';

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

/**
 * A table whose rows are found by keys: see `openTable`.
 *
 * Rows 0 to capacity - 1 belong to keys; those that unknown keys share come after them.
 */
export class OpenTable extends EmbeddingTable {
  static {
    brand(this, 'OpenTable');
  }
  readonly keyKind: KeyKind;
  readonly admit: Admit;
  readonly evict: Evict;
  readonly unknown: Unknown;
  readonly paddingKey: number | bigint | string | null;
  readonly keepTexts: boolean;
  /** Called with the keys that lost their rows, after the step that took them; of strings their fingerprints. */
  onEvict: ((keys: BigInt64Array) => void) | null = null;
  readonly #capacity: number;
  readonly #fill: Fill;
  readonly #rows: OpenRows;
  #holder: WeightHolder | null = null;

  /**
   * @param given - See `OpenTableArgs`; of a config, also the texts of rows.
   * @param name - The name of the table.
   */
  constructor(given: Partial<OpenTableArgs> & { texts?: readonly (readonly [number, string])[] }, name: string) {
    const capacity = checkDimension(given.capacity, 'capacity');
    const unknown = readUnknown(given.unknown);
    const shared = typeof unknown === 'string' ? 0 : unknown.shared;
    if (capacity + shared > MOST_ROWS)
      throw new ValueError('capacity', `at most ${MOST_ROWS} rows in all`, capacity + shared);
    super(tableArgs(given, capacity + shared), true, name);
    this.#capacity = capacity;
    this.unknown = unknown;
    this.keyKind = checkKind(given.keys);
    this.admit = readAdmit(given.admit, capacity);
    this.evict = readEvict(given.evict);
    this.keepTexts = checkBoolean(given.keepTexts, 'keepTexts', false);
    if (this.keepTexts && this.keyKind === 'int64') {
      throw new ValueError('keepTexts', "false, unless keys are 'string'", true);
    }
    this.paddingKey = given.paddingKey ?? null;
    const padding = this.paddingKey === null ? null : readKeys([this.paddingKey], this.keyKind, 'paddingKey').words;
    if (!this.rowCodec.isPlain) {
      throw new ValueError('storage', "'float32': rows of an open table are written as they are", this.storage);
    }
    const seed = roundingSeed(this.seed ?? 0);
    const fill = fillOf(this.initializer, { rows: capacity, columns: this.outputDim, name }, seed);
    if (fill === null) {
      const expected = 'an initializer whose rows do not depend on each other: zeros, ones, constant, or a random one';
      throw new ValueError('embeddingsInitializer', expected, described(this.initializer.getClassName()));
    }
    this.#fill = fill;
    this.#rows = new OpenRows(this, fill, seed, padding);
    for (const [row, text] of given.texts ?? []) this.#rows.texts.set(row, text);
  }

  /** Rows that keys can have. */
  get capacity(): number {
    return this.#capacity;
  }

  /**
   * How many lookups a lookup of keys is, whose results are added.
   *
   * @internal
   */
  get lookups(): number {
    return typeof this.unknown === 'string' ? 1 : this.unknown.hashes;
  }

  /**
   * Whether keys may stand for nothing.
   *
   * @internal
   */
  get pads(): boolean {
    return this.unknown === 'drop' || this.#rows.padding !== null;
  }

  /** The weight that holds keys and what was counted of them, once a layer was built. */
  get stateWeight(): tf.LayerVariable | null {
    return this.#rows.state;
  }

  override attach(holder: TableHolder): tf.LayerVariable {
    const weight = super.attach(holder);
    if (this.#rows.state === null) this.#rows.keepIn((name, shape) => holder.createState!(name, shape));
    return weight;
  }

  override release(holder: TableHolder): number {
    const freed = super.release(holder);
    if (freed === 0 || this.#rows.state === null) return freed;
    this.#rows.release();
    return freed + 1;
  }

  protected override created(): void {
    if (devicesInUse()?.joins === true) {
      const expected = 'a backend whose tables belong to this process alone: keys of others would not be known here';
      throw new RuntimeError('backend', expected, described(`${tf.getBackend()}, for open table ${this.name}`));
    }
  }

  /**
   * Refused: rows of keys come and go by themselves.
   *
   * @param _args - How many rows.
   * @param layer - The name of the layer, in errors.
   */
  override extend(_args: ExtendArgs, layer: string): void {
    const note = 'Make an open table of a larger capacity, and bring its rows by export and upsert.';
    const received = described(`layer ${layer} on open table ${this.name}`);
    throw new RuntimeError('extend', 'a table whose ids are row numbers', received, note);
  }

  /** Rows of keys begin when a key gets them. */
  override packing(_initializer: Initializer): Initializer {
    const capacity = this.#capacity;
    const rows = this.inputDim - capacity;
    const columns = this.outputDim;
    return super.packing(
      initializerOfRows({ rows: this.inputDim, columns }, (write) => {
        filledRows({ rows, columns }, this.#fill)((firstRow, values) => write(capacity + firstRow, values));
      }),
    );
  }

  /**
   * The weight, which is made where no layer has.
   *
   * @internal
   */
  built(): tf.Variable {
    if (this.variable === null) {
      this.#holder = new WeightHolder(`${this.name}_holder`, this.weightForm);
      this.attach(this.#holder);
    }
    return this.variable!;
  }

  /** Frees the weights of a table that no layer holds. */
  dispose(): void {
    if (this.#holder !== null) this.release(this.#holder);
    this.#holder = null;
  }

  /** @internal */
  begin(): void {
    this.#rows.begin();
  }

  /** @internal */
  commit(): void {
    this.#rows.commit();
  }

  /** @internal */
  undo(): void {
    this.#rows.undo();
  }

  /**
   * The row numbers of keys, one list for each of `lookups`. Within a training step of the table its rules hold for them;
   * anywhere else keys are only found.
   *
   * @internal
   */
  rowsOf(batch: KeyBatch, skipZero: boolean): Int32Array[] {
    refuseRecording(`table ${this.name} finds the rows of keys within it`);
    this.built();
    return this.#rows.rows(batch, skipZero, this.#trains());
  }

  /**
   * The same, only found.
   *
   * @internal
   */
  foundRowsOf(batch: KeyBatch, skipZero: boolean): Int32Array[] {
    return this.#rows.rows(batch, skipZero, false);
  }

  /**
   * The same in a step that the caller began.
   *
   * @internal
   */
  trainedRowsOf(batch: KeyBatch, skipZero: boolean): Int32Array[] {
    return this.#rows.rows(batch, skipZero, true);
  }

  /** Whether a lookup now is one of a training step of this table. Throws RuntimeError under a stock optimizer. */
  #trains(): boolean {
    const table = this.table!;
    if (!table.variable.trainable || !isTapeOn()) return false;
    const scope = lookupScope();
    if (scope === null) {
      const expected = `an emb.train optimizer, because table ${this.name} is open: its rows come and go`;
      throw new RuntimeError('optimizer', expected, described('a stock optimizer, or tf.variableGrads'));
    }
    if (!scope.manages(table)) return false;
    scope.open(this);
    return true;
  }

  /**
   * Places of the keys that are no padding; null: all.
   *
   * @internal
   */
  present(words: KeyWords, skipZero: boolean): Int32Array | null {
    return this.#rows.present(words, skipZero);
  }

  /**
   * For `emb.embeddingLookup`.
   *
   * @internal
   */
  lookUpKeys(keys: unknown, options: EmbeddingLookupOptions): tf.Tensor | RaggedTensor {
    return lookUpKeys(this, keys, options);
  }

  /** @returns How many keys have a row. */
  size(): number {
    if ((this.evict?.after ?? null) !== null) this.#rows.tell(this.#rows.now.freeOld());
    return this.#rows.now.index.size;
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
    this.#rows.now.find(batch.words, found);
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
    for (let hash = 0; hash < this.#rows.hashes; hash++) {
      const shared = unknown.map((i) => this.#rows.rowOfUnknown(words[2 * i]!, words[2 * i + 1]!, hash));
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
    const variable = this.built();
    const steps = this.#rows.now;
    const found = new Int32Array(count);
    const { admitted, evicted } = steps.upsert(batch.words, found);
    const values = rows.dataSync<'float32'>();
    // The last of a key counts.
    const last = new Map<number, number>();
    found.forEach((row, i) => last.set(row, i));
    const sorted = Int32Array.from(last.keys()).sort();
    const ordered = new Float32Array(sorted.length * this.outputDim);
    sorted.forEach((row, i) => {
      const from = last.get(row)! * this.outputDim;
      ordered.set(values.subarray(from, from + this.outputDim), i * this.outputDim);
    });
    writeRowsAt(variable, sorted, ordered);
    this.table!.restartSlots(admitted.sort());
    if (this.keepTexts) {
      const texts = batch.texts!();
      found.forEach((row, i) => this.#rows.texts.set(row, texts[i] as string));
    }
    this.#rows.tell(evicted);
    this.#rows.changed();
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
    this.#rows.now.remove([...rows]);
    for (const row of rows) this.#rows.texts.delete(row);
    this.#rows.changed();
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
    const evicted = this.#rows.now.restrict(count);
    this.#rows.tell(evicted);
    this.#rows.changed();
    return evicted.length / 2;
  }

  #refuseWithin(method: string): void {
    if (!isRecording() && !this.#rows.now.isOpen) return;
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
      return { keys: this.#rows.keysAt(rows), rows: tf.tensor2d(values, [rows.length, this.outputDim]) };
    };
    for (const row of this.#rows.now.index.rows()) {
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
    const { index } = this.#rows.now;
    const asked = Int32Array.from(rows);
    const stray = asked.findIndex(
      (row, i) => row !== rows[i] || row < 0 || row >= this.#capacity || !index.isUsed(row),
    );
    if (stray >= 0)
      throw new ValueError('rows', 'rows that keys have', described(`${rows[stray]} at position ${stray}`));
    return this.#rows.keysAt(asked);
  }

  /**
   * The first row after all that keys have, and the rows before it that no key has, ascending.
   *
   * @internal
   */
  usedRange(): { end: number; holes: Int32Array } {
    const { index } = this.#rows.now;
    return { end: index.usedRows, holes: index.holes() };
  }

  /** @returns How many keys there are, came and went, and how full the index is. */
  stats(): OpenTableStats {
    const size = this.size();
    const { index, admitted, evicted } = this.#rows.now;
    const { entries } = index;
    let [probed, sum, most] = [0, 0, 0];
    for (const row of index.rows()) {
      const probes = index.probes(entries[row * ENTRY_WORDS]!, entries[row * ENTRY_WORDS + KEY_HIGH]!);
      [sum, most] = [sum + probes, Math.max(most, probes)];
      if (++probed === PROBED) break;
    }
    return {
      size,
      capacity: this.#capacity,
      load: size / this.#capacity,
      admitted,
      evicted,
      unknownShare: this.#rows.unknownShare,
      probeMean: probed === 0 ? 0 : sum / probed,
      probeMax: most,
    };
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { inputDim: _rows, ...config } = super.getConfig() as Record<string, unknown>;
    const { paddingKey } = this;
    const texts = [...this.#rows.texts].filter(([row]) => this.#rows.now.index.isUsed(row)).sort(([a], [b]) => a - b);
    return {
      ...config,
      capacity: this.#capacity,
      keys: this.keyKind,
      admit: this.admit,
      evict: evictConfig(this.evict),
      unknown: this.unknown,
      paddingKey: typeof paddingKey === 'bigint' ? paddingKey.toString() : paddingKey,
      keepTexts: this.keepTexts,
      seed: this.seed,
      ...(this.keepTexts ? { texts } : {}),
    } as unknown as tf.serialization.ConfigDict;
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
