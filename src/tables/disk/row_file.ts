/**
 * Files that `diskTable.create` makes: safetensors files of one tensor of rows, and one of what optimizers keep of them once
 * they were trained. Each lies there in rows of one length, so that any program that reads safetensors reads the rows.
 */
import type * as nodeFs from 'node:fs';
import { hostMark } from '../../base/at_work.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { rowBlocks } from '../../base/row_blocks.js';
import { writeError } from '../../io/system_errors.js';
import { safetensorsStart, type ArrayForm } from '../../io/weights/safetensors.js';
import type { FillRows } from '../initializers.js';
import { syncFolder, writeAt } from './row_journal.js';
import { nodeFsOf, type Region } from './row_reader.js';
import { ROWS_KEY } from './row_source.js';
import type { RowFormat } from './row_format.js';

/** Rows begin at a page. */
const START = 4096;

/** What an optimizer keeps of rows: how many words each slot has of a row, and what a slot begins with. */
export interface RowState {
  readonly optimizer: string;
  readonly widths: readonly number[];
  readonly starts: readonly number[];
}

/** What a file holds. */
export interface RowFileForm {
  readonly rows: number;
  readonly dim: number;
  readonly format: RowFormat;
  readonly state: RowState | null;
}

/** Words of a row in the state. */
export function stateWords(state: RowState): number {
  return state.widths.reduce((sum, width) => sum + width, 0);
}

/** Where the state lies: after the rows. */
export function stateRegion({ rows, dim, format, state }: RowFileForm): Region {
  return { start: START + rows * format.bytes(dim), bytes: state === null ? 0 : 4 * stateWords(state) };
}

export function sizeOf(form: RowFileForm): number {
  const { start, bytes } = stateRegion(form);
  return start + form.rows * bytes;
}

/** What a file begins with: as many bytes for every form. */
export function headerOf({ rows, dim, format, state }: RowFileForm): Uint8Array {
  const values = format.values(dim);
  const arrays: ArrayForm[] = [
    { name: 'embeddings', dtype: format.safetensors, shape: [rows, values], bytes: rows * format.bytes(dim) },
  ];
  const words = state === null ? 0 : stateWords(state);
  // Each word is that of a slot, changed where the bits of what the slot begins with are set: rows of holes begin anew.
  if (words > 0) arrays.push({ name: 'state', dtype: 'I32', shape: [rows, words], bytes: rows * words * 4 });
  const own = JSON.stringify({ version: 1, dtype: format.dtype, outputDim: dim, state });
  const start = safetensorsStart(arrays, { [ROWS_KEY]: own });
  const bytes = new Uint8Array(START).fill(0x20);
  bytes.set(start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(START - 8), true);
  return bytes;
}

/** What our header says of the state. */
export function stateOf(own: Readonly<Record<string, unknown>>): RowState | null {
  return (own['state'] as RowState | null | undefined) ?? null;
}

/** Refuses a place without room for so many bytes. */
function checkRoom(fs: typeof nodeFs, folder: string, path: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder);
  if (bavail * bsize >= bytes) return;
  throw new RuntimeError('file', `${bytes} bytes of room`, described(`${path}, where ${bavail * bsize} are free`));
}

/**
 * Makes a file of the rows that `fill` hands over, block after block: all of it or nothing.
 *
 * @throws ValueError where there is one; RuntimeError where the system refuses, or there is no room.
 */
export function createRowFile(path: string, form: RowFileForm, fill: FillRows): void {
  const fs = nodeFsOf(path);
  const { dim, format } = form;
  const exists = (): ValueError =>
    new ValueError('file', 'a path where nothing is', described(`${path}, which exists`));
  if (fs.existsSync(path)) throw exists();
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0'));
  const draft = `${path}.${hex.join('')}.${process.pid}.${hostMark()}.part`;
  let descriptor: number | null = null;
  try {
    const file = (descriptor = fs.openSync(draft, 'wx'));
    checkRoom(fs, draft, path, sizeOf(form));
    writeAt(fs, file, { at: 0, bytes: headerOf(form) });
    // Rows that nobody hands over are zeros.
    fs.ftruncateSync(file, sizeOf(form));
    const unit = format.bytes(dim);
    fill((firstRow, values) => {
      for (const block of rowBlocks({ rows: values.length / dim, columns: dim })) {
        const part = values.subarray(block.firstRow * dim, (block.firstRow + block.rows) * dim);
        writeAt(fs, file, { at: START + (firstRow + block.firstRow) * unit, bytes: format.narrow(part, dim) });
      }
    });
    fs.fsyncSync(file);
    fs.closeSync(file);
    descriptor = null;
    fs.linkSync(draft, path);
    fs.rmSync(draft);
    syncFolder(fs, path);
  } catch (error) {
    if (descriptor !== null) fs.closeSync(descriptor);
    fs.rmSync(draft, { force: true });
    if ((error as { code?: unknown }).code === 'EEXIST') throw exists();
    throw writeError(error, path);
  }
}
