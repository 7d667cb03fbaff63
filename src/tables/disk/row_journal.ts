/**
 * What lay in a file before it was overwritten, so that a crash leaves the last checkpoint: the bytes of a place go to the
 * journal, which is synced, before the first write to it since the checkpoint.
 *
 * A header says how long the file was; each entry is the place, the length and a checksum, then the bytes. What a crash cut
 * off was not overwritten yet.
 */
import type * as nodeFs from 'node:fs';
import type * as nodePath from 'node:path';
import { nodeBuiltin } from '../../base/platform.js';
import { extendCrc32c } from '../../io/checksums/crc32c.js';
import { nodeFsOf } from './row_reader.js';

const MAGIC = 0x4a4f5254; // TROJ
const VERSION = 1;
const HEADER = 24;
const ENTRY = 16;

export function journalPath(file: string): string {
  return `${file}.journal`;
}

/** Bytes, and where they lie. */
export interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

function header(size: number): Uint8Array {
  const bytes = new Uint8Array(HEADER);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setFloat64(8, size, true);
  view.setUint32(16, extendCrc32c(0, bytes.subarray(0, 16)), true);
  return bytes;
}

function entry({ at, bytes }: Piece): Uint8Array {
  const start = new Uint8Array(ENTRY);
  const view = new DataView(start.buffer);
  view.setFloat64(0, at, true);
  view.setUint32(8, bytes.length, true);
  view.setUint32(12, extendCrc32c(extendCrc32c(0, start.subarray(0, 12)), bytes), true);
  return start;
}

/** Has a folder remember which files it holds. */
export function syncFolder(fs: typeof nodeFs, file: string): void {
  const { dirname } = nodeBuiltin<typeof nodePath>('node:path')!;
  const folder = fs.openSync(dirname(file), 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

/** Writes all of the bytes at a place. */
export function writeAt(fs: typeof nodeFs, descriptor: number, { at, bytes }: Piece): void {
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(descriptor, bytes, done, Math.min(bytes.length - done, 2 ** 30), at + done);
  }
}

export class RowJournal {
  readonly #fs: typeof nodeFs;
  #descriptor: number | null = null;
  /** Where the next entry goes: what a write that failed left there counts for nothing. */
  #end = 0;
  bytesWritten = 0;

  constructor(private readonly file: string) {
    this.#fs = nodeFsOf(file);
  }

  /** Notes what lies in places now, and waits until the disk has it. `size`: of the file at the last checkpoint. */
  note(pieces: readonly Piece[], size: number): void {
    if (pieces.length === 0) return;
    const fs = this.#fs;
    const isNew = this.#descriptor === null;
    this.#descriptor ??= fs.openSync(journalPath(this.file), 'w');
    const parts: Uint8Array[] = this.#end === 0 ? [header(size)] : [];
    for (const piece of pieces) parts.push(entry(piece), piece.bytes);
    const bytes = Buffer.concat(parts);
    writeAt(fs, this.#descriptor, { at: this.#end, bytes });
    fs.fdatasyncSync(this.#descriptor);
    if (isNew) syncFolder(fs, this.file);
    this.#end += bytes.length;
    this.bytesWritten += bytes.length;
  }

  /** Forgets all, once the file is synced. */
  drop(): void {
    if (this.#descriptor === null) return;
    this.close();
    this.#fs.rmSync(journalPath(this.file), { force: true });
    syncFolder(this.#fs, this.file);
  }

  /** Leaves it as it is. */
  close(): void {
    if (this.#descriptor !== null) this.#fs.closeSync(this.#descriptor);
    this.#descriptor = null;
    this.#end = 0;
  }
}

/** Whether a file was written since its last checkpoint. What is no journal of ours is left alone. */
export function hasJournal(file: string): boolean {
  const fs = nodeFsOf(file);
  if (!fs.existsSync(journalPath(file))) return false;
  const journal = fs.openSync(journalPath(file), 'r');
  try {
    const start = readAt(fs, journal, 0, 4);
    // One that was begun is empty.
    return start === null || new DataView(start.buffer).getUint32(0, true) === MAGIC;
  } finally {
    fs.closeSync(journal);
  }
}

/** Brings a file back to its last checkpoint, which nobody else writes. */
export function rollBack(file: string): void {
  const fs = nodeFsOf(file);
  const journal = fs.openSync(journalPath(file), 'r');
  try {
    const start = readAt(fs, journal, 0, HEADER);
    const size = start === null ? 0 : new DataView(start.buffer).getFloat64(8, true);
    // A header that is not whole was never synced: nothing was overwritten.
    if (start !== null && Buffer.compare(start, header(size)) === 0) {
      const target = fs.openSync(file, 'r+');
      try {
        restore(fs, journal, target);
        fs.ftruncateSync(target, size);
        fs.fsyncSync(target);
      } finally {
        fs.closeSync(target);
      }
    }
  } finally {
    fs.closeSync(journal);
  }
  fs.rmSync(journalPath(file));
  syncFolder(fs, file);
}

function readAt(fs: typeof nodeFs, descriptor: number, at: number, length: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const count = fs.readSync(descriptor, bytes, done, length - done, at + done);
    if (count === 0) return null;
    done += count;
  }
  return bytes;
}

/** Writes entries to their places, up to the first that is not whole. */
function restore(fs: typeof nodeFs, journal: number, target: number): void {
  const { size } = fs.fstatSync(journal);
  for (let at = HEADER; at + ENTRY <= size;) {
    const start = readAt(fs, journal, at, ENTRY)!;
    const view = new DataView(start.buffer);
    const length = view.getUint32(8, true);
    if (at + ENTRY + length > size) return;
    const bytes = readAt(fs, journal, at + ENTRY, length);
    if (bytes === null) return;
    const piece = { at: view.getFloat64(0, true), bytes };
    if (Buffer.compare(entry(piece), start) !== 0) return;
    writeAt(fs, target, piece);
    at += ENTRY + length;
  }
}
