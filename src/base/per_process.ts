/**
 * State that all copies of this package in a process share: its ESM and its CommonJS build (and two entry points of
 * either) have no module state in common, yet must see the same kernels, scopes and settings.
 */

/**
 * Makes `value instanceof cls` true for the instances of every copy. `name` is the name under which users know the
 * class. Classes that users derive from it are told apart as usual.
 *
 * @example
 * class RaggedTensor {
 *   static {
 *     brand(this, 'RaggedTensor');
 *   }
 * }
 */
export function brand(cls: { readonly prototype: object }, name: string): void {
  const mark = markOf(name);
  Object.defineProperty(cls.prototype, mark, { value: true });
  Object.defineProperty(cls, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== cls) return Function.prototype[Symbol.hasInstance].call(this as never, value);
      return hasBrand(value, name);
    },
  });
}

/** What `instanceof` says of a class branded so, without the class, which then need not be in a bundle. */
export function hasBrand(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[markOf(name)] === true;
}

function markOf(name: string): symbol {
  return Symbol.for(`tfjs-embeddings.${name}`);
}

const KEY = Symbol.for('tfjs-embeddings');

/** Returns what is kept under `key`; `make` makes it when it is first asked for. Each room keeps its own. */
export function perProcess<T>(key: string, make: () => T): T {
  const holder = globalThis as unknown as Record<symbol, Map<string, unknown> | undefined>;
  const kept = (holder[KEY] ??= new Map());
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key) as T;
}
