/** Overrides of what tfjs computes, for as long as a call lasts. */
import { perProcess } from '../../base/per_process.js';

/** Something of tfjs that gives way for as long as a call lasts. */
export interface Override {
  /** Puts the hook into tfjs. Once per copy of tfjs: later calls do nothing. */
  install?(): void;
  /** Begins; returns what ends it. */
  begin(): () => void;
}

/** Runs `f` with all overrides in force. */
export function withOverrides<T>(overrides: readonly Override[], f: () => T): T {
  const ends = overrides.map((each) => each.begin());
  try {
    return f();
  } finally {
    for (const end of ends.reverse()) end();
  }
}

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

  /** `by` in the place of tfjs. `install`: puts the hook into tfjs. */
  as(by: By, install?: () => void): Override {
    const active = this.#active;
    const begin = (): (() => void) => {
      const outer = active.by;
      active.by = by;
      return () => {
        active.by = outer;
      };
    };
    return install === undefined ? { begin } : { begin, install };
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
