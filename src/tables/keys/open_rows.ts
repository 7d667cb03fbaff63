/** The rows of an open table: which keys have them, what they begin with, and the weight that holds it all. */
import * as tf from '@tensorflow/tfjs';
import type { Fill } from '../../backends/fill.js';
import type { Table } from '../../backends/table.js';
import type { RowSource } from '../../backends/row_history.js';
import { grow } from '../../backends/stores/table_rows.js';
import { writeNumbersAt } from './write_numbers.js';
import { rowBlocks } from '../../base/row_blocks.js';
import { INT32_MAX } from '../../base/types.js';
import { readRowsAt } from '../../lookup/lookup.js';
import { afterWrites, beforeReads } from '../../tfjs/layer_weights.js';
import { ENTRY_WORDS, KEY_HIGH, KeyHash, KeyIndex } from './key_index.js';
import type { Admit, Evict, Unknown } from './key_rules.js';
import { readState, stateRows, STATE_WORDS, writtenState } from './key_state.js';
import { KeySteps, type Admissions } from './key_steps.js';
import { keySearch, type KeyWords } from './steps/key_search.js';
import { KeyWatch } from './steps/key_watch.js';
import { bigintsOf, type KeyBatch } from './read_keys.js';
import { writeStartRows } from './start_rows.js';

/** A row number of no row, which gives zeros that count; of padding, and of a key that is dropped, which count nowhere. */
export const NO_ROW = INT32_MAX;
export const PADDING = -1;
const DROPPED = -2;

/** What they need of their table. */
export interface OpenTableOfRows {
  readonly name: string;
  /** Rows in all, and those that keys can have. */
  readonly inputDim: number;
  readonly capacity: number;
  readonly outputDim: number;
  readonly admit: Admit;
  readonly evict: Evict;
  readonly unknown: Unknown;
  readonly keepTexts: boolean;
  /** How many lookups a lookup of keys is. */
  readonly lookups: number;
  readonly onEvict: ((keys: BigInt64Array) => void) | null;
  readonly table: Table | null;
  /** The weight, which is made where no layer has. */
  built(): tf.Variable;
}

export class OpenRows {
  /** The text of the key that a row had last, where they are kept. */
  readonly texts = new Map<number, string>();
  /** The share of the keys of the last training step that had no row. */
  unknownShare = 0;
  #steps: KeySteps | null = null;
  #state: tf.LayerVariable | null = null;
  /** Which of the index and the weight that holds it was changed since the other was. */
  #newer: 'neither' | 'index' | 'weight' = 'neither';
  #evictedNow: KeyWords[] = [];
  #seenNow = { keys: 0, unknown: 0 };
  readonly #watch: KeyWatch;

  constructor(
    private readonly table: OpenTableOfRows,
    /** What rows begin with, by `seed`. */
    private readonly fill: Fill,
    private readonly seed: number,
    /** The key that is padding; null: none. */
    readonly padding: KeyWords | null,
  ) {
    this.#watch = new KeyWatch(table.name);
  }

  /** Unknown keys are the sum of so many rows; 0: they have none. */
  get hashes(): number {
    const { unknown } = this.table;
    return typeof unknown === 'string' ? 0 : unknown.hashes;
  }

  /** The weight that holds keys and what was counted of them, once a layer was built. */
  get state(): tf.LayerVariable | null {
    return this.#state;
  }

