/** How tables are cut in checkpoints: slices, in blocks of rows. */
import type { TableSize } from '../../../partition/table_layout.js';

const FLOAT_BYTES = 4;
/** Bytes of a block: TensorFlow reads a stored slice whole, whichever part of it is asked for. */
const BLOCK_BYTES = 2 ** 26;
/** TensorFlow compares all slices of a tensor with each other, so that a part of a table has at most so many. */
const MOST_BLOCKS = 128;
/** Blocks of as many rows begin at a multiple of 64 bytes, so that TensorFlow cuts a table without a copy. */
const ROWS_ALIKE = 16;

/** Rows of a part of a table, counted from its first one. */
export interface Block {
  readonly first: number;
  readonly count: number;
}

/** The blocks of a part of a table, in order; of at most `most` rows where that is said. */
export function blocksOf({ rows, columns }: TableSize, most = rowsOfBlock({ rows, columns })): Block[] {
  const blocks: Block[] = [];
  for (let first = 0; first < rows; first += most) blocks.push({ first, count: Math.min(most, rows - first) });
  return blocks;
}

function rowsOfBlock({ rows, columns }: TableSize): number {
  const bytes = Math.max(BLOCK_BYTES, (FLOAT_BYTES * rows * columns) / MOST_BLOCKS);
  return ROWS_ALIKE * Math.max(1, Math.floor(bytes / (FLOAT_BYTES * columns * ROWS_ALIKE)));
}

/** A slice of a tensor [rows, columns], as SaveV2 and RestoreV2 read it. */
export function sliceText(
  { rows, columns }: TableSize,
  { first, count }: Block,
  [from, to]: readonly number[],
): string {
  return `${rows} ${columns} ${first},${count}:${from},${to! - from!}`;
}
