/** What the emulator's threads share with the runner: which mutant is on, and which ones they reached. */
import { setEnvironmentData } from 'node:worker_threads';

/** More mutants than any room has. */
const MOST_MUTANTS = 2 ** 16;
const LARGEST = 2 ** 31 - 1;

/** For threads that start from now on. */
export class DeviceThreads {
  /** [mutant that is on, counted from 1; how often it was reached; how often it may be]. */
  private readonly words = new Int32Array(new SharedArrayBuffer(12));
  private readonly reached = new Uint8Array(new SharedArrayBuffer(MOST_MUTANTS));

  constructor() {
    setEnvironmentData('mutations', { words: this.words.buffer, reached: this.reached.buffer });
  }

  switchOn(id: string, hitLimit: number): void {
    Atomics.store(this.words, 1, 0);
    Atomics.store(this.words, 2, Math.min(hitLimit, LARGEST));
    Atomics.store(this.words, 0, Number(id) + 1);
  }

  switchOff(): void {
    Atomics.store(this.words, 0, 0);
  }

  get hits(): number {
    return Atomics.load(this.words, 1);
  }

  /** The mutants that were reached since this was last asked. */
  takeReached(): string[] {
    const ids: string[] = [];
    this.reached.forEach((isReached, id) => {
      if (isReached !== 0) ids.push(String(id));
    });
    this.reached.fill(0);
    return ids;
  }
}
