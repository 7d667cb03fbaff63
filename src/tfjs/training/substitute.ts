/** What tfjs computes and somebody else may compute for as long as a call lasts. */
import { perProcess } from '../../base/per_process.js';

/** `By` is what does the work in place of tfjs; `name` tells one such method from others, in all copies of the package. */
export class Substitute<By> {
  readonly #mark: symbol;
  readonly #active: { by: By | null };

  constructor(name: string) {
    this.#mark = Symbol.for(`tfjs-embeddings.${name}`);
    this.#active = perProcess(name, () => ({ by: null }));
  }

  /** Who does the work now; null: tfjs. */
  get now(): By | null {
    return this.#active.by;
  }

  /** Runs `f` while `by` does the work; null: tfjs does. */
  during<T>(by: By | null, f: () => T): T {
    const active = this.#active;
    const outer = active.by;
    active.by = by;
    try {
      return f();
    } finally {
      active.by = outer;
    }
  }

  /**
   * Puts what `make` gives in the place of a method of the layer's class; `make` is given the stock method, and a
   * function that tells who does the work now (null: tfjs). Once per copy of tfjs: later calls do nothing.
   */
  open<Method>(layer: object, method: string, make: (stock: Method, by: () => By | null) => Method): void {
    const { prototype } = layer.constructor as { prototype: Record<string | symbol, unknown> };
    if (Object.hasOwn(prototype, this.#mark)) return;
    Object.defineProperty(prototype, this.#mark, { value: true });
    prototype[method] = make(prototype[method] as Method, () => this.now);
  }
}
