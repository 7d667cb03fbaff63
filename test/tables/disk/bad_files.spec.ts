/** Files that end early, change or fail: an error with row and offset; those that hold no table are refused. */
import { ftruncateSync, openSync, closeSync, writeFileSync, utimesSync, truncateSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { platform, type RowReads } from '../../../src/base/platform.js';
import { npyHeaderBytes } from '../../../src/io/npy_writer.js';
import { replacePlatform } from '../../helpers/platform.js';
import { inFolder, numbers, opened, rejects } from './setup.js';

describe('files of disk tables', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  const found = async (table: emb.DiskTable, ids: number[]): Promise<number[]> => numbers(table.lookup(ids) as never);

  for (const direct of [true, false]) {
    it(
      `that were cut off tell row and offset, read ${direct ? 'past' : 'through'} the page cache`,
      inFolder(async (folder) => {
        const { table, memory, file } = await opened(folder, { io: { direct } });
        const start = statSync(file).size - 300 * 20;
        await found(table, [1]);
        truncateSync(file, start + 200 * 20 + 3);
        const text = new RegExp(`row 200, 20 bytes at offset ${start + 200 * 20}.*which ends before`);
        await rejects(found(table, [1, 250, 200, 199]), 'RuntimeError', 'file', text);
        await rejects(found(table, [250]), 'RuntimeError', 'file', /row 250/);
        expect((await found(table, [1])).length).toBe(5);
        table.close();
        memory.dispose();
      }),
    );
  }

  it(
    'that were changed tell it, and so do those that the system fails to read',
    inFolder(async (folder) => {
      const { table, memory, file } = await opened(folder);
      await found(table, [1]);
      utimesSync(file, 1, 1);
      await rejects(found(table, [2]), 'RuntimeError', 'file', /row 2, 20 bytes.*was changed/);
      table.close();
      const real = platform().rowReads!;
      const failing = Object.create(real) as { -readonly [K in keyof RowReads]: RowReads[K] };
      let fails = true;
      failing.finishReads = (of, job, into) => {
        const [bytes, missing, why] = real.finishReads(of, job, into);
        return fails ? [bytes, 1, 'Input/output error'] : [bytes, missing, why];
      };
      replacePlatform({ rowReads: failing });
      try {
        const other = await emb.diskTable({ file });
        await rejects(found(other, [9, 4]), 'RuntimeError', 'file', /row 9, .*Input\/output error/);
        fails = false;
        expect(await found(other, [9])).toEqual(numbers(emb.embeddingLookup(memory, [9]) as never));
        other.close();
      } finally {
        replacePlatform({ rowReads: real });
        memory.dispose();
      }
    }),
  );

  it(
    'that hold no such table are refused',
    inFolder(async (folder) => {
      const path = join(folder, 'file');
      const open = (content: string | Uint8Array, tensor?: string): Promise<unknown> => {
        writeFileSync(path, content);
        return emb.diskTable({ file: path, tensor });
      };
      const npy = (shape: number[], descr: string, bytes: number): Uint8Array =>
        Buffer.concat([npyHeaderBytes(shape, descr), new Uint8Array(bytes)]);
      const index = (map: unknown): string => JSON.stringify({ weight_map: map });
      await rejects(open(''), 'ValueError', 'file', /safetensors/);
      await rejects(open('PK nothing of ours'), 'ValueError', 'file', /safetensors/);
      await rejects(open(npy([2, 3], '<f8', 48)), 'ValueError', 'file', /<f4/);
      await rejects(open(npy([2, 3], '>f4', 24)), 'ValueError', 'file', /<f4/);
      await rejects(open(npy([6], '<f4', 24)), 'ValueError', 'file', /shape \[6\]/);
      await rejects(open(npy([2, 3], '<f4', 23)), 'ValueError', 'file', /24 bytes|152/);
      await rejects(open(npy([2, 3], '<f4', 24), 'a'), 'ValueError', 'tensor', /has no name/);
      await rejects(open('{'), 'ValueError', 'file', /no JSON/);
      await rejects(open('{}'), 'ValueError', 'file', /weight_map/);
      await rejects(open(index({ a: 'x', b: 'y' })), 'ValueError', 'tensor', /"a", "b"/);
      await rejects(open(index({ a: 'x' }), 'b'), 'ValueError', 'tensor', /lists/);
      await rejects(open(index({ a: '../x' })), 'ValueError', 'file', /beside the index/);
      await rejects(open(index({ a: 'x' })), 'ValueError', 'file', /exists/);
    }),
  );

  it(
    'larger than memory take no memory, as holes are not read',
    inFolder(async (folder) => {
      const path = join(folder, 'sparse.npy');
      const header = npyHeaderBytes([80_000_000, 64], '<f4');
      writeFileSync(path, header);
      const file = openSync(path, 'r+');
      ftruncateSync(file, header.length + 80_000_000 * 256);
      closeSync(file);
      const before = process.memoryUsage().rss;
      const table = await emb.diskTable({ file: path, cacheBytes: 2e6 });
      for (let i = 0; i < 20; i++) {
        const rows = table.lookup(Array.from({ length: 500 }, (_, k) => (i * 7_919_003 + k * 159_871) % 80_000_000));
        expect(numbers((rows as tf.Tensor).abs().sum())).toEqual([0]);
        (rows as tf.Tensor).dispose();
      }
      expect(table.inputDim).toBe(80_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
      table.close();
    }),
  );
});
