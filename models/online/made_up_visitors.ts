/** Made-up visitors: users of a few tastes, who have the common items of their taste often; new ones come all the time. */
import { Random } from '../random.js';
import type { NewEvent } from './event.js';

const TASTES = 20;
/** How often an item is of no taste. */
const STRAY = 0.1;

export class MadeUpVisitors {
  readonly #random: Random;
  #users: number;

  /** `items`: how many there are. */
  constructor(
    seed: number,
    readonly items: number,
  ) {
    this.#random = new Random(seed);
    this.#users = Math.max(TASTES, Math.floor(items / 10));
  }

  /** A user: the later they came, the more often. */
  user(): string {
    return `user-${this.#users - 1 - Math.floor(this.#users * this.#random.next() ** 2)}`;
  }

  /** The next event. */
  event(): NewEvent {
    if (this.#random.next() < 0.02) this.#users++;
    const user = this.user();
    const taste = Number(user.slice(5)) % TASTES;
    const isStray = this.#random.next() < STRAY;
    const ofTaste = Math.ceil(this.items / TASTES);
    // A few items of a taste make up most of it.
    const item = isStray
      ? this.#random.below(this.items)
      : taste + TASTES * Math.floor(ofTaste * this.#random.next() ** 8);
    return { user, item: `item-${Math.min(item, this.items - 1)}` };
  }

  /** One event for each item. */
  *everyItem(): Generator<NewEvent> {
    for (let item = 0; item < this.items; item++) {
      yield {
        user: `user-${(item % TASTES) + TASTES * this.#random.below(Math.floor(this.#users / TASTES))}`,
        item: `item-${item}`,
      };
    }
  }
}
