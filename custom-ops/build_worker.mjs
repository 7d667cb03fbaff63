#!/usr/bin/env node
/**
 * Bundles the program of the emulator's devices, src/backends/emulator/devices/worker_main.ts, into one text that
 * runs in a worker of Node or of a browser, and writes it to worker_source.ts beside it.
 *
 * The WebAssembly module is not bundled a second time: workers get it from the thread that starts them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeWhole } from './setup/unfinished.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const DEVICES = join(root, 'src', 'backends', 'emulator', 'devices');
const ENTRY = join(DEVICES, 'worker_main.ts');
const GENERATED = join(DEVICES, 'worker_source.ts');

/** Keeps what kernels_wasm.ts says of the module, and leaves its bytes out. */
const withoutModule = {
  name: 'without-module',
  setup(build) {
    build.onLoad({ filter: /[\\/]kernels_wasm\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/(KERNELS: string = )'[^']*'/, "$1''"),
      loader: 'ts',
    }));
  },
};

function writeGenerated(text) {
  const content = [
    '/* Written by custom-ops/build_worker.mjs. */',
    '/** The program of a device as a script, which defines `tfjsEmbeddingsDevice`; empty where it was not built. */',
    `export const WORKER_SOURCE: string = ${JSON.stringify(text)};`,
    '',
  ].join('\n');
  if (existsSync(GENERATED) && readFileSync(GENERATED, 'utf8') === content) return;
  writeWhole(GENERATED, content);
}

/**
 * Builds the program. Resolves to `{generated, files}`: the file written, and the sources that went into it, by their
 * paths under the root. Rejects where it cannot be built; where it never was, an empty one is written so that
 * everything else still loads.
 */
export async function buildWorker({ log = () => {} } = {}) {
  try {
    const { build } = await import('esbuild');
    const { outputFiles, metafile } = await build({
      entryPoints: [ENTRY],
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      format: 'iife',
      globalName: 'tfjsEmbeddingsDevice',
      platform: 'neutral',
      target: 'es2022',
      minify: true,
      legalComments: 'none',
      logLevel: 'silent',
      plugins: [withoutModule],
    });
    const text = outputFiles[0].text;
    const files = Object.keys(metafile.inputs).map((path) => relative(root, resolve(root, path)).split(sep).join('/'));
    const foreign = files.find((path) => !path.startsWith('src/'));
    if (foreign !== undefined) throw new Error(`the program of devices must not hold ${foreign}`);
    writeGenerated(text);
    log(`program of devices: ${text.length} bytes`);
    return { generated: GENERATED, files: files.sort() };
  } catch (error) {
    writeEmpty();
    throw error;
  }
}

/** An empty program where there is none: everything else loads beside it, and finds no threads for devices. */
export function writeEmpty() {
  if (!existsSync(GENERATED)) writeGenerated('');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await buildWorker({ log: (text) => console.error(text) });
}
