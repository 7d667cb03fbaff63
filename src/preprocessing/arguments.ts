/** Checks of the arguments of the preprocessing classes. */
import { closestName } from '../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { isRecord } from '../base/options.js';

/** Keys of Keras configs that say nothing here, with the values under which they say nothing. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  dtype: [],
  trainable: [],
  encoding: ['utf-8'],
  vocabularyDtype: [],
  vocabularySize: [],
  hasInputVocabulary: [],
  sparse: [false],
};

/**
 * Returns the config with camelCase keys and without what says nothing here. Throws TypeError for anything but an
 * object; ValueError, which names the key, for a setting that this class does not have.
 */
export function readConfig<A extends object>(config: unknown, known: readonly (keyof A & string)[]): A {
  const expected = 'an object as getConfig() returns it';
  if (!isRecord(config)) throw new ArgumentTypeError('config', expected, config);
  return readKeys<A>(config, known);
}

function readKeys<A extends object>(config: Record<string, unknown>, known: readonly (keyof A & string)[]): A {
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if ((known as readonly string[]).includes(name)) {
      read[name] = value;
      continue;
    }
    const neutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
    if (neutral === undefined) refuseKey(key, known);
    if (neutral.length > 0 && !neutral.includes(value)) {
      throw new ValueError(key, neutral.map((each) => JSON.stringify(each)).join(' or '), value);
    }
  }
  return read as A;
}

function refuseKey(key: string, known: readonly string[]): never {
  const meant = closestName(key, known);
  const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
  throw new ValueError(key, `one of ${known.join(', ')}`, described(`the key ${key}`), note);
}

/** Throws where `args` is no object or holds a key that is not known: a misspelt setting is never ignored. */
export function checkKeys(args: unknown, known: readonly string[]): void {
  if (!isRecord(args)) throw new ArgumentTypeError('args', 'an object', args);
  for (const key of Object.keys(args as object)) {
    if (!known.includes(key)) refuseKey(key, known);
  }
}

/** A whole number from `least` to 2^31 - 1. */
export function checkWhole(value: unknown, argument: string, least: number): number {
  const expected = `a whole number from ${least} to 2147483647`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < least || value > 2147483647) {
    throw new ValueError(argument, expected, value);
  }
  return value;
}

export function checkName(name: unknown, fallback: string): string {
  if (name === undefined || name === null) return fallback;
  if (typeof name !== 'string') throw new ArgumentTypeError('name', 'a string', name);
  return name;
}

/** Whether an optional argument was left out. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
