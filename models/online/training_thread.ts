/** The thread that trains, as the process sees it that takes the events. */
import { Worker } from 'node:worker_threads';
import type { Position } from './checkpoints.js';
import type { StepResult } from './learner.js';
import type { TrainerOptions } from './trainer.js';
import type { StorePlace } from './stores/index.js';

/** What the thread is given. */
export interface TrainingSettings {
  readonly place: StorePlace;
  readonly options: TrainerOptions;
  readonly backend: 'cpu' | 'tensorflow' | 'wasm' | null;
  /** Seconds after which a batch that is not full is learned. */
  readonly wait: number;
  /** Seconds between snapshots, and between checkpoints. */
  readonly publish: number;
  readonly checkpoint: number;
}

/** What it is told: there are events; learn all that there are, keep the model, and end. */
export type ToThread = 'events' | 'finish';

/** What it tells. */
export type FromThread =
  | { readonly kind: 'ready'; readonly backend: string; readonly position: Position; readonly again: number }
  | { readonly kind: 'learned'; readonly result: StepResult; readonly events: number; readonly position: Position }
  | { readonly kind: 'published'; readonly position: Position; readonly seconds: number }
  | { readonly kind: 'checkpoint'; readonly position: Position; readonly seconds: number }
  | { readonly kind: 'said'; readonly line: string }
  | { readonly kind: 'finished'; readonly position: Position };

export class TrainingThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #isFinishing = false;
  #hasEvents = false;

  /** `heard` is called with all that the thread tells; `failed` when it ends without having been asked to. */
  constructor(settings: TrainingSettings, heard: (message: FromThread) => void, failed: (error: Error) => void) {
    this.#worker = new Worker(new URL('./training_worker.ts', import.meta.url), { workerData: settings });
    this.#worker.on('message', heard);
    let problem: Error | null = null;
    this.#worker.on('error', (error) => (problem = error as Error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        if (problem !== null || !this.#isFinishing) failed(problem ?? new Error(`training ended with code ${code}`));
        resolve();
      });
    });
  }

  /** There are new events. Told once in a turn, however many requests there were. */
  wake(): void {
    if (this.#hasEvents) return;
    this.#hasEvents = true;
    setImmediate(() => {
      this.#hasEvents = false;
      this.#worker.postMessage('events' satisfies ToThread);
    });
  }

  /** Resolves when all events are learned and kept, and the thread has ended. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    this.#worker.postMessage('finish' satisfies ToThread);
    await this.#ended;
  }

  /** Ends the thread as it is: what it did not keep is learned again another time. */
  async terminate(): Promise<void> {
    this.#isFinishing = true;
    await this.#worker.terminate();
  }
}
