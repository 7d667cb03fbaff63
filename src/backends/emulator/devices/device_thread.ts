/** A thread that runs the program of a device: a worker of Node, or one of a browser. */
import { mayWait, noSharedMemoryBecause, startThread, type WorkerThread } from '../../../base/worker_thread.js';
import type { HostMessage, WorkerMessage } from './worker_messages.js';

export type DeviceThread = WorkerThread<HostMessage, WorkerMessage>;

/** Why there can be no workers here; null where there can. */
export function noThreadsBecause(source: string): string | null {
  if (source === '') return 'the program of devices was not built: npx tfjs-embeddings setup';
  const reason = noSharedMemoryBecause();
  if (reason !== null) return reason;
  return mayWait() ? null : 'this thread may not wait: run the model in a worker of the page';
}

/** Starts a thread with the program of a device as text. */
export function startDeviceThread(source: string, name: string): DeviceThread {
  return startThread(
    {
      inNode: `${source}\ntfjsEmbeddingsDevice.startInNode(require);`,
      inPage: `${source}\ntfjsEmbeddingsDevice.startInPage();`,
    },
    name,
  );
}
