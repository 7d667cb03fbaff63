/** Mutants that change nothing that anybody could notice; each with the reason. */
import { readFileSync } from 'node:fs';
import { isSame, type MutantText } from './mutant_text.js';

interface Entry {
  readonly line: string;
  readonly code: string;
  readonly becomes: string;
  readonly why: string;
}

export interface Equivalent extends MutantText {
  readonly why: string;
}

/** Reads equivalents.json: entries by file; `*` are those of every file, with `…` for the code in them. */
export function readEquivalents(): Equivalent[] {
  const text = readFileSync(new URL('equivalents.json', import.meta.url), 'utf8');
  const files = JSON.parse(text) as Record<string, Entry[]>;
  return Object.entries(files).flatMap(([file, entries]) => entries.map((entry) => ({ file, ...entry })));
}

export function equivalentOf(mutant: MutantText, known: readonly Equivalent[]): Equivalent | undefined {
  return known.find((entry) => (entry.file === '*' ? isOfEveryFile(entry, mutant) : isSame(entry, mutant)));
}

function isOfEveryFile({ line, becomes }: Equivalent, mutant: MutantText): boolean {
  return becomes === mutant.becomes && mutant.line.includes(line.replace('…', () => mutant.code));
}
