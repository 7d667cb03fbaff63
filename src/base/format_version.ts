/** Versions of the formats that are ours: what they say of themselves, and whether it is known here. */
import { ValueError, describe, described } from './errors.js';

/**
 * Takes the versions from 1 to `newest`; none is 1, as formats were written before they had versions.
 *
 * @throws ValueError for any other, which says so where a later release wrote it.
 */
export function checkFormatVersion(argument: string, what: string, version: unknown, newest: number): void {
  if (version === undefined) return;
  const isNumber = Number.isSafeInteger(version) && (version as number) >= 1;
  if (isNumber && (version as number) <= newest) return;
  const known = newest === 1 ? 'version 1' : `versions 1 to ${newest}`;
  const note = isNumber ? 'A later version of tfjs-embeddings wrote it.' : undefined;
  throw new ValueError(argument, `${what} of ${known}`, described(`one of version ${describe(version)}`), note);
}
