/** The packages of platforms as `npm run prebuild` makes them; what is not there, or out of date, is made first. */
import { join } from 'node:path';
import { ROOT, runIn } from '../helpers/project.js';

const MAIN = join(ROOT, 'custom-ops', 'prebuild', 'main.mjs');
const PACKAGES = join(ROOT, 'custom-ops', 'build', 'packages');

export interface Prebuilt {
  readonly name: string;
  readonly folder: string;
  readonly addon: string;
}

/** How long a spec should wait for `count` packages, of which none may be there yet, on a busy machine. */
export function timeToPrebuild(count: number): number {
  return count * 15 * 60_000;
}

/** The packages of these platforms, as `linux-x64`. */
export async function prebuilt(...names: string[]): Promise<Prebuilt[]> {
  // One by one: other specs may wait for theirs.
  for (const name of names) {
    const { code, errors } = await runIn(ROOT, process.execPath, MAIN, '--missing', '--only', name);
    if (code !== 0) throw new Error(errors);
  }
  return names.map((platform) => {
    const name = `tfjs-embeddings-${platform}`;
    const folder = join(PACKAGES, name);
    return { name, folder, addon: join(folder, 'tfjs_embeddings.node') };
  });
}

/** What npm packs of a package's folder, beside it. */
export function archiveOf({ folder }: Prebuilt, version: string): string {
  return `${folder}-${version}.tgz`;
}
