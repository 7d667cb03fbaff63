/** Pages with a worker, built by esbuild into memory: a few files that need nothing else. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Of file formats that no page here reads; imported on first use, which never comes. */
const NOT_NEEDED = ['jsfive', 'apache-arrow', 'tinyglobby'];

export interface PageSources {
  /** Folder of the sources. */
  readonly folder: string;
  /** Modules that the page and its worker begin with, by their names there. */
  readonly entries: Readonly<Record<string, string>>;
}

/** Files by their path on the server. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Modules of tfjs's backend in WebAssembly, which it fetches by name. */
function wasmFiles(): [string, Uint8Array][] {
  const require = createRequire(import.meta.url);
  const dist = join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json')), 'dist');
  const names = ['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm-threaded-simd.wasm'];
  return names.map((name) => [`tfjs-wasm/${name}`, readFileSync(join(dist, name))]);
}

/** Builds a page: its modules, its style and `index.html`. The package itself is built from its sources. */
export async function bundlePage({ folder, entries }: PageSources): Promise<PageFiles> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(folder, path)])),
    outdir: 'page',
    bundle: true,
    write: false,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    external: NOT_NEEDED,
    tsconfigRaw: { compilerOptions: { target: 'ES2022' } },
    alias: { 'tfjs-embeddings': join(ROOT, 'src/index.ts') },
    // Some packages ask which surroundings they run in.
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
    metafile: false,
  });
  const built = outputFiles.map(({ path, contents }): [string, Uint8Array] => {
    return [path.slice(join(ROOT, 'page').length + 1), contents];
  });
  return new Map([...built, ...wasmFiles(), ['index.html', readFileSync(join(folder, 'index.html'))]]);
}
