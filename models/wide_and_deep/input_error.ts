/** A mistake in what the user gave: shown as one line, without a stack. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** Whether the system refused something: a full disk, a folder that is none. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
