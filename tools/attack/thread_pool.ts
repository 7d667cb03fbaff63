/** The pool of threads of the C core under gcc's race detector, with helpers that sleep in the middle of tasks. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Attack } from './attack.js';

const JOBS = 2000;
const TIMEOUT_MS = 120_000;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const threadPool: Attack = {
  name: 'threads',
  describe: `jobs of several callers on the pool of threads, under gcc's race detector; a round is ${JOBS} jobs of each`,
  run({ rounds, seed, progress, found }) {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-'));
    try {
      const program = join(folder, 'thread_pool');
      const kernels = here('../../custom-ops/kernels');
      const sources = [here('programs/thread_pool.c'), join(kernels, 'threads.c')];
      const flags = ['-O1', '-g', '-fsanitize=thread', '-pthread', `-I${kernels}`];
      const built = spawnSync('gcc', [...flags, ...sources, '-o', program], { encoding: 'utf8' });
      if (built.status !== 0) throw new Error(`gcc: ${built.error?.message ?? built.stderr}`);
      for (let round = 0; round < rounds; round++) {
        const { status, signal, stdout, stderr } = spawnSync(program, [`${seed + round}`, `${JOBS}`], {
          encoding: 'utf8',
          timeout: TIMEOUT_MS,
        });
        if (status !== 0) found({ seed: seed + round, what: `ended with ${signal ?? status}: ${stdout}${stderr}` });
        progress(round + 1);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    return Promise.resolve();
  },
};
