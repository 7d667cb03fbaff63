/** Rows of a file that is open: read by a pool of threads, in the order in which they lie. */
import type * as nodeFs from 'node:fs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { fromPlatform, nodeBuiltin, type RowFile, type RowReads } from '../../base/platform.js';
import { readError } from '../../io/system_errors.js';

/** How files are read. */
export interface DiskIo {
  /** Reads at a time. Default: 16. */
  threads?: number | undefined;
  /** Past the page cache, where the system allows it. Default: true, and false for tables that are trained. */
  direct?: boolean | undefined;
}

/** Pieces of one length, one after the other, in the file. */
export interface Region {
  readonly start: number;
  readonly bytes: number;
}

/** A reading that was begun. */
export interface Reading {
  readonly job: number;
  readonly rows: Int32Array;
  readonly region: Region;
}

export function nodeFsOf(path: string): typeof nodeFs {
  const fs = nodeBuiltin<typeof nodeFs>('node:fs');
  if (fs !== null) return fs;
  throw new RuntimeError('file', 'a runtime with files', described(path));
}

export class RowReader {
  /** Of the open file. */
  readonly descriptor: number;
  readonly isDirect: boolean;
  bytesRead = 0;
  readonly #reads: RowReads;
  readonly #file: RowFile;
  readonly #fs: typeof nodeFs;
  /** What the file looked like when it was opened; null: it is written through this very object. */
  readonly #seen: nodeFs.BigIntStats | null;
  #isOpen = true;

  /**
   * Opens a file. `most`: bytes of the longest piece.
   *
   * @throws ValueError where there is none; RuntimeError where the system refuses, and without the native addon.
   */
  constructor(
    readonly path: string,
    { threads, direct, writes, most }: { threads: number; direct: boolean; writes: boolean; most: number },
  ) {
    this.#reads = fromPlatform('rowReads', 'file', 'emb.diskTable', '`npx tfjs-embeddings setup` builds what reads.');
    this.#fs = nodeFsOf(path);
    try {
      this.descriptor = this.#fs.openSync(path, writes ? 'r+' : 'r');
    } catch (error) {
      throw readError(error, path, 'file');
    }
    try {
      this.#seen = writes ? null : this.#fs.fstatSync(this.descriptor, { bigint: true });
      this.#file = this.#reads.openRowFile(this.descriptor, path, threads, direct ? 1 : 0, most);
      this.isDirect = this.#reads.rowFileIsDirect(this.#file);
    } catch (error) {
      this.#fs.closeSync(this.descriptor);
      throw readError(error, path, 'file');
    }
  }

  /** Begins to read pieces by their numbers, ascending. */
  begin(rows: Int32Array, region: Region): Reading {
    const offsets = new Float64Array(rows.length);
    for (let i = 0; i < rows.length; i++) offsets[i] = region.start + rows[i]! * region.bytes;
    return { job: this.#reads.startReads(this.#file, offsets, region.bytes), rows, region };
  }

  /**
   * What was read.
   *
   * @throws RuntimeError, which names row and offset, where the file ends before, has changed since it was opened, or cannot
   * be read.
   */
  finish({ job, rows, region }: Reading): Uint8Array {
    const bytes = new Uint8Array(rows.length * region.bytes);
    const [read, missing, why] = this.#reads.finishReads(this.#file, job, bytes);
    this.bytesRead += read;
    if (missing >= 0) {
      this.#refuse(rows[missing]!, region, why === '' ? 'which ends before' : `of which the system says: ${why}`);
    }
    const seen = this.#seen;
    if (seen !== null && rows.length > 0) {
      const now = this.#fs.fstatSync(this.descriptor, { bigint: true });
      if (now.mtimeNs !== seen.mtimeNs || now.size !== seen.size) {
        this.#refuse(rows[0]!, region, 'which was changed while it is open');
      }
    }
    return bytes;
  }

  #refuse(row: number, { start, bytes }: Region, received: string): never {
    const expected = `row ${row}, ${bytes} bytes at offset ${start + row * bytes}`;
    throw new RuntimeError('file', expected, described(`${this.path}, ${received}`));
  }

  /** Nobody wants what was begun. */
  drop({ job }: Reading): void {
    this.#reads.finishReads(this.#file, job, null);
  }

  read(rows: Int32Array, region: Region): Uint8Array {
    return this.finish(this.begin(rows, region));
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reads.closeRowFile(this.#file);
    this.#fs.closeSync(this.descriptor);
  }
}

/** Bytes of the memory of this machine are the most that a cache may take. */
export function checkCacheBytes(given: unknown, memory: number): number {
  const expected = 'a number of bytes';
  if (given === undefined || given === null) return DEFAULT_CACHE;
  if (typeof given !== 'number') throw new ArgumentTypeError('cacheBytes', expected, given);
  if (!(given >= 1)) throw new ValueError('cacheBytes', `${expected} from 1 on`, given);
  if (given > memory) {
    throw new ValueError('cacheBytes', `at most the ${memory} bytes of memory that this machine has`, given);
  }
  return given;
}

const DEFAULT_CACHE = 2 ** 28;
