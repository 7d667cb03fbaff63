/**
 * HDF5 files, by h5wasm, which is loaded on first use.
 *
 * Files lie in a file system in memory that holds nothing else, so links out of a file lead nowhere.
 */
import type * as h5wasm from 'h5wasm';
import type { Dataset, File as H5File, Group } from 'h5wasm';
import { RuntimeError, ValueError, described, describe } from '../errors.js';

type Library = typeof h5wasm;

/** A library that is ready, and its files in memory. */
export interface Hdf5Library {
  readonly h5: Library;
  readonly files: {
    writeFile(path: string, bytes: Uint8Array, options?: { canOwn?: boolean }): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
  };
}

/** Loads h5wasm. Throws RuntimeError where it is not there. */
export async function loadHdf5(): Promise<Hdf5Library> {
  try {
    const h5 = await import('h5wasm');
    const { FS, activate_throwing_error_handler: throwErrors } = await h5.ready;
    // Otherwise it writes its errors to the console.
    throwErrors();
    return { h5, files: FS as unknown as Hdf5Library['files'] };
  } catch (error) {
    const note = `In a page without a bundler an import map names it. ${(error as Error).message}`;
    throw new RuntimeError('source', 'the package h5wasm', described('none'), note);
  }
}

let counter = 0;

/** A new name for a file in memory. */
export function newFileName(): string {
  return `/tfjs-embeddings-${++counter}.h5`;
}

const MOST_NAMES = 100_000;
const DEEPEST = 24;
/** What its filters reach at best, and some room for small files: more values than that lie in no file. */
const BEST_RATIO = 1032;
const ALWAYS = 2 ** 20;
/** Values are read in pieces of about so many bytes: what is unpacked at once lies in the library's memory. */
const PIECE = 2 ** 26;

/** An HDF5 file in memory, for reading. */
export class Hdf5File {
  readonly #bytes: number;

  private constructor(
    private readonly library: Hdf5Library,
    private readonly path: string,
    private readonly file: H5File,
    /** What it is called in errors. */
    readonly name: string,
    bytes: number,
  ) {
    this.#bytes = bytes;
  }

  /** Opens the bytes of a file, which must not change until it is closed. Throws ValueError where they are none. */
  static async open(bytes: Uint8Array, name: string): Promise<Hdf5File> {
    const library = await loadHdf5();
    const path = newFileName();
    library.files.writeFile(path, bytes, { canOwn: true });
    try {
      const file = new library.h5.File(path, 'r');
      // A file that cannot be opened has a number below 0 and says no more.
      if (file.file_id < 0n) throw new Error('The library cannot open it.');
      return new Hdf5File(library, path, file, name, bytes.length);
    } catch (error) {
      library.files.unlink(path);
      throw new ValueError('source', 'an HDF5 file', described(name), String((error as Error).message));
    }
  }

  close(): void {
    try {
      this.file.close();
    } finally {
      this.library.files.unlink(this.path);
    }
  }

