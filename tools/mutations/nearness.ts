/** Which spec file is likely to be about a source: tests mirror the sources. */

/** A spec file that is tried first where all else is the same. */
const OWN_NAME = 3;

/** Folders that the paths share, and more where the names are the same. */
export function nearness(source: string, spec: string): number {
  const parts = source.replace(/^src\//, '').split('/');
  const others = spec.replace(/^test\//, '').split('/');
  let shared = 0;
  while (shared + 1 < parts.length && parts[shared] === others[shared]) shared++;
  const name = (path: string): string => path.replace(/(\.spec)?\.ts$/, '');
  return name(parts.at(-1)!) === name(others.at(-1)!) ? shared + OWN_NAME : shared;
}
