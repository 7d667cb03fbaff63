/** The index of keys: rows that come and go, against a Map. */
import '../../../src/node.js';
import { KeyHash, KeyIndex, quotaOf, shardsOf } from '../../../src/tables/keys/key_index.js';
import { keySearch, REFERENCE_SEARCH } from '../../../src/tables/keys/steps/key_search.js';
import { Random } from '../../helpers/random.js';
import { highOf, lowOf, wordsOf } from './plain_keys.js';

/** fmix64 of MurmurHash3. */
function mixed(key: bigint): bigint {
  const wrap = (x: bigint): bigint => BigInt.asUintN(64, x);
  let h = wrap(key);
  h ^= h >> 33n;
  h = wrap(h * 0xff51afd7ed558ccdn);
  h ^= h >> 33n;
  h = wrap(h * 0xc4ceb9fe1a85ec53n);
  return h ^ (h >> 33n);
}

const EXTREMES = [0n, -1n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 31n)];

describe('KeyHash', () => {
  it('is fmix64 of MurmurHash3', () => {
    const drawn = new Random(1);
    const random = (): number => drawn.next();
    const others = Array.from({ length: 500 }, () => BigInt(Math.floor(random() * 2 ** 53)) * 2048n - 2n ** 62n);
    const hash = new KeyHash();
    for (const key of [...EXTREMES, ...others]) {
      hash.of(lowOf(key), highOf(key));
      const both = (BigInt(hash.high >>> 0) << 32n) | BigInt(hash.low >>> 0);
      expect(both).withContext(String(key)).toBe(mixed(key));
    }
  });
});

describe('KeyIndex', () => {
  it('cuts capacity into shards, whose quotas add up to it', () => {
    for (const capacity of [1, 2, 65_535, 65_536, 65_791, 100_000]) {
      const shards = shardsOf(capacity);
      expect(shards).toBe(capacity < 65_536 ? 1 : 256);
      const quotas = Array.from({ length: shards }, (_, shard) => quotaOf(capacity, shard));
      expect(quotas.reduce((sum, each) => sum + each)).toBe(capacity);
    }
  });

  it('finds what a Map finds while keys come and go, filled to the last row', () => {
    for (const [capacity, rounds] of [
      [1, 200],
      [2, 300],
      [13, 3000],
      [500, 20_000],
      [65_600, 20_000],
    ] as const) {
      const index = new KeyIndex(capacity);
      const rows = new Map<bigint, number>();
      const drawn = new Random(capacity);
      const random = (): number => drawn.next();
      const space = 2 * capacity;
      const keys: bigint[] = [...EXTREMES];
      for (let i = 0; i < rounds; i++) {
        const key = i % 17 === 0 ? EXTREMES[i % EXTREMES.length]! : BigInt(Math.floor(random() * space)) * 977n;
        keys.push(key);
        const [low, high] = [lowOf(key), highOf(key)];
        const row = index.find(low, high);
        if (row !== (rows.get(key) ?? -1)) fail(`row ${row} of key ${key} in round ${i}`);
        if (row >= 0 && random() < 0.4) {
          index.free(row);
          rows.delete(key);
        } else if (row < 0) {
          const { shard } = index;
          const own = [...(capacity < 1000 ? rows.values() : [])].filter((each) => each % index.shardCount === shard);
          if (own.length >= index.quota(shard)) continue;
          rows.set(key, index.take(low, high));
        }
      }
      expect(index.size).toBe(rows.size);
      expect([...index.rows()]).toEqual([...rows.values()].sort((a, b) => a - b));
      const words = wordsOf(keys);
      const expected = Int32Array.from(keys, (key) => rows.get(key) ?? -1);
      for (const search of [REFERENCE_SEARCH, keySearch()]) {
        const found = new Int32Array(keys.length);
        const unknown = search.find(index, words, -1, found);
        expect(found).toEqual(expected);
        expect(unknown).toBe(expected.filter((row) => row < 0).length);
      }
    }
  });

  it('leaves its groups as they were when all that came has gone', () => {
    const index = new KeyIndex(300);
    const rows = Array.from({ length: 300 }, (_, i) => index.take(i, -i));
    expect(new Set(rows).size).toBe(300);
    for (const row of rows) index.free(row);
    expect(index.groups.every((word) => word === 0)).toBe(true);
    expect(index.size).toBe(0);
  });

  it('keeps keys apart that differ in one word alone, and says how many groups a search reads', () => {
    const index = new KeyIndex(100);
    const rows = [index.take(7, 0), index.take(0, 7), index.take(7, 7), index.take(-7, 0)];
    expect(rows).toEqual([0, 1, 2, 3]);
    expect([index.find(7, 0), index.find(0, 7), index.find(7, 7), index.find(-7, 0), index.find(0, 0)]).toEqual([
      ...rows,
      -1,
    ]);
    for (const [low, high] of [
      [7, 0],
      [1, 1],
    ] as const) {
      expect(index.probes(low, high)).toBe(1);
    }
  });

  it('adopts rows, and names one whose key is there twice or lies in another shard', () => {
    const index = new KeyIndex(70_000);
    const rows = Array.from({ length: 1000 }, (_, i) => index.take(i, 1));
    const again = new KeyIndex(70_000);
    expect(again.adopt(index)).toBeNull();
    expect(rows.map((_, i) => again.find(i, 1))).toEqual(rows);
    const entries = index.entries.slice();
    const [first] = rows as [number];
    entries[4 * first] = 1;
    expect(new KeyIndex(70_000).adopt({ shards: index.shards, entries })).not.toBeNull();
  });
});

describe('the C core', () => {
  it('reads nothing outside of arrays that say anything', () => {
    const index = new KeyIndex(100);
    const drawn = new Random(9);
    const random = (): number => drawn.next();
    index.take(3, 4);
    for (let i = 0; i < index.groups.length; i++) index.groups[i] = Math.floor(random() * 2 ** 32) | 0;
    const found = new Int32Array(2000);
    keySearch().find(
      index,
      Int32Array.from({ length: 4000 }, (_, i) => i),
      -1,
      found,
    );
    expect(found.every((row) => row >= -1 && row < 100)).toBe(true);
  });
});
