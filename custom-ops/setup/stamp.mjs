/** Stamps say what a built file was made from, so that it is made again exactly when that changed. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { writeWhole } from './unfinished.mjs';

/**
 * Hash over texts and over the contents of files and folders (`{path}`). Names count from each such path's own last part
 * on, so that a checkout that was copied or moved has the same hash. Absent paths count as absent.
 */
export function hashOf(...inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    if (input !== null && typeof input === 'object') addPath(hash, input.path, basename(input.path));
    else hash.update(`text ${String(input).length} ${input}\n`);
  }
  return hash.digest('hex').slice(0, 32);
}

function addPath(hash, path, name) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return void hash.update(`absent ${name}\n`);
  if (stat.isDirectory()) {
    for (const inner of readdirSync(path).sort()) addPath(hash, `${path}/${inner}`, `${name}/${inner}`);
    return undefined;
  }
  const bytes = readFileSync(path);
  hash.update(`file ${name} ${bytes.length}\n`).update(bytes);
}

/** What a stamp file says, or null when it is absent or not whole. */
export function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Writes a stamp so that it is there whole or not at all. */
export function writeStamp(path, content) {
  writeWhole(path, `${JSON.stringify(content, null, 2)}\n`);
}
