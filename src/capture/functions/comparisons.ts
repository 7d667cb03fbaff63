/**
 * Which steps run op by op to be compared with the recording of their kind, where a user promised that they do the same.
 * They come at irregular steps: what happens in every fifth step would never be met by every eighth.
 */

/** Among them are steps of each remainder of each period up to eight. */
const FIRST: readonly number[] = [4, 5, 11, 14, 15, 17, 19, 23, 26, 48];

/** After them gaps grow by this factor, to this many steps in the mean. */
const GROWTH = 1.25;
const FIRST_GAP = 12;
const LAST_GAP = 1000;

class Comparisons {
  readonly #known = new Set(FIRST);
  #last = FIRST.at(-1)!;
  #gap = FIRST_GAP;
  #state = 1;

  /** Whether a step is compared, counted from 1. The same ones in every process. */
  has(step: number): boolean {
    while (this.#last < step) this.#draw();
    return this.#known.has(step);
  }

  /** A gap between half and one and a half times the mean. */
  #draw(): void {
    // The numbers of Park and Miller.
    this.#state = (this.#state * 48271) % 2147483647;
    this.#last += Math.ceil(this.#gap * (0.5 + this.#state / 2147483647));
    this.#gap = Math.min(this.#gap * GROWTH, LAST_GAP);
    this.#known.add(this.#last);
  }
}

export const COMPARISONS = new Comparisons();
