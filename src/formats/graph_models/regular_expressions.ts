/** Regular expressions of graphs, which are those of RE2, as JavaScript's. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';

/** What RE2 and JavaScript read in two ways: classes by name, flags and names of groups, some escapes. */
const ODD = /\[:|\(\?[^:]|\\[pPQEACzasS8-9]|\\x\{|[*+?}]\+/;
/** Escapes, and classes whole. */
const PARTS = /\[\^?\]?(?:\\[^]|[^\]\\])*\]|\\[^]/g;
const SPACES = '\\t\\n\\f\\r ';

/** RE2 accepts an escape before any punctuation; its `\s` has fewer characters. */
function escapeOf(escape: string, isInClass: boolean): string {
  if (escape === '\\s') return isInClass ? SPACES : `[${SPACES}]`;
  if (escape === '\\S' && !isInClass) return `[^${SPACES}]`;
  const isPlain = /^\\[^\w^$\\.*+?()[\]{}|/]$|^\\_$/.test(escape);
  return isPlain && !(isInClass && escape === '\\-') ? escape.slice(1) : escape;
}

/** Text whose bytes tfjs-converter has as characters. */
export function utf8Of(bytes: string): string {
  return tf.util.decodeString(Uint8Array.from(bytes, (each) => each.charCodeAt(0)));
}

/** The expression of a pattern; a ValueError for one that means something else in JavaScript, or nothing. */
export function expressionOf(bytes: string, isGlobal: boolean): RegExp {
  const pattern = utf8Of(bytes);
  const own = pattern.replace(PARTS, (part) =>
    part.startsWith('[') ? part.replace(/\\[^]/g, (each) => escapeOf(each, true)) : escapeOf(part, false),
  );
  try {
    if (!ODD.test(own.replace(/\\\\/g, ''))) return new RegExp(own, isGlobal ? 'gu' : 'u');
  } catch {
    // The error below says it.
  }
  throw new ValueError('pattern', 'an expression that RE2 and JavaScript read alike', pattern);
}
