/** Values of the command line. */
import { InputError } from './input_error.js';

export function readWhole(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new InputError(`${option} must be a whole number from ${least} to ${most}, not "${text}"`);
}

export function readOneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((each) => each === text);
  if (found !== undefined) return found;
  throw new InputError(`${option} must be one of ${known.join(', ')}, not "${text}"`);
}
