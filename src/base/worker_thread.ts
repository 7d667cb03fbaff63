/** Threads that run a program given as text: workers of Node, or of a browser. */
import type * as Threads from 'node:worker_threads';
import { nodeBuiltin } from './platform.js';

/** A script for workers, with its last line for each runtime. */
export interface WorkerProgram {
  readonly inNode: string;
  readonly inPage: string;
}

export interface WorkerThread<Sent, Said> {
  post(message: Sent): void;
  /** Calls back with what the worker says, and with why it ended, as often as there is something to say. */
  listen(said: (message: Said) => void, ended: (why: string) => void): void;
  /** From now on the thread does not keep the process alive. */
  release(): void;
  /** Ends the thread, whatever it does; resolves when it is gone. */
  terminate(): Promise<void>;
}

/**
 * JavaScript's own memory in a worker: tables do not count, they lie outside it. A limit of our own makes running out
 * of it the same on every machine.
 */
const HEAP_MEGABYTES = 512;

/** Why no worker can share memory with this thread; null where one can. */
export function noSharedMemoryBecause(): string | null {
  const { crossOriginIsolated, Worker } = globalThis as { crossOriginIsolated?: boolean; Worker?: unknown };
  if (nodeBuiltin<typeof Threads>('node:worker_threads') === null && typeof Worker !== 'function') {
    return 'this runtime offers no workers here';
  }
  if (typeof SharedArrayBuffer !== 'function' || crossOriginIsolated === false) {
    return 'there is no shared memory: the page is not cross-origin isolated';
  }
  return null;
}

/** Whether this thread may sleep until another wakes it, which that of a page may not. */
export function mayWait(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts a thread with a program. */
export function startThread<Sent, Said>(program: WorkerProgram, name: string): WorkerThread<Sent, Said> {
  const threads = nodeBuiltin<typeof Threads>('node:worker_threads');
  return threads === null ? startInPage(program.inPage, name) : startInNode(threads, program.inNode, name);
}

function startInNode<Sent, Said>({ Worker }: typeof Threads, source: string, name: string): WorkerThread<Sent, Said> {
  const worker = new Worker(source, {
    eval: true,
    name,
    // Loaders and options of the process are not for this program, wherever they were given.
    argv: [],
    execArgv: [],
    env: {},
    // Kept from the streams of the process, and never read: reading would keep the process alive.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    post: (message) => worker.postMessage(message),
    listen: (said, ended) => {
      worker.on('message', said);
      worker.on('error', (error: Error) => ended(error.message));
      worker.on('exit', (code) => ended(`it ended with exit code ${code}`));
    },
    release: () => worker.unref(),
    terminate: async () => {
      await worker.terminate();
      await gone;
    },
  };
}

function startInPage<Sent, Said>(source: string, name: string): WorkerThread<Sent, Said> {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, { name });
  let terminated: () => void = () => undefined;
  return {
    post: (message) => worker.postMessage(message),
    listen: (said, ended) => {
      terminated = () => ended('it was terminated');
      worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(url);
        said(data as Said);
      };
      worker.onerror = (event) => {
        event.preventDefault?.();
        ended(event.message ?? 'it cannot be started: the page may forbid it (worker-src of its policy needs blob:)');
      };
    },
    release: () => undefined,
    terminate: () => {
      URL.revokeObjectURL(url);
      worker.terminate();
      // Nothing else tells.
      terminated();
      return Promise.resolve();
    },
  };
}
