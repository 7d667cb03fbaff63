/** The rules of open tables as plainly as they can be said: maps of bigints, all rows of a shard looked at for each question. */
import { derivedKey } from '../../../src/backends/counter_random.js';
import { KeyHash } from '../../../src/tables/keys/key_index.js';
import type { Admit, Evict } from '../../../src/tables/keys/key_rules.js';
import { startKey } from '../../../src/tables/keys/key_steps.js';

interface Known {
  readonly key: bigint;
  readonly row: number;
  last: number;
  count: number;
}

export const lowOf = (key: bigint): number => Number(BigInt.asIntN(32, key));
export const highOf = (key: bigint): number => Number(BigInt.asIntN(32, key >> 32n));

export function wordsOf(keys: readonly bigint[]): Int32Array {
  return Int32Array.from(keys.flatMap((key) => [lowOf(key), highOf(key)]));
}

/** Follows an open table whose tracker is large enough to count every key. */
export class PlainKeys {
  step = 0;
  readonly known = new Map<bigint, Known>();
  readonly waiting = new Map<bigint, number>();
  readonly #free: number[][];
  readonly #used: number[];
  readonly #shards: number;

  constructor(
    readonly capacity: number,
    readonly admit: Admit,
    readonly evict: Evict,
    readonly seed: number,
  ) {
    this.#shards = capacity < 65_536 ? 1 : 256;
    this.#free = Array.from({ length: this.#shards }, () => []);
    this.#used = Array.from({ length: this.#shards }, () => 0);
  }

  shardOf(key: bigint): number {
    const hash = new KeyHash();
    hash.of(lowOf(key), highOf(key));
    return (hash.low >>> 0) % this.#shards;
  }

  /** One step of one batch: the row of each key, -1 for those without one, and the keys that lost theirs. */
  train(keys: readonly bigint[]): { rows: number[]; evicted: bigint[] } {
    const step = ++this.step;
    const evicted: bigint[] = [];
    const after = this.evict?.after ?? Infinity;
    const isOld = (each: Known): boolean => step - each.last > after;
    // Those whose turn it is to be looked at go now; others when they come again.
    if (step > after) {
      for (const each of this.#all()) {
        const isTurn = this.#shards === 1 ? step % 64 === 0 : this.shardOf(each.key) === step % this.#shards;
        if (isTurn && isOld(each)) this.#drop(each, evicted);
      }
    }
    const fresh = new Map<bigint, number>();
    for (const key of keys) {
      const each = this.known.get(key);
      if (each !== undefined && !isOld(each)) {
        each.last = step;
        each.count += 1;
      }
    }
    for (const key of keys) {
      const each = this.known.get(key);
      if (each !== undefined && each.last === step) continue;
      if (fresh.has(key)) fresh.set(key, fresh.get(key)! + 1);
      else if (this.#admits(key)) fresh.set(key, this.#count(key));
      else continue;
      const old = this.known.get(key);
      if (old !== undefined) this.#drop(old, evicted);
    }
    const shards = [...fresh.keys()].map((key) => this.shardOf(key));
    for (const shard of new Set(shards)) {
      this.#makeRoom(shard, shards.filter((each) => each === shard).length, evicted);
    }
    for (const [key, count] of fresh) {
      const shard = this.shardOf(key);
      const row = this.#free[shard]!.pop() ?? this.#used[shard]!++ * this.#shards + shard;
      this.known.set(key, { key, row, last: step, count });
      this.waiting.delete(key);
    }
    return { rows: keys.map((key) => this.rowOf(key)), evicted };
  }

  rowOf(key: bigint): number {
    const each = this.known.get(key);
    const after = this.evict?.after ?? Infinity;
    return each === undefined || this.step - each.last > after ? -1 : each.row;
  }

  #all(): Known[] {
    return [...this.known.values()].sort((a, b) => a.row - b.row);
  }

  #admits(key: bigint): boolean {
    const { admit, step, seed } = this;
    if (admit === null) return true;
    if ('after' in admit) {
      this.waiting.set(key, (this.waiting.get(key) ?? 0) + 1);
      return this.waiting.get(key)! >= admit.after;
    }
    const { low } = derivedKey(startKey(seed, lowOf(key), highOf(key)), step, 1);
    return (low >>> 0) / 2 ** 32 < admit.probability;
  }

  #count(key: bigint): number {
    return this.waiting.get(key) ?? 1;
  }

  #makeRoom(shard: number, more: number, evicted: bigint[]): void {
    const { evict, step } = this;
    if (evict === null || more === 0) return;
    const quota = Math.ceil((this.capacity - shard) / this.#shards);
    if (this.known.size + more <= quota) return;
    const own = this.#all().filter(({ key }) => this.shardOf(key) === shard);
    if (own.length + more <= quota) return;
    const left = Math.min(Math.floor(evict.keep * quota), quota - more);
    const score = ({ last, count }: Known): number => {
      if (evict.policy === 'lru') return last;
      if (evict.policy === 'lfu') return count;
      return count / Math.max(1, step - last) ** evict.exponent;
    };
    const going = own
      .filter(({ last }) => last !== step)
      .sort((a, b) => score(a) - score(b) || a.row - b.row)
      .slice(0, own.length - left);
    for (const each of going.sort((a, b) => a.row - b.row)) this.#drop(each, evicted);
  }

  #drop({ key, row }: Known, evicted: bigint[]): void {
    this.known.delete(key);
    this.#free[row % this.#shards]!.push(row);
    evicted.push(key);
  }
}
