/** The part "workers": the program of the emulator's devices, as a text that workers run. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gist } from './command.mjs';
import { build, isClone, packageFolder, root } from './places.mjs';
import { hashOf, readStamp, writeStamp } from './stamp.mjs';
import { removeUnfinished } from './unfinished.mjs';

const EMBEDDED = join(root, 'src', 'backends', 'emulator', 'devices', 'worker_source.ts');
const STAMP = join(build, 'device_worker.json');

/** Finds the program; `make` bundles it again when anything that went into it is another. */
export function findDeviceWorker({ log }) {
  if (!isClone) return { state: 'present', why: 'embedded in the package' };
  const esbuild = packageFolder('esbuild');
  if (esbuild === null) return { state: 'missing', why: 'needs the npm package esbuild' };
  const why = 'devices of the TPU emulator as threads';
  const stamp = readStamp(STAMP);
  if (existsSync(EMBEDDED) && stamp !== null && stamp.inputs === inputsFor(stamp.files, esbuild)) {
    return { state: 'present', why };
  }
  return {
    state: 'missing',
    why: existsSync(EMBEDDED) ? 'out of date' : 'not built',
    make: () => bundle(esbuild, log, why),
  };
}

/** Removes what a build that was ended early has left. */
export function sweepDeviceWorker() {
  removeUnfinished(build, dirname(EMBEDDED));
}

/** What sources import, where the program is not made. */
export async function leaveOutDeviceWorker() {
  const { writeEmpty } = await import('../build_worker.mjs');
  if (isClone) writeEmpty();
}

/** The sources of the last time tell whether to build again: a new one can only come in through a change of these. */
function inputsFor(files, esbuild) {
  const sources = [...(files ?? []), 'custom-ops/build_worker.mjs', 'tsconfig.json'];
  const paths = sources.map((name) => ({ path: join(root, name) }));
  return hashOf({ path: join(esbuild, 'package.json') }, ...paths, { path: EMBEDDED });
}

async function bundle(esbuild, log, why) {
  const { buildWorker } = await import('../build_worker.mjs');
  mkdirSync(build, { recursive: true });
  log('bundling the program of devices');
  try {
    const { files } = await buildWorker({ log });
    writeStamp(STAMP, { files, inputs: inputsFor(files, esbuild) });
  } catch (error) {
    return { state: 'missing', why: gist(error) };
  }
  return { state: 'built', why };
}
