/** Files of rows as tables find them: as the last checkpoint left them, locked where they are written, copied where asked. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { rowBlocks } from '../../base/row_blocks.js';
import { pathOf } from '../../io/byte_source.js';
import { THREADS, type DiskTableArgs } from './disk_table_args.js';
import { refuseNetwork } from './file_systems.js';
import { createRowFile } from './row_file.js';
import { formatOf } from './row_format.js';
import { hasJournal, rollBack } from './row_journal.js';
import { lockForWriting, writerOf } from './row_lock.js';
import { nodeFsOf, RowReader } from './row_reader.js';
import { findRows, type RowsAt } from './row_source.js';

/** Where the rows of a table are, once the file is as its last checkpoint left it, and nobody else writes it. */
export interface OpenedRows {
  readonly at: RowsAt;
  readonly file: string;
  readonly tensor: string | null;
  readonly unlock: (() => void) | null;
}

export function openRows(given: DiskTableArgs, tensor: string | null, trainable: boolean): OpenedRows {
  const { copyTo = null } = given;
  if (copyTo !== null && typeof copyTo !== 'string')
    throw new ArgumentTypeError('copyTo', 'the path of a file', copyTo);
  if (copyTo !== null && !trainable) throw new ValueError('copyTo', 'nothing, unless `trainable` is true', copyTo);
  const path = pathOf(given.file);
  if (copyTo === null && trainable) return openForWriting(path, tensor);
  if (nodeFsOf(path).existsSync(path) && hasJournal(path)) settle(path);
  const at = findRows(path, tensor);
  if (copyTo === null) return { at, file: given.file, tensor, unlock: null };
  copyRows(at, pathOf(copyTo));
  return openForWriting(pathOf(copyTo), null);
}

/** Brings a file that nobody writes any more back to its last checkpoint. */
function settle(path: string): void {
  const writer = writerOf(path);
  if (writer !== null) {
    const expected = 'a file that is as its last checkpoint left it';
    throw new RuntimeError('file', expected, described(`${path}, which ${writer} trains`));
  }
  const unlock = lockForWriting(path);
  try {
    if (hasJournal(path)) rollBack(path);
  } finally {
    unlock();
  }
}

function openForWriting(path: string, tensor: string | null): OpenedRows {
  refuseNetwork(path);
  // Asked before anything is written beside it.
  const refuse = (received: string): never => {
    const note = 'copyTo makes a file of the same rows, as float32, that is trained.';
    const expected = 'false, unless emb.diskTable.create made the file, of float32';
    throw new ValueError('trainable', expected, described(`true, for ${path}, ${received}`), note);
  };
  if (!hasJournalOf(path) && findRows(path, tensor).own === null) refuse('which it did not make');
  const unlock = lockForWriting(path);
  try {
    if (hasJournal(path)) rollBack(path);
    const at = findRows(path, tensor);
    if (at.own === null || at.tensor !== 'embeddings') refuse('which it did not make');
    if (at.format.dtype !== 'float32') refuse(`of ${at.format.dtype}`);
    return { at, file: path, tensor, unlock };
  } catch (error) {
    unlock();
    throw error;
  }
}

function hasJournalOf(path: string): boolean {
  return nodeFsOf(path).existsSync(path) && hasJournal(path);
}

/** Makes a file of rows of another, a few at a time. */
function copyRows(at: RowsAt, to: string): void {
  const { rows, dim, format } = at;
  const region = { start: at.start, bytes: format.bytes(dim) };
  const reader = new RowReader(at.path, { threads: THREADS, direct: true, writes: false, most: region.bytes });
  try {
    createRowFile(to, { rows, dim, format: formatOf('float32')!, state: null }, (write) => {
      for (const block of rowBlocks({ rows, columns: dim })) {
        const numbers = Int32Array.from({ length: block.rows }, (_, i) => block.firstRow + i);
        const values = new Float32Array(block.rows * dim);
        format.widen(reader.read(numbers, region), dim, values);
        write(block.firstRow, values);
      }
    });
  } finally {
    reader.close();
  }
}
