/**
 * State that all copies of this package in a process share: its ESM and its CommonJS build (and two entry points of
 * either) have no module state in common, yet must see the same kernels, scopes and settings.
 */

const KEY = Symbol.for('tfjs-embeddings');

/** Returns what is kept under `key`; `make` makes it when it is first asked for. Each room keeps its own. */
export function perProcess<T>(key: string, make: () => T): T {
  const holder = globalThis as unknown as Record<symbol, Map<string, unknown> | undefined>;
  const kept = (holder[KEY] ??= new Map());
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key) as T;
}
