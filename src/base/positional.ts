/** Calls that take one object of named arguments, made with arguments by position. */
import { ArgumentTypeError, described } from './errors.js';

const EXPECTED = 'an object of named arguments';

/** A field of the object: with its value, where that is short to write. */
function fieldOf(name: string, value: unknown): string {
  const isPlain = (each: unknown): boolean => each === null || ['string', 'number', 'boolean'].includes(typeof each);
  const text = (each: unknown): string => (typeof each === 'string' ? `'${each}'` : String(each));
  if (isPlain(value)) return `${name}: ${text(value)}`;
  const isShort = Array.isArray(value) && value.length <= 4 && value.every(isPlain);
  return isShort ? `${name}: [${value.map(text).join(', ')}]` : name;
}

/**
 * Throws TypeError, which shows the call as it is written, where its first argument is a value by itself. `names`: what
 * the values stand for, in their order. Objects, nothing and what is no value are left to the check of the arguments.
 */
export function refusePositional(call: string, names: readonly string[], given: readonly unknown[]): void {
  const [first] = given;
  const isValue = ['string', 'number', 'boolean'].includes(typeof first);
  if (!isValue && !Array.isArray(first)) return;
  const fields = given.slice(0, names.length).map((value, i) => fieldOf(names[i]!, value));
  const received = given.length === 1 ? first : described(`${given.length} arguments by position`);
  throw new ArgumentTypeError('args', EXPECTED, received, `Write ${call}({${fields.join(', ')}}).`);
}
