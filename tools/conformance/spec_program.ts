/**
 * Runs specs of tfjs in a process of their own, with or without this package: see `SpecRun` for the one argument. Writes
 * a line of JSON for each spec as it ends, so that a crash tells which ones were done.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { join } from 'node:path';
import type * as node from '../../src/node.js';
import { startJasmine } from '../../test/runner/jasmine.js';
import type { SpecLine, SpecRun } from './spec_run.js';
import { PARTS, ROOT, type Part } from './tfjs_bundle.js';

type Bundle = Readonly<Record<Part, object>> & {
  setTestEnvs(environments: readonly object[]): void;
  readonly specs: Readonly<Record<string, () => void>>;
};

const SPEC_TIMEOUT_MS = 20_000;
const require = createRequire(join(ROOT, 'package.json'));

interface Loading {
  new (path: string): { paths: string[]; exports: unknown; _compile(text: string, path: string): void };
  _nodeModulePaths(folder: string): string[];
}

/** Loads the program as if it lay in the project, where its other imports are found. */
function loadBundle(file: string): Bundle {
  const Loader = Module as unknown as Loading;
  const loaded = new Loader(file);
  loaded.paths = Loader._nodeModulePaths(ROOT);
  loaded._compile(readFileSync(file, 'utf8'), join(ROOT, 'conformance.cjs'));
  return loaded.exports as Bundle;
}

/** From now on whoever asks for a package of tfjs gets that of the bundle. */
function takeThePlaceOfTfjs(bundle: Bundle): void {
  for (const part of PARTS) {
    const path = require.resolve(`@tensorflow/tfjs-${part}`);
    require.cache[path] = Object.assign(new Module(path), { exports: bundle[part], loaded: true, filename: path });
  }
  require('@tensorflow/tfjs');
}

async function loadBackend(name: string): Promise<void> {
  if (name === 'wasm') require('@tensorflow/tfjs-backend-wasm');
  if (name === 'tensorflow') require('@tensorflow/tfjs-node');
}

async function loadPackage({ backend, emulator }: SpecRun): Promise<void> {
  const emb = (await import('../../src/node.js')) as typeof node;
  await emb.ready();
  // Models of tfjs alone are left to it: all are taken for ours.
  const { perProcess } = await import('../../src/base/per_process.js');
  perProcess('models of ours', () => ({ adopting: 0 })).adopting++;
  emb.converter.registerOps();
  if (backend === 'tpu-emulator') emb.configureTpuEmulator(emulator as never);
}

async function main(): Promise<void> {
  const run = JSON.parse(process.argv[2]!) as SpecRun;
  const tell = (line: SpecLine): void => appendFileSync(run.results, `${JSON.stringify(line)}\n`);
  const { env } = startJasmine(ROOT, { load: async () => undefined });
  env.configure({ random: false, failSpecWithNoExpectations: false });
  jasmine.DEFAULT_TIMEOUT_INTERVAL = SPEC_TIMEOUT_MS;
  const bundle = loadBundle(run.bundle);
  takeThePlaceOfTfjs(bundle);
  await loadBackend(run.backend);
  if (run.withPackage) await loadPackage(run);
  bundle.setTestEnvs([{ name: 'conformance', backendName: run.backend, flags: {}, isDataSync: true }]);
  const seen = new Map<string, number>();
  for (const [file, define] of Object.entries(bundle.specs)) {
    try {
      define();
    } catch (error) {
      tell({ name: `${file} loads`, status: 'failed', message: String((error as Error).stack) });
    }
  }
  env.addReporter({
    specDone({ fullName, status, failedExpectations }) {
      if (status === 'excluded') return;
      const count = (seen.get(fullName) ?? 0) + 1;
      seen.set(fullName, count);
      const name = count === 1 ? fullName : `${fullName} (${count})`;
      tell({ name, status, message: failedExpectations.map(({ message }) => message).join('\n') });
    },
    suiteDone({ fullName, failedExpectations }) {
      if (failedExpectations.length === 0) return;
      tell({ name: `${fullName}: around its specs`, status: 'failed', message: failedExpectations[0]!.message });
    },
  });
  if (run.texts.length > 0) {
    env.configure({
      specFilter: (spec: { getFullName(): string }) => run.texts.some((text) => spec.getFullName().includes(text)),
    });
  }
  await env.execute();
  tell({ name: '', status: 'end', message: '' });
}

await main();
process.exit(0);
