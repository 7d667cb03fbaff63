/** How negatives are drawn: by number, each place by words of its own. */
import * as tf from '@tensorflow/tfjs';
import { randomKey, randomWords, type RandomKey } from '../backends/counter_random.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { RaggedTensor } from '../ids/ragged_tensor.js';

const WORDS = 2 ** 32;
const NONE = new Int32Array(0);
/** So many random words are made at once, where a row has fewer. */
const MOST_WORDS = 2048;
/** So often an item that may not be drawn is drawn anew; then one is chosen among those that are left. */
const MOST_TRIES = 64;

export function whole(value: unknown, argument: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const expected =
    most === Number.MAX_SAFE_INTEGER ? `a whole number >= ${least}` : `a whole number in [${least}, ${most}]`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!(Number.isSafeInteger(value) && value >= least && value <= most))
    throw new ValueError(argument, expected, value);
  return value;
}

/** Whole numbers below `most`. */
export function idsOf(given: unknown, argument: string, most: number): Int32Array {
  const list = given instanceof tf.Tensor ? given.dataSync() : given;
  const isList = Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
  if (!isList) throw new ArgumentTypeError(argument, 'a list or 1-D tensor of whole numbers', given);
  const ids = new Int32Array((list as ArrayLike<number>).length);
  for (let i = 0; i < ids.length; i++) {
    const id = (list as ArrayLike<number>)[i]!;
    if (!(Number.isInteger(id) && id >= 0 && id < most)) {
      throw new ValueError(`${argument}[${i}]`, `a whole number in [0, ${most})`, id);
    }
    ids[i] = id;
  }
  return ids;
}

/**
 * What rows of a ragged tensor hold, each item once and ascending: put in order when a row is first asked for, and kept as
 * long as the tensor, which does not change. Epochs draw from the same one in each step.
 */
export class SeenItems {
  static readonly #known = new WeakMap<RaggedTensor, SeenItems>();
  /** A copy, once rows had to be sorted. */
  items: Int32Array;
  readonly #values: Int32Array;
  readonly #firsts: Int32Array;
  readonly #ends: Int32Array;
  readonly #isSorted: Uint8Array;
  readonly #largest: number;

  private constructor({ values, rowSplits }: RaggedTensor) {
    // Float values are checked one by one, and so is what is negative.
    this.#values = values instanceof Int32Array ? values : idsOf(values, 'seen', 2 ** 31);
    this.items = this.#values;
    this.#firsts = rowSplits;
    this.#ends = rowSplits.slice(1);
    this.#isSorted = new Uint8Array(this.#ends.length);
    let largest = -1;
    for (let i = 0; i < this.items.length; i++) {
      const item = this.items[i]!;
      // -1 as an unsigned number is larger than any.
      if (item >>> 0 > largest) largest = item >>> 0;
    }
    this.#largest = largest;
  }

