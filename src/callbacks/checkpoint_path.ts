/** Where checkpoints lie: a folder or a URL, in which places such as {epoch:02d} and {val_loss:.2f} stand for numbers. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';

const PLACE = /\{([A-Za-z_][\w.]*)(?::(0?)(\d*)(?:\.(\d+))?([df])?)?\}/g;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

export function checkPath(value: unknown): string {
  const expected = "a folder such as './checkpoints', or a URL such as 'indexeddb://checkpoints'";
  if (typeof value !== 'string') throw new ArgumentTypeError('path', expected, value);
  if (value.trim() === '' || value.includes('\0')) throw new ValueError('path', expected, value);
  const rest = value.replace(PLACE, '');
  if (/[{}]/.test(rest)) throw new ValueError('path', 'places such as {epoch:02d} or {val_loss:.2f}', value);
  return value;
}

export function hasPlaces(path: string): boolean {
  return path.search(PLACE) >= 0;
}

/** The path with numbers in its places. Throws ValueError for a name that is none of theirs. */
export function filledPath(path: string, numbers: Readonly<Record<string, number>>): string {
  return path.replace(PLACE, (_, name: string, zero: string, width: string, digits?: string, kind?: string) => {
    if (!Object.hasOwn(numbers, name)) {
      const expected = `names of ${Object.keys(numbers).join(', ')} in its places`;
      throw new ValueError('path', expected, described(`${path}, with ${name}`));
    }
    const value = numbers[name]!;
    const text = kind === 'f' || digits !== undefined ? value.toFixed(Number(digits ?? 6)) : String(value);
    return text.padStart(Number(width || 0), zero === '0' ? '0' : ' ');
  });
}

/** The URL that models are saved to. */
export function urlOf(path: string): string {
  return SCHEME.test(path) ? path : `file://${path}`;
}
