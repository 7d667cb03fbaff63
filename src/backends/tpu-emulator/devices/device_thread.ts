/** A thread that runs the program of a device: a worker of Node, or one of a browser. */
import type * as Threads from 'node:worker_threads';
import { nodeBuiltin } from '../../../node_builtin.js';
import type { HostMessage, WorkerMessage } from './worker_messages.js';

export interface DeviceThread {
  post(message: HostMessage): void;
  /** Calls back with what the worker says, and with why it ended, as often as there is something to say. */
  listen(said: (message: WorkerMessage) => void, ended: (why: string) => void): void;
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

/** Why there can be no workers here; null where there can. */
export function noThreadsBecause(source: string): string | null {
  if (source === '') return 'the program of devices was not built: npx tfjs-embeddings setup';
  const { crossOriginIsolated, Worker } = globalThis as { crossOriginIsolated?: boolean; Worker?: unknown };
  if (nodeBuiltin<typeof Threads>('node:worker_threads') === null && typeof Worker !== 'function') {
    return 'this runtime offers no workers here';
  }
  if (typeof SharedArrayBuffer !== 'function' || crossOriginIsolated === false) {
    return 'there is no shared memory: the page is not cross-origin isolated';
  }
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
  } catch {
    return 'this thread may not wait: run the model in a worker of the page';
  }
  return null;
}

/** Starts a thread with the program of a device as text. */
export function startThread(source: string, name: string): DeviceThread {
  const threads = nodeBuiltin<typeof Threads>('node:worker_threads');
  return threads === null ? startInPage(source, name) : startInNode(threads, source, name);
}

function startInNode({ Worker }: typeof Threads, source: string, name: string): DeviceThread {
  const worker = new Worker(`${source}\ntfjsEmbeddingsDevice.startInNode(require);`, {
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

function startInPage(source: string, name: string): DeviceThread {
  const text = `${source}\ntfjsEmbeddingsDevice.startInPage();`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url, { name });
  let terminated: () => void = () => undefined;
  return {
    post: (message) => worker.postMessage(message),
    listen: (said, ended) => {
      terminated = () => ended('it was terminated');
      worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(url);
        said(data as WorkerMessage);
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
