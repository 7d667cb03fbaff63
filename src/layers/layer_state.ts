/**
 * What layers share within a process. Under a global symbol, for the same reason as `state()`: two copies of this
 * package (ESM and CommonJS) must see the same counters and scopes.
 */
import type * as tf from '@tensorflow/tfjs';
import type { EmbeddingTable } from './embedding_table.js';

/** Open while a model is made, lists its weights, loads them or sums its penalties. */
export interface ModelScope {
  /** Weights listed so far, by the name under which they are saved. */
  readonly listed: Map<string, tf.LayerVariable>;
  /** Layer that listed a weight: it may list it again. */
  readonly listedBy: Map<tf.LayerVariable, { readonly id: number; readonly name: string }>;
  /** Tables whose penalty was taken. */
  readonly penalized: Set<EmbeddingTable>;
}

export interface LayerState {
  /** Last number given to a default name, by prefix. */
  readonly counters: Map<string, number>;
  modelScope: ModelScope | null;
  /** How many models are being fed right now, one within the other. */
  feeds: number;
  /** Number of the feeding in progress, or of the last one. */
  feeding: number;
  /** Shared tables by name while a model is being built from its config; null otherwise. */
  loadedTables: Map<string, EmbeddingTable> | null;
}

const KEY = Symbol.for('tfjs-embeddings.layers');

export function layerState(): LayerState {
  const holder = globalThis as unknown as Record<symbol, LayerState | undefined>;
  return (holder[KEY] ??= { counters: new Map(), modelScope: null, feeds: 0, feeding: 0, loadedTables: null });
}
