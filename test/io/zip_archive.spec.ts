import * as emb from 'tfjs-embeddings/node';
import { zipOf } from '../custom-ops/setup/zip_writer.js';
import { expectRejection } from '../helpers/errors.js';
import { npyHeaderBytes } from '../../src/io/npy_writer.js';

const npy = (values: number): Buffer => Buffer.concat([npyHeaderBytes([values]), new Uint8Array(4 * values)]);

/** Where the entry of a name begins in the directory of an archive. */
function directoryEntry(zip: Buffer, name: string): number {
  return zip.lastIndexOf(name) - 46;
}

describe('an archive of arrays', () => {
  const refused = (zip: Buffer, part: string): Promise<void> => {
    return expectRejection(() => emb.weights.readNpz(new Uint8Array(zip)), 'ValueError', 'source', part);
  };

  it('may hold no entries that share a packed stream', async () => {
    const zip = zipOf([
      { name: 'a.npy', bytes: npy(1000) },
      { name: 'b.npy', bytes: npy(1000) },
    ]);
    // Where the entry lies, by the directory.
    zip.writeUInt32LE(0, directoryEntry(zip, 'b.npy') + 42);
    await refused(zip, 'overlap');
  });

  it('may hold no entry within the bytes of another', async () => {
    const inner = zipOf([{ name: 'b.npy', bytes: npy(3), stored: true }]);
    const zip = zipOf([
      { name: 'a.npy', bytes: Buffer.concat([Buffer.alloc(100), inner, Buffer.alloc(100)]), stored: true },
      { name: 'b.npy', bytes: npy(3), stored: true },
    ]);
    zip.writeUInt32LE(30 + 'a.npy'.length + 100, directoryEntry(zip, 'b.npy') + 42);
    await refused(zip, 'overlap');
  });

  it('may not be encrypted, hold more than it says, or less', async () => {
    const changed = (change: (zip: Buffer, entry: number) => void): Buffer => {
      const zip = zipOf([{ name: 'a.npy', bytes: npy(1000) }]);
      change(zip, directoryEntry(zip, 'a.npy'));
      return zip;
    };
    await refused(
      changed((zip, entry) => zip.writeUInt16LE(1, entry + 8)),
      'whose "a.npy" is encrypted',
    );
    const size = npy(1000).length;
    await refused(
      changed((zip, entry) => zip.writeUInt32LE(size - 1, entry + 24)),
      'a.npy',
    );
    await refused(
      changed((zip, entry) => zip.writeUInt32LE(size + 1, entry + 24)),
      'a.npy',
    );
    await refused(changed((zip, entry) => zip.writeUInt32LE(2 ** 31, entry + 24)), `whose "a.npy" says that it holds ${2 ** 31} bytes in`); // prettier-ignore
    await refused(
      changed((zip, entry) => zip.writeUInt32LE(2 ** 20, entry + 20)),
      'says that it holds',
    );
    await refused(
      changed((zip, entry) => zip.writeUInt32LE(7, entry + 16)),
      'whose "a.npy" cannot be read',
    );
  });

  it('may not hold one array under two names', async () => {
    const twice = [
      { name: 'table.npy', bytes: npy(2) },
      { name: 'table', bytes: npy(3) },
    ];
    await refused(zipOf(twice), '"table"');
    await refused(zipOf([...twice].reverse()), '"table"');
  });

  it('may hold entries side by side, in any order of the directory', async () => {
    const zip = zipOf([
      { name: 'a.npy', bytes: npy(2), stored: true },
      { name: 'b.npy', bytes: npy(3) },
    ]);
    const tables = await emb.weights.readNpz(new Uint8Array(zip));
    expect(Object.entries(tables).map(([name, { shape }]) => [name, shape])).toEqual([
      ['a', [2]],
      ['b', [3]],
    ]);
    for (const table of Object.values(tables)) table.dispose();
  });
});
