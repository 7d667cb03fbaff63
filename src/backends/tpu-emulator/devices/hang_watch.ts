/** Tells a device that hangs from one that is slow. */
import type { ThreadActivity } from './thread_activity.js';

/** A device that does nothing may stand still for so long. */
const PATIENCE_MS = 4000;
const ELEMENTS_PER_MS = 2e4;
/** Kernels in TypeScript are that many times as slow. */
const REFERENCE_FACTOR = 10;
/** The most that one turn of the host counts: one that took longer was itself kept from running. */
const MOST_TURN_MS = 100;
/** How often the system is asked what the thread does. */
const LOOK_MS = 500;
/** Where a device gets no processor time, or waits for a disk, its patience lasts so many times as long. */
const STARVED_FACTOR = 15;

/** How long a device may go without progress while it runs a command that touches so many elements. */
export function patienceFor(elements: number, implementation: string): number {
  return PATIENCE_MS + (elements / ELEMENTS_PER_MS) * (implementation === 'reference' ? REFERENCE_FACTOR : 1);
}

/**
 * Watches a device during one wait of the host. The clock is the host's own waiting, so that a process that was
 * suspended does not find its devices dead. While the device's thread is ready to run, only processor time that it got
 * counts.
 */
export class HangWatch {
  private progress: number;
  private turn: number;
  private look = 0;
  private still = 0;
  private waited = 0;
  private before: ThreadActivity | null = null;

  constructor(
    private readonly patience: number,
    progress: number,
    private readonly activity: () => ThreadActivity | null,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.progress = progress;
    this.turn = now();
  }

  /** Whether the device hangs; to be asked on every turn of the wait. */
  hangs(progress: number): boolean {
    const now = this.now();
    this.look += Math.min(now - this.turn, MOST_TURN_MS);
    this.turn = now;
    if (progress !== this.progress) {
      this.progress = progress;
      this.look = this.still = this.waited = 0;
      this.before = null;
      return false;
    }
    if (this.look < LOOK_MS) return false;
    this.still += this.counted(this.look);
    this.waited += this.look;
    this.look = 0;
    return this.still >= this.patience || this.waited >= STARVED_FACTOR * this.patience;
  }

  /** How much of the time since the last look the device could have used. */
  private counted(milliseconds: number): number {
    const { before } = this;
    const activity = (this.before = this.activity());
    if (activity === null) return milliseconds;
    if (activity.state === 'D') return 0;
    if (activity.state !== 'R' || before === null) return milliseconds;
    return Math.min(milliseconds, activity.milliseconds - before.milliseconds);
  }
}
