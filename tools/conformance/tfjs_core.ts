/** The specs of tfjs-core, which its npm package ships. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBothWays } from './both_ways.js';
import type { Source } from './source.js';
import { installed } from './tfjs_bundle.js';

export const CORE_BACKENDS = ['cpu', 'wasm', 'tensorflow', 'tpu-emulator'];

/** The files that tfjs-core itself runs, which it lists. */
export function coreSpecs(): Record<string, string> {
  const folder = join(installed('core'), 'dist');
  const list = readFileSync(join(folder, 'tests.js'), 'utf8');
  const names = Array.from(list.matchAll(/^import '\.\/(.*)';$/gm), ([, name]) => name!);
  return Object.fromEntries(names.map((name) => [name, join(folder, `${name}.js`)]));
}

export const tfjsCore: Source = {
  name: 'tfjs-core',
  describe: `specs of @tensorflow/tfjs-core on ${CORE_BACKENDS.join(', ')}`,
  async run(wanted, say) {
    const backends = CORE_BACKENDS.filter((name) => wanted.backends.includes(name));
    return runBothWays('tfjs-core', { specs: coreSpecs(), checkout: null }, { ...wanted, backends }, say);
  },
};
