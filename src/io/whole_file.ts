/** A file that is written whole or not at all. In runtimes with files only. */
import type * as fsPromises from 'node:fs/promises';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { nodeBuiltin } from '../base/platform.js';
import { hostMark, isAtWork } from '../base/at_work.js';
import { writeError } from './system_errors.js';

/** Takes bytes on their way into a file. */
export type Write = (chunk: Uint8Array) => Promise<void>;

function files(path: string): typeof fsPromises {
  const found = nodeBuiltin<typeof fsPromises>('node:fs/promises');
  if (found !== null) return found;
  throw new RuntimeError('file', 'a WritableStream where there are no files', described(path));
}

function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What the drafts of a file are called behind its name: by which process, on which machine; older versions told neither. */
const DRAFT = /^\.[0-9a-f]{16}(?:\.(\d+)\.([0-9a-f]{8}))?\.part$/;

/** Removes the drafts of a file that processes left which are no more. */
async function removeStale(fs: typeof fsPromises, path: string): Promise<void> {
  const cut = Math.max(path.lastIndexOf('/'), process.platform === 'win32' ? path.lastIndexOf('\\') : -1) + 1;
  const [folder, name] = [path.slice(0, cut), path.slice(cut)];
  for (const other of await fs.readdir(folder === '' ? '.' : folder).catch(() => [] as string[])) {
    const found = other.startsWith(name) ? DRAFT.exec(other.slice(name.length)) : null;
    if (found === null) continue;
    const [, pid, host] = found;
    const draft = `${folder}${other}`;
    if (await isAtWork(draft, Number(pid), host).catch(() => true)) continue;
    await fs.rm(draft, { force: true }).catch(() => {});
  }
}

/** Puts a finished draft in its place: with `link` it fails where there is something, with `rename` it replaces it. */
async function place(fs: typeof fsPromises, draft: string, path: string, overwrite: boolean): Promise<void> {
  if (overwrite) return fs.rename(draft, path);
  await fs.link(draft, path);
  await fs.rm(draft);
}

function exists(path: string): ValueError {
  return new ValueError('file', 'a path where nothing is, or {overwrite: true}', described(`${path}, which exists`));
}

/**
 * Writes a file. What is under its path is the old file or the new one, whenever the process is killed; a draft beside it,
 * whose name ends in `.part`, then stays until the next writing of that file.
 *
 * @throws ValueError where there is a file and `overwrite` is false; RuntimeError where the system refuses. What `fill`
 * throws passes, and nothing has changed.
 */
export async function writeWhole(
  path: string,
  overwrite: boolean,
  fill: (write: Write) => Promise<void>,
): Promise<void> {
  const fs = files(path);
  const before = await fs.lstat(path).catch(() => null);
  if (before !== null && !overwrite) throw exists(path);
  if (before?.isDirectory() === true)
    throw new ValueError('file', 'the path of a file', described(`${path}, a folder`));
  await removeStale(fs, path);
  const draft = `${path}.${randomName()}.${process.pid}.${hostMark()}.part`;
  const system = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      if ((error as { code?: unknown }).code === 'EEXIST') throw exists(path);
      throw writeError(error, path);
    }
  };
  const file = await system(() => fs.open(draft, 'wx'));
  try {
    try {
      await fill(async (chunk) => {
        for (let done = 0; done < chunk.length;) {
          const { bytesWritten } = await system(() => file.write(chunk, done, Math.min(chunk.length - done, 2 ** 30)));
          done += bytesWritten;
        }
      });
      await system(() => file.sync());
    } finally {
      await file.close();
    }
    await system(() => place(fs, draft, path, overwrite));
  } catch (error) {
    await fs.rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}
