// @ts-check
/** The parts of `npm run check`: the program of each, and what it looks at. */
import { join } from 'node:path';

/**
 * @typedef {object} Part
 * @property {(root: string, isKept: boolean) => readonly string[]} args - What node runs; `isKept`: with what it may keep
 *   from run to run.
 * @property {Readonly<Record<string, string>>} [env] - Environment variables of the program.
 * @property {(path: string) => boolean} reads - Whether it looks at a file of git, by its path from the root.
 * @property {boolean} [readsNames] - Whether it matters which files there are, too.
 * @property {readonly string[]} [made] - Made files that it looks at and git does not have: a path, or a folder's
 *   declarations.
 */

/** Where parts keep something from run to run. */
export const KEPT = '.cache/check';

const CODE = /\.[cm]?[jt]s$/;
const MADE_SOURCES = ['src/backends/wasm/kernels_wasm.ts', 'src/backends/emulator/devices/worker_source.ts'];
const DECLARATIONS = 'dist';

/** @type {(root: string, path: string) => string} */
const installed = (root, path) => join(root, 'node_modules', path);

/**
 * The longest first.
 * @type {Readonly<Record<string, Part>>}
 */
export const PARTS = {
  'API docs': {
    args: () => ['test/check/api_docs.mjs'],
    reads: (path) => /^(src|docs|models)\/|^[^/]+$/.test(path),
    readsNames: true,
    made: MADE_SOURCES,
  },
  tsc: {
    // The compiler of version 7 finds the same in a quarter of the time. Threads of it would each work out types anew.
    args: (root, isKept) => [
      installed(root, 'typescript-native/bin/tsc'),
      ...['--noEmit', '--singleThreaded', '--incremental', String(isKept)],
    ],
    // It is a program in Go, which spends a quarter of its time on garbage with the 100 that it has by itself.
    env: { GOGC: '400' },
    reads: (path) => CODE.test(path) || path.endsWith('.json'),
    readsNames: true,
    made: [...MADE_SOURCES, DECLARATIONS],
  },
  'declared types': {
    args: () => ['test/check/api.mjs'],
    reads: (path) => /^tools\/release\/|^CHANGELOG\.md$/.test(path),
    made: [DECLARATIONS],
  },
  prettier: {
    args: (_, isKept) => ['test/check/format.mjs', ...(isKept ? [`${KEPT}/formatted.json`] : [])],
    reads: (path) => !/^test\/(goldens|fixtures)\//.test(path),
  },
  imports: {
    args: () => ['test/check/imports.mjs'],
    reads: (path) => /\.(ts|mjs|js|c|cc|h)$/.test(path) || path === 'docs/architecture.md',
    readsNames: true,
    made: MADE_SOURCES,
  },
  oxlint: {
    args: (root) => [installed(root, 'oxlint/bin/oxlint'), '--format=stylish'],
    reads: (path) => CODE.test(path) || path === '.oxlintrc.json',
  },
  words: { args: () => ['test/check/words.mjs'], reads: () => true },
};

/**
 * Whether every part looks at a file, because it may be about its program or its settings.
 * @param {string} path
 */
export function isOfAll(path) {
  if (/^(test\/check\/|custom-ops\/setup\/(stamp|unfinished)\.mjs$)/.test(path)) return true;
  return /^(package(-lock)?|tsconfig)\.json$|^\.(git|prettier)ignore$/.test(path);
}
