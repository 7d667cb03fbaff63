/** Folders on the way to what is saved. Node entry only. */
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { writing } from './models/weight_files.js';

/** Makes a folder and those above it; returns what takes away those that were missing, where nothing lies in them. */
export async function makeFolders(path: string): Promise<() => Promise<void>> {
  const folder = resolve(path);
  const first = await writing(path, () => mkdir(folder, { recursive: true }));
  return async () => {
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made)) {
      const isGone = await rmdir(made).then(
        () => true,
        () => false,
      );
      if (!isGone) return;
    }
  };
}
