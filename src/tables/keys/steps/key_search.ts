/** What steps of an open table ask of its index, again and again: where keys are, and which rows go first. */
import { platform } from '../../../base/platform.js';
import { COUNT, ENTRY_WORDS, FREE, LAST, SHARD_WORDS, USED, type KeyIndex } from '../key_index.js';

/** Keys as words, low first: [count, 2]. */
export type KeyWords = Int32Array;

/** Counts of an entry stay there. */
const MOST_COUNTS = 2 ** 31 - 1;

/** Finds and touches keys; the C core has the same. */
export interface KeySearch {
  /** found[i]: the row of key i, -1 where it has none, or was last seen before step `oldest`. Returns how many have none. */
  find(index: KeyIndex, keys: KeyWords, oldest: number, found: Int32Array): number;
  /**
   * The same, and counts each key that has a row: its LAST becomes `step`. What LAST and COUNT of a row were goes to
   * `before` [3 count] as row, last, count when its LAST changes. Returns how many were written there.
   */
  touch(index: KeyIndex, keys: KeyWords, step: number, oldest: number, found: Int32Array, before: Int32Array): number;
  /**
   * The `count` rows of a shard with the lowest LAST or COUNT (`word`), ties by the lower row, ascending; none that `step`
   * saw last.
   */
  lowest(index: KeyIndex, shard: number, step: number, word: number, count: number): Int32Array;
}

/** The reference. */
export const REFERENCE_SEARCH: KeySearch = {
  find(index, keys, oldest, found) {
    const { entries } = index;
    let unknown = 0;
    for (let i = 0; i < found.length; i++) {
      const row = index.find(keys[2 * i]!, keys[2 * i + 1]!);
      const isThere = row >= 0 && entries[row * ENTRY_WORDS + LAST]! >= oldest;
      found[i] = isThere ? row : -1;
      if (!isThere) unknown += 1;
    }
    return unknown;
  },
  touch(index, keys, step, oldest, found, before) {
    const { entries } = index;
    let noted = 0;
    for (let i = 0; i < found.length; i++) {
      const row = index.find(keys[2 * i]!, keys[2 * i + 1]!);
      const entry = row * ENTRY_WORDS;
      if (row < 0 || entries[entry + LAST]! < oldest) {
        found[i] = -1;
        continue;
      }
      found[i] = row;
      if (entries[entry + LAST] !== step) {
        before[3 * noted] = row;
        before[3 * noted + 1] = entries[entry + LAST]!;
        before[3 * noted + 2] = entries[entry + COUNT]!;
        noted += 1;
        entries[entry + LAST] = step;
      }
      if (entries[entry + COUNT]! < MOST_COUNTS) entries[entry + COUNT]! += 1;
    }
    return noted;
  },
  lowest({ entries, shards, shardCount }, shard, step, word, count) {
    const used = shards[shard * SHARD_WORDS + USED]!;
    const rows = new Int32Array(used);
    const scores = new Float64Array(used);
    let found = 0;
    for (let row = shard, local = 0; local < used; local++, row += shardCount) {
      const entry = row * ENTRY_WORDS;
      if (entries[entry + COUNT] === FREE || entries[entry + LAST] === step) continue;
      scores[found] = entries[entry + word]!;
      rows[found++] = row;
    }
    return lowest(rows.subarray(0, found), scores.subarray(0, found), count);
  },
};

/** The C core where it is there, else the reference. */
export function keySearch(): KeySearch {
  const { keys: core } = platform();
  if (core === undefined) return REFERENCE_SEARCH;
  let room = new Int32Array(0);
  return {
    find({ groups, entries, shardCount }, keys, oldest, found) {
      return core.findKeys(groups, entries, shardCount, keys, oldest, found);
    },
    touch({ groups, entries, shardCount }, keys, step, oldest, found, before) {
      return core.touchKeys(groups, entries, shardCount, keys, step, oldest, found, before);
    },
    lowest({ entries, shards, shardCount }, shard, step, word, count) {
      const used = shards[shard * SHARD_WORDS + USED]!;
      if (room.length < 3 * used) room = new Int32Array(3 * used);
      const rows = new Int32Array(count);
      const asked = [entries, shardCount, shard, used, step, word] as const;
      return rows.subarray(0, core.lowestRows(...asked, rows, room.subarray(0, 3 * used)));
    },
  };
}

const NONE = new Int32Array(0);

/** The `count` rows with the lowest scores, ties by the lower row; in the order of rows, which are ascending. */
export function lowest(rows: Int32Array, scores: Float64Array, count: number): Int32Array {
  if (count >= rows.length) return rows;
  if (count <= 0) return NONE;
  const limit = nthLowest(scores.slice(), count - 1);
  let ties = count;
  for (let i = 0; i < scores.length; i++) if (scores[i]! < limit) ties -= 1;
  const found = new Int32Array(count);
  let at = 0;
  for (let i = 0; i < rows.length && at < count; i++) {
    if (scores[i]! < limit || (scores[i] === limit && ties-- > 0)) found[at++] = rows[i]!;
  }
  return found;
}

/** The number that would be at a place if they were sorted, by quickselect; moves them. */
function nthLowest(numbers: Float64Array, place: number): number {
  let [first, last] = [0, numbers.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    const [a, b, c] = [numbers[first]!, numbers[middle]!, numbers[last]!];
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    let [low, high] = [first, last];
    while (low <= high) {
      while (numbers[low]! < pivot) low += 1;
      while (numbers[high]! > pivot) high -= 1;
      if (low > high) break;
      const number = numbers[low]!;
      numbers[low++] = numbers[high]!;
      numbers[high--] = number;
    }
    if (place <= high) last = high;
    else if (place >= low) first = low;
    else return pivot;
  }
  return numbers[place]!;
}
