/** What layers, lookups and steps see of a table whose rows are found by keys. */
import * as tf from '@tensorflow/tfjs';
import type { Fill } from '../../backends/fill.js';
import { devicesInUse } from '../../backends/registry.js';
import { refuseRecording } from '../../backends/recordings.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { checkBoolean, checkDimension } from '../../base/layer_arguments.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { EmbeddingLookupOptions } from '../../lookup/embedding_lookup.js';
import { keyNotes } from '../../lookup/key_notes.js';
import { lookupScope } from '../../lookup/lookup.js';
import { isTapeOn } from '../../tfjs/lazy_gradient.js';
import { EmbeddingTable } from '../embedding_table.js';
import type { ExtendArgs } from '../extension.js';
import { filledRows, initializerOfRows } from '../initial_values.js';
import type { Initializer } from '../initializers.js';
import { fillOf } from '../table_fill.js';
import type { TableHolder } from '../table_holder.js';
import { roundingSeed } from '../table_seed.js';
import { COUNT, ENTRY_WORDS, MOST_ROWS } from './key_index.js';
import { readAdmit, readEvict, readUnknown, type Admit, type Evict, type Unknown } from './key_rules.js';
import { TRAINED_STORAGES } from '../../codecs/codecs.js';
import { isConverting } from '../storage.js';
import { lookUpKeys } from './look_up_keys.js';
import { resized } from './other_capacity.js';
import { rowsFrom } from '../../backends/stores/table_rows.js';
import { OpenRows, wordsAt } from './open_rows.js';
import { checkKind, evictConfig, tableArgs, type OpenTableArgs } from './open_table_args.js';
import type { KeyWords } from './steps/key_search.js';
import { WeightHolder } from './weight_holder.js';
import { bigintsOf, readKeys, type KeyBatch, type KeyKind } from './read_keys.js';

/** The rules of an open table, its weights, and the row numbers of keys. */
export class KeyedTable extends EmbeddingTable {
  readonly keyKind: KeyKind;
  readonly admit: Admit;
  readonly evict: Evict;
  readonly unknown: Unknown;
  readonly paddingKey: number | bigint | string | null;
  readonly keepTexts: boolean;
  /** Called with the keys that lost their rows, after the step that took them; of strings their fingerprints. */
  onEvict: ((keys: BigInt64Array) => void) | null = null;
  #capacity: number;
  readonly #fill: Fill;
  readonly #rows: OpenRows;
  #holder: WeightHolder | null = null;

  /**
   * @param given - See `OpenTableArgs`; of a config, also the texts of rows.
   * @param name - The name of the table.
   */
  constructor(given: Partial<OpenTableArgs> & { texts?: readonly (readonly [number, string])[] }, name: string) {
    const unknown = readUnknown(given.unknown);
    const shared = typeof unknown === 'string' ? 0 : unknown.shared;
    const capacity = checkCapacity(given.capacity, shared);
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
    const note = 'Rows of an open table are written whenever a key gets one.';
    if (this.rowCodec.training === null) throw new ValueError('storage', TRAINED_STORAGES, this.storage, note);
    if (isConverting()) {
      throw new ValueError('model', 'tables whose ids are row numbers, float32', described(`open table ${name}`), note);
    }
    const seed = roundingSeed(this.seed ?? 0);
    const fill = fillOf(this.initializer, { rows: capacity, columns: this.outputDim, name }, seed);
    if (fill === null) {
      const expected = 'an initializer whose rows do not depend on each other: zeros, ones, constant, or a random one';
      throw new ValueError('embeddingsInitializer', expected, described(this.initializer.getClassName()));
    }
    this.#fill = fill;
    this.#rows = new OpenRows(this, fill, seed, padding);
    for (const [row, text] of given.texts ?? []) this.keyRows.texts.set(row, text);
  }

  /**
   * Not a field: what captured steps reach is looked at by fields, and rows of keys tell steps by themselves.
   *
   * @internal
   */
  protected get keyRows(): OpenRows {
    return this.#rows;
  }

  /** Rows that keys can have. */
  get capacity(): number {
    return this.#capacity;
  }

  /**
   * Gives the table room for more keys, or less, between steps: keys keep their rows' numbers, slots and counts, and the
   * table trains on as one of that capacity. Rows stay where they are unless there are fewer, or the number of shards is
   * another. Marks that were made before are not kept.
   */
  set capacity(capacity: number) {
    checkCapacity(capacity, this.inputDim - this.#capacity);
    const before = this.#capacity;
    if (capacity === before) return;
    if (this.keyRows.now.isOpen)
      throw new RuntimeError('capacity', 'a call between steps', described('one within a step'));
    const { index, source } = resized(this.keyRows.now.index, capacity, this.name);
    const { variable, inputDim: rows } = this;
    const all = new Int32Array(capacity + rows - before);
    all.set(source);
    for (let row = before; row < rows; row++) all[capacity + row - before] = row;
    if (variable !== null) {
      const resize = { argument: 'capacity', rows: all.length, layer: this.name };
      this.resize('capacity', resize, (each, start) => rowsFrom<tf.Tensor>(each, all, start));
      this.table!.hasMoved(all, rows);
    } else {
      Object.assign(this, { inputDim: all.length });
    }
    this.#capacity = capacity;
    this.keyRows.takeIndex(index, source);
    this.resized();
  }

  /** Called when the capacity is another. */
  protected resized(): void {}

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
    return this.unknown === 'drop' || this.keyRows.padding !== null;
  }

