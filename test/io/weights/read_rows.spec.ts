/** Rows of large files, and no others. */
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { npyHeaderBytes } from '../../../src/io/npy_writer.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';

describe('weights.readRows', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'rows '));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives the rows that the whole array has there, of paths and bytes', async () => {
    await expectNoLeakAsync(async () => {
      const table = tf.randomUniform([20, 3]) as tf.Tensor2D;
      const cube = tf.tensor3d(
        Int32Array.from({ length: 24 }, (_, i) => i),
        [4, 3, 2],
        'int32',
      );
      await emb.weights.writeSafetensors(at('s'), { table, cube });
      await emb.weights.writeNpy(at('n.npy'), table);
      for (const [first, count] of [
        [0, 1],
        [7, 5],
        [0, 20],
        [19, 1],
      ] as const) {
        const expected = Array.from(table.dataSync()).slice(3 * first, 3 * (first + count));
        for (const [source, name] of [
          [at('s'), 'table'],
          [at('n.npy'), null],
          [readFileSync(at('s')), 'table'],
        ] as const) {
          const rows = await emb.weights.readRows(source, name, { first, count });
          expect(rows.shape).toEqual([count, 3]);
          expect(Array.from(rows.dataSync())).toEqual(expected);
          rows.dispose();
        }
      }
      const some = await emb.weights.readRows(at('s'), 'cube', { count: 2 });
      expect([some.shape, some.dtype, Array.from(some.dataSync())]).toEqual([
        [2, 3, 2],
        'int32',
        [...Array(12).keys()],
      ]);
      tf.dispose([table, cube, some]);
    });
  });

  it('reads a few of 40 GB, and refuses what is not there', async () => {
    const header = npyHeaderBytes([20_000_000, 512], '<f4');
    writeFileSync(at('sparse.npy'), header);
    const file = openSync(at('sparse.npy'), 'r+');
    ftruncateSync(file, header.length + 20_000_000 * 2048);
    closeSync(file);
    const rows = await emb.weights.readRows(at('sparse.npy'), null, { first: 19_999_990, count: 10 });
    expect(rows.shape).toEqual([10, 512]);
    rows.dispose();
    const scalar = tf.scalar(1);
    await emb.weights.writeSafetensors(at('other'), { scalar });
    scalar.dispose();
    for (const [source, name, range, argument, text] of [
      ['sparse.npy', null, { first: 19_999_991, count: 10 }, 'range', /\[0, 20000000\)/],
      ['sparse.npy', 'a', { count: 1 }, 'tensor', /one of null/],
      ['sparse.npy', null, { count: 0 }, 'count', /from 1 on/],
      ['sparse.npy', null, { first: -1, count: 1 }, 'first', /from 0 on/],
      ['sparse.npy', null, { rows: 1 }, 'rows', /first, count/],
      ['other', 'scalar', { count: 1 }, 'source', /shape \[\]/],
      ['gone', null, { count: 1 }, 'source', /exists/],
    ] as const) {
      const error = await emb.weights.readRows(at(source), name, range as never).then(
        () => null,
        (thrown: unknown) => thrown as Error & { argument: string },
      );
      expect(error?.name).withContext(argument).toBe('ValueError');
      expect(error?.argument).toBe(argument);
      expect(error?.message).toMatch(text);
    }
  });
});
