/**
 * What changed in an open table since a moment that was marked: rows by key, and keys that are gone. A sum over keys and
 * the bits of their rows, in whatever order they lie, tells tables apart; it is kept up to date by the rows that changed.
 */
import { ValueError, described } from '../../base/errors.js';
import { rowsAtOnce } from '../../base/row_blocks.js';
import type { Checksum } from '../../backends/table_checksum.js';
import { ChangedRows } from './changed_rows.js';
import { ENTRY_WORDS, KEY_HIGH, type KeyIndex } from './key_index.js';
import type { OpenTableMark } from './delta_types.js';
import type { KeyWords } from './steps/key_search.js';

/** What marks need of their table. */
export interface MarkedTable {
  readonly name: string;
  /** Rows that keys can have; those that unknown keys share come after them, up to `inputDim`. */
  readonly capacity: number;
  readonly inputDim: number;
  readonly outputDim: number;
}

/** Rows that differ, ascending, and keys that were there and may be gone. */
interface Changes {
  readonly rows: Int32Array;
  readonly removed: KeyWords;
}

interface Kept extends Changes {
  readonly mark: OpenTableMark;
  readonly sum: Checksum;
}

/** What leads from one mark to another. */
export interface Since extends Changes {
  /** null: from an empty table. */
  readonly from: OpenTableMark | null;
  readonly to: OpenTableMark;
  readonly base: Checksum;
  readonly result: Checksum;
}

/** Words that are remembered of a row: its key, and its two sums. */
const WORDS = 4;
/** Of each sum: what keys are mixed with, and how far columns are apart. */
const SALTS = [0x3c6ef372, 0x9b05688c] as const;
const STEPS = [0x9e3779b1, 0xc2b2ae3d] as const;
/** The high word of what stands for the key of a row that unknown keys share, mixed once more. */
const SHARED = 0x5bd1e995;

