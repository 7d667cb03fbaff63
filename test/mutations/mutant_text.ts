/** What a mutant changes, as text: it names a mutant wherever its line has moved to. */
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Mutant } from '@stryker-mutator/api/core';

export interface MutantText {
  readonly file: string;
  /** The source line on which the mutant begins. */
  readonly line: string;
  readonly code: string;
  readonly becomes: string;
}

const LONGEST = 160;

/** White space counts once; of long code, begin and end. */
function brief(code: string): string {
  const text = code.replace(/\s+/g, ' ').trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 40)} … ${text.slice(-37)}`;
}

/** The sources as they are without mutants. */
export class Sources {
  private readonly texts = new Map<string, string>();

  constructor(
    private readonly originals: string,
    /** Where Stryker has its mutated copy. */
    private readonly tree: string,
  ) {}

  nameOf(path: string): string {
    return relative(this.tree, path).split(sep).join('/');
  }

  text(name: string): string {
    const known = this.texts.get(name);
    if (known !== undefined) return known;
    const text = readFileSync(join(this.originals, name), 'utf8');
    this.texts.set(name, text);
    return text;
  }

  /** First and last place of a mutant in its file. Lines and columns count from `base` on. */
  range({ fileName, location }: Mutant, base: 0 | 1): [from: number, to: number] {
    const text = this.text(this.nameOf(fileName));
    const place = (line: number, column: number): number => {
      let start = 0;
      for (let i = base; i < line; i++) start = text.indexOf('\n', start) + 1;
      return start + column - base;
    };
    const { start, end } = location;
    return [place(start.line, start.column), place(end.line, end.column)];
  }

  textOf(mutant: Mutant, base: 0 | 1): MutantText {
    const file = this.nameOf(mutant.fileName);
    const text = this.text(file);
    const [from, to] = this.range(mutant, base);
    const line = text.slice(text.lastIndexOf('\n', from - 1) + 1, (text + '\n').indexOf('\n', from));
    return { file, line: brief(line), code: brief(text.slice(from, to)), becomes: brief(mutant.replacement) };
  }
}

export function isSame(a: MutantText, b: MutantText): boolean {
  return a.file === b.file && a.line === b.line && a.code === b.code && a.becomes === b.becomes;
}
