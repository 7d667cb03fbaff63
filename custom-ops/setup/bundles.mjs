/** The part "bundles": what npm publishes, made by rollup. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gist, run } from './command.mjs';
import { isClone, packageFolder, root } from './places.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished } from './unfinished.mjs';

const DIST = join(root, 'dist');
const STAMP = join(DIST, '.stamp.json');
const INPUTS = ['src', 'rollup.config.js', 'tsconfig.json', 'package.json', 'package-lock.json'];
/** Every file that package.json names. */
const { exports = {}, unpkg = '' } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const OUTPUTS = [...new Set([...filesIn(exports), unpkg])].filter((path) => path.startsWith('./dist/'));

function filesIn(conditions) {
  return typeof conditions === 'string' ? [conditions] : Object.values(conditions).flatMap(filesIn);
}

/** Finds the bundles; `make` runs rollup when sources or settings changed. */
export function findBundles({ log }) {
  const lacking = OUTPUTS.find((name) => !existsSync(join(root, name)));
  const why = 'ESM, CommonJS, browser, types';
  if (!isClone) {
    return lacking === undefined
      ? { state: 'present', why }
      : { state: 'missing', why: `the package lacks ${lacking.slice(2)}` };
  }
  const inputs = hashOf(...INPUTS.map((name) => ({ path: join(root, name) })));
  if (lacking === undefined && readStamp(STAMP)?.inputs === inputs) return { state: 'present', why };
  const rollup = packageFolder('rollup');
  if (rollup === null) return { state: 'missing', why: 'needs the npm package rollup' };
  return {
    state: 'missing',
    why: lacking === undefined ? 'out of date' : 'not built',
    make: () => bundle(rollup, inputs, log, why),
  };
}

/** Removes what a build that was ended early has left. */
export function sweepBundles() {
  removeUnfinished(DIST);
}

async function bundle(rollup, inputs, log, why) {
  log('bundling');
  rmSync(DIST, { recursive: true, force: true });
  try {
    const program = join(rollup, 'dist', 'bin', 'rollup');
    // Two processes: what minifies for pages takes as long as all else.
    const some = (names) => run(process.execPath, [program, '-c', '--silent', '--configBundle', names], { cwd: root });
    await Promise.all([some('modules,types'), some('browser')]);
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  writeStamp(STAMP, { inputs });
  return { state: 'built', why };
}
