/**
 * How often keys came that have no row yet: bounded, so that keys which never come again cost nothing for long. A key
 * belongs to one line of 16 words by its hash; a word holds 16 bits of the hash, the count and the step (mod 256) that
 * saw it last. Where a line is full the least seen goes: lowest count, then seen longest ago, then lowest place.
 *
 * Two keys of a line with the same 16 bits share their count: one pair in 65,536 of those that lie together.
 */
import { KeyHash } from '../key_index.js';

/** Words of a line: a cache line. */
export const LINE_WORDS = 16;
/** A count has 8 bits. */
export const MOST_COUNTED = 255;

/** A word that a step changed. */
export interface TrackerChanges {
  readonly places: number[];
  /** What they held. */
  readonly words: number[];
}

export class KeyTracker {
  readonly words: Int32Array;
  readonly #lines: number;
  readonly #hash = new KeyHash();

  /** @param tracked - Keys that are counted at a time, rounded up to whole lines. */
  constructor(tracked: number) {
    this.#lines = Math.ceil(tracked / LINE_WORDS);
    this.words = new Int32Array(this.#lines * LINE_WORDS);
  }

  /** Counts a key once more; returns its count. Counts above MOST_COUNTED stay there. */
  count(low: number, high: number, step: number, changes: TrackerChanges): number {
    const { words } = this;
    const hash = this.#hash;
    // Other bits than those by which the index chooses its groups.
    hash.of(~low, high);
    const first = Math.floor(((hash.high >>> 0) * this.#lines) / 2 ** 32) * LINE_WORDS;
    const tag = hash.low >>> 16;
    const now = step & 0xff;
    let [least, leastRank] = [first, Infinity];
    for (let place = first; place < first + LINE_WORDS; place++) {
      const word = words[place]!;
      const count = (word >>> 8) & 0xff;
      if (count > 0 && word >>> 16 === tag) {
        const more = Math.min(count + 1, MOST_COUNTED);
        this.#write(place, (tag << 16) | (more << 8) | now, changes);
        return more;
      }
      const rank = count === 0 ? -1 : count * 256 + (255 - ((now - word) & 0xff));
      if (rank < leastRank) [least, leastRank] = [place, rank];
    }
    this.#write(least, (tag << 16) | (1 << 8) | now, changes);
    return 1;
  }

  /** Forgets a key that was counted last in this step: it has a row now. */
  forget(low: number, high: number, changes: TrackerChanges): void {
    const hash = this.#hash;
    hash.of(~low, high);
    const first = Math.floor(((hash.high >>> 0) * this.#lines) / 2 ** 32) * LINE_WORDS;
    for (let place = first; place < first + LINE_WORDS; place++) {
      const word = this.words[place]!;
      if (((word >>> 8) & 0xff) === 0 || word >>> 16 !== hash.low >>> 16) continue;
      this.#write(place, 0, changes);
      return;
    }
  }

  #write(place: number, word: number, { places, words }: TrackerChanges): void {
    places.push(place);
    words.push(this.words[place]!);
    this.words[place] = word;
  }

  /** Puts back what a step changed. */
  undo({ places, words }: TrackerChanges): void {
    for (let i = places.length - 1; i >= 0; i--) this.words[places[i]!] = words[i]!;
  }
}
