/** Rows in lists that grow and shrink: what is scanned, the rows as they were given, and their ids. */
import { newFloats, type HostTable } from '../../backends/kernel_set.js';
import { ValueError, described } from '../../base/errors.js';
import { INT32_MAX } from '../../base/types.js';
import type { Codec, Words } from '../../codecs/codec.js';
import { FLOAT32 } from '../../codecs/float32.js';
import { IdPlaces } from './id_places.js';

export interface ListForm {
  readonly dim: number;
  readonly lists: number;
  /** Of the rows that are scanned. */
  readonly codec: Codec;
  /** Whether rows are kept as they were given; they are what is scanned where the codec is float32. */
  readonly keepRows: boolean;
}

/** Rows of all lists, one list after the other. */
export interface ListedRows {
  readonly counts: Int32Array; // [lists]
  readonly ids: Int32Array;
  readonly codes: Words;
  readonly rows: Float32Array | null;
}

/** A list has room for an eighth more than its rows, and for a few. */
function roomFor(rows: number): number {
  return rows + (rows >> 3) + 4;
}

export class RowLists {
  readonly form: ListForm;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  ids: Int32Array = new Int32Array();
  /** Rows as they are scanned. */
  codes: Words;
  /** Rows as they were given, or null where they are not kept. */
  rows: Float32Array | null;
  /** Where the room of each list ends. */
  readonly #limits: Int32Array;
  readonly #places = new IdPlaces();
  readonly #words: number;
  /** Rows from here on belong to no list. */
  #end = 0;

  constructor(form: ListForm) {
    this.form = form;
    this.#words = form.codec.words(form.dim);
    this.starts = new Int32Array(form.lists);
    this.ends = new Int32Array(form.lists);
    this.#limits = new Int32Array(form.lists);
    this.codes = form.codec.isPlain ? new Float32Array() : new Int32Array();
    this.rows = form.codec.isPlain ? (this.codes as Float32Array) : form.keepRows ? new Float32Array() : null;
  }

  /** How many rows there are. */
  get size(): number {
    return this.#places.size;
  }

