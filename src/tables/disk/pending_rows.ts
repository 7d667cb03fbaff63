/**
 * Rows of batches to come, which are read while others are at work: rows that are not in the cache, so that nobody changes
 * them before they are taken from here.
 */
import type { Reading, Region, RowReader } from './row_reader.js';

/** Batches that wait: of several layers, and of two steps. */
const MOST = 8;

interface Pending {
  readonly reading: Reading;
  /** Rows that nobody took yet; 0 of each that was taken. */
  readonly wanted: Uint8Array;
  left: number;
  bytes: Uint8Array | null;
}

/** The place of a row among ascending ones, -1: none. */
function placeOf(rows: Int32Array, row: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = rows[middle]!;
    if (found === row) return middle;
    if (found < row) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

export class PendingRows {
  readonly #batches: Pending[] = [];

  constructor(
    private readonly reader: RowReader,
    private readonly region: Region,
  ) {}

  /** Begins to read rows, ascending. */
  begin(rows: Int32Array): void {
    const fresh = rows.filter((row) => !this.#batches.some((each) => this.#has(each, row)));
    if (fresh.length === 0) return;
    if (this.#batches.length === MOST) this.#forget(this.#batches[0]!);
    const wanted = new Uint8Array(fresh.length).fill(1);
    const reading = this.reader.begin(fresh, this.region);
    this.#batches.push({ reading, wanted, left: fresh.length, bytes: null });
  }

  #has({ reading, wanted }: Pending, row: number): boolean {
    const place = placeOf(reading.rows, row);
    return place >= 0 && wanted[place] === 1;
  }

  /** Which of these rows, ascending, are being read here. */
  has(rows: Int32Array): Uint8Array {
    if (this.#batches.length === 0) return new Uint8Array(rows.length);
    return Uint8Array.from(rows, (row) => (this.#batches.some((each) => this.#has(each, row)) ? 1 : 0));
  }

  /** Writes the bytes of such rows, each at its place in `into`. */
  take(rows: Int32Array, isHere: Uint8Array, into: Uint8Array): void {
    const { bytes } = this.region;
    for (let i = 0; i < rows.length; i++) {
      if (isHere[i] === 0) continue;
      const pending = this.#batches.find((each) => this.#has(each, rows[i]!))!;
      const place = placeOf(pending.reading.rows, rows[i]!);
      const read = (pending.bytes ??= this.#finish(pending));
      into.set(read.subarray(place * bytes, (place + 1) * bytes), i * bytes);
      pending.wanted[place] = 0;
      if (--pending.left === 0) this.#batches.splice(this.#batches.indexOf(pending), 1);
    }
  }

  #finish(pending: Pending): Uint8Array {
    try {
      return this.reader.finish(pending.reading);
    } catch (error) {
      // It is finished, whatever came of it.
      this.#batches.splice(this.#batches.indexOf(pending), 1);
      throw error;
    }
  }

  #forget(pending: Pending): void {
    if (pending.bytes === null) this.reader.drop(pending.reading);
    this.#batches.splice(this.#batches.indexOf(pending), 1);
  }

  clear(): void {
    for (const pending of [...this.#batches]) this.#forget(pending);
  }
}