  /** Makes that weight. */
  keepIn(create: (name: string, shape: number[]) => tf.LayerVariable): void {
    const { now } = this;
    const state = create('keys', [stateRows(now), STATE_WORDS]);
    (state as { originalName: string }).originalName = `tables/${this.table.name}/keys`;
    this.#state = state;
    beforeReads(state, () => this.#store());
    afterWrites(state, () => (this.#newer = 'weight'));
    if (now.step > 0 || now.index.size > 0) this.changed();
  }

  /** Frees that weight, and forgets all keys. */
  release(): void {
    this.#state?.dispose();
    this.#state = null;
    this.#steps = null;
    this.#newer = 'neither';
    this.texts.clear();
  }

  /** The index, up to date. */
  get now(): KeySteps {
    this.#steps ??= this.#stepsOf(new KeyIndex(this.table.capacity));
    if (this.#newer === 'weight') {
      const state = this.#state!.read().dataSync<'int32'>();
      this.#newer = 'neither';
      readState(this.#steps, state as Int32Array, this.table.name);
    }
    return this.#steps;
  }

  #stepsOf(index: KeyIndex): KeySteps {
    const { admit, evict, name } = this.table;
    return new KeySteps(index, admit, evict, this.seed, (rows) => this.#norms(rows), keySearch(), name);
  }

  /** Takes an index of another capacity; `source`: which row each of its rows was before. */
  takeIndex(index: KeyIndex, source: RowSource): void {
    const old = this.now;
    const steps = this.#stepsOf(index);
    if (old.tracker !== null) steps.tracker!.words.set(old.tracker.words);
    steps.restore(old.step, old.admitted, old.evicted);
    this.#steps = steps;
    const texts = new Map(this.texts);
    this.texts.clear();
    source.forEach((before, row) => {
      const text = texts.get(before);
      if (text !== undefined) this.texts.set(row, text);
    });
    const weight = this.#state;
    if (weight === null) return;
    // What it holds is of no use any more.
    this.#newer = 'neither';
    const values = tf.zeros([stateRows(steps), STATE_WORDS], 'int32');
    grow([{ variable: weight.read() as tf.Variable, values }]);
    values.dispose();
    Object.assign(weight, { shape: [...values.shape] });
    this.changed();
  }

  changed(): void {
    if (this.#state !== null) this.#newer = 'index';
  }

  /** Brings the weight up to date. */
  #store(): void {
    if (this.#newer !== 'index') return;
    this.#newer = 'neither';
    const state = this.#state!.read() as tf.Variable;
    tf.tidy(() => state.assign(tf.tensor2d(writtenState(this.now), state.shape as [number, number], 'int32')));
  }

  begin(): void {
    this.now.begin();
    this.#seenNow = { keys: 0, unknown: 0 };
  }

  commit(): void {
    const { now } = this;
    const { keys, unknown } = this.#seenNow;
    now.commit();
    this.unknownShare = keys === 0 ? 0 : unknown / keys;
    const gone = this.#evictedNow.reduce((sum, { length }) => sum + length / 2, 0);
    this.#watch.stepped({ step: now.step, keys, unknown, gone, soon: now.goneSoon });
    this.changed();
    this.#tellEvicted();
  }

  undo(): void {
    this.now.undo();
    this.changed();
    this.#tellEvicted();
  }

  #tellEvicted(): void {
    const told = this.#evictedNow;
    this.#evictedNow = [];
    const { onEvict } = this.table;
    if (onEvict !== null) for (const keys of told) onEvict(bigintsOf(keys));
  }

  /** The row numbers of keys, one list for each lookup; in the step that is open their rules hold for them. */
  rows(batch: KeyBatch, skipZero: boolean, isTraining: boolean): Int32Array[] {
    const { words } = batch;
    const steps = this.now;
    const present = this.present(words, skipZero);
    const asked = present === null ? words : taken(words, present);
    const found = new Int32Array(asked.length / 2);
    let unknown: number;
    if (isTraining) {
      const told = steps.train(asked, found);
      ({ unknown } = told);
      this.#start(told, steps, found, batch, present);
      this.changed();
      this.#seenNow.keys += found.length;
      this.#seenNow.unknown += unknown;
    } else {
      unknown = steps.find(asked, found);
    }
    if (present === null && this.hashes === 0) return [unknown === 0 ? found : this.#numbered(found)];
    return Array.from({ length: this.table.lookups }, (_, hash) => {
      const rows = new Int32Array(words.length / 2).fill(PADDING);
      for (let i = 0; i < found.length; i++) {
        const row = found[i]!;
        const place = present === null ? i : present[i]!;
        if (row >= 0) rows[place] = hash === 0 ? row : NO_ROW;
        else rows[place] = this.rowOfUnknown(asked[2 * i]!, asked[2 * i + 1]!, hash);
        if (row < 0 && isTraining && this.hashes > 0) steps.index.changed?.add(rows[place]!);
      }
      return rows;
    });
  }

  /** Found rows as lookups take them, in place: most keys have one. */
  #numbered(found: Int32Array): Int32Array {
    const unknown = this.table.unknown === 'zero' ? NO_ROW : DROPPED;
    for (let i = 0; i < found.length; i++) if (found[i]! < 0) found[i] = unknown;
    return found;
  }

  /** Places of the keys that are no padding; null: all. */
  present(words: KeyWords, skipZero: boolean): Int32Array | null {
    const padding = this.padding;
    if (padding === null && !skipZero) return null;
    const places: number[] = [];
    for (let i = 0; i < words.length / 2; i++) {
      const [low, high] = [words[2 * i]!, words[2 * i + 1]!];
      if (skipZero && low === 0 && high === 0) continue;
      if (padding !== null && low === padding[0] && high === padding[1]) continue;
      places.push(i);
    }
    return places.length === words.length / 2 ? null : Int32Array.from(places);
  }

  rowOfUnknown(low: number, high: number, hash: number): number {
    if (this.table.unknown === 'zero') return NO_ROW;
    if (this.table.unknown === 'drop') return DROPPED;
    return this.table.capacity + sharedRow(low, high, hash, this.table.unknown.shared);
  }

  /** Gives new keys the rows that they begin with. */
  #start(
    { admitted, evicted }: Admissions,
    steps: KeySteps,
    found: Int32Array,
    batch: KeyBatch,
    present: Int32Array | null,
  ): void {
    if (evicted.length > 0) this.#evictedNow.push(evicted);
    if (admitted.length === 0) return;
    this.#write(admitted.slice().sort(), steps);
    if (!this.table.keepTexts) return;
    const fresh = new Set(admitted);
    const texts = batch.texts!();
    found.forEach((row, i) => {
      if (!fresh.delete(row)) return;
      this.texts.set(row, texts[present === null ? i : present[i]!] as string);
    });
  }

  /** Writes the first values of rows, ascending, and has their slots begin anew. */
  #write(rows: Int32Array, { index: { entries } }: KeySteps): void {
    const variable = this.table.built();
    const { outputDim } = this.table;
    const keys = new Int32Array(2 * rows.length);
    for (let i = 0; i < rows.length; i++) {
      keys[2 * i] = entries[rows[i]! * ENTRY_WORDS]!;
      keys[2 * i + 1] = entries[rows[i]! * ENTRY_WORDS + KEY_HIGH]!;
    }
    const values = new Float32Array(rows.length * outputDim);
    if (this.hashes === 0) writeStartRows(this.fill, this.seed, keys, values);
    else this.#addShared(keys, values, variable);
    writeNumbersAt(this.table, rows, values);
    this.table.table!.restartSlots(rows);
  }

  /** Adds the rows that keys shared so far. */
  #addShared(keys: KeyWords, values: Float32Array, variable: tf.Variable): void {
    const { capacity, inputDim, outputDim } = this.table;
    const shared = readRowsAt(
      variable,
      Int32Array.from({ length: inputDim - capacity }, (_, place) => capacity + place),
    );
    for (let i = 0; i < keys.length / 2; i++) {
      for (let hash = 0; hash < this.hashes; hash++) {
        const from = sharedRow(keys[2 * i]!, keys[2 * i + 1]!, hash, inputDim - capacity) * outputDim;
        for (let column = 0; column < outputDim; column++) values[i * outputDim + column]! += shared[from + column]!;
      }
    }
  }

  /** The squared norms of rows of one shard. */
  #norms(rows: Int32Array): Float64Array {
    const variable = this.table.built();
    const { outputDim } = this.table;
    const norms = new Float64Array(rows.length);
    for (const { firstRow: first, rows: count } of rowBlocks({ rows: rows.length, columns: outputDim })) {
      const values = readRowsAt(variable, rows.slice(first, first + count));
      for (let i = 0; i < count; i++) {
        let sum = 0;
        for (let column = 0; column < outputDim; column++) sum += values[i * outputDim + column]! ** 2;
        norms[first + i] = Number.isNaN(sum) ? Infinity : sum;
      }
    }
    return norms;
  }

