/** The part "WebAssembly": the C kernels as a WebAssembly module, and the TypeScript file that embeds it. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gist } from './command.mjs';
import { build, isClone, packageFolder, root } from './places.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished } from './unfinished.mjs';

const OUT = join(build, 'kernels.wasm');
const STAMP = `${OUT}.json`;
const EMBEDDED = join(root, 'src', 'backends', 'wasm', 'kernels_wasm.ts');
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

async function compile(sources, clang, log, why) {
  const { buildWasm } = await import('../build_wasm.mjs');
  mkdirSync(build, { recursive: true });
  log('compiling the WebAssembly module');
  rmSync(STAMP, { force: true }); // it never stands beside a module that is not its own
  try {
    await buildWasm({ log });
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  if (!existsSync(EMBEDDED)) return { state: 'missing', why: `${EMBEDDED} was not made` };
  writeStamp(STAMP, { inputs: hashOf({ path: join(clang, 'package.json') }, ...sources, { path: EMBEDDED }) });
  return { state: 'built', why };
}
