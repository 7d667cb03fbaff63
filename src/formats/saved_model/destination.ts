/** Where a SavedModel goes: a folder, or whatever takes its files. */
import { ArgumentTypeError, RuntimeError, described } from '../../base/errors.js';
import { folderPath } from '../../io/byte_source.js';
import { perProcess } from '../../base/per_process.js';

/** Takes the files of a SavedModel one after the other, each in pieces. */
export interface SavedModelWriter {
  /**
   * `path`: from the folder of the SavedModel, with slashes. A piece is of use until the next is asked for.
   *
   * @param path - From the folder of the SavedModel, with slashes.
   * @param chunks - The bytes, piece after piece; each is of use until the next is asked for.
   * @returns Nothing, or a promise that resolves when the file is written.
   */
  write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> | void;
}

/** Makes a folder of what `fill` writes: all of it or nothing. */
export type FolderMaker = (
  folder: string,
  overwrite: boolean,
  fill: (writer: SavedModelWriter) => Promise<void>,
) => Promise<void>;

const folders = (): { make: FolderMaker | null } => perProcess('folders of SavedModels', () => ({ make: null }));

/** Set by the Node entry, which has a file system. */
export function setFolderMaker(make: FolderMaker): void {
  folders().make = make;
}

function isWriter(value: unknown): value is SavedModelWriter {
  return typeof (value as Partial<SavedModelWriter> | null)?.write === 'function';
}

/** Writes into a folder, or through the caller's own writer. */
export async function writeTo(
  destination: unknown,
  overwrite: boolean,
  fill: (writer: SavedModelWriter) => Promise<void>,
): Promise<void> {
  if (typeof destination !== 'string') {
    if (isWriter(destination)) return fill(destination);
    throw new ArgumentTypeError('directory', 'the path of a folder, or an object {write(path, chunks)}', destination);
  }
  const { make } = folders();
  if (make !== null) return make(folderPath(destination, 'directory'), overwrite, fill);
  const note = `A folder needs Node and 'tfjs-embeddings/node'.`;
  throw new RuntimeError('directory', 'an object {write(path, chunks)}', described('a path'), note);
}
