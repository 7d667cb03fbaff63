/** Default names: `embedding_1`, `embedding_2`, as Keras counts them. */
import { perProcess } from './per_process.js';

/** Last number given to a default name, by prefix. */
const counters = (): Map<string, number> => perProcess('layer names', () => new Map());

/** The next unused default name of this process. */
export function nextName(prefix: string): string {
  const known = counters();
  const next = (known.get(prefix) ?? 0) + 1;
  known.set(prefix, next);
  return `${prefix}_${next}`;
}
