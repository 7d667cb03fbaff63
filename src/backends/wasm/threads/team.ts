/** What threads add to the kernels. The smallest entry of the package has none, so they are brought by the others. */
import type { WorkerProgram } from '../../../base/worker_thread.js';
import type { Heap, WasmHeap } from '../heap.js';

/** Those that help with the kernels of one memory. */
export interface Team {
  /** Address of what they share. */
  readonly pool: number;
  /** Threads that work on large calls, as soon as they have started. */
  readonly threads: number;
  /** Why one thread works though more were asked for; null where that is not so. */
  readonly oneThreadBecause: string | null;
  /** Tasks that others than the caller have done. */
  readonly tasksHelped: number;
  setThreads(threads: number): void;
  /** Comes before each call; `work`: ids. */
  expect(work: number): void;
  /** Comes as early as a call is known: waking helpers that sleep takes as long as preparing it. */
  wakeWorkers(work: number): void;
  /** Runs a call of the module. The error of a trap is that of the helper which failed, if one has. */
  run(call: () => number): number;
  /** Ends the workers. */
  close(): Promise<void>;
}

/** A memory, and why it has no threads; null where it may have. */
export interface MadeHeap {
  readonly heap: WasmHeap;
  readonly alone: string | null;
}

export interface Threads {
  /** Why no worker can share memory with this thread; null where one can. */
  alone(): string | null;
  /** How many there are where no number was asked for. */
  defaultThreads(isShared: boolean): number;
  /** A shared memory; where there can be none, an ordinary one. */
  sharedHeap(): MadeHeap;
  team(heap: Heap, module: WebAssembly.Module, program?: WorkerProgram): Team;
}

let brought: Threads | null = null;

export function setThreadsOfKernels(threads: Threads): void {
  brought = threads;
}

/** What was brought; null where nothing was. */
export function threadsOfKernels(): Threads | null {
  return brought;
}