  /** ValueError where an item is not below `numItems`. */
  static of(seen: RaggedTensor, numItems: number): SeenItems {
    const known = SeenItems.#known.get(seen) ?? new SeenItems(seen);
    if (known.#largest >= numItems) idsOf(known.#values, 'seen', numItems);
    SeenItems.#known.set(seen, known);
    return known;
  }

  firstOf(row: number): number {
    return this.#firsts[row]!;
  }

  /** Behind the last one. */
  endOf(row: number): number {
    if (this.#isSorted[row] === 0) this.#sort(row);
    return this.#ends[row]!;
  }

  #sort(row: number): void {
    const [first, last] = [this.#firsts[row]!, this.#ends[row]!];
    this.#isSorted[row] = 1;
    let next = first + 1;
    while (next < last && this.items[next - 1]! < this.items[next]!) next++;
    if (next >= last) return;
    if (this.items === this.#values) this.items = this.#values.slice();
    const { items } = this;
    items.subarray(first, last).sort();
    let end = first + 1;
    for (let i = first + 1; i < last; i++) if (items[i] !== items[i - 1]) items[end++] = items[i]!;
    this.#ends[row] = end;
  }
}

/** Items that are never drawn, and which row of them belongs to each positive; null: its own. */
export interface Seen {
  readonly lists: SeenItems | null;
  readonly users: Int32Array | null;
}

/** Where an id stands among those from `first` to before `end`, which ascend, or would. */
function placeOf(items: Int32Array, first: number, end: number, id: number): number {
  let [low, high] = [first, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Items by how likely they are. */
export interface Weighted {
  /** The item of a number in [0, 1). */
  readonly draw: (part: number) => number;
  /** In any measure. */
  readonly chance: (item: number) => number;
}

/** One of the items that are left, by their chances; -1 where none has one. */
function drawLeft(part: number, { chance }: Weighted, numItems: number, isSeen: (item: number) => boolean): number {
  let total = 0;
  for (let item = 0; item < numItems; item++) if (!isSeen(item)) total += chance(item);
  let [left, last] = [part * total, -1];
  for (let item = 0; item < numItems; item++) {
    if (isSeen(item) || chance(item) === 0) continue;
    last = item;
    left -= chance(item);
    if (left < 0) break;
  }
  return last;
}

/** What negatives are drawn from. */
export interface Sampled {
  readonly numItems: number;
  /** -1: none of the items. */
  readonly positives: Int32Array;
  readonly weighted: Weighted | null;
  readonly seen: Seen;
}

/** Draws `each` items for each positive. */
export function drawAll(
  given: { readonly perPositive?: number; readonly seed?: number | undefined; readonly step?: number | undefined },
  { numItems, positives, weighted, seen: { lists, users } }: Sampled,
): { drawn: Int32Array; each: number } {
  const each = whole(given.perPositive, 'perPositive', 1, Math.floor((2 ** 31 - 5) / Math.max(2, positives.length)));
  const key = randomKey(whole(given.seed ?? 0, 'seed', 0));
  const firstRow = whole(given.step ?? 0, 'step', 0) * positives.length;
  const drawn = new Int32Array(positives.length * each);
  const atOnce = Math.min(positives.length, rowsAtOnce(each, MOST_WORDS));
  const words = new Int32Array(2 * each * atOnce);
  for (const { firstRow: first, rows } of rowBlocks({ rows: positives.length, columns: each }, MOST_WORDS)) {
    randomWords(words, key, { firstRow: firstRow + first, rowStep: 1, rows, firstColumn: 0, columns: each });
    for (let row = first; row < first + rows; row++) {
      const user = users === null ? row : users[row]!;
      const from = lists === null ? 0 : lists.firstOf(user);
      const end = lists === null ? 0 : lists.endOf(user);
      const items = lists === null ? NONE : lists.items;
      const positive = positives[row]!;
      const before = placeOf(items, from, end, positive);
      const isNew = positive >= 0 && (before === end || items[before] !== positive);
      const left = numItems - (end - from) - (isNew ? 1 : 0);
      if (left === 0) {
        throw new ValueError(`seen[${row}]`, 'an item at least that was not seen', described('all items'));
      }
      const at = (row - first) * each;
      if (weighted !== null) {
        const draw = { weighted, items, from, end, positive, numItems, key, row, place: firstRow + row };
        drawWeighted(words, at, drawn, row * each, each, draw);
        continue;
      }
      // The number of the positive among the items that were not seen, which those after it pass over.
      const without = isNew ? positive - (before - from) : left;
      for (let i = 0; i < each; i++) {
        let number = Math.floor(((words[at + i]! >>> 0) / WORDS) * left);
        if (number >= without) number++;
        // How many of the seen ones come before the item.
        let [low, high] = [from, end];
        while (low < high) {
          const middle = (low + high) >> 1;
          if (items[middle]! - (middle - from) > number) high = middle;
          else low = middle + 1;
        }
        drawn[row * each + i] = number + (low - from);
      }
    }
  }
  return { drawn, each };
}

interface Draw {
  readonly weighted: Weighted;
  /** What was seen: from one place to before the other. */
  readonly items: Int32Array;
  readonly from: number;
  readonly end: number;
  readonly positive: number;
  readonly numItems: number;
  readonly key: RandomKey;
  readonly row: number;
  /** The row of the generator. */
  readonly place: number;
}

/** Writes `each` items from `to` on, by the words from `at` on. */
function drawWeighted(words: Int32Array, at: number, drawn: Int32Array, to: number, each: number, draw: Draw): void {
  const { weighted } = draw;
  for (let column = 0; column < each; column++) {
    const item = weighted.draw((words[at + column]! >>> 0) / WORDS);
    drawn[to + column] = isLeftOut(item, draw) ? drawAnew(column, each, draw) : item;
  }
}

function isLeftOut(item: number, { positive, items, from, end }: Draw): boolean {
  if (item === positive) return true;
  const found = placeOf(items, from, end, item);
  return found < end && items[found] === item;
}

/** An item by the words after those of the row. */
function drawAnew(column: number, each: number, draw: Draw): number {
  const { weighted, numItems, key, row, place } = draw;
  const word = new Int32Array(4);
  for (let tries = 1; ; tries++) {
    const firstColumn = each * tries + column;
    randomWords(word, key, { firstRow: place, rowStep: 1, rows: 1, firstColumn, columns: 1 });
    const part = (word[0]! >>> 0) / WORDS;
    const isLast = tries === MOST_TRIES;
    const item = isLast ? drawLeft(part, weighted, numItems, (each) => isLeftOut(each, draw)) : weighted.draw(part);
    if (item < 0) {
      const expected = 'an item at least that was not seen and has a count';
      throw new ValueError(`seen[${row}]`, expected, described('none'));
    }
    if (isLast || !isLeftOut(item, draw)) return item;
  }
}
