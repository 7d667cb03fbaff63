/**
 * Files and folders on their way. Until it is whole, what is made has a name of its own beside the one that it will have:
 * so a part is never taken for a whole, and what a set-up left that was killed, or that failed, is known by its name.
 */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ENDING = '.partial';

/** Where a file or folder is made that will lie at `path`. */
export function unfinished(path) {
  return `${path}${ENDING}`;
}

/** Writes a file so that it is there whole or not at all. */
export function writeWhole(path, content) {
  writeFileSync(unfinished(path), content);
  renameSync(unfinished(path), path);
}

/** Removes what is unfinished in some folders, which need not be there. */
export function removeUnfinished(...folders) {
  for (const folder of folders) {
    for (const name of namesIn(folder)) if (name.endsWith(ENDING)) removeWhole(join(folder, name));
  }
}

/** Removes a file or a folder with all in it, as far as the system lets us. */
export function removeWhole(path) {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A folder that may not be written: nothing of ours is unfinished there.
  }
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
