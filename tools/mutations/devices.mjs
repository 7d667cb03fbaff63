/**
 * Bundles the program of the emulator's devices from the sources of a sandbox, its working directory. With `--reach` its
 * threads write which blocks they reach where the process that starts them does (see reach/reach_hook.mjs).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Runs first in a thread. */
function takePart(require) {
  const shared = require('node:worker_threads').getEnvironmentData('reached');
  if (shared === undefined) return;
  const reached = new Uint8Array(shared);
  globalThis.__at = (block) => (reached[block] = 1);
}

const { buildWorker } = await import(pathToFileURL(join(process.cwd(), 'custom-ops/build_worker.mjs')).href);
const { generated } = await buildWorker();
if (process.argv.includes('--reach')) {
  const prologue = JSON.stringify(`if (typeof require === "function") (${takePart})(require);\n`);
  const text = readFileSync(generated, 'utf8');
  writeFileSync(
    generated,
    text.replace(/(WORKER_SOURCE: string = )"/, (_, start) => `${start}${prologue} + "`),
  );
}
