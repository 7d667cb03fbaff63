/**
 * Which row of a table a key of 64 bits has: an open-addressing index in flat arrays, which the C core reads and writes
 * too (custom-ops/kernels/keys/keys.h). It is the reference: both leave the same arrays, to the bit.
 *
 * Keys are cut into shards by their hash. Shard s of S owns the rows s, s + S, s + 2S ... of the table and a range of
 * groups. A group is 16 words, a cache line: 12 row numbers, 12 tags of a byte (0: free place), and how many keys had to
 * pass it by because it was full. A key lies in its home group or, where that was full, in the next one with room: a
 * search ends at a group that no key has passed.
 */
import { alignedMemory } from '../../backends/stores/aligned_memory.js';
import { ValueError, described } from '../../base/errors.js';
import { platform } from '../../base/platform.js';
import type { ChangedRows } from './changed_rows.js';

/** Words of a group, and of an entry. */
export const GROUP_WORDS = 16;
export const ENTRY_WORDS = 4;
/** Row numbers in a group. */
export const GROUP_ROWS = 12;
/** Places of a group that may be in use on average, of 24: a load of .875 of 12. */
const MOST_OF_24 = 21;

/** Words of an entry: that of row r begins at ENTRY_WORDS * r. */
export const KEY_LOW = 0;
export const KEY_HIGH = 1;
/** The training step that saw the key last. */
export const LAST = 2;
/** How often training steps saw the key; FREE for a row that a key had, whose KEY_LOW is then the next free row + 1. */
export const COUNT = 3;
export const FREE = -1;

/** Words of a shard in `shards`. */
export const SHARD_WORDS = 4;
/** Keys in the shard. */
export const SIZE = 0;
/** Rows that ever had a key, from the first on. */
export const USED = 1;
/** The first free row of those, + 1; 0: none. */
export const FREE_ROW = 2;

/** Below this capacity a table is one shard. */
export const SHARDED_FROM = 65_536;
export const MOST_SHARDS = 256;
/** Rows of a table: their numbers are int32, and the largest means a row that is not there. */
export const MOST_ROWS = 2 ** 31 - 2;

/** How many shards a table of so many rows has. */
export function shardsOf(capacity: number): number {
  return capacity < SHARDED_FROM ? 1 : MOST_SHARDS;
}

/** Rows of a shard. */
export function quotaOf(capacity: number, shard: number): number {
  const shards = shardsOf(capacity);
  return Math.ceil((capacity - shard) / shards);
}

/** The high word of a product of words. */
function highProduct(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const other = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + Math.floor(middle / 65_536) + Math.floor(other / 65_536);
}

/** The hash of a key in two words: fmix64 of MurmurHash3. */
export class KeyHash {
  low = 0;
  high = 0;

  /** Hashes a key given in words. */
  of(low: number, high: number): void {
    let [l, h] = [low ^ (high >>> 1), high];
    h = (highProduct(l >>> 0, 0xed558ccd) + Math.imul(h, 0xed558ccd) + Math.imul(l, 0xff51afd7)) | 0;
    l = Math.imul(l, 0xed558ccd);
    l ^= h >>> 1;
    h = (highProduct(l >>> 0, 0x1a85ec53) + Math.imul(h, 0x1a85ec53) + Math.imul(l, 0xc4ceb9fe)) | 0;
    l = Math.imul(l, 0x1a85ec53);
    this.low = l ^ (h >>> 1);
    this.high = h;
  }
}

/** Words that begin at a line of the cache where the C core reads them, so that a group is one; all 0. */
function wordsOnLines(words: number): Int32Array {
  const core = platform().keys;
  if (core === undefined) return new Int32Array(words);
  const { buffer, offset } = alignedMemory(4 * words, core.tableOffset);
  return new Int32Array(buffer, offset, words);
}

/** The arrays of an index. */
export interface KeyArrays {
  readonly groups: Int32Array;
  /** [capacity, ENTRY_WORDS] */
  readonly entries: Int32Array;
  /** [shards, SHARD_WORDS] */
  readonly shards: Int32Array;
}

export class KeyIndex implements KeyArrays {
  readonly shardCount: number;
  readonly groups: Int32Array;
  readonly entries: Int32Array;
  readonly shards: Int32Array;
  /** Groups of each shard. */
  readonly shardGroups: number;
  readonly #tags: Uint8Array;
  readonly #hash = new KeyHash();
  /** Is told which rows get a key, lose it, or are trained; null: nobody asks. */
  changed: ChangedRows | null = null;
  /** Of the key that was hashed last. */
  shard = 0;
  #tag = 0;
  #home = 0;

