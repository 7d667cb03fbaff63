/** Events of many requests are kept together: one transaction, and one wait for the disk, for all that came meanwhile. */
import type { NewEvent } from './event.js';
import type { EventStore } from './stores/event_store.js';

interface Waiting {
  readonly events: readonly NewEvent[];
  readonly resolve: (last: number) => void;
  readonly reject: (error: unknown) => void;
}

export class AppendQueue {
  #waiting: Waiting[] = [];
  #work: Promise<void> | null = null;

  constructor(
    private readonly store: EventStore,
    /** Called after each transaction with the highest id that there is. */
    private readonly kept: (last: number) => void,
  ) {}

  /** Resolves once the events are on the disk. */
  append(events: readonly NewEvent[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ events, resolve, reject });
      this.#work ??= this.#keep().finally(() => (this.#work = null));
    });
  }

  /** Resolves once nothing waits. */
  async drained(): Promise<void> {
    await this.#work;
  }

  async #keep(): Promise<void> {
    // Requests that are read in the same turn come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      await this.#append(waiting);
    }
  }

  async #append(waiting: readonly Waiting[]): Promise<void> {
    try {
      const last = await this.store.append(waiting.flatMap(({ events }) => events));
      for (const { resolve } of waiting) resolve(last);
      this.kept(last);
    } catch (error) {
      // One that cannot be kept spoils the others: each by itself then, and it alone fails.
      if (waiting.length === 1) waiting[0]!.reject(error);
      else for (const each of waiting) await this.#append([each]);
    }
  }
}
