/** How layers of rooms above this one are exported: they lend what writes their ops, which is loaded on first use. */
import { perProcess } from '../../per_process.js';
import type { Emitter } from './layer_call.js';

export interface LentLayer {
  readonly emit: Emitter;
  /** Whether all inputs are ids padded with negative ones, so that rows of different lengths may be fed in their place. */
  readonly takesRaggedIds: boolean;
}

interface Lent {
  readonly load: () => Promise<LentLayer>;
  loaded: LentLayer | null;
}

const lent = (): Map<string, Lent> => perProcess('lent layers of exports', () => new Map<string, Lent>());

/** Lends the layers of a class. May be called again. */
export function lendLayer(className: string, load: () => Promise<LentLayer>): void {
  lent().set(className, { load, loaded: null });
}

/** To be called before a model is looked at. */
export async function loadLentLayers(): Promise<void> {
  for (const each of lent().values()) each.loaded ??= await each.load();
}

/** The layers of a class; null where nobody lends them. */
export function lentLayer(className: string): LentLayer | null {
  return lent().get(className)?.loaded ?? null;
}