function mixed(n: number): number {
  let x = Math.imul(n ^ (n >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}

/** Both sums of a row: `bits` from `at` on. */
export function rowSum(bits: Int32Array, at: number, columns: number, low: number, high: number): [number, number] {
  let [first, second] = [0, 0];
  let a = mixed(mixed(low ^ SALTS[0]) ^ high);
  let b = mixed(mixed(low ^ SALTS[1]) ^ high);
  for (let place = at; place < at + columns; place++) {
    const word = bits[place]!;
    first = (first + mixed(word ^ a)) | 0;
    second = (second + mixed(word ^ b)) | 0;
    a = (a + STEPS[0]) | 0;
    b = (b + STEPS[1]) | 0;
  }
  return [first, second];
}

/** Both sums of a row that unknown keys share. */
export function sharedSum(bits: Int32Array, at: number, columns: number, place: number): [number, number] {
  return rowSum(bits, at, columns, mixed(place ^ SHARED), SHARED);
}

/** The bits of numbers. */
export function bitsOf(values: Float32Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length);
}

const NOTHING = new Int32Array(0);

export class KeyMarks {
  /** Tells the marks of this table from those of others, and of another run of the program. */
  readonly chain = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
  readonly #changed: ChangedRows;
  /** Of each row: what key it had, and its sums, when they were looked at last. */
  readonly #seen: Int32Array;
  readonly #wasThere: Uint8Array;
  readonly #kept: Kept[] = [];
  #sum: [number, number] = [0, 0];
  #number = 0;

  constructor(
    private readonly table: MarkedTable,
    private readonly index: KeyIndex,
    /** Reads rows, ascending. */
    private readonly read: (rows: Int32Array) => Float32Array,
    /** Whether steps change rows that no key of theirs has. */
    private readonly changesOthers: () => boolean,
  ) {
    this.#changed = new ChangedRows(table.inputDim);
    this.#changed.isAll = true;
    this.#seen = new Int32Array(table.inputDim * WORDS);
    this.#wasThere = new Uint8Array(table.inputDim);
    index.changed = this.#changed;
  }

  /** A row was written. */
  changed(row: number): void {
    this.#changed.add(row);
  }

  /** Any row may have changed. */
  changedAll(): void {
    this.#changed.isAll = true;
  }

  /** The sum as the table was when it was marked last. */
  get sum(): Checksum {
    return [this.#sum[0] >>> 0, this.#sum[1] >>> 0];
  }

  /** Both sums of a row as they were then. */
  sumOf(row: number): [number, number] {
    if (this.#wasThere[row] === 0) return [0, 0];
    return [this.#seen[row * WORDS + 2]!, this.#seen[row * WORDS + 3]!];
  }

  /** Whether a row counts: a key has it, or unknown ones share it. */
  #isThere(row: number): boolean {
    return row >= this.table.capacity || this.index.isUsed(row);
  }

  #everyRow(): Int32Array {
    const { capacity, inputDim } = this.table;
    const seen = this.#wasThere.subarray(0, capacity).lastIndexOf(1) + 1;
    const end = Math.max(this.index.usedRows, seen);
    const rows = new Int32Array(end + inputDim - capacity);
    let count = 0;
    for (let row = 0; row < end; row++) if (this.#wasThere[row] === 1 || this.index.isUsed(row)) rows[count++] = row;
    for (let row = capacity; row < inputDim; row++) rows[count++] = row;
    return rows.subarray(0, count);
  }

  /** Brings the sum up to date, and returns what changed since that was done last. */
  #settle(): Changes {
    const changed = this.#changed;
    if (this.changesOthers()) changed.isAll = true;
    const rows = changed.isAll ? this.#everyRow() : changed.sorted();
    const [differ, removed]: [number[], number[]] = [[], []];
    const atOnce = rowsAtOnce(this.table.outputDim);
    for (let first = 0; first < rows.length; first += atOnce) {
      const block = rows.subarray(first, first + atOnce);
      const there = block.filter((row) => this.#isThere(row));
      const bits = there.length === 0 ? NOTHING : bitsOf(this.read(there));
      let place = 0;
      for (const row of block) {
        const at = there[place] === row ? place++ : -1;
        if (this.#look(row, at < 0 ? null : bits, at, removed)) differ.push(row);
      }
    }
    changed.clear();
    return { rows: Int32Array.from(differ), removed: Int32Array.from(removed) };
  }

  /** Takes one row into account; returns whether it is there, and another than it was. `bits`: null where it is not. */
  #look(row: number, bits: Int32Array | null, place: number, removed: number[]): boolean {
    const { capacity, outputDim } = this.table;
    const { entries } = this.index;
    const [seen, sum] = [this.#seen, this.#sum];
    const at = row * WORDS;
    const isShared = row >= capacity;
    const low = isShared ? 0 : entries[row * ENTRY_WORDS]!;
    const high = isShared ? 0 : entries[row * ENTRY_WORDS + KEY_HIGH]!;
    const wasThere = this.#wasThere[row] === 1;
    const isSame = wasThere && bits !== null && seen[at] === low && seen[at + 1] === high;
    const [before0, before1] = this.sumOf(row);
    if (wasThere && !isSame) removed.push(seen[at]!, seen[at + 1]!);
    sum[0] = (sum[0] - before0) | 0;
    sum[1] = (sum[1] - before1) | 0;
    this.#wasThere[row] = bits === null ? 0 : 1;
    if (bits === null) return false;
    const start = place * outputDim;
    const [now0, now1] = isShared
      ? sharedSum(bits, start, outputDim, row - capacity)
      : rowSum(bits, start, outputDim, low, high);
    sum[0] = (sum[0] + now0) | 0;
    sum[1] = (sum[1] + now1) | 0;
    seen[at] = low;
    seen[at + 1] = high;
    seen[at + 2] = now0;
    seen[at + 3] = now1;
    // A row that a step touched was counted, even where its numbers are what they were.
    return !isSame || before0 !== now0 || before1 !== now1 || (!isShared && this.#changed.has(row));
  }

  /** Marks the table as it is; the last mark again where nothing changed since. */
  mark(): OpenTableMark {
    const changes = this.#settle();
    const last = this.#kept.at(-1);
    if (last !== undefined && changes.rows.length === 0 && changes.removed.length === 0) return last.mark;
    const mark = Object.freeze({ table: this.table.name, number: ++this.#number });
    this.#kept.push({ mark, sum: this.sum, ...changes });
    this.#forgetOldest();
    return mark;
  }

  /** What old marks would take more memory for than the rows of the table have is forgotten. */
  #forgetOldest(): void {
    const kept = this.#kept;
    const most = Math.max(this.table.inputDim, 65_536);
    let size = 0;
    let first = kept.length - 1;
    // Changes up to the oldest mark lead to it from nothing that is known.
    for (; first > 0; first--) {
      size += kept[first]!.rows.length + kept[first]!.removed.length + 1;
      if (size > most && first < kept.length - 1) break;
    }
    kept.splice(0, first);
  }

  /** Marks the table, and tells what changed since another mark. Throws ValueError for one that is not known. */
  since(given: OpenTableMark): Since {
    const { name } = this.table;
    const known = this.#kept.findIndex(({ mark }) => mark === given);
    if (known < 0) {
      const numbers = this.#kept.map(({ mark }) => mark.number);
      const expected =
        numbers.length === 0 ? `a mark of table ${name}, which has none yet` : `a mark of table ${name} that is kept`;
      const range = numbers.length === 0 ? undefined : `Those from ${numbers[0]} to ${numbers.at(-1)} are.`;
      const told = given as Partial<OpenTableMark> | null | undefined;
      throw new ValueError('since', expected, described(`mark ${told?.number} of table ${told?.table}`), range);
    }
    const to = this.mark();
    // Marks may have been forgotten only just now.
    const from = this.#kept.findIndex(({ mark }) => mark === given);
    if (from < 0)
      throw new ValueError('since', `a mark of table ${name} that is kept`, described(`mark ${given.number}`));
    const after = this.#kept.slice(from + 1);
    const rows = after.length === 1 ? after[0]!.rows : united(after.map((each) => each.rows));
    const gone = after.length === 1 ? after[0]!.removed : uniqueKeys(after.map((each) => each.removed));
    return {
      from: given,
      to,
      base: this.#kept[from]!.sum,
      result: this.sum,
      rows: rows.filter((row) => this.#isThere(row)),
      removed: this.#withoutRow(gone),
    };
  }

  /** Marks the table, and tells all that is in it. */
  all(): Since {
    const to = this.mark();
    return { from: null, to, base: [0, 0], result: this.sum, rows: this.#everyRow(), removed: NOTHING };
  }

  /** Those keys that have no row now. */
  #withoutRow(keys: KeyWords): KeyWords {
    const gone: number[] = [];
    for (let at = 0; at < keys.length; at += 2) {
      if (this.index.find(keys[at]!, keys[at + 1]!) < 0) gone.push(keys[at]!, keys[at + 1]!);
    }
    return Int32Array.from(gone);
  }
}

function united(lists: readonly Int32Array[]): Int32Array {
  const rows = new Set<number>();
  for (const list of lists) for (const row of list) rows.add(row);
  return Int32Array.from(rows).sort();
}

function uniqueKeys(lists: readonly KeyWords[]): KeyWords {
  const found = new Map<number, Set<number>>();
  const keys: number[] = [];
  for (const list of lists) {
    for (let at = 0; at < list.length; at += 2) {
      const [low, high] = [list[at]!, list[at + 1]!];
      const highs = found.get(low);
      if (highs?.has(high) === true) continue;
      if (highs === undefined) found.set(low, new Set([high]));
      else highs.add(high);
      keys.push(low, high);
    }
  }
  return Int32Array.from(keys);
}
