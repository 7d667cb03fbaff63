/** Changes of C sources that somebody could notice, listed in patches.json. */
import { readFileSync } from 'node:fs';

export interface Patch {
  /** Under custom-ops. */
  readonly file: string;
  /** Stands in the file once; white space may differ. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong, in a few words. */
  readonly why: string;
  /** Why nobody can notice it after all. Such a patch is not tried. */
  readonly equivalent?: string;
}

/** All patches, in the order of patches.json: entries by file. */
export function readPatches(): Patch[] {
  const text = readFileSync(new URL('patches.json', import.meta.url), 'utf8');
  const files = JSON.parse(text) as Record<string, Omit<Patch, 'file'>[]>;
  return Object.entries(files).flatMap(([file, patches]) => patches.map((patch) => ({ file, ...patch })));
}

/** A place in a source, however its lines are broken. */
function placeOf(find: string): RegExp {
  return new RegExp(find.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'), 'g');
}

/** The text of a file with a patch in it. Throws where its place is not to be found once. */
export function patched(text: string, { file, find, replace }: Patch): string {
  const places = [...text.matchAll(placeOf(find))].length;
  if (places !== 1) throw new Error(`${file}: ${JSON.stringify(find)} stands there ${places} times, not once`);
  return text.replace(placeOf(find), () => replace);
}
