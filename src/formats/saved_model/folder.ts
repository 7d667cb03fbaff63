/**
 * The folder of a SavedModel: all of it, or what was there before. Node entry only.
 *
 * A draft of the folder is made beside it under a name that tells which process is at work, and is on disk before it
 * takes the place of what was there. Where the system can exchange two folders, that is one step. Elsewhere the old folder
 * is first put aside: a process that is killed right then leaves none, and the next export or load puts it back.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isAtWork } from '../../base/at_work.js';
import { HOST } from '../../io/models/model_leftovers.js';
import { makeFolders } from '../../io/made_folders.js';
import { syncFolder } from '../../io/models/model_folder.js';
import { writing } from '../../io/models/weight_files.js';
import { ValueError, described } from '../../base/errors.js';
import { platform, type SavedModelWriter } from '../../base/platform.js';

const MODEL_FILE = 'saved_model.pb';

/** What stands beside a folder: drafts, and folders that were put aside. */
type Aside = 'part' | 'old';

function asideName(folder: string, kind: Aside): string {
  const id = randomBytes(8).toString('hex');
  return join(dirname(folder), `.${basename(folder)}.${id}.${process.pid}.${HOST}.${kind}`);
}

function asidePattern(folder: string): RegExp {
  const name = basename(folder).replace(/[^\w]/g, '\\$&');
  return new RegExp(`^\\.${name}\\.[0-9a-f]{16}\\.(\\d+)\\.([0-9a-f]{8})\\.(part|old)$`);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/** Puts back what a process that was killed had put aside, and removes what is left over from others. */
export async function healFolder(folder: string): Promise<void> {
  const parent = dirname(folder);
  const pattern = asidePattern(folder);
  for (const name of await readdir(parent).catch(() => [] as string[])) {
    const [, pid, host, kind] = pattern.exec(name) ?? [];
    if (kind === undefined) continue;
    const path = join(parent, name);
    if (await isAtWork(path, Number(pid), host!).catch(() => true)) continue;
    if (kind === 'old' && !(await exists(folder))) await rename(path, folder).catch(() => {});
    else await rm(path, { recursive: true, force: true });
  }
}

/** Nothing but a SavedModel is replaced, and that only where it was asked for. Errors of the system pass. */
async function checkTarget(folder: string, overwrite: boolean): Promise<'free' | 'taken'> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return 'free';
  if (!found.isDirectory())
    throw new ValueError('directory', 'a folder', described(`${folder}, which is something else`));
  const names = await readdir(folder);
  if (names.length === 0) return 'free';
  if (!names.includes(MODEL_FILE)) {
    throw new ValueError(
      'directory',
      'a folder that is empty or a SavedModel',
      described(`${folder}, which is neither`),
    );
  }
  if (overwrite) return 'taken';
  const note = 'Write {overwrite: true} to replace it.';
  throw new ValueError('directory', 'a folder that is new', described(`${folder}, which holds a SavedModel`), note);
}

/** Writes files below a folder and has each on disk. Errors name them below the folder that it is to become. */
class FolderWriter implements SavedModelWriter {
  readonly #folders = new Set<string>();

  constructor(
    private readonly root: string,
    private readonly target: string,
  ) {
    this.#folders.add(root);
  }

  async write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const file = join(this.root, path);
    const folder = dirname(file);
    const named = join(this.target, path);
    await writing(named, () => mkdir(folder, { recursive: true }));
    this.#folders.add(folder);
    const handle = await writing(named, () => open(file, 'wx'));
    try {
      for await (const chunk of chunks) {
        for (let done = 0; done < chunk.length;) {
          done += (await writing(named, () => handle.write(chunk, done))).bytesWritten;
        }
      }
      await writing(named, () => handle.sync());
    } finally {
      await handle.close();
    }
  }

  async syncFolders(): Promise<void> {
    for (const folder of [...this.#folders].reverse()) await syncFolder(folder, this.target);
  }
}

/** What the system says where another export was faster: the folder is there again, or gone. */
const OVERTAKEN: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTEMPTY', 'EEXIST']);
const MOST_TRIES = 1000;

/** Puts a draft in the place of a SavedModel that is there. Errors of the system pass. */
async function replace(folder: string, draft: string): Promise<void> {
  if (platform().exchangeFolders?.(draft, folder) === true) return;
  const old = asideName(folder, 'old');
  await rename(folder, old);
  try {
    await rename(draft, folder);
  } catch (error) {
    // What another export has put there meanwhile is newer.
    await rename(old, folder).catch(() => rm(old, { recursive: true, force: true }));
    throw error;
  }
  await rm(old, { recursive: true, force: true }).catch(() => {});
}

/** Puts a draft in its place, also while others do the same: the last one stays. Errors of the system pass. */
async function place(folder: string, draft: string, overwrite: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      // Asked again: others may have written meanwhile.
      if ((await checkTarget(folder, overwrite)) === 'taken') await replace(folder, draft);
      else await rename(draft, folder);
      return;
    } catch (error) {
      if (!OVERTAKEN.has((error as { code?: unknown }).code) || tries === MOST_TRIES) throw error;
    }
  }
}

/** Whether a process at work has put the folder aside, and is about to put another one in its place. */
export async function isBeingReplaced(folder: string): Promise<boolean> {
  const pattern = asidePattern(folder);
  const names = await readdir(dirname(folder)).catch(() => [] as string[]);
  return names.some((name) => pattern.exec(name)?.[3] === 'old');
}

/** Makes a folder of what `fill` writes. */
export async function makeFolder(
  path: string,
  overwrite: boolean,
  fill: (writer: SavedModelWriter) => Promise<void>,
): Promise<void> {
  const folder = resolve(path);
  const removeParents = await makeFolders(dirname(folder));
  await healFolder(folder);
  await writing(folder, () => checkTarget(folder, overwrite));
  const draft = asideName(folder, 'part');
  let isDone = false;
  try {
    await writing(folder, () => mkdir(draft));
    const writer = new FolderWriter(draft, folder);
    await fill(writer);
    await writer.syncFolders();
    await writing(folder, () => place(folder, draft, overwrite));
    isDone = true;
    await syncFolder(dirname(folder));
  } finally {
    // What cannot be removed now is removed by a later export.
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    if (!isDone) await removeParents();
  }
}
