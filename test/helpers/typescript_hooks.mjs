// @ts-check
/** Hooks of Node's loader for TypeScript, see typescript.mjs. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

const ROOT = new URL('../../', import.meta.url);

/**
 * Names that stand for sources: none, except while mutations are measured, which are changes of the sources.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const PATHS =
  process.env.MUTATIONS_CHILD === undefined
    ? {}
    : JSON.parse(readFileSync(new URL('tsconfig.json', ROOT), 'utf8')).compilerOptions.paths;

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  const path = PATHS[specifier]?.[0];
  if (path !== undefined) return next(new URL(path, ROOT).href, context);
  // Sources name each other by the `.js` name that they will have when built.
  if (/^\.\.?\/.*\.js$/.test(specifier)) {
    const built = new URL(specifier, context.parentURL);
    const source = new URL(built.href.replace(/\.js$/, '.ts'));
    if (!existsSync(built) && existsSync(source)) return next(source.href, context);
  }
  return next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const { code } = await transform(await readFile(path, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    sourcefile: path,
    sourcemap: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
