/**
 * Which rows of a file lie in a cache, and in which of its slots, as S3-FIFO has it (Yang and others, SOSP 2023): rows
 * begin in a short queue, from which those that are asked for again go over to the long one; rows that come back soon after
 * they left the short queue begin in the long one. So rows that are met once take no room from those that come often.
 * Rows that are in use never leave.
 */
import { platform, type RowReads } from '../../base/platform.js';

/** Counts of a slot stay there: so often a row is passed over in the long queue. */
const MOST_COUNTS = 3;
/** The bits of a mark that are the count; uses are the others. */
const COUNT = 3;
const MOST_USES = 2 ** 29;
/** The share of the short queue. */
const SHORT = 0.1;

/** Slots in the order in which they came. */
class Queue {
  #first = 0;
  size = 0;
  readonly #slots: Int32Array;

  constructor(capacity: number) {
    this.#slots = new Int32Array(capacity);
  }

  push(slot: number): void {
    const at = this.#first + this.size++;
    this.#slots[at < this.#slots.length ? at : at - this.#slots.length] = slot;
  }

  shift(): number {
    const slot = this.#slots[this.#first]!;
    this.#first = this.#first + 1 === this.#slots.length ? 0 : this.#first + 1;
    this.size -= 1;
    return slot;
  }
}

/** Finds the slots of rows; the C core has the same. */
export type SlotSearch = Pick<RowReads, 'findSlots'>;

/** The reference. */
export const REFERENCE_SEARCH: SlotSearch = {
  findSlots(places, marks, used, rows, slots, told) {
    const mask = places.length / 2 - 1;
    const shift = Math.clz32(mask);
    told.fill(0);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (row < 0) continue;
      let at = Math.imul(row, 0x9e3779b1) >>> shift;
      while (places[2 * at + 1] !== row && places[2 * at] !== 0) at = (at + 1) & mask;
      const slot = places[2 * at]! - 1;
      slots[i] = slot;
      if (slot < 0) {
        told[0]! += 1;
        continue;
      }
      const count = marks[slot]! & COUNT;
      if (marks[slot]! < used) told[1]! += 1;
      marks[slot] = used + Math.min(count + 1, MOST_COUNTS);
    }
  },
};

export class RowCache {
  /** The row of each slot, -1: none. */
  readonly rowAt: Int32Array;
  /** Of each slot: the use in which it was last asked for, times 4, and its count. */
  readonly #marks: Int32Array;
  #use = 1;
  /** Two words by the hash of a row, in the first free place from there on: its slot + 1, 0: free, and the row. */
  readonly #places: Int32Array;
  readonly #mask: number;
  readonly #shift: number;
  #inUse = 0;
  readonly #told = new Int32Array(2);
  /** Slots from here on were never taken. */
  #fresh = 0;
  readonly #short: Queue;
  readonly #long: Queue;
  readonly #wanted: number;
  /** Row + 1 of rows that left the short queue, by their hash: a later one takes the place of another. */
  readonly #left: Int32Array;

  constructor(
    readonly capacity: number,
    private readonly search: SlotSearch = platform().rowReads ?? REFERENCE_SEARCH,
  ) {
    this.rowAt = new Int32Array(capacity).fill(-1);
    this.#marks = new Int32Array(capacity);
    const bits = Math.max(2, Math.ceil(Math.log2(capacity)) + 1);
    this.#places = new Int32Array(2 * 2 ** bits);
    this.#mask = 2 ** bits - 1;
    this.#shift = 32 - bits;
    this.#left = new Int32Array(2 ** bits);
    this.#short = new Queue(capacity);
    this.#long = new Queue(capacity);
    this.#wanted = Math.max(1, Math.floor(SHORT * capacity));
  }

  /** Slots that are in use. */
  get inUse(): number {
    return this.#inUse;
  }

  /** Nothing is in use any more. */
  release(): void {
    this.#use += 1;
    this.#inUse = 0;
    if (this.#use < MOST_USES) return;
    this.#marks.forEach((mark, slot) => (this.#marks[slot] = mark & COUNT));
    this.#use = 1;
  }

  #homeOf(row: number): number {
    return Math.imul(row, 0x9e3779b1) >>> this.#shift;
  }

