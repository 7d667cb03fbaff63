/** Tables in `.npy` files, read piece by piece. */
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'tfjs-embeddings/node';
import { platform } from '../../src/base/platform.js';
import { openTable } from '../../src/io/table_file.js';
import { expectError } from '../helpers/errors.js';
import { replacePlatform } from '../helpers/platform.js';
import { floatBytes, npyBytes, type NpyParts } from './npy_bytes.js';

const VALUES = Array.from({ length: 60 }, (_, i) => i / 4 - 3);

describe('openTable', () => {
  const { openFile } = platform();
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tables-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    replacePlatform({ openFile });
  });

  function written(parts: NpyParts): string {
    const path = join(folder, 'table.npy');
    writeFileSync(path, npyBytes(parts));
    return path;
  }

  /** A table of 12 rows of 5. */
  function small(): string {
    return written({ shape: '(12, 5)', values: floatBytes(VALUES, 4) });
  }

  it('reads any rows', () => {
    const table = openTable(small());
    expect([table.rows, table.columns]).toEqual([12, 5]);
    for (let first = 0; first <= 12; first++) {
      for (let rows = 0; first + rows <= 12; rows++) {
        expect([...table.read(first, rows)]).toEqual(VALUES.slice(first * 5, (first + rows) * 5));
      }
    }
    table.close();
  });

  it('reads other floats and byte orders', () => {
    const path = written({ version: [3, 0], descr: "'>f8'", shape: '(12, 5)', values: floatBytes(VALUES, 8, false) });
    const table = openTable(path);
    expect([...table.read(7, 2)]).toEqual(VALUES.slice(35, 45));
    table.close();
  });

  it('gives arrays of their own', () => {
    const table = openTable(small());
    table.read(0, 1).fill(9);
    expect([...table.read(0, 1)]).toEqual(VALUES.slice(0, 5));
    table.close();
  });

  it('reads the header and the rows that are asked for, and nothing else', () => {
    const path = small();
    const reads: [number, number][] = [];
    replacePlatform({
      openFile(asked) {
        const file = openFile!(asked);
        return {
          size: file.size,
          read: (position, into) => {
            reads.push([position, into.length]);
            return file.read(position, into);
          },
          close: () => file.close(),
        };
      },
    });
    const table = openTable(path);
    const header = reads.reduce((end, [position, length]) => Math.max(end, position + length), 0);
    expect(header).toBe(npyBytes({ shape: '(12, 5)' }).length);
    reads.length = 0;
    table.read(3, 2);
    table.read(11, 1);
    expect(reads).toEqual([
      [header + 3 * 20, 40],
      [header + 11 * 20, 20],
    ]);
    table.close();
  });

  it('takes tables without rows or columns', () => {
    for (const shape of ['(0, 5)', '(5, 0)']) {
      const table = openTable(written({ shape }));
      expect(table.read(0, table.rows)).toEqual(new Float32Array(0));
      table.close();
    }
  });

  it('refuses rows that are not there', () => {
    const table = openTable(small());
    for (const [first, rows] of [
      [0, 13],
      [12, 1],
      [-1, 2],
      [0.5, 1],
      [0, NaN],
      [3, -1],
    ] as const) {
      expectError(() => table.read(first, rows), 'ValueError', 'rows', `${rows} from ${first} on`);
    }
    table.close();
  });

  it('refuses arrays that are not 2-D, and what is no array', () => {
    const values = floatBytes(VALUES, 4);
    const refuse = (parts: NpyParts, received: string): void => {
      const path = written({ values, ...parts });
      expectError(() => openTable(path, 'table'), 'ValueError', 'table', `${path}, ${received}`);
    };
    refuse({ shape: '()' }, 'of shape []');
    refuse({ shape: '(60,)' }, 'of shape [60]');
    refuse({ shape: '(3, 4, 5)' }, 'of shape [3, 4, 5]');
    refuse({ descr: "'<i4'", shape: '(12, 5)' }, "which holds '<i4'");
    refuse({ shape: '(13, 5)' }, 'which holds 240');
  });

  it('names a file that cannot be opened', () => {
    const missing = join(folder, 'x'.repeat(90), 'none.npy');
    expectError(() => openTable(missing), 'ValueError', 'weights', missing);
    expectError(() => openTable(join(small(), 'inside.npy')), 'ValueError', 'weights', 'inside.npy');
    expectError(() => openTable(folder), 'ValueError', 'weights', folder);
    expectError(() => openTable('\0'), 'RuntimeError', 'weights', '\0');
    expectError(() => openTable(7 as never), 'TypeError', 'weights', '7');
    replacePlatform({
      openFile() {
        throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
      },
    });
    expectError(() => openTable(missing), 'RuntimeError', 'weights', missing);
  });

  it('says what is needed where files cannot be opened', () => {
    replacePlatform({ openFile: undefined });
    expectError(() => openTable('a.npy'), 'RuntimeError', 'weights', 'a.npy');
    expect(() => openTable('a.npy')).toThrowError(/tfjs-embeddings\/node/);
  });

  it('is closed once, and after a file was refused', () => {
    const count = (): number => readdirSync('/proc/self/fd').length;
    const canCount = process.platform === 'linux';
    const open = canCount ? count() : 0;
    const table = openTable(small());
    table.close();
    table.close();
    expectError(() => table.read(0, 1), 'RuntimeError', 'weights', 'closed');
    expectError(() => openTable(written({ shape: '(1,)', values: new Uint8Array(4) })), 'ValueError', 'weights');
    expectError(() => openTable(written({ shape: '(9, 9)' })), 'ValueError', 'weights');
    if (canCount) expect(count()).toBe(open);
  });

  it('tells where a file has become shorter meanwhile', () => {
    const path = small();
    const table = openTable(path);
    truncateSync(path, npyBytes({ shape: '(12, 5)' }).length + 30);
    expect(table.read(0, 1).length).toBe(5);
    expectError(() => table.read(1, 1), 'RuntimeError', 'weights', path);
    table.close();
  });
});
