/** Which mutants are tried; and Stryker's checker, which leaves the others out. */
import { CheckStatus, type CheckResult, type Checker } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';
import { Random } from '../helpers/random.js';
import { messagesOf } from './message_text.js';
import { Sources, isSame, type MutantText } from './mutant_text.js';

/** An option for Stryker, as plain data. */
export interface Draw {
  /** Where the sources are without mutants. */
  readonly originals: string;
  /** What the paths of spec files begin with, under `test`. */
  readonly specs: readonly string[];
  /** How many mutants; null: all. */
  readonly sample: number | null;
  readonly seed: number;
  /** These and no others; null: any. */
  readonly only: readonly MutantText[] | null;
}

export function drawOf(options: StrykerOptions): Draw {
  return options['draw'] as Draw;
}

/** Why a mutant is not tried. */
export const LEFT_OUT = { message: 'the text of a message', undrawn: 'not drawn' } as const;

/** `count` of some items, in their order. */
export function sampleOf<T>(items: readonly T[], count: number, seed: number): T[] {
  const random = new Random(seed);
  const drawn: T[] = [];
  items.forEach((item, place) => {
    const wanted = count - drawn.length;
    if (random.next() * (items.length - place) < wanted) drawn.push(item);
  });
  return drawn;
}

export class DrawChecker implements Checker {
  static inject = tokens(commonTokens.options);
  private readonly draw: Draw;
  private readonly results: Record<string, CheckResult> = {};

  constructor(options: StrykerOptions) {
    this.draw = drawOf(options);
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  /** Stryker hands in all mutants at once. */
  group(mutants: Mutant[]): Promise<string[][]> {
    const { originals, sample, seed, only } = this.draw;
    const sources = new Sources(originals, process.cwd());
    const tests = new Map<string, (from: number, to: number) => boolean>();
    const isMessage = (mutant: Mutant): boolean => {
      if (mutant.mutatorName !== 'StringLiteral') return false;
      const name = sources.nameOf(mutant.fileName);
      const test = tests.get(name) ?? messagesOf(sources.text(name));
      tests.set(name, test);
      return test(...sources.range(mutant, 0));
    };
    const leave = (mutant: Mutant, reason: string): void => {
      this.results[mutant.id] = { status: CheckStatus.CompileError, reason };
    };
    const eligible = mutants.filter((mutant) => {
      if (!isMessage(mutant)) return true;
      leave(mutant, LEFT_OUT.message);
      return false;
    });
    const isMeant = (mutant: Mutant): boolean => {
      const text = sources.textOf(mutant, 0);
      return only === null || only.some((other) => isSame(other, text));
    };
    const meant = eligible.filter(isMeant);
    const drawn = new Set(sample === null ? meant : sampleOf(meant, sample, seed));
    for (const mutant of eligible) {
      if (drawn.has(mutant)) this.results[mutant.id] = { status: CheckStatus.Passed };
      else leave(mutant, LEFT_OUT.undrawn);
    }
    return Promise.resolve([mutants.map(({ id }) => id)]);
  }

  check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    return Promise.resolve(Object.fromEntries(mutants.map(({ id }) => [id, this.results[id]!])));
  }
}
