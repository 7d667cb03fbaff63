/** Tables are made, moved and read a few rows at a time, so that no second copy of a large one ever lies in memory. */

/** Values of a block: 4 MB, enough for a call to cost little beside them. */
const BLOCK = 2 ** 20;

/** How many rows of so many columns make a block of at most so many values: one at least. */
export function rowsAtOnce(columns: number, values: number = BLOCK): number {
  return Math.max(1, Math.floor(values / Math.max(1, columns)));
}

interface RowBlock {
  readonly firstRow: number;
  readonly rows: number;
}

/** The blocks of a table, in order. */
export function* rowBlocks(
  { rows, columns }: { readonly rows: number; readonly columns: number },
  values?: number,
): Generator<RowBlock> {
  const atOnce = rowsAtOnce(columns, values);
  for (let firstRow = 0; firstRow < rows; firstRow += atOnce) {
    yield { firstRow, rows: Math.min(atOnce, rows - firstRow) };
  }
}