  /** The slot of a row, -1: none. */
  find(row: number): number {
    const places = this.#places;
    for (let at = this.#homeOf(row); ; at = (at + 1) & this.#mask) {
      const slot = places[2 * at]! - 1;
      if (slot < 0 || places[2 * at + 1] === row) return slot;
    }
  }

  /**
   * The slots of rows, which are in use from now on; -1 where a row has none. Rows below 0 are passed over, and keep what
   * `slots` holds. Returns how many have none.
   */
  findAll(rows: Int32Array, slots: Int32Array): number {
    const told = this.#told;
    this.search.findSlots(this.#places, this.#marks, 4 * this.#use, rows, slots, told);
    this.#inUse += told[1]!;
    return told[0]!;
  }

  #isUsed(slot: number): boolean {
    return this.#marks[slot]! >> 2 === this.#use;
  }

  /** Slots for so many rows more, none of them in use; there must be as many. Each is then `put` or given back. */
  victims(count: number): Int32Array {
    const [marks, short, long] = [this.#marks, this.#short, this.#long];
    const found = new Int32Array(count);
    // Rows that are in use are passed over, once in each round.
    const passed = { short: 0, long: 0 };
    for (let n = 0; n < count;) {
      if (this.#fresh < this.capacity) {
        found[n++] = this.#fresh++;
        continue;
      }
      const [hasShort, hasLong] = [passed.short < short.size, passed.long < long.size];
      if (!hasShort && !hasLong) {
        passed.short = passed.long = 0;
        continue;
      }
      const isShort = hasShort && (short.size > this.#wanted || !hasLong);
      const slot = (isShort ? short : long).shift();
      if (this.#isUsed(slot)) {
        (isShort ? short : long).push(slot);
        passed[isShort ? 'short' : 'long'] += 1;
      } else if ((marks[slot]! & COUNT) > 0) {
        marks[slot] = isShort ? marks[slot]! & ~COUNT : marks[slot]! - 1;
        long.push(slot);
      } else {
        if (isShort) this.#left[this.#leftAt(this.rowAt[slot]!)] = this.rowAt[slot]! + 1;
        found[n++] = slot;
      }
    }
    for (const slot of found) marks[slot] = 4 * this.#use;
    this.#inUse += count;
    return found;
  }

  /** Leaves their rows to slots of `victims`. */
  giveBack(slots: Int32Array): void {
    for (const slot of slots) {
      this.#long.push(slot);
      this.#marks[slot] = 0;
    }
    this.#inUse -= slots.length;
  }

  /** Where it is noted that a row left the short queue. */
  #leftAt(row: number): number {
    return Math.imul(row, 0x85ebca6b) >>> this.#shift;
  }

  /** Gives a slot of `victims` to a row. */
  put(row: number, slot: number): void {
    this.#remove(slot);
    this.rowAt[slot] = row;
    const isBack = this.#left[this.#leftAt(row)] === row + 1;
    (isBack ? this.#long : this.#short).push(slot);
    const places = this.#places;
    let at = this.#homeOf(row);
    while (places[2 * at] !== 0) at = (at + 1) & this.#mask;
    places[2 * at] = slot + 1;
    places[2 * at + 1] = row;
  }

  /** Takes the row out of a slot. */
  #remove(slot: number): void {
    const row = this.rowAt[slot]!;
    if (row < 0) return;
    const [places, mask] = [this.#places, this.#mask];
    let gap = this.#homeOf(row);
    while (places[2 * gap] !== slot + 1) gap = (gap + 1) & mask;
    this.rowAt[slot] = -1;
    // Those behind it move up, unless they would come before their home.
    for (let at = (gap + 1) & mask; places[2 * at] !== 0; at = (at + 1) & mask) {
      const home = this.#homeOf(places[2 * at + 1]!);
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      places[2 * gap] = places[2 * at]!;
      places[2 * gap + 1] = places[2 * at + 1]!;
      gap = at;
    }
    places[2 * gap] = 0;
    places[2 * gap + 1] = -1;
  }
}
