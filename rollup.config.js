/** Bundles: ESM and CommonJS with types for both entries, and one minified file for browsers. tfjs is never bundled. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import nodeResolve from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { dts } from 'rollup-plugin-dts';
import esbuild from 'rollup-plugin-esbuild';

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
const banner = `/*! tfjs-embeddings ${version}, Apache-2.0 */`;
/** Loaded on first use, by those who read or write such files. */
const ON_DEMAND = ['@zip.js/zip.js', 'hyparquet', 'hyparquet-compressors', 'jsfive'];
const isOnDemand = (id) => ON_DEMAND.some((name) => id === name || id.startsWith(`${name}/`));
const externalToPages = (id) => id.startsWith('@tensorflow/') || id.startsWith('node:') || isOnDemand(id);
/** Small enough to be part of the bundle for pages. */
const external = (id) => externalToPages(id) || id.startsWith('@bufbuild/');
const entries = {
  data: 'src/data/index.ts',
  index: 'src/index.ts',
  'index.node': 'src/index_node.ts',
  layers: 'src/layers/index.ts',
  node: 'src/node.ts',
  ops: 'src/lookup/index.ts',
  preprocessing: 'src/preprocessing/index.ts',
  ranking: 'src/ranking/index.ts',
  report: 'src/report/index.ts',
  tpu: 'src/tpu/index.ts',
  webgpu: 'src/backends/webgpu/index.ts',
};
const WASM = resolve(root, 'custom-ops/build/kernels.wasm');

/** Sources name each other by the `.js` name that Node will see; here that is the `.ts` file. */
const typescriptNames = {
  name: 'typescript-names',
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.') || !source.endsWith('.js')) return null;
    const path = resolve(dirname(importer), source.replace(/\.js$/, '.ts'));
    return existsSync(path) ? path : null;
  },
};

/** Puts the WebAssembly module beside the bundles, for those who serve it apart. */
const wasmFile = {
  name: 'wasm-file',
  generateBundle() {
    if (!existsSync(WASM)) return;
    this.emitFile({ type: 'asset', fileName: 'kernels.wasm', source: readFileSync(WASM) });
  },
};

/** Chunks are named by what is in them: those of earlier builds would be published too. */
const withoutOldChunks = {
  name: 'without-old-chunks',
  buildStart() {
    rmSync(resolve(root, 'dist', 'chunks'), { recursive: true, force: true });
  },
};

const typescript = () => esbuild({ target: 'es2022', tsconfig: resolve(root, 'tsconfig.json') });

/** One graph for all entries, so that a class or function is the same one whichever entry it came from. */
const modules = {
  // Set-up and `info` look for the addon as a program does.
  input: { ...entries, addons_here: 'src/backends/native/addons_here.ts' },
  external,
  plugins: [withoutOldChunks, typescriptNames, typescript(), wasmFile],
  output: ['mjs', 'cjs'].map((extension) => ({
    dir: 'dist',
    format: extension === 'mjs' ? 'es' : 'cjs',
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `chunks/[name]-[hash].${extension}`,
    sourcemap: true,
    exports: 'named',
    interop: 'auto',
    banner,
  })),
};

/** Where the compiler puts declarations, a file for each source. */
const DECLARED = resolve(root, 'custom-ops', 'build', 'declarations');

/**
 * Lets the compiler write all declarations in one go: the plugin that bundles them would make a program for each source.
 * That of version 7 takes a fifth of the time.
 */
const declarations = {
  name: 'declarations',
  buildStart() {
    rmSync(DECLARED, { recursive: true, force: true });
    const settings = `${DECLARED}.json`;
    const compilerOptions = {
      ...{ noEmit: false, emitDeclarationOnly: true, outDir: DECLARED, rootDir: resolve(root, 'src') },
      // `npm run check` has done that.
      ...{ noCheck: true, incremental: false, tsBuildInfoFile: null, paths: {} },
      ...{ types: ['node'], typeRoots: [resolve(root, 'node_modules', '@types')] },
    };
    const files = Object.values(entries).map((path) => resolve(root, path));
    writeFileSync(
      settings,
      JSON.stringify({ extends: resolve(root, 'tsconfig.json'), compilerOptions, files, include: [] }),
    );
    const args = [resolve(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), '--singleThreaded', '-p', settings];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) this.error(`the declarations cannot be written: ${stdout}${stderr}`);
  },
};

/**
 * A namespace that is exported whole names its members anew: the plugin that bundles declarations takes those of another
 * chunk for values, types too.
 */
const typesOfChunks = {
  name: 'types-of-chunks',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter(({ code }) => code !== undefined);
    const namesOf = (kinds) => {
      const declared = new RegExp(`^(?:export )?(?:declare )?(?:abstract )?(?:${kinds}) (\\w+)`, 'gm');
      return new Set(chunks.flatMap(({ code }) => [...code.matchAll(declared)].map(([, name]) => name)));
    };
    const [types, values] = [namesOf('type|interface'), namesOf('function|class|const|let|enum|namespace')];
    for (const chunk of chunks) {
      chunk.code = chunk.code.replace(/^declare const (\w+): typeof (\w+);$/gm, (line, alias, name) => {
        return types.has(name) && !values.has(name) ? `type ${alias} = ${name};` : line;
      });
    }
  },
};

/** Declarations twice, as TypeScript wants a `.d.cts` beside a CommonJS file. */
const types = {
  input: Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, resolve(DECLARED, path.replace(/^src.(.*)ts$/, '$1d.ts'))]),
  ),
  external,
  plugins: [declarations, dts({ tsconfig: resolve(root, 'tsconfig.json') }), typesOfChunks],
  output: ['ts', 'cts'].map((extension) => ({
    dir: 'dist',
    format: 'es',
    entryFileNames: `[name].d.${extension}`,
    chunkFileNames: `chunks/[name]-[hash].d.${extension}`,
  })),
};

const browser = {
  input: entries.index,
  external: externalToPages,
  plugins: [typescriptNames, nodeResolve({ browser: true }), typescript(), terser({ format: { comments: /^!/ } })],
  output: {
    file: 'dist/tfjs-embeddings.min.js',
    format: 'umd',
    name: 'tfjsEmbeddings',
    inlineDynamicImports: true,
    globals: { '@tensorflow/tfjs': 'tf' },
    sourcemap: true,
    // Wherever packages are installed, or linked from.
    sourcemapPathTransform: (path) => path.replace(/^.*[\\/](?=node_modules[\\/])/, '../'),
    exports: 'named',
    banner,
  },
};

/** All, or with `--configBundle NAME` one: set-up makes the slow one for pages beside the others. */
export default ({ configBundle }) => {
  const all = { modules, types, browser };
  return configBundle === undefined
    ? Object.values(all)
    : String(configBundle)
        .split(',')
        .map((name) => all[name]);
};
