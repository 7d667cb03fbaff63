/** Who writes a row file: one process at a time, which a file beside it names. */
import type * as nodeFs from 'node:fs';
import { hostMark } from '../../base/at_work.js';
import { RuntimeError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { nodeFsOf } from './row_reader.js';

export function lockPath(file: string): string {
  return `${file}.lock`;
}

/** When a process began, as the system counts; null where it does not say. */
function startOf(fs: typeof nodeFs, pid: number): string | null {
  try {
    // The name of the program, in brackets, may hold anything.
    return fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

/** Who is told in a lock; null: nobody who may still be at work. */
function holderIn(fs: typeof nodeFs, text: string): string | null {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    // Cut off: its process ended while it wrote it, or is at it just now.
    return 'a process that is about to lock it';
  }
  const { pid, host, start } = isRecord(told) ? told : {};
  if (typeof pid !== 'number') return 'something that this version does not know';
  if (host !== hostMark()) return `process ${pid} on another machine`;
  const began = startOf(fs, pid);
  // Another process may have got the number since.
  if (began !== null && began !== start) return null;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EPERM') return null;
  }
  return pid === process.pid ? `this process, ${pid}` : `process ${pid}`;
}

/** The text of the lock of a file; null: there is none. */
function lockText(fs: typeof nodeFs, path: string): string | null {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  }
}

/** Who writes a file now; null: nobody. */
export function writerOf(file: string): string | null {
  const fs = nodeFsOf(file);
  const text = lockText(fs, lockPath(file));
  return text === null ? null : holderIn(fs, text);
}

/**
 * Locks a file for writing; the result unlocks it.
 *
 * @throws RuntimeError, which names the other, where somebody else writes it.
 */
export function lockForWriting(file: string): () => void {
  const fs = nodeFsOf(file);
  const path = lockPath(file);
  const own = JSON.stringify({ pid: process.pid, host: hostMark(), start: startOf(fs, process.pid) });
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  fs.writeFileSync(draft, own);
  try {
    for (;;) {
      try {
        // There whole, or not at all.
        fs.linkSync(draft, path);
        return () => fs.rmSync(path, { force: true });
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
      }
      const text = lockText(fs, path);
      if (text === null) continue;
      const holder = holderIn(fs, text);
      if (holder !== null) refuse(file, holder);
      takeAway(fs, path, text, draft);
    }
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function refuse(file: string, holder: string): never {
  const note = `Where that is not so, remove ${lockPath(file)}.`;
  throw new RuntimeError('file', 'a file that nobody else writes', described(`${file}, which ${holder} writes`), note);
}

/** Takes the lock of a process that is no more; another process may be doing the same. */
function takeAway(fs: typeof nodeFs, path: string, text: string, draft: string): void {
  const taken = `${draft}.stale`;
  try {
    fs.renameSync(path, taken);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return;
    throw error;
  }
  // Another one had taken it, and locked the file: its lock goes back.
  if (lockText(fs, taken) !== text) fs.linkSync(taken, path);
  fs.rmSync(taken, { force: true });
}
