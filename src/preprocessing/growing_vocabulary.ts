/** A vocabulary of whole numbers that grows as it is used, up to a limit. */
import { ValueError, described } from '../base/errors.js';
import { INT32_MAX } from '../base/types.js';

/** What stands for unknown keys in a list of keys; the key itself is one of them. */
export const UNKNOWN_KEY = -1;

/** A vocabulary as numbers of 32 bits. */
export interface VocabularyWords {
  /** [maxTokens + 1, 2]: each key as int64, its low word first; row 0 is not used. */
  readonly keys: Int32Array;
  /** [maxTokens + 1]: how often each key was looked up, 0 for rows without one; row 0: keys that are unknown. */
  readonly counts: Int32Array;
}

const WORD = 2 ** 32;

export class GrowingVocabulary {
  /** The key of index i + 1, in order of first appearance. */
  readonly keys: number[] = [];
  /** How often each index was looked up. */
  readonly counts: number[] = [0];
  readonly #indexOf = new Map<number, number>();

  constructor(readonly maxTokens: number) {}

  /** The index of a key, counted; a new key gets the next index while there is room, then 0. */
  take(key: number): number {
    const index = this.find(key) || this.#add(key);
    this.counts[index] = Math.min(this.counts[index]! + 1, INT32_MAX);
    return index;
  }

  /** The index of a key, or 0; changes nothing. */
  find(key: number): number {
    return this.#indexOf.get(key) ?? 0;
  }

  #add(key: number): number {
    if (key === UNKNOWN_KEY || this.keys.length === this.maxTokens) return 0;
    const index = this.keys.push(key);
    this.counts.push(0);
    this.#indexOf.set(key, index);
    return index;
  }

  toWords(): VocabularyWords {
    const keys = new Int32Array(2 * (this.maxTokens + 1));
    const counts = new Int32Array(this.maxTokens + 1);
    counts.set(this.counts);
    this.keys.forEach((key, i) => {
      // Int32Array wraps what is above 2^31 around, as the low word should.
      keys[2 * i + 2] = key;
      keys[2 * i + 3] = Math.floor(key / WORD);
    });
    return { keys, counts };
  }

  /** Throws ValueError, about `weights`, for words that `toWords` does not write. */
  static fromWords({ keys, counts }: VocabularyWords): GrowingVocabulary {
    const vocabulary = new GrowingVocabulary(counts.length - 1);
    const used = counts.indexOf(0, 1);
    const end = used < 0 ? counts.length : used;
    for (let index = 1; index < end; index++) {
      const key = keys[2 * index + 1]! * WORD + (keys[2 * index]! >>> 0);
      if (!Number.isSafeInteger(key)) refuse('keys below 2^53 in magnitude', `${key} in row ${index}`);
      if (vocabulary.#add(key) !== index || vocabulary.#indexOf.size !== index) {
        refuse('keys that differ, none of them -1', `${key} in row ${index}`);
      }
    }
    counts.forEach((count, index) => {
      if (count < 0 || (count > 0 && index >= end)) refuse('counts above 0, then zeros', `${count} in row ${index}`);
      if (index < end) vocabulary.counts[index] = count;
    });
    return vocabulary;
  }
}

function refuse(expected: string, received: string): never {
  throw new ValueError('weights', expected, described(received));
}
