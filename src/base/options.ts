/** Objects of options: their fields are read once, and a misspelt one is never ignored. */
import { closestName } from './closest_name.js';
import { ArgumentTypeError, ValueError, described } from './errors.js';

/** A plain object or an instance of a class, but no list, date, map or the like. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * Returns the known fields of an object of options, each read once.
 * Throws TypeError for anything but an object; ValueError, which names it, for a field that is not known and is set.
 * What a getter of the caller throws passes through. `usage`: the call as it is written, where arguments came by
 * position; `noteOf`: what is known of a field that belongs elsewhere.
 */
export function readOptions<T extends object>(
  options: unknown,
  known: readonly (keyof T & string)[],
  argument = 'options',
  usage?: string,
  noteOf?: (field: string) => string | undefined,
): Partial<T> {
  if (!isRecord(options)) {
    const expected = `an object with some of ${known.join(', ')}`;
    throw new ArgumentTypeError(argument, expected, options, usage === undefined ? undefined : `Write ${usage}.`);
  }
  const read: Record<string, unknown> = {};
  // A plain object has no other fields than its own: looking for each that it may have takes longer than a small kernel.
  const isPlain = Object.getPrototypeOf(options) === Object.prototype;
  for (const field of isPlain ? [] : known) {
    const value = options[field];
    if (value !== undefined) read[field] = value;
  }
  for (const field of Object.getOwnPropertyNames(options)) {
    const isKnown = (known as readonly string[]).includes(field);
    if (isKnown ? !isPlain : !Object.prototype.propertyIsEnumerable.call(options, field)) continue;
    const value = options[field];
    if (value === undefined) continue;
    if (isKnown) read[field] = value;
    if (isKnown || value === null) continue;
    const meant = closestName(field, known);
    const note = noteOf?.(field) ?? (meant === undefined ? undefined : `Did you mean ${meant}?`);
    // Deep in the options, the field alone would not say where.
    const path = /[.[]/.test(argument) ? `${argument}.${field}` : field;
    throw new ValueError(path, `one of ${known.join(', ')}`, described(`the field ${field}`), note);
  }
  return read as Partial<T>;
}

/** A whole number from `least` on. */
export function checkCount(value: unknown, argument: string, least: number): number {
  const expected = `a whole number from ${least} on`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isSafeInteger(value) || value < least) throw new ValueError(argument, expected, value);
  return value;
}

/** One of some texts. Throws TypeError for what is no text, ValueError for another one. */
export function checkChoice<T extends string>(value: unknown, argument: string, choices: readonly T[]): T {
  const expected = `one of ${choices.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  const found = choices.find((each) => each === value);
  if (found === undefined) throw new ValueError(argument, expected, value);
  return found;
}
