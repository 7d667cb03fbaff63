/** Which process made a draft, and whether it may still be at work. In runtimes with files only. */
import type * as crypto from 'node:crypto';
import type * as fsPromises from 'node:fs/promises';
import type * as os from 'node:os';
import { nodeBuiltin } from './platform.js';

const DAY_MS = 86_400_000;

/** Tells machines apart that write to one disk. */
export function hostMark(): string {
  const { createHash } = nodeBuiltin<typeof crypto>('node:crypto')!;
  const { hostname } = nodeBuiltin<typeof os>('node:os')!;
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

/** Whether the process that made a draft, a file or a folder, may still be at work. Drafts of older versions tell no host. */
export async function isAtWork(path: string, pid: number, host: string | undefined): Promise<boolean> {
  const { stat } = nodeBuiltin<typeof fsPromises>('node:fs/promises')!;
  const madeAt = async (): Promise<number> => (await stat(path)).mtimeMs;
  // Processes of another machine on the same disk cannot be asked, nor those that are not known.
  if (host !== hostMark()) return Date.now() - (await madeAt()) < DAY_MS;
  // In a container every process may have the number of the one before it.
  if (pid === process.pid) return (await madeAt()) >= Date.now() - process.uptime() * 1000;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}
