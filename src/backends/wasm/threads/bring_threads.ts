/** Brings threads to the WebAssembly kernels of this program. */
import { noSharedMemoryBecause } from '../../../base/worker_thread.js';
import { HelperTeam } from './helper_team.js';
import { sharedHeap, threadsAtFirst } from './shared_heap.js';
import { setThreadsOfKernels } from './team.js';

/** Memories that exist stay as they are. May be called again. */
export function bringThreads(): void {
  setThreadsOfKernels({
    alone: noSharedMemoryBecause,
    atFirst: threadsAtFirst,
    sharedHeap,
    team: (heap, module, program) => new HelperTeam(heap, module, HelperTeam.room(heap), program),
  });
}
