/**
 * Loaded into every process while it is measured which specs reach which blocks: defines `__at`, which blocks call with
 * their number. Threads write to the same memory (see devices.mjs); a process that a spec starts leaves a file at its end.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

const MOST_BLOCKS = 2 ** 17;

const shared = getEnvironmentData('reached') ?? new SharedArrayBuffer(MOST_BLOCKS);
setEnvironmentData('reached', shared);
const reached = new Uint8Array(shared);
globalThis.__at = (block) => (reached[block] = 1);

/** The blocks that were reached since this was last asked. */
globalThis.__takeReached = () => {
  const blocks = [];
  reached.forEach((is, block) => is && blocks.push(block));
  reached.fill(0);
  return blocks;
};

const folder = process.env.MUTATIONS_REACHED;
// The first process tells its parent by itself.
if (isMainThread && process.env.MUTATIONS_CHILD !== undefined)
  process.on('exit', () => {
    writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(globalThis.__takeReached()));
  });
