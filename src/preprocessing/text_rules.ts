/** How texts become tokens: the rules of Keras's TextVectorization. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';

/** A rule by name, or a function of a text. */
export type Standardize = 'lower_and_strip_punctuation' | 'lower' | 'strip_punctuation' | ((text: string) => string);
/** A rule by name, or a function that gives the tokens of a text. */
export type Split = 'whitespace' | 'character' | ((text: string) => readonly string[]);

const PUNCTUATION = /[!"#$%&()*+,\-./:;<=>?@[\\\]^_`{|}~']/g;
/** What C takes for white space: TensorFlow splits bytes. */
const SPACE = /[ \t\n\v\f\r]+/;

/** TensorFlow lowers the letters of ASCII alone. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function standardized(text: string, rule: Standardize | null, position: number): string {
  if (rule === null) return text;
  if (typeof rule === 'function') {
    const result: unknown = rule(text);
    if (typeof result === 'string') return result;
    throw new ArgumentTypeError('standardize', `a function that returns text (at position ${position})`, result);
  }
  const lowered = rule === 'strip_punctuation' ? text : lower(text);
  return rule === 'lower' ? lowered : lowered.replace(PUNCTUATION, '');
}

export function splitText(text: string, rule: Split, position: number): readonly string[] {
  if (rule === 'character') return Array.from(text, (each) => (/^[\uD800-\uDFFF]$/.test(each) ? '\uFFFD' : each));
  if (rule === 'whitespace') return text.split(SPACE).filter((token) => token !== '');
  const result: unknown = rule(text);
  if (Array.isArray(result) && result.every((token) => typeof token === 'string')) return result;
  throw new ArgumentTypeError('split', `a function that returns an array of texts (at position ${position})`, result);
}

/** All runs of neighbours of each width, widths one after the other, joined by spaces. */
export function ngramsOf(tokens: readonly string[], widths: readonly number[]): string[] {
  return widths.flatMap((width) => {
    const count = Math.max(tokens.length - width + 1, 0);
    return Array.from({ length: count }, (_, start) => tokens.slice(start, start + width).join(' '));
  });
}

const named = (names: readonly string[]): string =>
  `${names.map((name) => `'${name}'`).join(', ')}, a function or null`;

function checkRule<R>(rule: unknown, argument: string, names: readonly string[], byDefault: R): R | null {
  if (rule === undefined) return byDefault;
  if (rule === null || typeof rule === 'function') return rule as R | null;
  if (typeof rule !== 'string') throw new ArgumentTypeError(argument, named(names), rule);
  if (!names.includes(rule)) throw new ValueError(argument, named(names), rule);
  return rule as R;
}

export function checkStandardize(rule: unknown): Standardize | null {
  const names = ['lower_and_strip_punctuation', 'lower', 'strip_punctuation'];
  return checkRule<Standardize>(rule, 'standardize', names, 'lower_and_strip_punctuation');
}

export function checkSplit(rule: unknown): Split | null {
  return checkRule<Split>(rule, 'split', ['whitespace', 'character'], 'whitespace');
}

/** A number n stands for the widths 1 to n. */
export function widthsOf(ngrams: unknown): number[] | null {
  if (ngrams === undefined || ngrams === null) return null;
  const expected = 'a whole number from 1 on, or an array of them';
  const isList = Array.isArray(ngrams);
  const widths: readonly unknown[] = isList ? ngrams : [ngrams];
  for (const width of widths) {
    if (typeof width !== 'number') throw new ArgumentTypeError('ngrams', expected, ngrams);
    if (!Number.isInteger(width) || width < 1 || width > 1000) throw new ValueError('ngrams', expected, ngrams);
  }
  if (widths.length === 0) throw new ValueError('ngrams', expected, described('none'));
  return isList ? (widths as number[]) : Array.from({ length: ngrams as number }, (_, i) => i + 1);
}
