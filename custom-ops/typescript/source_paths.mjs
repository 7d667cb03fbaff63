// @ts-check
/** Names of the package and the sources that they stand for in a clone. */
import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

/**
 * By name, as URLs: what tsconfig.json says.
 * @returns {Readonly<Record<string, string>>}
 */
export function sourcePaths() {
  const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', ROOT), 'utf8'));
  /** @type {[string, readonly string[]][]} */
  const entries = Object.entries(compilerOptions.paths);
  return Object.fromEntries(entries.map(([name, [path = '']]) => [name, new URL(path, ROOT).href]));
}