  /** Rows as kernels scan them, from the first list on. */
  get table(): HostTable {
    const { codec, dim } = this.form;
    return { codec, data: this.codes.subarray(0, this.#end * this.#words), rows: this.#end, dim };
  }

  placeOf(id: number): number {
    return this.#places.get(id);
  }

  /** The rows as they were given, or what their codes stand for where they are not kept. */
  get exact(): HostTable {
    const { dim } = this.form;
    if (this.rows === null) return this.table;
    return { codec: FLOAT32, data: this.rows.subarray(0, this.#end * dim), rows: this.#end, dim };
  }

  /** Puts rows [n, dim] into lists, row by row; their ids are not there yet. */
  add(ids: Int32Array, rows: Float32Array, listOf: Int32Array): void {
    const more = new Int32Array(this.form.lists);
    for (const list of listOf) more[list]!++;
    this.#makeRoom(more);
    const { codec, dim } = this.form;
    ids.forEach((id, i) => {
      const place = this.ends[listOf[i]!]!++;
      const row = rows.subarray(i * dim, (i + 1) * dim);
      this.ids[place] = id;
      codec.pack(row, dim, this.codes, place);
      if (this.rows !== null && !codec.isPlain) this.rows.set(row, place * dim);
      this.#places.set(id, place);
    });
  }

  /** Takes an id out, whose place its list's last row takes. Returns whether it was there. */
  remove(id: number): boolean {
    const place = this.#places.get(id);
    if (place < 0) return false;
    const list = this.#listOf(place);
    const last = --this.ends[list]!;
    this.#places.delete(id);
    if (last === place) return true;
    this.#copy(this, last, last + 1, place);
    this.#places.set(this.ids[place]!, place);
    return true;
  }

  /** Rows as they lie, list after list, in blocks of whole lists. */
  *blocks(): Generator<{ readonly first: number; readonly end: number }> {
    for (let list = 0; list < this.form.lists; list++) {
      if (this.ends[list]! > this.starts[list]!) yield { first: this.starts[list]!, end: this.ends[list]! };
    }
  }

  /** Takes rows that lie list after list, in place of those that are there. */
  fill({ counts, ids, codes, rows }: ListedRows): void {
    this.ids = ids;
    this.codes = codes;
    this.rows = this.form.codec.isPlain ? (codes as Float32Array) : rows;
    let at = 0;
    counts.forEach((count, list) => {
      this.starts[list] = at;
      this.ends[list] = this.#limits[list] = at += count;
    });
    this.#end = at;
    ids.forEach((id, place) => this.#places.set(id, place));
  }

  /** The list that holds a place: lists lie in any order, so that all are looked at. */
  #listOf(place: number): number {
    const { starts, ends } = this;
    let list = 0;
    while (place < starts[list]! || place >= ends[list]!) list++;
    return list;
  }

  /** Makes room for so many more rows in each list. */
  #makeRoom(more: Int32Array): void {
    const full = [...more.keys()].filter((list) => this.ends[list]! + more[list]! > this.#limits[list]!);
    const wanted = full.map((list) => roomFor(this.ends[list]! - this.starts[list]! + more[list]!));
    const all = wanted.reduce((sum, rows) => sum + rows, this.#end);
    if (all <= this.ids.length) {
      full.forEach((list, i) => this.#move(list, wanted[i]!));
    } else {
      this.#lieAnew(more);
    }
  }

  /** Moves a list behind all others. */
  #move(list: number, room: number): void {
    const [first, end, to] = [this.starts[list]!, this.ends[list]!, this.#end];
    this.#copy(this, first, end, to);
    for (let place = first; place < end; place++) this.#places.set(this.ids[place]!, to + place - first);
    this.starts[list] = to;
    this.ends[list] = to + end - first;
    this.#limits[list] = this.#end = to + room;
  }

  /** Lays all lists into new memory, with room for a quarter more than they take. */
  #lieAnew(more: Int32Array): void {
    const { dim, codec } = this.form;
    const rooms = Array.from(more, (count, list) => roomFor(this.ends[list]! - this.starts[list]! + count));
    const all = rooms.reduce((sum, rows) => sum + rows, 0);
    // The first rows lie as tightly as they can: most tables never change.
    const capacity = this.size === 0 ? all : all + (all >> 2);
    if (capacity > INT32_MAX) {
      throw new ValueError('rows', `at most ${INT32_MAX} places in all lists`, described(`${capacity}`));
    }
    const floats = (): Float32Array => newFloats('rows', 'the rows of the index', [capacity, dim]);
    const before = { ids: this.ids, codes: this.codes, rows: this.rows };
    this.ids = new Int32Array(capacity);
    this.codes = codec.isPlain ? floats() : new Int32Array(capacity * this.#words);
    if (codec.isPlain) this.rows = this.codes as Float32Array;
    else if (this.rows !== null) this.rows = floats();
    let at = 0;
    rooms.forEach((room, list) => {
      const [first, end] = [this.starts[list]!, this.ends[list]!];
      this.#copy(before, first, end, at);
      for (let place = first; place < end; place++) this.#places.set(before.ids[place]!, at + place - first);
      this.starts[list] = at;
      this.ends[list] = at + end - first;
      this.#limits[list] = at += room;
    });
    this.#end = at;
  }

  #copy({ ids, codes, rows }: Pick<RowLists, 'ids' | 'codes' | 'rows'>, first: number, end: number, to: number): void {
    const { dim, codec } = this.form;
    this.ids.set(ids.subarray(first, end), to);
    this.codes.set(codes.subarray(first * this.#words, end * this.#words), to * this.#words);
    if (rows !== null && !codec.isPlain) this.rows!.set(rows.subarray(first * dim, end * dim), to * dim);
  }
}
