/**
 * The rows of the keys of training steps: which keys get one, and which lose theirs. A step may look up several batches;
 * what they count is taken back where the step fails.
 */
import { derivedKey, randomKey, type RandomKey } from '../../backends/counter_random.js';
import { ValueError, described } from '../../base/errors.js';
import { COUNT, ENTRY_WORDS, FREE, KEY_HIGH, LAST, SHARD_WORDS, SIZE, USED, type KeyIndex } from './key_index.js';
import { KeyTracker, type TrackerChanges } from './steps/key_tracker.js';
import { lowest, type KeySearch, type KeyWords } from './steps/key_search.js';
import { FEW_STEPS } from './steps/key_watch.js';
import type { Admit, Evict, EvictionPolicy } from './key_rules.js';

/** What a batch of a training step changed. */
export interface Admissions {
  /** Rows that new keys have, in the order of their keys in the batch. */
  readonly admitted: Int32Array;
  /** The keys that lost their rows. */
  readonly evicted: KeyWords;
  /** How many keys of the batch have no row. */
  readonly unknown: number;
}

const NONE = new Int32Array(0);

/** Places of keys without a row. */
function missingOf(rows: Int32Array): Int32Array {
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (rows[i]! < 0) count += 1;
  if (count === 0) return NONE;
  const missing = new Int32Array(count);
  for (let i = 0, at = 0; at < count; i++) if (rows[i]! < 0) missing[at++] = i;
  return missing;
}

/** Keys that are to get rows, each once, in the order in which they came. */
class NewKeys {
  readonly lows: number[] = [];
  readonly highs: number[] = [];
  readonly counts: number[] = [];
  readonly #slots: Int32Array;

  constructor(most: number) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 2)));
  }

  /** The place of a key; -1: it is not among them. */
  find(low: number, high: number): number {
    return this.#slots[this.#slotOf(low, high)]! - 1;
  }

  /** Adds a key that is not among them. */
  add(low: number, high: number, count: number): void {
    this.#slots[this.#slotOf(low, high)] = this.lows.push(low);
    this.highs.push(high);
    this.counts.push(count);
  }

  #slotOf(low: number, high: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let hash = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0xc2b2ae35);
    hash ^= hash >>> 15;
    let at = hash & mask;
    for (;;) {
      const place = slots[at]! - 1;
      if (place < 0 || (this.lows[place] === low && this.highs[place] === high)) return at;
      at = (at + 1) & mask;
    }
  }
}

/** What a step changed, to be taken back. */
interface StepChanges extends TrackerChanges {
  /** Rows with what LAST and COUNT were, of each batch. */
  readonly touched: Int32Array[];
  /** How many of these are counted among the rows seen. */
  looked: number;
  /** Words of `#before` in use. */
  used: number;
}

export class KeySteps {
  /** Steps that trained. */
  step = 0;
  /** Keys that got a row, and that lost it, since the table was made. */
  admitted = 0;
  evicted = 0;
  /** Of the keys that this step took rows from, those that were seen few steps before. */
  goneSoon = 0;
  readonly tracker: KeyTracker | null;
  #changes: StepChanges | null = null;
  /** Rows of each shard that this step saw, of those that were looked at. */
  readonly #seen: Int32Array;
  /** What rows of batches were, one batch after the other: memory for it is kept from step to step. */
  #before = new Int32Array(0);

  constructor(
    readonly index: KeyIndex,
    readonly admit: Admit,
    readonly evict: Evict,
    readonly seed: number,
    /** The scores of rows by `l2`, lowest first. */
    private readonly normsOf: (rows: Int32Array) => Float64Array,
    private readonly search: KeySearch,
    private readonly name: string,
  ) {
    this.tracker = admit !== null && 'after' in admit ? new KeyTracker(admit.tracked) : null;
    this.#seen = new Int32Array(index.shardCount);
  }

