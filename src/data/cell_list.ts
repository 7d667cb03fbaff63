/** Cells of text that hold lists: as JSON and Python print them, or values beside each other. */

/** A value of a list as text; null: none was there. */
export type ListItem = string | null;

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '\\': '\\', "'": "'", '"': '"', '/': '/', n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', a: '\x07', v: '\v' },
};

/** A text in quotes, and numbers and words that stand for themselves. */
const ITEM = /\s*(?:"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'|([+-]?[\w.]+(?:[+-]\d+)?))\s*/y;
const WORD = /^([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|true|false|null|none|nan|[+-]?inf(inity)?)$/i;
/** Of those words. */
const NOTHING = /null|none/i;
const ESCAPE = /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([0-7]{1,3})|\r?\n|([^]))/g;

/** The text within quotes; null where it holds an escape that is none of these. */
function unescaped(inside: string): string | null {
  if (!inside.includes('\\')) return inside;
  let isKnown = true;
  const text = inside.replace(
    ESCAPE,
    (whole, four?: string, eight?: string, two?: string, octal?: string, one?: string) => {
      const hex = four ?? eight ?? two;
      const code =
        hex !== undefined ? Number.parseInt(hex, 16) : octal === undefined ? null : Number.parseInt(octal, 8);
      if (code !== null && code <= 0x10ffff)
        return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
      if (one === undefined && code === null) return '';
      const known = ESCAPES[one ?? ''];
      if (known === undefined) isKnown = false;
      return known ?? whole;
    },
  );
  return isKnown ? text : null;
}

/** The values of a cell that is wholly a list in JSON or Python; null: it is none. */
export function literalList(cell: string): ListItem[] | null {
  const text = cell.trim();
  if (!text.startsWith('[') || !text.endsWith(']')) return null;
  const items: ListItem[] = [];
  const last = text.length - 1;
  let at = 1;
  while (/\s/.test(text[at]!)) at += 1;
  while (at < last) {
    ITEM.lastIndex = at;
    const found = ITEM.exec(text);
    if (found === null) return null;
    const [whole, double, single, word] = found;
    const inside = double ?? single;
    if (inside !== undefined) {
      const item = unescaped(inside);
      if (item === null) return null;
      items.push(item);
    } else {
      if (!WORD.test(word!)) return null;
      items.push(NOTHING.test(word!) ? null : word!);
    }
    at += whole.length;
    if (at === last) break;
    if (text[at] !== ',') return null;
    at += 1;
    // Python takes a comma behind the last value.
    while (/\s/.test(text[at]!)) at += 1;
  }
  return at === last ? items : null;
}

const BRACKETS = /^\s*[[({](.*)[\])}]\s*$/s;
const PARTS_OF_NUMBERS = /[|;,\s]+/;
const PARTS_OF_TEXTS = /[|;,]/;

/** The values of a cell of a list column: of numbers, or of texts. */
export function listOf(cell: string, isOfNumbers: boolean, separator: string | null): ListItem[] {
  const list = literalList(cell);
  if (list !== null) return list;
  const parts = (text: string, parting: string | RegExp): string[] =>
    text
      .split(parting)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (!isOfNumbers || separator !== null) return parts(cell, separator ?? PARTS_OF_TEXTS);
  // Brackets and quotes are no part of a number: of tuples, sets and arrays as they are printed.
  const inside = BRACKETS.exec(cell)?.[1] ?? cell;
  return parts(inside, PARTS_OF_NUMBERS).map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}
