/** Errors of ops name what is wrong as TensorFlow does. */
import type { GoldenSignature } from './golden_ops.js';

/** An error must name an input or an attribute of one of the ops that may have failed; a number in brackets tells which of a list. */
export function expectBlame(error: Error | null, ops: readonly GoldenSignature[], attributes: readonly object[]): void {
  const { argument } = (error ?? {}) as { argument?: string };
  const known = [...ops.flatMap(({ inputs }) => inputs.map(({ name }) => name)), ...attributes.flatMap(Object.keys)];
  expect(known)
    .withContext(String(error?.message))
    .toContain(argument?.replace(/\[\d+\]$/, '') ?? 'no argument');
}