  /** Takes their rows from keys that were seen too long ago, between steps. */
  freeOld(): void {
    const { now } = this;
    if ((this.table.evict?.after ?? null) === null) return;
    const gone = now.freeOld();
    if (gone.length > 0) this.changed();
    this.tell(gone);
  }

  /** Tells of keys that lost their rows between steps. */
  tell(evicted: KeyWords): void {
    if (evicted.length === 0) return;
    this.#evictedNow.push(evicted);
    this.#tellEvicted();
  }

  /** The keys of rows, as users get them. */
  keysAt(rows: Int32Array): BigInt64Array | string[] {
    if (this.table.keepTexts) return Array.from(rows, (row) => this.texts.get(row)!);
    return bigintsOf(wordsAt(this.now.index, rows));
  }
}

/** The keys that rows have. */
export function wordsAt({ entries }: KeyIndex, rows: Int32Array): KeyWords {
  const words = new Int32Array(2 * rows.length);
  rows.forEach((row, i) => {
    words[2 * i] = entries[row * ENTRY_WORDS]!;
    words[2 * i + 1] = entries[row * ENTRY_WORDS + KEY_HIGH]!;
  });
  return words;
}

/** The row that a key without one shares, by the number of the hash. */
function sharedRow(low: number, high: number, hash: number, rows: number): number {
  const mixed = new KeyHash();
  mixed.of(low ^ Math.imul(hash + 1, 0x9e3779b9), high);
  return Math.floor(((mixed.high >>> 0) * rows) / 2 ** 32);
}

function taken(words: KeyWords, places: Int32Array): KeyWords {
  const kept = new Int32Array(2 * places.length);
  places.forEach((place, i) => {
    kept[2 * i] = words[2 * place]!;
    kept[2 * i + 1] = words[2 * place + 1]!;
  });
  return kept;
}
