/** Which mutants are tried, out of all that Stryker makes of some sources. */
import type { Mutant } from '@stryker-mutator/api/core';
import { commonTokens } from '@stryker-mutator/api/plugin';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { createInjector } from 'typed-inject';
import { Random } from '../helpers/random.js';
import { messagesOf } from './message_text.js';
import { isSame, type MutantText, type Sources } from './mutant_text.js';

export interface Draw {
  /** How many mutants; null: all. */
  readonly sample: number | null;
  readonly seed: number;
  /** These and no others; null: any. */
  readonly only: readonly MutantText[] | null;
}

export interface Drawn {
  readonly mutants: readonly Mutant[];
  /** What they were drawn from: texts of messages are not among it. */
  readonly total: number;
}

const SILENT = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((name) => [name, () => undefined]),
);

/** Every mutant of the sources; `location` counts lines and columns from 0 on. */
async function mutantsOf(names: readonly string[], sources: Sources): Promise<Mutant[]> {
  const logger = { ...SILENT, isDebugEnabled: () => false } as never;
  const instrumenter = createInstrumenter(createInjector().provideValue(commonTokens.logger, logger) as never);
  const files = names.map((name) => ({ name, content: sources.text(name), mutate: true }));
  const { mutants } = await instrumenter.instrument(files, { plugins: null, excludedMutations: [], ignorers: [] });
  return [...mutants];
}

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

export async function drawMutants(names: readonly string[], sources: Sources, draw: Draw): Promise<Drawn> {
  const tests = new Map(names.map((name) => [name, messagesOf(sources.text(name))]));
  const mutants = (await mutantsOf(names, sources)).filter((mutant) => {
    return mutant.mutatorName !== 'StringLiteral' || !tests.get(mutant.fileName)!(...sources.range(mutant));
  });
  const { sample, seed, only } = draw;
  const meant = mutants.filter((mutant) => {
    const text = sources.textOf(mutant);
    return only === null || only.some((other) => isSame(other, text));
  });
  return { mutants: sample === null ? meant : sampleOf(meant, sample, seed), total: mutants.length };
}
