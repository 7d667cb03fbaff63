/** Blocks of rows of a table. */
import { rowBlocks, rowsAtOnce } from '../../src/base/row_blocks.js';

describe('Blocks of rows', () => {
  it('hold as many rows as fit, one at least', () => {
    expect([1, 4, 100, 2 ** 20, 2 ** 21].map((columns) => rowsAtOnce(columns))).toEqual([
      2 ** 20,
      2 ** 18,
      10485,
      1,
      1,
    ]);
    expect([0, 1, 3, 10, 11].map((columns) => rowsAtOnce(columns, 10))).toEqual([10, 10, 3, 1, 1]);
  });

  it('cover the rows of a table once, in order', () => {
    for (const [rows, columns, values] of [
      [7, 3, 6],
      [6, 3, 6],
      [5, 1, 100],
      [3, 9, 2],
      [0, 4, 8],
    ] as const) {
      const blocks = [...rowBlocks({ rows, columns }, values)];
      const most = Math.max(1, Math.floor(values / columns));
      const starts = Array.from({ length: Math.ceil(rows / most) }, (_, i) => i * most);
      expect(blocks).toEqual(starts.map((firstRow) => ({ firstRow, rows: Math.min(most, rows - firstRow) })));
    }
    expect([...rowBlocks({ rows: 3, columns: 2 ** 19 })]).toEqual([
      { firstRow: 0, rows: 2 },
      { firstRow: 2, rows: 1 },
    ]);
  });
});
