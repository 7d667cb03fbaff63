// @ts-check
/** Hooks of Node's loader, see register.mjs. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compiled } from './compiled.mjs';

/** @type {Readonly<Record<string, string>>} */
let paths = {};

/**
 * `paths`: names that stand for sources, and their URLs.
 * @param {{ readonly paths: Readonly<Record<string, string>> }} data
 */
export function initialize(data) {
  ({ paths } = data);
}

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  const path = Object.hasOwn(paths, specifier) ? paths[specifier] : undefined;
  if (path !== undefined) return { url: path, format: 'module', shortCircuit: true };
  // Sources name each other by the `.js` name that they will have when built.
  if (/^\.\.?\/.*\.js$/.test(specifier)) {
    const built = new URL(specifier, context.parentURL);
    const source = new URL(built.href.replace(/\.js$/, '.ts'));
    if (existsSync(source) && !existsSync(built)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !/\.m?ts(\?|$)/.test(url)) return next(url, context);
  return { format: 'module', source: await compiled(fileURLToPath(url)), shortCircuit: true };
}