  /** Keys that were seen before this step have no row any more. */
  #oldest(step: number): number {
    const after = this.evict?.after ?? null;
    return after === null ? -1 : step - after;
  }

  /** Whether a step is open. */
  get isOpen(): boolean {
    return this.#changes !== null;
  }

  /** The rows of keys, as they are: -1 for those without one. */
  find(keys: KeyWords, found: Int32Array): number {
    return this.search.find(this.index, keys, this.#oldest(this.step), found);
  }

  /** Forgets all keys. */
  reset(): void {
    this.index.clear();
    this.tracker?.words.fill(0);
    this.restore(0, 0, 0);
  }

  /** Sets what was counted. */
  restore(step: number, admitted: number, evicted: number): void {
    Object.assign(this, { step, admitted, evicted });
    this.#changes = null;
  }

  /** Begins a step. */
  begin(): void {
    this.step += 1;
    this.goneSoon = 0;
    this.#changes = { touched: [], looked: 0, used: 0, places: [], words: [] };
    this.#seen.fill(0);
  }

  /** Room for what rows of a batch are before the step; those of the step so far stay. */
  #room(keys: number, { used }: StepChanges): Int32Array {
    const needed = used + 3 * keys;
    if (this.#before.length < needed) {
      // What was noted before lies in the arrays that the step holds.
      this.#before = new Int32Array(needed);
    }
    return this.#before.subarray(used, needed);
  }

  /** Counts the rows of each shard that this step saw: where none is needed, nobody asks. */
  #lookAtSeen({ touched }: StepChanges, seen: Int32Array): void {
    const changes = this.#changes!;
    const last = this.index.shardCount - 1;
    for (; changes.looked < touched.length; changes.looked++) {
      const batch = touched[changes.looked]!;
      for (let at = 0; at < batch.length; at += 3) seen[batch[at]! & last]! += 1;
    }
  }

  /** The step went well. */
  commit(): void {
    this.#changes = null;
  }

  /**
   * The step failed: what it counted is as before. Keys that it gave rows keep them, uncounted, and those that lost
   * theirs stay without.
   */
  undo(): void {
    const changes = this.#changes;
    if (changes === null) return;
    this.#changes = null;
    for (const before of changes.touched.reverse()) this.#untouch(before);
    this.tracker?.undo(changes);
    this.step -= 1;
  }

  #untouch(before: Int32Array): void {
    const { entries } = this.index;
    for (let at = before.length - 3; at >= 0; at -= 3) {
      const entry = before[at]! * ENTRY_WORDS;
      if (entries[entry + COUNT] === FREE) continue;
      entries[entry + LAST] = before[at + 1]!;
      entries[entry + COUNT] = before[at + 2]!;
    }
  }

  /**
   * The rows of the keys of a batch within the step that is open, -1 for those without one.
   *
   * @throws ValueError where a shard would need more rows than it has; nothing is changed then.
   */
  train(keys: KeyWords, rows: Int32Array): Admissions {
    const { index, step, search, tracker } = this;
    const changes = this.#changes!;
    const evicted: number[] = [];
    const oldest = this.#oldest(step);
    this.#sweep(oldest, evicted);
    const room = this.#room(rows.length, changes);
    const noted = search.touch(index, keys, step, oldest, rows, room);
    const touched = room.subarray(0, 3 * noted);
    index.changed?.addTouched(touched);
    const missing = missingOf(rows);
    if (missing.length === 0) {
      this.#note(touched, changes);
      return this.#told(NONE, evicted, 0);
    }
    const seen = this.#seen;
    this.#lookAtSeen(changes, seen);
    const last = index.shardCount - 1;
    for (let at = 0; at < touched.length; at += 3) seen[touched[at]! & last]! += 1;
    const counted: TrackerChanges = { places: [], words: [] };
    const fresh = new NewKeys(missing.length);
    const perShard = new Int32Array(index.shardCount);
    for (let m = 0; m < missing.length; m++) {
      const i = missing[m]!;
      const [low, high] = [keys[2 * i]!, keys[2 * i + 1]!];
      const place = fresh.find(low, high);
      if (place >= 0) {
        fresh.counts[place]! += 1;
        continue;
      }
      const count = this.#admits(low, high, counted);
      if (count === 0) continue;
      fresh.add(low, high, count);
      tracker?.forget(low, high, counted);
      if (oldest < 0) {
        perShard[index.shardOf(low, high)]! += 1;
        continue;
      }
      const row = index.find(low, high);
      perShard[index.shard]! += 1;
      // Seen too long ago.
      if (row >= 0) this.#free(row, evicted);
    }
    this.#checkRoom(perShard, () => {
      this.#untouch(touched);
      for (let at = 0; at < touched.length; at += 3) seen[touched[at]! & last]! -= 1;
      tracker?.undo(counted);
    });
    this.#note(touched, changes);
    changes.looked = changes.touched.length;
    for (let i = 0; i < counted.places.length; i++) {
      changes.places.push(counted.places[i]!);
      changes.words.push(counted.words[i]!);
    }
    if (fresh.lows.length === 0) return this.#told(NONE, evicted, missing.length);
    perShard.forEach((more, shard) => this.#makeRoom(shard, more, evicted));
    const admitted = new Int32Array(fresh.lows.length);
    const begun = new Int32Array(3 * admitted.length);
    for (let place = 0; place < admitted.length; place++) {
      const row = index.take(fresh.lows[place]!, fresh.highs[place]!);
      index.entries[row * ENTRY_WORDS + LAST] = step;
      index.entries[row * ENTRY_WORDS + COUNT] = fresh.counts[place]!;
      admitted[place] = row;
      begun[3 * place] = row;
      begun[3 * place + 1] = step - 1;
    }
    changes.touched.push(begun);
    changes.looked = changes.touched.length;
    perShard.forEach((more, shard) => (seen[shard]! += more));
    let unknown = missing.length;
    for (let m = 0; m < missing.length; m++) {
      const i = missing[m]!;
      const place = fresh.find(keys[2 * i]!, keys[2 * i + 1]!);
      // One that was seen too long ago, and is not admitted again, has its row until somebody needs it.
      if (place < 0) continue;
      rows[i] = admitted[place]!;
      unknown -= 1;
    }
    return this.#told(admitted, evicted, unknown);
  }

  /** Takes what rows of a batch were. */
  #note(touched: Int32Array, changes: StepChanges): void {
    changes.touched.push(touched);
    changes.used += touched.length;
  }

  #told(admitted: Int32Array, evicted: number[], unknown: number): Admissions {
    this.admitted += admitted.length;
    this.evicted += evicted.length / 2;
    return { admitted, evicted: evicted.length === 0 ? NONE : Int32Array.from(evicted), unknown };
  }

  /** How often a key without a row has come, where it is to get one now; 0: it is not. */
  #admits(low: number, high: number, changes: TrackerChanges): number {
    const { admit, step, seed } = this;
    if (admit === null) return 1;
    if ('after' in admit) {
      const count = this.tracker!.count(low, high, step, changes);
      return count >= admit.after ? count : 0;
    }
    const { low: word } = derivedKey(startKey(seed, low, high), step, 1);
    return (word >>> 0) / 2 ** 32 < admit.probability ? 1 : 0;
  }

  /** Finds the rows of keys, which get one where they have none, whatever `admit` says; between steps. */
  upsert(keys: KeyWords, rows: Int32Array): Admissions {
    const { index, step, evict } = this;
    const evicted: number[] = [];
    this.find(keys, rows);
    const missing = missingOf(rows);
    if (missing.length === 0) return this.#told(NONE, evicted, 0);
    const fresh = new NewKeys(missing.length);
    const perShard = new Int32Array(index.shardCount);
    const isAged = (evict?.after ?? null) !== null;
    for (let m = 0; m < missing.length; m++) {
      const i = missing[m]!;
      const [low, high] = [keys[2 * i]!, keys[2 * i + 1]!];
      if (fresh.find(low, high) >= 0) continue;
      fresh.add(low, high, 0);
      // Seen too long ago.
      const old = isAged ? index.find(low, high) : -1;
      perShard[isAged ? index.shard : index.shardOf(low, high)]! += 1;
      if (old >= 0) this.#free(old, evicted);
    }
    const isFull = perShard.some(
      (more, shard) => index.shards[shard * SHARD_WORDS + SIZE]! + more > index.quota(shard),
    );
    if (isFull) {
      const kept = new Set(rows);
      kept.delete(-1);
      this.#seen.fill(0);
      for (const row of kept) this.#seen[row % index.shardCount]! += 1;
      this.#checkRoom(perShard, () => undefined);
      perShard.forEach((more, shard) => this.#makeRoom(shard, more, evicted, kept));
    }
    const admitted = new Int32Array(fresh.lows.length);
    for (let place = 0; place < admitted.length; place++) {
      const row = (admitted[place] = index.take(fresh.lows[place]!, fresh.highs[place]!));
      index.entries[row * ENTRY_WORDS + LAST] = step;
    }
    for (let m = 0; m < missing.length; m++) {
      const i = missing[m]!;
      rows[i] = admitted[fresh.find(keys[2 * i]!, keys[2 * i + 1]!)]!;
    }
    return this.#told(admitted, evicted, 0);
  }

  /** Takes their rows from keys, between steps. */
  remove(rows: readonly number[]): void {
    for (const row of rows) this.index.free(row);
  }

  /** Frees the rows with the lowest scores of the whole table until so many are left; returns their keys. */
  restrict(left: number): KeyWords {
    const evicted: number[] = [];
    const rows = Int32Array.from(this.index.rows());
    for (const row of lowest(rows, this.scores(rows), rows.length - left)) this.#free(row, evicted);
    return this.#told(NONE, evicted, 0).evicted;
  }

  /** Throws where a shard would hold more keys of this step than it has rows, after `undo`. */
  #checkRoom(perShard: Int32Array, undo: () => void): void {
    const { index, evict } = this;
    for (const [shard, more] of perShard.entries()) {
      const quota = index.quota(shard);
      const kept = evict === null ? index.shards[shard * SHARD_WORDS + SIZE]! : this.#seen[shard]!;
      if (kept + more <= quota) continue;
      undo();
      const place = index.shardCount === 1 ? `table ${this.name}` : `shard ${shard} of table ${this.name}`;
      const what = evict === null ? 'keys' : 'distinct keys in a step';
      throw new ValueError(
        'keys',
        `at most ${quota} ${what} in ${place}, which has ${quota} rows`,
        described(`${kept + more}`),
        evict === null
          ? 'Without `evict` no key loses its row: raise `capacity`.'
          : 'Raise `capacity`, or feed smaller batches.',
      );
    }
  }

  /** Frees rows of a shard, so that so many more keys have room. */
  #makeRoom(shard: number, more: number, evicted: number[], kept: ReadonlySet<number> | null = null): void {
    const { index, evict } = this;
    const size = index.shards[shard * SHARD_WORDS + SIZE]!;
    const quota = index.quota(shard);
    if (more === 0 || evict === null || size + more <= quota) return;
    const left = Math.min(Math.floor(evict.keep * quota), quota - more);
    for (const row of this.#lowest(shard, size - left, kept)) this.#free(row, evicted);
  }

  /** The rows of a shard with the lowest scores, without those of `kept`, or that this step saw. */
  #lowest(shard: number, count: number, kept: ReadonlySet<number> | null): Int32Array {
    const { index, step } = this;
    const { policy } = this.evict!;
    if (kept === null && (policy === 'lru' || policy === 'lfu')) {
      return this.search.lowest(index, shard, step, wordOf(policy), Math.max(0, count));
    }
    const { entries, shardCount } = index;
    const used = index.shards[shard * SHARD_WORDS + USED]!;
    const rows = new Int32Array(used);
    let found = 0;
    for (let row = shard, local = 0; local < used; local++, row += shardCount) {
      const entry = row * ENTRY_WORDS;
      if (entries[entry + COUNT] === FREE) continue;
      if (kept === null ? entries[entry + LAST] !== step : !kept.has(row)) rows[found++] = row;
    }
    const all = rows.subarray(0, found);
    return lowest(all, this.scores(all), count);
  }

  /** What decides who goes first. */
  scores(rows: Int32Array): Float64Array {
    const { step, evict } = this;
    const { entries } = this.index;
    const { policy, exponent } = evict!;
    if (policy === 'l2') return this.normsOf(rows);
    const scores = new Float64Array(rows.length);
    const word = wordOf(policy);
    for (let i = 0; i < rows.length; i++) scores[i] = entries[rows[i]! * ENTRY_WORDS + word]!;
    if (policy !== 'distanceLfu') return scores;
    for (let i = 0; i < rows.length; i++) {
      scores[i]! /= Math.max(1, step - entries[rows[i]! * ENTRY_WORDS + LAST]!) ** exponent;
    }
    return scores;
  }

  /** Frees the rows of one shard that were seen too long ago: each step looks at another. */
  #sweep(oldest: number, evicted: number[]): void {
    const { index, step } = this;
    if (oldest <= 0) return;
    // A small table is one shard, which need not be read in each step.
    if (index.shardCount === 1 && step % 64 !== 0) return;
    this.#freeBefore(step % index.shardCount, oldest, evicted);
  }

  #freeBefore(shard: number, oldest: number, evicted: number[]): void {
    const { index } = this;
    const used = index.shards[shard * SHARD_WORDS + USED]!;
    for (let local = 0; local < used; local++) {
      const row = local * index.shardCount + shard;
      const entry = row * ENTRY_WORDS;
      if (index.entries[entry + COUNT] !== FREE && index.entries[entry + LAST]! < oldest) this.#free(row, evicted);
    }
  }

  /** Frees all rows that were seen too long ago, and returns their keys. */
  freeOld(): KeyWords {
    const evicted: number[] = [];
    const oldest = this.#oldest(this.step);
    for (let shard = 0; shard < this.index.shardCount; shard++) this.#freeBefore(shard, oldest, evicted);
    return this.#told(NONE, evicted, 0).evicted;
  }

  #free(row: number, evicted: number[]): void {
    const { entries } = this.index;
    evicted.push(entries[row * ENTRY_WORDS]!, entries[row * ENTRY_WORDS + KEY_HIGH]!);
    if (this.step - entries[row * ENTRY_WORDS + LAST]! <= FEW_STEPS) this.goneSoon += 1;
    this.index.free(row);
  }
}

/** The word of an entry that a policy goes by. */
function wordOf(policy: EvictionPolicy): number {
  return policy === 'lru' ? LAST : COUNT;
}

/** The key of the random numbers of a key of a table: its row starts with them wherever it lies. */
export function startKey(seed: number, low: number, high: number): RandomKey {
  return derivedKey(randomKey(seed), low, high);
}
