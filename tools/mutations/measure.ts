/** Tries changes one after the other, and tells what became of each. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LineRange } from '../../test/changes/changed_lines.js';
import { shuffled } from './draw.js';
import { equivalentOf, readEquivalents } from './equivalents.js';
import type { Found } from './hunt.js';
import { isSame, positionOf, textOf, type Mutant, type MutantText } from './mutant_text.js';
import { CACHE } from './sandbox.js';
import { noFates, type Tally } from './tally.js';

export interface Request {
  /** Null: all changes. */
  readonly sample: number | null;
  readonly seed: number;
  /** Only what was not caught the last time. */
  readonly again: boolean;
  /** Only files whose path holds this text; null: all of the room. */
  readonly file: string | null;
  /** Only changes of these lines, by file; null: of all. */
  readonly lines: ReadonlyMap<string, readonly LineRange[]> | null;
  /** How long the specs for one change may take. */
  readonly seconds: number;
}

export interface Trial<M extends Mutant> {
  /** Why a change does not compile; null: it does. `text` is the source as it is. */
  complaint(mutant: M, text: string): Promise<string | null>;
  find(mutant: M, text: string): Promise<Found>;
}

function memory(root: string, name: string): string {
  return join(root, CACHE, `left-${name.replaceAll('/', '-')}.json`);
}

function leftBefore(root: string, name: string): MutantText[] {
  const path = memory(root, name);
  if (!existsSync(path)) throw new Error(`--again: nothing of ${name} is noted; run it without --again first`);
  return JSON.parse(readFileSync(path, 'utf8')) as MutantText[];
}

/** Whether a change begins in one of some lines, or holds one whole. */
export function isIn(ranges: readonly LineRange[], source: string, { from, to }: Pick<Mutant, 'from' | 'to'>): boolean {
  const [first, last] = [from, to].map((place) => source.slice(0, place).split('\n').length) as [number, number];
  return ranges.some((range) => (range[0] <= first && first <= range[1]) || (first <= range[0] && range[1] <= last));
}

/** Prints what was not caught; resolves to the counts. */
export async function tryAll<M extends Mutant>(
  root: string,
  name: string,
  all: readonly M[],
  { sample, seed, again, file, lines }: Request,
  trial: Trial<M>,
): Promise<Tally> {
  const texts = new Map<string, string>();
  const sourceOf = (path: string): string => {
    if (!texts.has(path)) texts.set(path, readFileSync(join(root, path), 'utf8'));
    return texts.get(path)!;
  };
  const only = again ? leftBefore(root, name) : null;
  const mutants = shuffled(all, seed).filter((mutant) => {
    if (file !== null && !mutant.file.includes(file)) return false;
    if (lines !== null && !isIn(lines.get(mutant.file) ?? [], sourceOf(mutant.file), mutant)) return false;
    return only === null || only.some((other) => isSame(other, textOf(sourceOf(mutant.file), mutant)));
  });
  const known = readEquivalents();
  const wanted = Math.min(sample ?? Infinity, mutants.length);
  const fates = noFates();
  const left: MutantText[] = [];
  let [tried, uncompiled] = [0, 0];
  const tally = (): Tally => ({ fates, uncompiled, total: mutants.length });
  console.log(`  ${wanted} of ${mutants.length} changes`);
  for (const mutant of mutants) {
    if (tried === wanted) break;
    const source = sourceOf(mutant.file);
    const text = textOf(source, mutant);
    const title = `${mutant.file}:${positionOf(source, mutant.from)}  ${mutant.kind}`;
    if (equivalentOf(text, known) !== undefined) {
      tried++;
      fates.equivalent++;
      console.log(`  ${tried} ${title}: equivalent`);
      continue;
    }
    if ((await trial.complaint(mutant, source)) !== null) {
      uncompiled++;
      continue;
    }
    tried++;
    const begun = Date.now();
    const found = await trial.find(mutant, source);
    fates[found.fate]++;
    const seconds = ((Date.now() - begun) / 1000).toFixed(0);
    console.log(`  ${tried} ${title}: ${found.fate}, ${seconds} s`);
    if (found.fate !== 'caught') {
      left.push(text);
      const what = [text.line, `- ${text.code}`, `+ ${text.becomes}`, found.text].join('\n      ');
      console.log(`      ${what}`);
    }
  }
  mkdirSync(join(root, CACHE), { recursive: true });
  writeFileSync(memory(root, name), `${JSON.stringify(left, null, 1)}\n`);
  return tally();
}
