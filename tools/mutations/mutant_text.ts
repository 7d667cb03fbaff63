/** What a mutant changes, as text: it names a mutant wherever its line has moved to. */

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

/** A change of a source. */
export interface Mutant {
  readonly file: string;
  /** First place that changes, and the place after the last one. */
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
  /** What kind of change it is. */
  readonly kind: string;
}

export function mutated(source: string, { from, to, replacement }: Mutant): string {
  return source.slice(0, from) + replacement + source.slice(to);
}

export function textOf(source: string, { file, from, to, replacement }: Mutant): MutantText {
  const line = source.slice(source.lastIndexOf('\n', from - 1) + 1, (source + '\n').indexOf('\n', from));
  return { file, line: brief(line), code: brief(source.slice(from, to)), becomes: brief(replacement) };
}

/** Line and column of a place, counted from 1 on. */
export function positionOf(source: string, place: number): string {
  const lines = source.slice(0, place).split('\n');
  return `${lines.length}:${lines.at(-1)!.length + 1}`;
}

export function isSame(a: MutantText, b: MutantText): boolean {
  return a.file === b.file && a.line === b.line && a.code === b.code && a.becomes === b.becomes;
}
