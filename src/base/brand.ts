/**
 * One class, however many copies of this package a process holds: the ESM and the CommonJS build, or two versions in
 * two folders. Each copy has classes of its own, so `instanceof` goes by a mark that all of them know.
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
  const mark = Symbol.for(`tfjs-embeddings.${name}`);
  Object.defineProperty(cls.prototype, mark, { value: true });
  Object.defineProperty(cls, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== cls) return Function.prototype[Symbol.hasInstance].call(this as never, value);
      return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[mark] === true;
    },
  });
}