  /** @param capacity - Rows of the table. */
  constructor(readonly capacity: number) {
    this.shardCount = shardsOf(capacity);
    this.shardGroups = Math.max(1, Math.ceil((quotaOf(capacity, 0) * 2) / MOST_OF_24));
    const words = this.shardCount * this.shardGroups * GROUP_WORDS;
    try {
      this.groups = wordsOnLines(words);
      this.entries = wordsOnLines(capacity * ENTRY_WORDS);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const bytes = 4 * (words + capacity * ENTRY_WORDS);
      throw new ValueError('capacity', 'keys that fit into memory', described(`${capacity} (${bytes} bytes of keys)`));
    }
    this.shards = new Int32Array(this.shardCount * SHARD_WORDS);
    this.#tags = new Uint8Array(this.groups.buffer, this.groups.byteOffset, 4 * words);
  }

  /** How many keys have a row. */
  get size(): number {
    let size = 0;
    for (let shard = 0; shard < this.shardCount; shard++) size += this.shards[shard * SHARD_WORDS + SIZE]!;
    return size;
  }

  /** Rows of a shard. */
  quota(shard: number): number {
    return quotaOf(this.capacity, shard);
  }

  /** Rows at the start of the table that hold all that ever had a key. */
  get usedRows(): number {
    let most = 0;
    for (let shard = 0; shard < this.shardCount; shard++) {
      const used = this.shards[shard * SHARD_WORDS + USED]!;
      if (used > 0) most = Math.max(most, (used - 1) * this.shardCount + shard + 1);
    }
    return most;
  }

  /** Whether a key has this row. */
  isUsed(row: number): boolean {
    const shard = row % this.shardCount;
    const isOld = (row - shard) / this.shardCount < this.shards[shard * SHARD_WORDS + USED]!;
    return isOld && this.entries[row * ENTRY_WORDS + COUNT] !== FREE;
  }

