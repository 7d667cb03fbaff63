// @ts-check
/** Values of the command line. */
import { InputError } from './input_error.mjs';

/**
 * @param {string} option
 * @param {string} text
 * @param {number} least
 * @param {number} most
 * @returns {number}
 */
export function readWhole(option, text, least, most) {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new InputError(`${option} must be a whole number from ${least} to ${most}, not "${text}"`);
}

/**
 * @template {string} T
 * @param {string} option
 * @param {string} text
 * @param {readonly T[]} known
 * @returns {T}
 */
export function readOneOf(option, text, known) {
  const found = known.find((each) => each === text);
  if (found !== undefined) return found;
  throw new InputError(`${option} must be one of ${known.join(', ')}, not "${text}"`);
}
