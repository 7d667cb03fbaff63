import {
  readIndexTable,
  writeIndexTable,
  type IndexEntry,
} from '../../../../src/formats/saved_model/bundle/index_table.js';
import { expectError } from '../../../helpers/errors.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function entriesOf(count: number, bytes: number): IndexEntry[] {
  return Array.from({ length: count }, (_, i) => {
    return [encoder.encode(`variables/${(i * 7919) % count}/key`), new Uint8Array(bytes).fill(i)] as const;
  });
}

function plain(entries: readonly IndexEntry[]): [string, number, number][] {
  return entries.map(([key, value]) => [decoder.decode(key), value.length, value[0] ?? -1]);
}

describe('the index of a bundle', () => {
  it('comes back sorted, in one block and in many', () => {
    for (const [count, bytes] of [
      [0, 0],
      [1, 3],
      [40, 20],
      [3000, 300],
    ] as const) {
      const entries = entriesOf(count, bytes);
      const sorted = plain(entries).sort(([a], [b]) => (a < b ? -1 : 1));
      expect(plain(readIndexTable(writeIndexTable(entries)))).toEqual(sorted);
    }
  });

  it('is refused where any byte of its blocks was changed', () => {
    const bytes = writeIndexTable(entriesOf(40, 20));
    for (let at = 0; at < bytes.length; at += 13) {
      const changed = bytes.slice();
      changed[at]! ^= 0x10;
      let read: string | null = null;
      try {
        read = JSON.stringify(plain(readIndexTable(changed)));
      } catch (error) {
        expect((error as Error).name).toBe('ValueError');
      }
      // The end holds bytes that nobody reads.
      if (read !== null) expect(read).toBe(JSON.stringify(plain(readIndexTable(bytes))));
    }
  });

  it('is refused where keys that share their beginnings take far more than the file', () => {
    const start = new Uint8Array(2 ** 20).fill(7);
    const entries = Array.from({ length: 80 }, (_, i) => [Uint8Array.of(i), start] as const);
    expect(readIndexTable(writeIndexTable(entries)).length).toBe(80);
    const long = entries.map(([[i], value]) => {
      const key = new Uint8Array(2 ** 20 + 1).fill(7);
      key[2 ** 20] = i!;
      return [key, value.subarray(0, 1)] as const;
    });
    expectError(() => readIndexTable(writeIndexTable(long)), 'ValueError', 'bytes', 'keys of more than');
  });

  it('is refused where it was cut', () => {
    const bytes = writeIndexTable(entriesOf(40, 20));
    for (const length of [0, 10, 47, 48, bytes.length - 1]) {
      expectError(() => readIndexTable(bytes.subarray(0, length)), 'ValueError', 'bytes');
    }
  });
});
