/** How often tokens were seen, and in how many documents. */
import { rankOf, rowsOf } from './cells/written_cells.js';
import type { Cells } from './cells/cells.js';

/** Tokens, and the splits of their rows. */
export interface TokenRows<T> {
  readonly values: T[];
  readonly rowSplits: Int32Array;
}

/** Splits of the documents of data: their rows. `isWhole`: the values of a vector are documents; a batch is one. */
export function documentsOf(cells: Cells, isWhole: boolean): ArrayLike<number> {
  const length = cells.count;
  if (isWhole && rankOf(cells.container) === 1) return Array.from({ length: length + 1 }, (_, i) => i);
  return rowsOf(cells) ?? [0, length];
}

export class TokenCounts<T> {
  readonly #counts = new Map<T, number>();
  readonly #documentsWith = new Map<T, number>();
  #documents = 0;

  /** Documents are counted only where `isByDocument`. */
  constructor(private readonly isByDocument: boolean) {}

  /** `documents`: the splits of their tokens. */
  take(tokens: readonly T[], documents: () => ArrayLike<number>): void {
    for (const token of tokens) this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    if (!this.isByDocument) return;
    const splits = documents();
    for (let row = 0; row + 1 < splits.length; row++) {
      this.#documents++;
      for (const token of new Set(tokens.slice(splits[row], splits[row + 1]))) {
        this.#documentsWith.set(token, (this.#documentsWith.get(token) ?? 0) + 1);
      }
    }
  }

  forget(tokens: readonly (T | null)[]): void {
    for (const token of tokens) this.#counts.delete(token as T);
  }

  /** At most `room` tokens by falling frequency; of equal ones the later by `compare` first. */
  mostFrequent(room: number, compare: (a: T, b: T) => number): T[] {
    const sorted = [...this.#counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || compare(b, a));
    return sorted.slice(0, room).map(([token]) => token);
  }

  /** log(1 + documents / (1 + documents with the token)), as Keras weighs with tf_idf. */
  inverseFrequencies(tokens: readonly T[]): Float32Array {
    return Float32Array.from(tokens, (token) => {
      return Math.log(1 + this.#documents / (1 + (this.#documentsWith.get(token) ?? 0)));
    });
  }
}
