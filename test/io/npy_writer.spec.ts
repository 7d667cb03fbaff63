import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'tfjs-embeddings/node';
import { littleEndianBytes } from '../../src/io/byte_order.js';
import { npyHeaderBytes, writeNpy } from '../../src/io/npy_writer.js';
import { openTable } from '../../src/io/table_file.js';
import { expectRejection } from '../helpers/errors.js';

describe('writeNpy', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'npy-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('writes what NumPy writes: magic, version, fields and values from a multiple of 64 bytes on', () => {
    const header = npyHeaderBytes([3, 2]);
    expect(header.length).toBe(128);
    expect([...header.subarray(0, 10)]).toEqual([0x93, 78, 85, 77, 80, 89, 1, 0, 118, 0]);
    const text = String.fromCharCode(...header.subarray(10));
    expect(text).toMatch(/^\{'descr': '<f4', 'fortran_order': False, 'shape': \(3, 2\), \} +\n$/);
    expect(String.fromCharCode(...npyHeaderBytes([3]))).toContain(`'shape': (3,), }`);
    expect([...littleEndianBytes(Float32Array.of(1))]).toEqual([0, 0, 128, 63]);
  });

  it('writes blocks one after the other, into folders that are made, and leaves no drafts', async () => {
    const path = join(folder, 'below', 'table.npy');
    await writeNpy(path, [3, 2], [Float32Array.of(1, 2), Float32Array.of(3, 4, 5, 6)]);
    const file = openTable(path);
    expect([file.rows, file.columns]).toEqual([3, 2]);
    expect([...file.read(0, 3)]).toEqual([1, 2, 3, 4, 5, 6]);
    file.close();
    expect(readdirSync(join(folder, 'below'))).toEqual(['table.npy']);
  });

  it('leaves the file that was there where writing fails', async () => {
    const path = join(folder, 'table.npy');
    await writeNpy(path, [1], [Float32Array.of(7)]);
    const before = readFileSync(path);
    function* broken(): Generator<Float32Array> {
      yield Float32Array.of(1);
      throw new Error('no more values');
    }
    await expectAsync(writeNpy(path, [2], broken())).toBeRejectedWithError('no more values');
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['table.npy']);
  });

  it('tells what stands in the way of a file', async () => {
    const path = join(folder, 'table.npy');
    await expectRejection(() => writeNpy(folder, [1], [Float32Array.of(1)]), 'ValueError', 'file', 'a folder');
    await writeNpy(path, [1], [Float32Array.of(7)]);
    const below = join(path, 'other.npy');
    await expectRejection(() => writeNpy(below, [1], [Float32Array.of(1)]), 'RuntimeError', 'path', 'table.npy');
  });
});
