/**
 * Words that a worker and its host share, so that a host that blocks still learns how its device fares: what is done,
 * whether it goes on, whether it has failed or ended.
 */

const DONE = 0; // sequence number of the last commands that were run
const PROGRESS = 1; // changes while the device goes on
const EXITED = 2; // 1: the worker has ended
const FAILED = 3; // 1: a command failed, or the worker itself
const TEXT_BYTES = 4;
const READY = 5;
const WORDS = 16; // the text begins here, on a cache line of its own
const MOST_TEXT_BYTES = 4096 - 4 * WORDS;

/** Both sides make one over the same memory. */
export class WorkerControl {
  private readonly words: Int32Array;
  private readonly text: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4 * WORDS + MOST_TEXT_BYTES)) {
    this.words = new Int32Array(memory, 0, WORDS);
    this.text = new Uint8Array(memory, 4 * WORDS);
  }

  // ---- the worker's side

  ready(): void {
    Atomics.store(this.words, READY, 1);
  }

  progress(): void {
    Atomics.add(this.words, PROGRESS, 1);
  }

  /** Says that all commands up to `sequence` were run, and wakes the host. */
  done(sequence: number): void {
    Atomics.store(this.words, DONE, sequence);
    Atomics.notify(this.words, DONE);
  }

  /** Keeps the first failure; later ones follow from it. */
  failed(text: string): void {
    if (Atomics.load(this.words, FAILED) === 1) return;
    const bytes = new TextEncoder().encode(text).subarray(0, MOST_TEXT_BYTES);
    this.text.set(bytes);
    Atomics.store(this.words, TEXT_BYTES, bytes.length);
    Atomics.store(this.words, FAILED, 1);
  }

  /** Where native code says that the worker has ended, for whatever reason. */
  get exitWord(): { words: Int32Array; index: number } {
    return { words: this.words, index: EXITED };
  }

  exited(): void {
    Atomics.store(this.words, EXITED, 1);
    Atomics.notify(this.words, DONE);
  }

  // ---- the host's side

  get isReady(): boolean {
    return Atomics.load(this.words, READY) === 1;
  }

  get hasExited(): boolean {
    return Atomics.load(this.words, EXITED) === 1;
  }

  get progressCount(): number {
    return Atomics.load(this.words, PROGRESS);
  }

  /** Text of the failure; null where there is none. */
  get failure(): string | null {
    if (Atomics.load(this.words, FAILED) === 0) return null;
    // Decoders of browsers take no shared memory.
    return new TextDecoder().decode(this.text.slice(0, Atomics.load(this.words, TEXT_BYTES)));
  }

  /** Whether the commands up to `sequence` were run; `spins` looks at most. */
  isDone(sequence: number, spins = 1): boolean {
    for (let spin = 0; spin < spins; spin++) if (Atomics.load(this.words, DONE) === sequence) return true;
    return false;
  }

  /** Sleeps until more is done, or for `milliseconds`. */
  wait(sequence: number, milliseconds: number): void {
    const done = Atomics.load(this.words, DONE);
    if (done !== sequence) Atomics.wait(this.words, DONE, done, milliseconds);
  }
}
