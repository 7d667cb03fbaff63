/** Cases in which every two values of two settings meet. */
import { Random } from '../random.js';

/** What each setting may be. */
export type Settings = Readonly<Record<string, readonly unknown[]>>;

/** One value for each setting. */
export type CaseOf<S extends Settings> = { readonly [K in keyof S]: S[K][number] };

export interface PairCases<S extends Settings> {
  /** What no rule refuses: every two values that occur together in any such case do so in one of these. */
  readonly legal: readonly CaseOf<S>[];
  /** What a rule refuses, with its answer; every two values occur together here or in `legal`. */
  readonly refused: readonly { readonly given: CaseOf<S>; readonly argument: string }[];
}

/** How many completions of a pair are drawn, from which the one with the most new pairs is taken. */
const DRAWN = 30;

/** A value of each setting, by number; -1: not chosen yet. */
type Row = number[];

class Table {
  readonly rows: Row[] = [];
  /** Where the values of a setting begin among those of all. */
  readonly #starts: number[] = [];
  readonly #count: number;
  /** 1 for two values that are to meet, the earlier setting first. */
  readonly #due: Uint8Array;
  readonly #random = new Random(1);

  constructor(
    readonly sizes: readonly number[],
    /** A number: the setting that decides it, which was not chosen yet. */
    readonly isLegal: (row: Row) => boolean | number,
  ) {
    this.#count = sizes.reduce((sum, size) => (this.#starts.push(sum), sum + size), 0);
    this.#due = new Uint8Array(this.#count ** 2).fill(1);
  }

  fill(): Row[] {
    const { sizes } = this;
    sizes.forEach((size, a) => {
      for (let b = a + 1; b < sizes.length; b++) {
        for (let i = 0; i < size; i++) {
          for (let j = 0; j < sizes[b]!; j++) this.#meet(a, i, b, j);
        }
      }
    });
    return this.rows;
  }

  #at(a: number, i: number, b: number, j: number): number {
    return (this.#starts[a]! + i) * this.#count + this.#starts[b]! + j;
  }

  #meet(a: number, i: number, b: number, j: number): void {
    if (this.#due[this.#at(a, i, b, j)] === 0) return;
    const start: Row = this.sizes.map(() => -1);
    [start[a], start[b]] = [i, j];
    const row = this.#best(start) ?? this.#first(start);
    // No legal case has it.
    if (row === null) return;
    this.rows.push(row);
    row.forEach((value, first) => {
      for (let second = first + 1; second < row.length; second++) {
        this.#due[this.#at(first, value, second, row[second]!)] = 0;
      }
    });
  }

  /** How many pairs of a row are due. */
  #worth(row: Row): number {
    let worth = 0;
    for (let a = 0; a < row.length; a++) {
      for (let b = a + 1; b < row.length; b++) worth += this.#due[this.#at(a, row[a]!, b, row[b]!)]!;
    }
    return worth;
  }

  /** Of some legal rows with this beginning the one with the most pairs that are due; null where none was drawn. */
  #best(start: Row): Row | null {
    let [best, most] = [null as Row | null, 0];
    for (let i = 0; i < DRAWN; i++) {
      const row = start.map((value, a) => (value >= 0 ? value : this.#random.whole(0, this.sizes[a]!)));
      const worth = this.#worth(row);
      if (worth > most && this.isLegal(row) === true) [best, most] = [row, worth];
    }
    return best;
  }

  /** The first legal row with this beginning, of all there are; the settings that rules ask for are chosen first. */
  #first(start: Row): Row | null {
    const verdict = this.isLegal(start);
    if (verdict === false) return null;
    const at = verdict === true ? start.indexOf(-1) : verdict;
    if (at < 0) return start;
    for (let value = 0; value < this.sizes[at]!; value++) {
      const found = this.#first(start.map((each, a) => (a === at ? value : each)));
      if (found !== null) return found;
    }
    return null;
  }
}

/**
 * Cases of settings by pairs of values. `refusal` gives the argument that the error of an illegal case must name, or
 * null for what is legal. The same settings always give the same cases.
 */
export function pairCases<const S extends Settings>(
  settings: S,
  refusal: (given: CaseOf<S>) => string | null = () => null,
): PairCases<S> {
  const names = Object.keys(settings);
  const caseOf = (row: Row): CaseOf<S> =>
    Object.fromEntries(names.map((name, a) => [name, settings[name]![row[a]!]])) as CaseOf<S>;
  const isLegal = (row: Row): boolean | number => {
    const given = {};
    names.forEach((name, a) => {
      const get = (): unknown => {
        if (row[a]! < 0) throw new Open(a);
        return settings[name]![row[a]!];
      };
      Object.defineProperty(given, name, { get, enumerable: true });
    });
    try {
      return refusal(given as CaseOf<S>) === null;
    } catch (error) {
      if (error instanceof Open) return error.setting;
      throw error;
    }
  };
  const sizes = names.map((name) => settings[name]!.length);
  const legal = new Table(sizes, isLegal).fill().map(caseOf);
  const refused = new Table(sizes, () => true).fill().flatMap((row) => {
    const given = caseOf(row);
    const argument = refusal(given);
    return argument === null ? [] : [{ given, argument }];
  });
  return { legal, refused };
}

/** A rule asked for a setting that was not chosen yet. */
class Open extends Error {
  constructor(readonly setting: number) {
    super();
  }
}

/** What a case is called in errors of specs. */
export function caseText(given: object): string {
  return JSON.stringify(given, (_, value: unknown) => (typeof value === 'function' ? 'a function' : value));
}
