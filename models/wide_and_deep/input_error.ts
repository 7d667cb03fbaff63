/** A mistake in what the user gave: shown as one line, without a stack. */
export class InputError extends Error {
  override readonly name = 'InputError';
}