  /** The weight that holds keys and what was counted of them, once a layer was built. */
  get stateWeight(): tf.LayerVariable | null {
    return this.keyRows.state;
  }

  override attach(holder: TableHolder): tf.LayerVariable {
    const weight = super.attach(holder);
    if (this.keyRows.state === null) this.keyRows.keepIn((name, shape) => holder.createState!(name, shape));
    return weight;
  }

  override release(holder: TableHolder): number {
    const freed = super.release(holder);
    if (freed === 0 || this.keyRows.state === null) return freed;
    this.keyRows.release();
    return freed + 1;
  }

  protected override get stepsByRow(): boolean {
    return true;
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
    this.keyRows.begin();
  }

  /** @internal */
  commit(): void {
    this.keyRows.commit();
  }

  /** @internal */
  undo(): void {
    this.keyRows.undo();
  }

  /**
   * The row numbers of keys, one list for each of `lookups`. Within a training step of the table its rules hold for them;
   * anywhere else keys are only found. `keys`: as they were given, for captured functions.
   *
   * @internal
   */
  rowsOf(batch: KeyBatch, skipZero: boolean, keys: unknown = null): Int32Array[] {
    refuseRecording(`table ${this.name} finds the rows of keys within it`);
    this.built();
    const trains = this.#trains();
    keyNotes()?.note(keys, { table: this, skipZero }, trains ? lookupScope() : null);
    return this.keyRows.rows(batch, skipZero, trains);
  }

  /**
   * The same, only found.
   *
   * @internal
   */
  foundRowsOf(batch: KeyBatch, skipZero: boolean): Int32Array[] {
    return this.keyRows.rows(batch, skipZero, false);
  }

  /**
   * The same in a step that the caller began.
   *
   * @internal
   */
  trainedRowsOf(batch: KeyBatch, skipZero: boolean): Int32Array[] {
    return this.keyRows.rows(batch, skipZero, true);
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
    return this.keyRows.present(words, skipZero);
  }

  /**
   * For `emb.embeddingLookup`.
   *
   * @internal
   */
  lookUpKeys(keys: unknown, options: EmbeddingLookupOptions): tf.Tensor | RaggedTensor {
    return lookUpKeys(this, keys, options);
  }

  /**
   * The first row after all that keys have, and the rows before it that no key has, ascending.
   *
   * @internal
   */
  usedRange(): { end: number; holes: Int32Array } {
    const { index } = this.keyRows.now;
    return { end: index.usedRows, holes: index.holes() };
  }

  /**
   * How often training steps met the keys of rows.
   *
   * @internal
   */
  countsOf(rows: Int32Array): Int32Array {
    const { entries } = this.keyRows.now.index;
    return rows.map((row) => entries[row * ENTRY_WORDS + COUNT]!);
  }

  /**
   * The key that is padding, as 64 bits; null: none is.
   *
   * @internal
   */
  get paddingWord(): bigint | null {
    const { padding } = this.keyRows;
    return padding === null ? null : bigintsOf(padding)[0]!;
  }

  /**
   * The keys that have a row, ascending, and those rows: one key without a row where there are none.
   *
   * @internal
   */
  frozenKeys(): { keys: BigInt64Array; rows: Int32Array } {
    this.keyRows.freeOld();
    const { index } = this.keyRows.now;
    const used = Int32Array.from(index.rows());
    if (used.length === 0) return { keys: BigInt64Array.of(0n), rows: Int32Array.of(-1) };
    const keys = bigintsOf(wordsAt(index, used));
    const order = Int32Array.from(used.keys()).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
    return { keys: keys.slice().sort(), rows: order.map((place) => used[place]!) };
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { inputDim: _rows, ...config } = super.getConfig() as Record<string, unknown>;
    const { paddingKey } = this;
    const texts = [...this.keyRows.texts]
      .filter(([row]) => this.keyRows.now.index.isUsed(row))
      .sort(([a], [b]) => a - b);
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
}

/** Rows that keys can have, beside those that unknown ones share. */
function checkCapacity(given: unknown, shared: number): number {
  const capacity = checkDimension(given, 'capacity');
  if (capacity + shared <= MOST_ROWS) return capacity;
  throw new ValueError('capacity', `at most ${MOST_ROWS} rows in all`, capacity + shared);
}
