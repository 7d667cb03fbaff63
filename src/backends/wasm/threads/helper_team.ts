/** Workers that help with the kernels of one shared memory. They start when there is work for them. */
import { described, RuntimeError } from '../../../base/errors.js';
import { mayWait, startThread, type WorkerProgram, type WorkerThread } from '../../../base/worker_thread.js';
import type { Heap } from '../heap.js';
import { HELPER_PROGRAM, type HelperFailure, type HelperMessage } from './helper_program.js';
import type { Team } from './team.js';

/** Calls are made alone for so many times the length of such a call; more, where stalls follow each other. */
const LEAST_SHARE = 5;
const MOST_SHARE = 80;
/** A stall follows another where calls have had helpers again for less than so many times what that one cost. */
const SOON = 2;

/** Times are those of one clock, in ms. */
export class Stalls {
  private until = -Infinity;
  private length = 0;
  private share = LEAST_SHARE;

  /** Whether calls are made alone then. */
  aloneAt(time: number): boolean {
    return time < this.until;
  }

  /** Takes a call with helpers in which a thread stood still. */
  notice(begun: number, ended: number): void {
    const follows = begun - this.until < SOON * this.length;
    this.share = follows ? Math.min(2 * this.share, MOST_SHARE) : LEAST_SHARE;
    this.length = this.share * (ended - begun);
    this.until = ended + this.length;
  }
}

/** Words of te_pool in custom-ops/kernels/threads_wasm.c. */
const GATE = 0;
const ASLEEP = 32;
const MOST = 36;
const FAILED = 37;
const MAY_WAIT = 38;
const ALONE = 39;
const HELPED = 40;
const POOL_BYTES = 256;
const STACK_BYTES = 65536;

/** Calls with fewer ids are not worth a second thread. */
const LARGE_CALL = 2048;
/** Large calls before workers start: those who make one or two need none. */
const CALLS_BEFORE = 3;

export class HelperTeam implements Team {
  /** Views of a shared memory stay good when it grows. */
  private readonly words: Int32Array;
  private asked = 1;
  private calls = 0;
  private helpers: WorkerThread<HelperMessage, HelperFailure>[] = [];
  private reason: string | null = null;
  private readonly stalls = new Stalls();
  /** A stall has been noticed, and calls are made alone until it is over. */
  private isAlone = false;

  constructor(
    private readonly heap: Heap,
    private readonly module: WebAssembly.Module,
    /** Address of the pool, of POOL_BYTES zeros. */
    readonly pool: number,
    private readonly program: WorkerProgram = HELPER_PROGRAM,
  ) {
    this.words = new Int32Array(heap.memory.buffer, pool, POOL_BYTES / 4);
    this.words[MOST] = 1;
    this.words[MAY_WAIT] = mayWait() ? 1 : 0;
  }

  /** Makes room for a pool. */
  static room(heap: Heap): number {
    const pool = heap.malloc(POOL_BYTES, 'kernels');
    new Uint8Array(heap.memory.buffer, pool, POOL_BYTES).fill(0);
    return pool;
  }

  get threads(): number {
    return this.reason === null ? this.asked : 1;
  }

  get oneThreadBecause(): string | null {
    return this.asked > 1 ? this.reason : null;
  }

  get tasksHelped(): number {
    return Atomics.load(this.words, HELPED);
  }

  setThreads(threads: number): void {
    this.asked = threads;
    this.tellPool();
  }

  expect(work: number): void {
    if (work < LARGE_CALL || this.helpers.length + 1 >= this.threads) return;
    if (this.calls++ < CALLS_BEFORE) return;
    try {
      while (this.helpers.length + 1 < this.threads) this.helpers.push(this.start(this.helpers.length + 1));
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  wakeWorkers(work: number): void {
    if (work < LARGE_CALL || this.threads < 2) return;
    if (this.words[ASLEEP] !== 0 && this.words[ALONE] === 0) Atomics.notify(this.words, GATE);
  }

  run(call: () => number): number {
    const begun = performance.now();
    if (this.isAlone && !this.stalls.aloneAt(begun)) this.setAlone(false);
    try {
      return call();
    } catch (error) {
      if (Atomics.load(this.words, FAILED) === 0) throw error;
      this.fail('one of them failed');
      const received = described('one that failed');
      throw new RuntimeError('threads', 'workers that run kernels', received, 'What was written is not whole.');
    } finally {
      if (this.words[ALONE] !== 0 && !this.isAlone) {
        this.stalls.notice(begun, performance.now());
        this.setAlone(true);
      }
    }
  }

  close(): Promise<void> {
    const helpers = this.helpers.splice(0);
    return Promise.all(helpers.map((helper) => helper.terminate())).then(() => undefined);
  }

  private setAlone(isAlone: boolean): void {
    this.isAlone = isAlone;
    this.words[ALONE] = isAlone ? 1 : 0;
  }

  private tellPool(): void {
    Atomics.store(this.words, MOST, this.threads);
  }

  private start(number: number): WorkerThread<HelperMessage, HelperFailure> {
    const stack = this.heap.malloc(STACK_BYTES, 'kernels') + STACK_BYTES;
    const helper = startThread<HelperMessage, HelperFailure>(this.program, `tfjs-embeddings wasm ${number}`);
    helper.listen(
      ({ failed }) => this.fail(failed),
      (why) => {
        // Those that `close` ends have not failed.
        if (this.helpers.includes(helper)) this.fail(why);
      },
    );
    const { module, pool } = this;
    const { memory } = this.heap;
    helper.post({ module, memory, pool, stack, number, failed: FAILED, gate: GATE });
    helper.release();
    return helper;
  }

  /** From now on this thread works alone; the first reason stays. */
  private fail(why: string): void {
    if (this.reason !== null) return;
    this.reason = `workers that help failed: ${why}`;
    this.tellPool();
    void this.close();
  }
}