  /** Runs what reads; what the library throws becomes an error that names the file and the place. */
  #read<T>(place: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof ValueError) throw error;
      const note = String((error as Error).message ?? error);
      throw new ValueError(
        'source',
        'an HDF5 file that is whole',
        described(`${this.name}, at ${describe(place)}`),
        note,
      );
    }
  }

  #get(path: string): ReturnType<Group['get']> {
    return this.#read(path, () => this.file.get(path));
  }

  /** An attribute that holds a text; null where there is none. */
  text(path: string, attribute: string): string | null {
    const value = this.#attribute(path, attribute);
    return typeof value === 'string' ? value : null;
  }

  /** An attribute that holds a list of texts; null where there is none. Keras splits long lists into `name0`, `name1`. */
  texts(path: string, attribute: string): string[] | null {
    const whole = this.#attribute(path, attribute);
    if (whole !== undefined) return listOfTexts(whole);
    const parts: string[] = [];
    for (let i = 0; ; i++) {
      const part = this.#attribute(path, `${attribute}${i}`);
      if (part === undefined) return i === 0 ? null : parts;
      parts.push(...listOfTexts(part));
    }
  }

  #attribute(path: string, attribute: string): unknown {
    return this.#read(`${path}@${attribute}`, () => {
      const holder = path === '/' ? this.file : (this.file.get(path) as Group | null);
      if (holder === null || !('attrs' in holder)) return undefined;
      const { attrs } = holder;
      return Object.hasOwn(attrs, attribute) ? (attrs[attribute]!.value as unknown) : undefined;
    });
  }

  /** Paths of all arrays below a group, without the path of the group. Links in circles end at a depth. */
  arrays(group: string): string[] {
    const found: string[] = [];
    const open: [string, number][] = [['', 0]];
    let seen = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [path, depth] = next;
      const entity = this.#get(`${group}/${path}`.replace(/^(.+)\/$/, '$1'));
      if (entity instanceof this.library.h5.Dataset) found.push(path);
      if (!(entity instanceof this.library.h5.Group)) continue;
      const keys = this.#read(path, () => entity.keys());
      seen += keys.length;
      if (depth > DEEPEST || seen > MOST_NAMES) {
        const received = described(`${this.name}, which has more`);
        throw new ValueError('source', `at most ${MOST_NAMES} names, ${DEEPEST} levels deep`, received);
      }
      for (const key of [...keys].reverse()) open.push([path === '' ? key : `${path}/${key}`, depth + 1]);
    }
    return found;
  }

  #array(path: string): Dataset {
    const entity = this.#get(path);
    if (entity instanceof this.library.h5.Dataset) return entity;
    throw new ValueError('source', `an array at ${describe(path)}`, described(this.name));
  }

  has(path: string): boolean {
    return this.#get(path) instanceof this.library.h5.Dataset;
  }

  shape(path: string): number[] {
    return this.#read(path, () => this.#array(path).shape ?? []);
  }

  /** The values of an array as float32, or as int32 where they are whole numbers. */
  values(path: string): Float32Array | Int32Array {
    return this.#read(path, () => {
      const array = this.#array(path);
      const { metadata } = array;
      const shape = array.shape ?? [];
      const size = shape.reduce((product, each) => product * each, 1);
      const most = this.#bytes * BEST_RATIO + ALWAYS;
      if (!Number.isSafeInteger(size) || size * metadata.size > most) {
        const received = described(`${this.name}, ${describe(path)} of shape [${shape.join(', ')}]`);
        throw new ValueError('source', `at most ${most} bytes of values in ${this.#bytes} bytes`, received);
      }
      const [isWhole, isFloat] = [metadata.type === 0, metadata.type === 1];
      if ((!isWhole && !isFloat) || metadata.vlen) {
        const received = described(`${this.name}, ${describe(path)} of type ${metadata.type}`);
        throw new ValueError('source', 'arrays of numbers', received);
      }
      const values = isFloat ? new Float32Array(size) : new Int32Array(size);
      const rows = shape[0] ?? 1;
      const rowSize = rows === 0 ? 0 : size / rows;
      const atOnce = Math.max(1, Math.floor(PIECE / Math.max(1, rowSize * metadata.size)));
      if (size > 0 && rows <= atOnce) setValues(values, 0, array.value);
      else if (size > 0) {
        for (let row = 0; row < rows; row += atOnce) {
          const piece = array.slice([[row, Math.min(rows, row + atOnce)]]);
          setValues(values, row * rowSize, piece);
        }
      }
      return values;
    });
  }
}

function listOfTexts(value: unknown): string[] {
  // An empty list of texts is an empty array of numbers.
  if (!Array.isArray(value)) return typeof value === 'string' ? [value] : [];
  return value.filter((item): item is string => typeof item === 'string');
}

function setValues(into: Float32Array | Int32Array, at: number, piece: unknown): void {
  if (typeof piece === 'number') {
    into[at] = piece;
    return;
  }
  if (!ArrayBuffer.isView(piece)) throw new Error('Its values cannot be read.');
  if (piece instanceof BigInt64Array || piece instanceof BigUint64Array) {
    piece.forEach((value, i) => {
      if (BigInt.asIntN(32, value) !== value) throw new Error(`${value} is beyond int32.`);
      into[at + i] = Number(value);
    });
    return;
  }
  const numbers = piece as unknown as ArrayLike<number>;
  into.set(numbers, at);
}
