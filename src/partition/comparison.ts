/** Plain values, compared with what they must be. */
import { describe } from '../base/errors.js';

/** Adds a line where what was found is not what must be there. */
export type Compare = (path: string, expected: unknown, found: unknown) => void;

/** Whether plain values are equal, key by key. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  const of = (value: object, key: string): unknown => (value as Record<string, unknown>)[key];
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(of(a, key), of(b, key)));
}

/** Compares into a list of problems. */
export function comparing(problems: string[]): Compare {
  return (path, expected, found) => {
    if (same(expected, found)) return;
    const shorter = Array.isArray(expected) && Array.isArray(found) && expected.length === found.length;
    const place = shorter ? expected.findIndex((item, i) => !same(item, found[i])) : -1;
    if (place === -1) problems.push(`${path}: expected ${describe(expected)}, found ${describe(found)}`);
    else comparing(problems)(`${path}[${place}]`, (expected as unknown[])[place], (found as unknown[])[place]);
  };
}
