/** The rows of a file behind a variable that holds some of them: ids become rows of the variable at the door. */
import * as tf from '@tensorflow/tfjs';
import { writeRowsAt } from '../../backends/stores/table_rows.js';
import { Table, type RowLookup, type TableRows } from '../../backends/table.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { INT32_MAX } from '../../base/types.js';
import { strayPosition } from '../../ids/id_out_of_range.js';
import { lookupScope, readRowsAt, withPublicErrors } from '../../lookup/lookup.js';
import { IdOutOfRange } from '../../backends/kernel_set.js';
import { refuseRecording } from '../../backends/recordings.js';
import { isTapeOn } from '../../tfjs/lazy_gradient.js';
import { PendingRows } from './pending_rows.js';
import { RowCache } from './row_cache.js';
import type { Region, RowReader } from './row_reader.js';
import type { RowsAt } from './row_source.js';

/** The place of an id that stands for no row: lookups that allow it take zeros. */
const NO_ROW = INT32_MAX;

/** What trained rows need: their slots, and that changed ones go back to the file. */
export interface RowsBeside {
  /** Rows of the variable that a step is about to change. */
  willChange(places: Int32Array): void;
  /** Brings changed rows in these places back to the file. */
  putBack(places: Int32Array): void;
  /** Fetches what lies beside rows that are about to lie in these places. */
  fetch(rows: Int32Array, places: Int32Array): void;
  slotsMade: TableRows['slotsMade'];
  slotsGo: TableRows['slotsGo'];
}

/** What rows are looked up for: a step that trains them changes them, others wait for a gradient. */
type RowUse = 'to read' | 'to train' | 'apart';

/** What was asked for so far. */
export interface RowCounts {
  hits: number;
  misses: number;
}

/** Distinct rows, ascending. */
function distinct(rows: Int32Array): Int32Array {
  rows.sort();
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (i === 0 || rows[i] !== rows[i - 1]) rows[count++] = rows[i]!;
  return rows.subarray(0, count);
}

export class CachedRows implements TableRows {
  readonly counts: RowCounts = { hits: 0, misses: 0 };
  readonly cache: RowCache;
  readonly region: Region;
  readonly #pending: PendingRows;
  #steps = 0;
  #isClosed = false;
  /** What rows that are trained need; null: they are not. */
  beside: RowsBeside | null = null;

  constructor(
    readonly name: string,
    private readonly at: RowsAt,
    private readonly reader: RowReader,
    capacity: number,
    private readonly variable: () => tf.Variable,
  ) {
    this.cache = new RowCache(capacity);
    this.region = { start: at.start, bytes: at.format.bytes(at.dim) };
    this.#pending = new PendingRows(reader, this.region);
  }

  get rows(): number {
    return this.at.rows;
  }

  /** Rows of a step stay where they are until it ends. */
  begin(): void {
    if (this.#steps++ === 0) this.cache.release();
  }

  commit(): void {
    this.#steps -= 1;
  }

  undo(): void {
    this.#steps -= 1;
  }

  /** Whether a step is in progress. */
  get isInStep(): boolean {
    return this.#steps > 0;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new RuntimeError('table', 'a disk table that is open', described(`${this.name}, closed`));
  }

  /** Ids as rows of the file; -1 for those that are none. The same list where all are some. */
  #inRange(ids: Int32Array): Int32Array {
    const { rows } = this.at;
    return strayPosition(ids, rows) < 0 ? ids : ids.map((id) => (id >= 0 && id < rows ? id : -1));
  }

  atRows<L extends RowLookup>(lookups: readonly L[]): readonly L[] {
    const doors = new Set(lookups.map(({ table }) => table.elsewhere as CachedRows | undefined));
    let found = lookups;
    for (const door of doors) if (door !== undefined) found = door.#ofOwn(found);
    return found;
  }

