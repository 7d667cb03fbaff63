/** Files inside the folder of a model, and no others. */
import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ValueError, described } from '../../base/errors.js';
import { readError } from '../system_errors.js';

/** What the system reads at once; it takes less than 2^31 bytes. */
const AT_ONCE = 2 ** 30;
/** Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FolderFile {
  readonly path: string;
  readonly size: number;
  /** Tells files apart, whatever their names. */
  readonly identity: string;
  /** Fills `into` with what lies at `position`. Throws RuntimeError where the file ends before. */
  read(position: number, into: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

class OpenFile implements FolderFile {
  constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    readonly size: number,
    readonly identity: string,
  ) {}

  async read(position: number, into: Uint8Array): Promise<void> {
    for (let done = 0; done < into.length;) {
      const wanted = Math.min(into.length - done, AT_ONCE);
      const { bytesRead } = await this.#system(() => this.handle.read(into, done, wanted, position + done));
      if (bytesRead === 0) {
        throw new ValueError('path', `${this.size} bytes`, described(`${this.path}, which has become shorter`));
      }
      done += bytesRead;
    }
  }

  async #system<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw readError(error, this.path, 'path');
    }
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/**
 * Opens a regular file for reading, by its path without links; `asked` is what it is called in errors. Errors of the
 * system pass.
 *
 * @throws ValueError for anything else under that path: opening a pipe or a device may wait or act.
 */
export async function openRegular(path: string, asked: string): Promise<FolderFile> {
  const refuseOthers = (isFile: boolean): void => {
    if (!isFile) throw new ValueError('path', 'a regular file', described(`${asked}, which is something else`));
  };
  refuseOthers((await stat(path)).isFile());
  const handle = await open(path, FLAGS);
  try {
    const found = await handle.stat();
    refuseOthers(found.isFile());
    return new OpenFile(asked, handle, found.size, `${found.dev}:${found.ino}`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Whether a path lies in a folder, both without links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Opens a file that a model names, by its path from the folder of the model. Errors of the system pass.
 *
 * @throws ValueError, by `refuse`, for paths and links that lead out of the folder.
 */
export async function openInside(folder: string, path: string, refuse: (what: string) => Error): Promise<FolderFile> {
  const joined = join(folder, path);
  if (isAbsolute(path) || path.includes('\0') || !isInside(folder, joined)) throw refuse('which leaves the folder');
  const real = await realpath(joined);
  if (!isInside(await realpath(folder), real)) throw refuse('a link that leaves the folder');
  return openRegular(real, joined);
}
