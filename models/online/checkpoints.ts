/** Checkpoints: whole models with their optimizer, each in a folder that is there whole or not at all. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

/** What a checkpoint has learned. */
export interface Position {
  /** Of the last batch; 0: none yet. */
  readonly batch: number;
  /** Of the last event. */
  readonly event: number;
}

/** As many are kept: the newest may turn out to be damaged. */
const KEPT = 2;

const folderOf = (folder: string): string => join(folder, 'checkpoints');

/** The checkpoints of a folder by their names, the newest first. */
export function checkpointsOf(folder: string): string[] {
  if (!existsSync(folderOf(folder))) return [];
  return readdirSync(folderOf(folder))
    .filter((name) => /^\d+$/.test(name))
    .sort()
    .reverse();
}

/** The folder of the checkpoint after this batch. */
export function checkpointPath(folder: string, batch: number): string {
  return join(folderOf(folder), String(batch).padStart(12, '0'));
}

/** Writes what is in a folder through to the disk. */
function syncWhole(folder: string): void {
  for (const name of [...readdirSync(folder), '.']) {
    const file = openSync(join(folder, name), 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Keeps a model; the oldest checkpoints go. Does nothing where it is there already. */
export async function saveCheckpoint(folder: string, towers: tf.LayersModel, position: Position): Promise<void> {
  const path = checkpointPath(folder, position.batch);
  if (existsSync(path)) return;
  const partial = `${path}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  await towers.save(`file://${partial}`, { includeOptimizer: true });
  writeFileSync(join(partial, 'position.json'), JSON.stringify(position));
  syncWhole(partial);
  renameSync(partial, path);
  syncWhole(folderOf(folder));
  for (const name of checkpointsOf(folder).slice(KEPT)) rmSync(join(folderOf(folder), name), { recursive: true });
}

/** Loads one; its model is not compiled. */
export async function loadCheckpoint(path: string): Promise<{ towers: tf.LayersModel; position: Position }> {
  const position = JSON.parse(readFileSync(join(path, 'position.json'), 'utf8')) as Position;
  const towers = (await emb.loadLayersModel(`file://${path}/model.json`)) as tf.LayersModel;
  return { towers, position };
}

/** Loads the newest one that is whole, and tells of those that are not; null: there is none. */
export async function loadNewest(
  folder: string,
  say: (line: string) => void,
): Promise<{ towers: tf.LayersModel; position: Position } | null> {
  const found = checkpointsOf(folder);
  for (const name of found) {
    try {
      return await loadCheckpoint(join(folderOf(folder), name));
    } catch (error) {
      say(`checkpoint ${name} cannot be read: ${(error as Error).message}`);
    }
  }
  // Beginning anew would forget what was learned without a word.
  if (found.length > 0) throw new Error(`no checkpoint in ${folderOf(folder)} can be read`);
  return null;
}
