/** A port of loopback that passes bytes on to a server and back, counts them, and can be slow. */
import { Worker } from 'node:worker_threads';

export class PassingPort {
  private constructor(
    readonly port: number,
    private readonly worker: Worker,
    private readonly counts: Float64Array,
  ) {}

  /** A port that leads to another one, `ms` milliseconds later in each direction. */
  static start(to: number, ms = 0): Promise<PassingPort> {
    const counted = new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT);
    const worker = new Worker(new URL('passing_worker.mjs', import.meta.url), { workerData: { to, ms, counted } });
    return new Promise((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (port: number) => resolve(new PassingPort(port, worker, new Float64Array(counted))));
    });
  }

  /** Bytes to the server so far. */
  get sent(): number {
    return this.counts[0]!;
  }

  /** Bytes from it. */
  get received(): number {
    return this.counts[1]!;
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
