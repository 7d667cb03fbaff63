/** What tfjs remembers of models that have run. */
import * as tf from '@tensorflow/tfjs';

const FLAG = 'TOPOLOGICAL_SORT_CACHE_MAX_ENTRIES';

/**
 * Makes tfjs forget in which order the layers of models run, which it finds again at the next call. It remembers the
 * last hundred models with all their layers, disposed ones too, and offers no way to forget only one.
 */
export function clearTopologyCache(): void {
  const env = tf.env();
  if (!(FLAG in (env as unknown as { flagRegistry: object }).flagRegistry)) return;
  const most = env.getNumber(FLAG);
  env.set(FLAG, 0);
  env.set(FLAG, most);
}
