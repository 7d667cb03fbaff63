/** The addons of an installed package, looked for by the code that looks for them when a program runs. */
import { existsSync } from 'node:fs';
import { addon, isClone, root } from '../setup/places.mjs';

/** {found: [{path, source}, …], faults, lacking}: the addons that may run, best first, and why there is none. */
export async function addonsHere() {
  if (isClone) {
    // Its bundles may not be there yet, and it runs what it builds.
    return { found: existsSync(addon) ? [{ path: addon, source: 'built' }] : [], faults: [], lacking: 'not built' };
  }
  const found = await import('../../dist/addons_here.mjs');
  return found.addonsHere(root);
}

/** What is told of the addon in the package of this platform, as `prebuilt linux-x64`; null where there is none. */
export async function prebuiltSource() {
  const { found } = await addonsHere();
  return found.find(({ source }) => source !== 'built')?.source ?? null;
}
