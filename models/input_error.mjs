// @ts-check
/** A mistake in what the user gave: shown as one line, without a stack. */
export class InputError extends Error {
  /** @override */
  name = 'InputError';
}

/**
 * Whether the system refused something: a full disk, a folder that is none.
 * @param {unknown} error
 * @returns {error is NodeJS.ErrnoException}
 */
export function isSystemError(error) {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/**
 * A line of a file that is other than expected.
 * @param {string} path
 * @param {number} line
 * @param {string} expected
 * @param {string} found
 */
export function mistakeAt(path, line, expected, found) {
  return new InputError(`${path}, line ${line}: expected ${expected}, found "${found}"`);
}
