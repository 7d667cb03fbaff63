/** A memory that helpers see too, and how many threads there are at first. */
import type * as os from 'node:os';
import { nodeBuiltin } from '../../../base/node_builtin.js';
import { noSharedMemoryBecause } from '../../../base/worker_thread.js';
import { WasmHeap } from '../heap.js';
import { isCompiled } from '../module.js';
import type { MadeHeap } from './team.js';

/** Each thread is a worker with an engine of its own. */
const MOST_AT_FIRST = 8;

/** A shared memory; where there can be none, an ordinary one. */
export function sharedHeap(): MadeHeap {
  const alone = noSharedMemoryBecause() ?? (isCompiled('shared') ? null : 'this page may not compile at once');
  if (alone !== null) return { heap: new WasmHeap(), alone };
  try {
    return { heap: new WasmHeap(undefined, true), alone: null };
  } catch (error) {
    return { heap: new WasmHeap(), alone: `no shared memory can be had: ${(error as Error).message}` };
  }
}

/** As many threads as there are cores, and no more than a few; one where the memory is not shared. */
export function threadsAtFirst(isShared: boolean): number {
  if (!isShared) return 1;
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  const cores = nodeBuiltin<typeof os>('node:os')?.availableParallelism() ?? navigator?.hardwareConcurrency ?? 1;
  return Math.max(1, Math.min(cores, MOST_AT_FIRST));
}
