/** Default names: `embedding_1`, `embedding_2`, as Keras counts them. */
import { layerState } from './layer_state.js';

/** The next unused default name of this process. */
export function nextName(prefix: string): string {
  const { counters } = layerState();
  const next = (counters.get(prefix) ?? 0) + 1;
  counters.set(prefix, next);
  return `${prefix}_${next}`;
}