  #ofOwn<L extends RowLookup>(lookups: readonly L[]): readonly L[] {
    const own = [...lookups.keys()].filter((i) => lookups[i]!.table.elsewhere === this);
    const { table } = lookups[own[0]!]!;
    const ids = own.map((i) => this.#idsOf(lookups[i]!));
    const trains = this.#trains(table);
    // The tape holds what it is given: of the variable all rows would be copied before others are written there.
    const stays = !trains && isTapeOn();
    const rows = this.#find(ids, stays ? 'apart' : trains ? 'to train' : 'to read');
    const found = [...lookups];
    own.forEach((i, n) => {
      const bags = { ...lookups[i]!.bags, values: tf.tensor1d(rows.places[n]!, 'int32') };
      found[i] = { ...lookups[i]!, table: rows.table ?? table, bags };
    });
    return found;
  }

  /** The ids of a lookup. Throws ValueError where one is outside its table, and that is an error. */
  #idsOf({ table, bags, options }: RowLookup): Int32Array {
    const { rows, name } = this;
    refuseRecording(`table ${name} reads rows from its file within it`);
    const ids = bags.values.dataSync<'int32'>();
    const position = options.outOfRange === 'error' ? strayPosition(ids, rows) : -1;
    if (position < 0) return ids;
    return withPublicErrors((): never => {
      throw new IdOutOfRange(ids[position]!, position, rows);
    }, table);
  }

  /** Whether a lookup now is one of a step that trains the table. Throws RuntimeError under a stock optimizer. */
  #trains(table: Table): boolean {
    if (!table.variable.trainable || !isTapeOn()) return false;
    const scope = lookupScope();
    if (scope === null) {
      const expected = `an emb.train optimizer, because the rows of table ${this.name} lie in a file`;
      throw new RuntimeError('optimizer', expected, described('a stock optimizer, or tf.variableGrads'));
    }
    if (!scope.manages(table)) return false;
    scope.open(this);
    return true;
  }

  toChange(ids: Int32Array): Int32Array {
    return this.#find([ids], 'to train').places[0]!;
  }

  #find(ids: readonly Int32Array[], use: RowUse): { table: Table | null; places: Int32Array[] } {
    this.#checkOpen();
    const { cache, counts } = this;
    if (!this.isInStep) cache.release();
    const wanted = ids.map((each) => this.#inRange(each));
    const places = wanted.map((each) => new Int32Array(each.length));
    let missing = 0;
    wanted.forEach((each, i) => {
      const own = places[i]!;
      counts.hits += each.length;
      if (each !== ids[i]) {
        own.fill(NO_ROW);
        for (const row of each) if (row < 0) counts.hits -= 1;
      }
      missing += cache.findAll(each, own);
    });
    if (missing > 0) {
      const absent = new Int32Array(missing);
      let count = 0;
      wanted.forEach((each, i) => each.forEach((row, p) => places[i]![p]! < 0 && (absent[count++] = row)));
      const rows = distinct(absent);
      counts.hits -= rows.length;
      counts.misses += rows.length;
      if (rows.length > cache.capacity - cache.inUse) {
        if (use === 'to train') this.#refuse(rows.length);
        return this.#beyond(wanted);
      }
      this.#load(rows);
      wanted.forEach((each, i) => {
        const own = places[i]!;
        for (let p = 0; p < own.length; p++) if (own[p]! < 0) own[p] = cache.find(each[p]!);
      });
    }
    if (use === 'to train') for (const each of places) this.beside!.willChange(each);
    return use === 'apart' ? this.#beyond(wanted) : { table: null, places };
  }

  #refuse(more: number): never {
    const { capacity, inUse } = this.cache;
    throw new ValueError(
      'cacheBytes',
      `room for the ${inUse + more} distinct rows that a step of table ${this.name} asks for`,
      described(`room for ${capacity}`),
    );
  }

  /** Reads rows, ascending, into the variable. */
  #load(rows: Int32Array): void {
    const values = this.#read(rows);
    const { cache, beside } = this;
    const places = cache.victims(rows.length);
    try {
      beside?.putBack(places);
    } catch (error) {
      cache.giveBack(places);
      throw error;
    }
    rows.forEach((row, i) => cache.put(row, places[i]!));
    writeRowsAt(this.variable(), places, values);
    beside?.fetch(rows, places);
  }

  /** The numbers of rows of the file, ascending. */
  #read(rows: Int32Array): Float32Array {
    const { format, dim } = this.at;
    const size = this.region.bytes;
    const isHere = this.#pending.has(rows);
    const others = rows.filter((_, i) => isHere[i] === 0);
    const reading = others.length === 0 ? null : this.reader.begin(others, this.region);
    let bytes: Uint8Array;
    if (others.length === rows.length) {
      bytes = this.reader.finish(reading!);
    } else {
      bytes = new Uint8Array(rows.length * size);
      try {
        this.#pending.take(rows, isHere, bytes);
      } catch (error) {
        if (reading !== null) this.reader.drop(reading);
        throw error;
      }
      const rest = reading === null ? null : this.reader.finish(reading);
      for (let i = 0, from = 0; rest !== null && i < rows.length; i++) {
        if (isHere[i] === 0) bytes.set(rest.subarray(from * size, ++from * size), i * size);
      }
    }
    const values = new Float32Array(rows.length * dim);
    format.widen(bytes, dim, values);
    return values;
  }

  /** Rows as they are now, ascending: those of the cache too. */
  readNow(rows: Int32Array): Float32Array {
    this.#checkOpen();
    const { dim } = this.at;
    const places = rows.map((row) => this.cache.find(row));
    const isHere = places.map((place) => (place < 0 ? 0 : 1));
    const values = new Float32Array(rows.length * dim);
    const put = (found: Float32Array, wanted: number): void => {
      for (let i = 0, from = 0; i < rows.length; i++) {
        if (isHere[i] === wanted) values.set(found.subarray(from * dim, ++from * dim), i * dim);
      }
    };
    const cached = places.filter((place) => place >= 0);
    if (cached.length > 0) put(readRowsAt(this.variable(), cached), 1);
    if (cached.length < rows.length) put(this.#read(rows.filter((_, i) => isHere[i] === 0)), 0);
    return values;
  }

  /** Rows as a table of their own, such as more than the cache holds. Call inside a tidy. */
  #beyond(wanted: readonly Int32Array[]): { table: Table; places: Int32Array[] } {
    const all = new Int32Array(wanted.reduce((sum, each) => sum + each.length, 0));
    let count = 0;
    for (const each of wanted) for (const row of each) if (row >= 0) all[count++] = row;
    const rows = distinct(all.subarray(0, count)).slice();
    const table = new Table(tf.tensor2d(this.readNow(rows), [rows.length, this.at.dim]));
    const placeAt = new Map<number, number>();
    rows.forEach((row, place) => placeAt.set(row, place));
    return { table, places: wanted.map((each) => each.map((row) => placeAt.get(row) ?? NO_ROW)) };
  }

  prefetch(ids: Int32Array): void {
    if (this.#isClosed) return;
    const { cache } = this;
    const rows = distinct(this.#inRange(ids).slice());
    const absent = rows.filter((row) => row >= 0 && cache.find(row) < 0);
    // More than it holds is not asked for again as it is.
    if (absent.length > 0 && absent.length <= cache.capacity) this.#pending.begin(absent);
  }

  slotsMade(slots: readonly tf.Variable[], starts: readonly number[], optimizer: string): void {
    this.beside?.slotsMade(slots, starts, optimizer);
  }

  slotsGo(): void {
    if (!this.#isClosed) this.beside?.slotsGo();
  }

  idsOf(places: Int32Array): Int32Array {
    return places.map((place) => this.cache.rowAt[place]!);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pending.clear();
    this.reader.close();
  }
}
