/** Where a SavedModel goes: a folder, or whatever takes its files. */
import { ArgumentTypeError } from '../../base/errors.js';
import { folderPath } from '../../io/byte_source.js';
import { fromPlatform, isWriter, type SavedModelWriter } from '../../base/platform.js';

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
  const note = 'In a page, pass an object {write(path, chunks)}.';
  const makeFolder = fromPlatform('makeFolder', 'directory', `The folder ${destination}`, note);
  return makeFolder(folderPath(destination, 'directory'), overwrite, fill);
}
