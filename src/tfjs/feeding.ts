/** Whether a model is being fed right now. */
import { perProcess } from '../base/per_process.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Feeding {
  /** How many models are being fed right now, one within the other. */
  depth: number;
  /** Number of the feeding in progress, or of the last one. */
  number: number;
}

const state = (): Feeding => perProcess('feeding of models', () => ({ depth: 0, number: 0 }));

export function isFeeding(): boolean {
  return state().depth > 0;
}

/** The number of the feeding in progress; null outside of one. */
export function feedingNumber(): number | null {
  const { depth, number } = state();
  return depth > 0 ? number : null;
}

/** A method that feeds a model while it runs. */
export function feeding(method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const shared = state();
    if (shared.depth === 0) shared.number++;
    shared.depth++;
    try {
      return method.apply(this, args);
    } finally {
      shared.depth--;
    }
  };
}
