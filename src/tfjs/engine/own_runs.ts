/** Whether something of this package runs: only then kernels of ours take the place of those of tfjs. */
import { perProcess } from '../../base/per_process.js';

const runs = (): { depth: number } => perProcess('runs of this package', () => ({ depth: 0 }));

export function isOwnRun(): boolean {
  return runs().depth > 0;
}

/** Runs something of this package. */
export function asOwnRun<T>(run: () => T): T {
  const shared = runs();
  shared.depth++;
  try {
    return run();
  } finally {
    shared.depth--;
  }
}
