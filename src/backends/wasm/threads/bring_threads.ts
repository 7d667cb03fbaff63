/** Brings threads to the WebAssembly kernels of this program. */
import type * as os from 'node:os';
import { noSharedMemoryBecause } from '../../../base/worker_thread.js';
import { HelperTeam } from './helper_team.js';
import { setThreadsOfKernels, type MadeHeap } from './team.js';
import { nodeBuiltin } from '../../../base/platform.js';
import { WasmHeap } from '../heap.js';
import { isCompiled } from '../module.js';

/** Each thread is a worker with an engine of its own. */
const MOST_BY_DEFAULT = 8;

/** A shared memory; where there can be none, an ordinary one. */
function sharedHeap(): MadeHeap {
  const alone = noSharedMemoryBecause() ?? (isCompiled('shared') ? null : 'this page may not compile at once');
  if (alone !== null) return { heap: new WasmHeap(), alone };
  try {
    return { heap: new WasmHeap(undefined, true), alone: null };
  } catch (error) {
    return { heap: new WasmHeap(), alone: `no shared memory can be had: ${(error as Error).message}` };
  }
}

/** As many threads as there are cores, and no more than a few; one where the memory is not shared. */
function defaultThreads(isShared: boolean): number {
  if (!isShared) return 1;
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  const cores = nodeBuiltin<typeof os>('node:os')?.availableParallelism() ?? navigator?.hardwareConcurrency ?? 1;
  return Math.max(1, Math.min(cores, MOST_BY_DEFAULT));
}

/** Memories that exist stay as they are. May be called again. */
export function bringThreads(): void {
  setThreadsOfKernels({
    alone: noSharedMemoryBecause,
    defaultThreads,
    sharedHeap,
    team: (heap, module, program) => new HelperTeam(heap, module, HelperTeam.room(heap), program),
  });
}
