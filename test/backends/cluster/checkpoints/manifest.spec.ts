import {
  pieceName,
  pieceRows,
  readManifest,
  writeManifest,
  type SavedTable,
} from '../../../../src/backends/cluster/checkpoints/manifest.js';
import { ValueError } from '../../../../src/base/errors.js';

const TABLE: SavedTable = { name: 'a/b', rows: 7, columns: 4, slotOf: null, modulo: 3 };

describe('The text in a checkpoint', () => {
  it('says what it holds', () => {
    const slot = { ...TABLE, name: 'a/b/m', slotOf: 'a/b', modulo: 1 };
    const found = readManifest(writeManifest([TABLE, slot]), '/p', 'prefix');
    expect([...found]).toEqual([
      ['a/b', TABLE],
      ['a/b/m', slot],
    ]);
  });

  it('is refused in another form or version', () => {
    const table = (change: object): string => JSON.stringify({ version: 1, tables: [{ ...TABLE, ...change }] });
    for (const text of [
      '',
      'no JSON',
      '[]',
      'null',
      JSON.stringify({ version: 2, tables: [] }),
      JSON.stringify({ version: 1, tables: {} }),
      JSON.stringify({ version: 1, tables: [null] }),
      table({ name: 3 }),
      table({ rows: 0 }),
      table({ rows: 1.5 }),
      table({ columns: -1 }),
      table({ columns: '4' }),
      table({ modulo: 0 }),
      table({ slotOf: 5 }),
    ]) {
      expect(() => readManifest(text, '/a/prefix', 'since'))
        .withContext(text)
        .toThrowError(ValueError, /`since`: expected a checkpoint of version 1, received \/a\/prefix, whose/);
    }
  });

  it('counts the rows of pieces, and names them', () => {
    expect([0, 1, 2].map((first) => pieceRows(7, first, 3))).toEqual([3, 2, 2]);
    expect(pieceRows(2, 2, 3)).toBe(0);
    expect(pieceName('a/b', 2, 3)).toBe('a/b/modulo2of3');
    expect(pieceName('a/b', 0, 1)).toBe('a/b');
  });
});
