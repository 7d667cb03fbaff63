// @ts-check
/** Kinds of options. What is wrong with a value is said before the training, not after it. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InputError } from './input_error.mjs';

/**
 * @template T
 * @typedef {import('./command_line.mjs').Option<T>} Option
 */

/**
 * An option that is there or not.
 * @param {string} help
 * @returns {Option<boolean>}
 */
export function flag(help) {
  return { value: '', help, byDefault: false, read: () => true };
}

/**
 * @template {string | null} D
 * @param {string} value
 * @param {D} byDefault
 * @param {string} help
 * @returns {Option<string | D>}
 */
export function text(value, byDefault, help) {
  return { value, help, byDefault, read: (_, given) => given };
}

/**
 * A whole number from `least` to `most`.
 * @template {number | null} D
 * @param {number} least
 * @param {number} most
 * @param {D} byDefault
 * @param {string} help
 */
export function whole(least, most, byDefault, help) {
  return numeric('N', `a whole number from ${least} to ${most}`, byDefault, help, (value) => {
    return Number.isInteger(value) && value >= least && value <= most;
  });
}

/**
 * A number from `least` to `most`.
 * @template {number | null} D
 * @param {number} least
 * @param {number} most
 * @param {D} byDefault
 * @param {string} help
 */
export function number(least, most, byDefault, help) {
  const fits = (/** @type {number} */ value) => value >= least && value <= most;
  return numeric('X', `a number from ${least} to ${most}`, byDefault, help, fits);
}

/**
 * @template {number | null} D
 * @param {string} value
 * @param {string} expected
 * @param {D} byDefault
 * @param {string} help
 * @param {(value: number) => boolean} fits
 * @returns {Option<number | D>}
 */
function numeric(value, expected, byDefault, help, fits) {
  return {
    value,
    help,
    byDefault,
    read(option, given) {
      if (given.trim() !== '' && fits(Number(given))) return Number(given);
      throw new InputError(`${option} must be ${expected}, not "${given}"`);
    },
  };
}

/**
 * One of a few names, which the help begins with.
 * @template {string} T
 * @template {T | null} D
 * @param {readonly T[]} known
 * @param {D} byDefault
 * @param {string} help
 * @param {string} [value]
 * @returns {Option<T | D>}
 */
export function oneOf(known, byDefault, help, value = 'NAME') {
  return {
    value,
    help: `${known.join(', ')}${help}`,
    byDefault,
    read(option, given) {
      const found = known.find((each) => each === given);
      if (found !== undefined) return found;
      throw new InputError(`${option} must be one of ${known.join(', ')}, not "${given}"`);
    },
  };
}

/**
 * A file that can be read.
 * @param {string} help
 */
export function inputFile(help) {
  return path('FILE', help, (given) => {
    const stat = statOf(given);
    if (stat === null) return 'there is no such file';
    if (stat.isDirectory()) return 'that is a folder';
    return isAllowed(given, constants.R_OK) ? null : 'it cannot be read';
  });
}

/**
 * A file that can be written, whose folder need not be there yet.
 * @param {string} help
 */
export function outputFile(help) {
  return path('FILE', help, (given) => {
    const isFolder = given === '' || given.endsWith('/') || statOf(given)?.isDirectory() === true;
    return isFolder ? 'that is a folder' : whyNotWritable(given);
  });
}

/**
 * A folder that can be written to, which need not be there yet.
 * @param {string} help
 */
export function outputFolder(help) {
  return path('FOLDER', help, (given) => {
    if (given === '') return 'that is no name';
    return statOf(given)?.isDirectory() === false ? 'that is a file' : whyNotWritable(given);
  });
}

/**
 * @param {'FILE' | 'FOLDER'} value
 * @param {string} help
 * @param {(given: string) => string | null} whyNot
 * @returns {Option<string | null>}
 */
function path(value, help, whyNot) {
  return {
    value,
    help,
    byDefault: null,
    read(option, given) {
      const why = whyNot(given);
      if (why === null) return given;
      throw new InputError(`${option} must be the name of a ${value.toLowerCase()}, not "${given}": ${why}`);
    },
  };
}

/**
 * What lies at a path; null: nothing, or something below a file.
 * @param {string} given
 */
function statOf(given) {
  try {
    return statSync(given);
  } catch {
    return null;
  }
}

/**
 * @param {string} given
 * @param {number} mode
 */
function isAllowed(given, mode) {
  try {
    accessSync(given, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * Why nothing can be written at a path: something above it is no folder, or is write-protected.
 * @param {string} given
 */
function whyNotWritable(given) {
  let there = resolve(given);
  while (statOf(there) === null) there = dirname(there);
  if (there !== resolve(given) && statOf(there)?.isDirectory() !== true) return `${there} is no folder`;
  return isAllowed(there, constants.W_OK) ? null : `${there} is write-protected`;
}

/** Options of models that train on any backend. */
export const RUN = {
  backend: oneOf(
    /** @type {const} */ (['cpu', 'tensorflow', 'wasm']),
    null,
    ' (default: tensorflow where it is there, else cpu)',
  ),
  seed: whole(0, 1_000_000_000, 42, 'of everything random (default: 42)'),
  json: flag('print the results as one line of JSON, the last line'),
  help: flag('print this'),
};
