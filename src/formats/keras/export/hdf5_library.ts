/** h5wasm, which writes HDF5 files; loaded on first use. */
import type * as h5wasm from 'h5wasm';
import { RuntimeError, described } from '../../../base/errors.js';

/** A library that is ready, and its files in memory. */
export interface Hdf5Library {
  readonly h5: typeof h5wasm;
  readonly files: { readFile(path: string): Uint8Array; unlink(path: string): void };
}

/** Loads h5wasm. Throws RuntimeError where it is not there. */
export async function loadHdf5(): Promise<Hdf5Library> {
  try {
    const h5 = await import('h5wasm');
    const { FS } = await h5.ready;
    return { h5, files: FS as unknown as Hdf5Library['files'] };
  } catch (error) {
    const note = `In a page without a bundler an import map names it. ${(error as Error).message}`;
    throw new RuntimeError('file', 'the package h5wasm', described('none'), note);
  }
}

let counter = 0;

/** A new name for a file in memory. */
export function newFileName(): string {
  return `/tfjs-embeddings-${++counter}.h5`;
}
