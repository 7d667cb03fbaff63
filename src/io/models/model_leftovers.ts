/**
 * What saves leave in the folder of a model: the names they give, and what of it may go.
 *
 * A save first makes its draft of `model.json`, which tells by its name which process is at work, then writes weights
 * under a unique name, and at last renames the draft. So weights are in use as long as `model.json` names them
 * or a draft of theirs stands beside them. Everything else is left over from a save that was replaced, failed
 * or killed.
 */
import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hostMark, isAtWork } from '../../base/at_work.js';

export const MODEL_JSON = 'model.json';
/** As tfjs-node calls it. */
const STOCK_WEIGHTS = 'weights.bin';

const DRAFT = /^model\.json\.(?<id>[0-9a-f]{16})\.(?<pid>\d+)\.(?<host>[0-9a-f]{8})\.part$/;
/** Of versions that wrote each file by itself. */
const OLD_DRAFT = /^(?:model\.json|weights\.bin)\.(?<pid>\d+)\.part$/;
const WEIGHTS = /^weights-([0-9a-f]{16})(?:-\d+)?\.bin$/;
/** Tells machines apart that write to one disk. */
export const HOST = hostMark();

/** `id`: 16 hexadecimal digits that no other save has. */
export function draftName(id: string): string {
  return `${MODEL_JSON}.${id}.${process.pid}.${HOST}.part`;
}

/** The name of one file of the weights; they are counted from 0. */
export function weightsName(id: string, number: number): string {
  return number === 0 ? `weights-${id}.bin` : `weights-${id}-${number + 1}.bin`;
}

/** The text of `model.json`: a file that it does not name is nowhere in it. Empty where there is none. */
async function modelText(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, MODEL_JSON), 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return '';
    throw error;
  }
}

/** Ids of saves that may be in progress; drafts of others are removed. */
async function savesInProgress(folder: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const name of await readdir(folder)) {
    const { groups } = DRAFT.exec(name) ?? OLD_DRAFT.exec(name) ?? {};
    if (groups === undefined) continue;
    const path = join(folder, name);
    // A draft that is gone meanwhile has become `model.json`.
    const atWork = await isAtWork(path, Number(groups['pid']), groups['host']).catch(() => false);
    if (!atWork) await rm(path, { force: true });
    else if (groups['id'] !== undefined) ids.add(groups['id']);
  }
  return ids;
}

/**
 * Removes what no save needs any more. `hasReplaced`: weights of tfjs-node's handler go too, because `model.json` has
 * just been replaced; it would have written over them.
 */
export async function removeLeftovers(folder: string, hasReplaced: boolean): Promise<void> {
  // In this order: weights that are listed have a draft until `model.json` names them.
  const names = await readdir(folder);
  const inProgress = await savesInProgress(folder);
  const text = await modelText(folder);
  for (const name of names) {
    const id = WEIGHTS.exec(name)?.[1];
    const isLeft = id === undefined ? hasReplaced && name === STOCK_WEIGHTS : !inProgress.has(id);
    if (isLeft && !text.includes(name)) await rm(join(folder, name), { force: true });
  }
}
