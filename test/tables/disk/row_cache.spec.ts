/** Slots of rows against a plain map, and how often rows are found. */
import 'tfjs-embeddings/node';
import { platform } from '../../../src/base/platform.js';
import { REFERENCE_SEARCH, RowCache } from '../../../src/tables/disk/row_cache.js';
import { drawnRank, Random, zipfSums } from '../../helpers/random.js';

/** Gives rows slots, as a table does; returns how many occurrences had none. */
function ask(cache: RowCache, rows: Int32Array): { missing: number; slots: Int32Array } {
  const slots = new Int32Array(rows.length).fill(-7);
  const missing = cache.findAll(rows, slots);
  const absent = [...new Set(rows.filter((row, i) => row >= 0 && slots[i]! < 0))];
  const taken = cache.victims(absent.length);
  absent.forEach((row, i) => cache.put(row, taken[i]!));
  return { missing, slots: rows.map((row, i) => (row < 0 ? slots[i]! : cache.find(row))) };
}

describe('RowCache', () => {
  it('keeps rows of a use in slots of their own, and finds them again', () => {
    const random = new Random(5);
    for (const capacity of [1, 2, 7, 64]) {
      const cache = new RowCache(capacity);
      const slotOf = new Map<number, number>();
      for (let round = 0; round < 300; round++) {
        if (random.chance(0.7)) cache.release();
        const free = capacity - cache.inUse;
        const rows = Int32Array.from({ length: random.whole(0, free + 1) }, () => random.whole(-1, 200));
        const { slots, missing } = ask(cache, rows);
        const known = rows.filter((row) => row >= 0 && !slotOf.has(row)).length;
        expect(missing).toBe(known);
        rows.forEach((row, i) => expect(row < 0 ? slots[i] : cache.rowAt[slots[i]!]).toBe(row < 0 ? -7 : row));
        slotOf.clear();
        cache.rowAt.forEach((row, slot) => row >= 0 && slotOf.set(row, slot));
        for (const [row, slot] of slotOf) expect(cache.find(row)).toBe(slot);
        expect(cache.find(1000)).toBe(-1);
      }
    }
  });

  it('leaves rows where they are that are in use, and those whose slots are given back', () => {
    const cache = new RowCache(4);
    ask(cache, Int32Array.of(1, 2));
    ask(cache, Int32Array.of(3, 4));
    expect(cache.inUse).toBe(4);
    cache.release();
    ask(cache, Int32Array.of(1, 2));
    const taken = cache.victims(2);
    expect([...taken].map((slot) => cache.rowAt[slot]).sort()).toEqual([3, 4]);
    cache.giveBack(taken);
    expect(cache.inUse).toBe(2);
    expect([1, 2, 3, 4].map((row) => cache.find(row)).every((slot) => slot >= 0)).toBeTrue();
    const again = cache.victims(2);
    expect([...again].sort()).toEqual([...taken].sort());
  });

  it('finds rows at least 0.95 as often as the best that stay for ever, where they are drawn by zipf 1.05', () => {
    const [rows, batch] = [100_000, 1000];
    const random = new Random(11);
    const sums = zipfSums(rows, 1.05);
    const rank = (): number => drawnRank(sums, random);
    const cache = new RowCache(rows / 20);
    let [found, best] = [0, 0];
    for (let round = 0; round < 600; round++) {
      const drawn = Int32Array.from({ length: batch }, rank);
      cache.release();
      // Ranks lie scattered.
      const { missing } = ask(
        cache,
        drawn.map((each) => Math.imul(each, 7919) % rows),
      );
      if (round < 300) continue;
      found += batch - missing;
      for (const each of drawn) if (each < rows / 20) best += 1;
    }
    expect(found / best).toBeGreaterThan(0.95);
  });

  it('is searched by the C core as by the reference, whatever it holds', () => {
    const random = new Random(17);
    const searches = [REFERENCE_SEARCH, platform().rowReads!];
    for (const capacity of [1, 5, 33, 200]) {
      const caches = searches.map((search) => new RowCache(capacity, search));
      for (let round = 0; round < 60; round++) {
        const isReleased = random.chance(0.6);
        const most = isReleased ? capacity : capacity - caches[0]!.inUse;
        const rows = Int32Array.from({ length: random.whole(0, most + 1) }, () => random.whole(-1, 3 * capacity));
        const [a, b] = caches.map((cache) => {
          if (isReleased) cache.release();
          const asked = ask(cache, rows);
          return [asked.missing, asked.slots, cache.inUse, cache.rowAt.slice()];
        });
        expect(b).toEqual(a!);
      }
    }
  });
});