  /** Where a key would lie; sets `shard`. */
  #seek(low: number, high: number): void {
    const hash = this.#hash;
    hash.of(low, high);
    this.shard = hash.low & (this.shardCount - 1);
    this.#tag = 0x80 | ((hash.low >>> 8) & 0x7f);
    this.#home = Math.floor(((hash.high >>> 0) * this.shardGroups) / 2 ** 32);
  }

  /** The shard of a key. */
  shardOf(low: number, high: number): number {
    this.#hash.of(low, high);
    return this.#hash.low & (this.shardCount - 1);
  }

  /** The row of a key; -1: it has none. Sets `shard`. */
  find(low: number, high: number): number {
    this.#seek(low, high);
    const { groups, entries, shardGroups } = this;
    const tags = this.#tags;
    const first = this.shard * shardGroups;
    let group = this.#home;
    for (let probe = 0; probe < shardGroups; probe++) {
      const at = (first + group) * GROUP_WORDS;
      for (let place = 0; place < GROUP_ROWS; place++) {
        if (tags[at * 4 + GROUP_ROWS * 4 + place] !== this.#tag) continue;
        const row = groups[at + place]!;
        const entry = row * ENTRY_WORDS;
        if (entries[entry] === low && entries[entry + KEY_HIGH] === high) return row;
      }
      if (groups[at + GROUP_WORDS - 1] === 0) return -1;
      group = group + 1 === shardGroups ? 0 : group + 1;
    }
    return -1;
  }

  /** Groups that a search for a key reads. */
  probes(low: number, high: number): number {
    this.#seek(low, high);
    const first = this.shard * this.shardGroups;
    const row = this.find(low, high);
    let [group, count] = [this.#home, 1];
    for (; count < this.shardGroups; count++) {
      const at = (first + group) * GROUP_WORDS;
      const isHere = row >= 0 && this.#placeIn(at, row) >= 0;
      if (isHere || (row < 0 && this.groups[at + GROUP_WORDS - 1] === 0)) break;
      group = group + 1 === this.shardGroups ? 0 : group + 1;
    }
    return count;
  }

  #placeIn(at: number, row: number): number {
    for (let place = 0; place < GROUP_ROWS; place++) {
      if (this.#tags[at * 4 + GROUP_ROWS * 4 + place] === this.#tag && this.groups[at + place] === row) return place;
    }
    return -1;
  }

  /** Takes a row of the shard for a new key; the shard has room. Returns the row. */
  take(low: number, high: number): number {
    this.#seek(low, high);
    const { entries, shards, shardCount, shard } = this;
    const state = shard * SHARD_WORDS;
    const free = shards[state + FREE_ROW]!;
    const row = free > 0 ? free - 1 : shards[state + USED]! * shardCount + shard;
    if (free > 0) shards[state + FREE_ROW] = entries[row * ENTRY_WORDS]!;
    else shards[state + USED]! += 1;
    shards[state + SIZE]! += 1;
    entries[row * ENTRY_WORDS] = low;
    entries[row * ENTRY_WORDS + KEY_HIGH] = high;
    entries[row * ENTRY_WORDS + LAST] = 0;
    entries[row * ENTRY_WORDS + COUNT] = 0;
    this.#put(row);
    this.changed?.add(row);
    return row;
  }

  /** Puts a row, whose key was sought last, into the groups. */
  #put(row: number): void {
    const tags = this.#tags;
    const first = this.shard * this.shardGroups;
    for (let group = this.#home; ; group = group + 1 === this.shardGroups ? 0 : group + 1) {
      const at = (first + group) * GROUP_WORDS;
      for (let place = 0; place < GROUP_ROWS; place++) {
        if (tags[at * 4 + GROUP_ROWS * 4 + place] !== 0) continue;
        tags[at * 4 + GROUP_ROWS * 4 + place] = this.#tag;
        this.groups[at + place] = row;
        return;
      }
      this.groups[at + GROUP_WORDS - 1]! += 1;
    }
  }

  /** Takes its row from a key. */
  free(row: number): void {
    const { entries, shards } = this;
    const entry = row * ENTRY_WORDS;
    this.changed?.add(row);
    this.#seek(entries[entry]!, entries[entry + KEY_HIGH]!);
    const first = this.shard * this.shardGroups;
    for (let group = this.#home; ; group = group + 1 === this.shardGroups ? 0 : group + 1) {
      const at = (first + group) * GROUP_WORDS;
      const place = this.#placeIn(at, row);
      if (place < 0) {
        this.groups[at + GROUP_WORDS - 1]! -= 1;
        continue;
      }
      this.#tags[at * 4 + GROUP_ROWS * 4 + place] = 0;
      this.groups[at + place] = 0;
      break;
    }
    const state = this.shard * SHARD_WORDS;
    entries[entry] = shards[state + FREE_ROW]!;
    entries[entry + KEY_HIGH] = 0;
    entries[entry + LAST] = 0;
    entries[entry + COUNT] = FREE;
    shards[state + FREE_ROW] = row + 1;
    shards[state + SIZE]! -= 1;
  }

  /**
   * Takes the entries and shards of another index of the same number of shards and at most this capacity, rows as they
   * are. Returns the first row whose key is there twice, or belongs to another shard; null: there is none.
   */
  adopt({ entries, shards }: Pick<KeyArrays, 'entries' | 'shards'>): number | null {
    this.entries.set(entries);
    this.shards.set(shards);
    this.groups.fill(0);
    if (this.changed !== null) this.changed.isAll = true;
    for (const row of this.rows()) {
      const found = this.find(this.entries[row * ENTRY_WORDS]!, this.entries[row * ENTRY_WORDS + KEY_HIGH]!);
      if (found >= 0 || row % this.shardCount !== this.shard) return row;
      this.#put(row);
    }
    return null;
  }

  /** No key has a row any more. */
  clear(): void {
    this.groups.fill(0);
    this.entries.fill(0);
    this.shards.fill(0);
    if (this.changed !== null) this.changed.isAll = true;
  }

  /** The rows that keys have, ascending. */
  *rows(): Generator<number> {
    const { usedRows } = this;
    for (let row = 0; row < usedRows; row++) if (this.isUsed(row)) yield row;
  }

  /** The rows before the end of `usedRows` that no key has, ascending: found without a look at the others. */
  holes(): Int32Array {
    const { usedRows: end, shardCount, shards, entries } = this;
    const found = new Int32Array(end - this.size);
    let count = 0;
    for (let shard = 0; shard < shardCount; shard++) {
      const state = shard * SHARD_WORDS;
      for (let free = shards[state + FREE_ROW]!; free > 0; free = entries[(free - 1) * ENTRY_WORDS]!) {
        found[count++] = free - 1;
      }
      for (let row = shards[state + USED]! * shardCount + shard; row < end; row += shardCount) found[count++] = row;
    }
    return found.sort();
  }
}
