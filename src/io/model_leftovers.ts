/**
 * What saves leave in the folder of a model: the names they give, and what of it may go.
 *
 * A save first makes its draft of `model.json`, which tells by its name which process is at work, then writes weights
 * under a name that nobody else has, and at last renames the draft. So weights belong to somebody as long as `model.json`
 * names them or a draft of theirs stands beside them. Everything else is left over from a save that was replaced, failed
 * or killed.
 */
import { createHash } from 'node:crypto';
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

export const MODEL_JSON = 'model.json';
/** As tfjs-node calls it. */
const STOCK_WEIGHTS = 'weights.bin';

const DRAFT = /^model\.json\.([0-9a-f]{16})\.(\d+)\.([0-9a-f]{8})\.part$/;
const WEIGHTS = /^weights-([0-9a-f]{16})(?:-\d+)?\.bin$/;
/** Tells machines apart that write to one disk. */
export const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const DAY_MS = 86_400_000;

/** `id`: 16 hexadecimal digits that no other save has. */
export function draftName(id: string): string {
  return `${MODEL_JSON}.${id}.${process.pid}.${HOST}.part`;
}

/** The name of one file of the weights; they are counted from 0. */
export function weightsName(id: string, number: number): string {
  return number === 0 ? `weights-${id}.bin` : `weights-${id}-${number + 1}.bin`;
}

/** Whether the process that made a draft, a file or a folder, may still be at work. */
export async function isAtWork(path: string, pid: number, host: string): Promise<boolean> {
  const madeAt = async (): Promise<number> => (await stat(path)).mtimeMs;
  // Processes of another machine on the same disk cannot be asked.
  if (host !== HOST) return Date.now() - (await madeAt()) < DAY_MS;
  // In a container every process may have the number of the one before it.
  if (pid === process.pid) return (await madeAt()) >= Date.now() - process.uptime() * 1000;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
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
    const [, id, pid, host] = DRAFT.exec(name) ?? [];
    if (id === undefined) continue;
    const path = join(folder, name);
    // A draft that is gone meanwhile has become `model.json`.
    const atWork = await isAtWork(path, Number(pid), host!).catch(() => false);
    if (atWork) ids.add(id);
    else await rm(path, { force: true });
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
