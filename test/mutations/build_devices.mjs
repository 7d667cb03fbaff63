/**
 * Bundles the program of the emulator's devices from mutated sources, and lets its threads take part: a thread learns from
 * shared memory which mutant is on and tells which ones it reached (see device_threads.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { buildWorker } from '../../custom-ops/build_worker.mjs';

/** Runs first in a thread. Mutated code reads and writes the object that this defines. */
function takePart(require) {
  const { getEnvironmentData } = require('node:worker_threads');
  const shared = getEnvironmentData('mutations');
  if (shared === undefined) return;
  const [words, reached] = [new Int32Array(shared.words), new Uint8Array(shared.reached)];
  let [known, name] = [0, undefined];
  const told = { set: (_, id) => (reached[id] = 1) };
  globalThis.__stryker__ = {
    get activeMutant() {
      const active = Atomics.load(words, 0);
      if (active !== known) [known, name] = [active, active === 0 ? undefined : String(active - 1)];
      return name;
    },
    get hitCount() {
      return Atomics.load(words, 1);
    },
    set hitCount(count) {
      Atomics.store(words, 1, count);
    },
    get hitLimit() {
      return Atomics.load(words, 2);
    },
    mutantCoverage: { static: new Proxy({}, told), perTest: {} },
  };
}

const { generated } = await buildWorker();
const prologue = JSON.stringify(`if (typeof require === "function") (${takePart})(require);\n`);
const text = readFileSync(generated, 'utf8');
writeFileSync(
  generated,
  text.replace(/(WORKER_SOURCE: string = )"/, (_, start) => `${start}${prologue} + "`),
);
