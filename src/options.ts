/** Objects of options: their fields are read once, and a misspelt one is never ignored. */
import { closestName } from './closest_name.js';
import { ArgumentTypeError, ValueError, described } from './errors.js';

/** Whether this is one of the errors of this package, or one about memory, which must not be reworded. */
function isFinal(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && 'argument' in error && 'received' in error);
}

/**
 * Returns what `read` makes of a value that the caller gave. What a getter or a proxy of the caller throws meanwhile
 * becomes a TypeError about the argument.
 */
export function reading<T>(argument: string, expected: string, value: unknown, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isFinal(error)) throw error;
    const note = error instanceof Error ? `Reading it failed: ${error.message}` : 'Reading it failed.';
    throw new ArgumentTypeError(argument, expected, value, note);
  }
}

/** A plain object or an instance of a class, but no list, date, map or the like. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * Returns the known fields of an object of options, each read once.
 * Throws TypeError for anything but an object, and for a field that cannot be read; ValueError, which names it, for a
 * field that is not known and is set. `usage`: the call as it is written, for whoever gave arguments by position;
 * `noteOf`: what is known of a field that belongs elsewhere.
 */
export function readOptions<T extends object>(
  options: unknown,
  known: readonly (keyof T & string)[],
  argument = 'options',
  usage?: string,
  noteOf?: (field: string) => string | undefined,
): Partial<T> {
  const expected = `an object with some of ${known.join(', ')}`;
  return reading(argument, expected, options, () => {
    if (!isRecord(options)) {
      throw new ArgumentTypeError(argument, expected, options, usage === undefined ? undefined : `Write ${usage}.`);
    }
    const read: Record<string, unknown> = {};
    for (const field of known) {
      const value = reading(field, 'a field that can be read', described('one that throws'), () => options[field]);
      if (value !== undefined) read[field] = value;
    }
    for (const field of Object.keys(options)) {
      if ((known as readonly string[]).includes(field)) continue;
      const value = reading(field, 'a field that can be read', described('one that throws'), () => options[field]);
      if (value === undefined || value === null) continue;
      const meant = closestName(field, known);
      const note = noteOf?.(field) ?? (meant === undefined ? undefined : `Did you mean ${meant}?`);
      throw new ValueError(field, `one of ${known.join(', ')}`, described(`the field ${field}`), note);
    }
    return read as Partial<T>;
  });
}
