/** What a mutant changes, as text: it names a mutant wherever its line has moved to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant, Position } from '@stryker-mutator/api/core';

export interface MutantText {
  readonly file: string;
  /** The source line on which the mutant begins. */
  readonly line: string;
  readonly code: string;
  readonly becomes: string;
}

const LONGEST = 160;

/** Code with its white space counted once. */
export function flat(code: string): string {
  return code.replace(/\s+/g, ' ').trim();
}

/** The same, of long code begin and end alone. */
export function brief(code: string): string {
  const text = flat(code);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 40)} … ${text.slice(-37)}`;
}

/** The sources as they are without mutants, by their paths under the root. */
export class Sources {
  private readonly texts = new Map<string, string>();

  constructor(private readonly root: string) {}

  text(name: string): string {
    const known = this.texts.get(name);
    if (known !== undefined) return known;
    const text = readFileSync(join(this.root, name), 'utf8');
    this.texts.set(name, text);
    return text;
  }

  /** First place of a mutant in its file, and the place after its last one. */
  range({ fileName, location: { start, end } }: Mutant): [from: number, to: number] {
    const text = this.text(fileName);
    const place = ({ line, column }: Position): number => {
      let first = 0;
      for (let i = 0; i < line; i++) first = text.indexOf('\n', first) + 1;
      return first + column;
    };
    return [place(start), place(end)];
  }

  textOf(mutant: Mutant): MutantText {
    const file = mutant.fileName;
    const text = this.text(file);
    const [from, to] = this.range(mutant);
    const line = text.slice(text.lastIndexOf('\n', from - 1) + 1, (text + '\n').indexOf('\n', from));
    return { file, line: brief(line), code: brief(text.slice(from, to)), becomes: brief(mutant.replacement) };
  }
}

export function isSame(a: MutantText, b: MutantText): boolean {
  return a.file === b.file && a.line === b.line && a.code === b.code && a.becomes === b.becomes;
}
