/** Modules of Node, in files that run anywhere and therefore import none. */
import { perProcess } from './per_process.js';

type Require = (name: string) => unknown;

const kept = (): { require: Require | null } => perProcess('require', () => ({ require: null }));

/** Takes the `require` of the Node entry. */
export function keepRequire(require: Require): void {
  kept().require ??= require;
}

/**
 * Returns a module of Node by its name, such as `node:fs`; null in other runtimes.
 *
 * Node has a function for that from 20.16 and 22.3 on; before, the Node entry gives its `require`.
 */
export function nodeBuiltin<T>(name: string): T | null {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  if (process?.versions?.node === undefined) return null;
  if (typeof process.getBuiltinModule === 'function') return (process.getBuiltinModule(name) as T | undefined) ?? null;
  return (kept().require?.(name) as T | undefined) ?? null;
}
