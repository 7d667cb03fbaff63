/** The part "WebAssembly": the C kernels as a WebAssembly module, and the TypeScript file that embeds it. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gist, run } from './command.mjs';
import { build, isClone, packageFolder, root } from './places.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished } from './unfinished.mjs';

const OUT = join(build, 'kernels.wasm');
const STAMP = `${OUT}.json`;
const EMBEDDED = join(root, 'src', 'backends', 'wasm', 'kernels_wasm.ts');
const PROGRAM = join(root, 'custom-ops', 'build_wasm.mjs');
const SOURCES = ['kernels', 'hosts', 'build_wasm.mjs'];

/** Finds the WebAssembly module; `make` builds it with the clang that comes as an npm package. */
export function findWasm({ log }) {
  if (!isClone) return { state: 'present', why: 'embedded in the package' };
  const clang = packageFolder('@yowasp/clang');
  if (clang === null) return { state: 'missing', why: 'needs the npm package @yowasp/clang' };
  const sources = SOURCES.map((name) => ({ path: join(root, 'custom-ops', name) }));
  const inputs = hashOf({ path: join(clang, 'package.json') }, ...sources, { path: EMBEDDED });
  const why = 'SIMD, for browsers and for Node without the addon';
  if (existsSync(OUT) && existsSync(EMBEDDED) && readStamp(STAMP)?.inputs === inputs) return { state: 'present', why };
  return {
    state: 'missing',
    why: existsSync(OUT) ? 'out of date' : 'not built',
    make: () => compile(sources, clang, log, why),
  };
}

/** Removes what a build that was ended early has left. */
export function sweepWasm() {
  removeUnfinished(build, dirname(EMBEDDED));
}

/** What sources import, where the module is not made. */
export async function leaveOutWasm() {
  const { writeEmpty } = await import('../build_wasm.mjs');
  if (isClone) writeEmpty();
}

async function compile(sources, clang, log, why) {
  mkdirSync(build, { recursive: true });
  log('compiling the WebAssembly module');
  rmSync(STAMP, { force: true }); // it never stands beside a module that is not its own
  try {
    // A process of its own: this compiler would keep this one from everything else.
    const said = await run(process.execPath, [PROGRAM]);
    if (said.trim() !== '') log(said.trim());
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  if (!existsSync(EMBEDDED)) return { state: 'missing', why: `${EMBEDDED} was not made` };
  writeStamp(STAMP, { inputs: hashOf({ path: join(clang, 'package.json') }, ...sources, { path: EMBEDDED }) });
  return { state: 'built', why };
}
