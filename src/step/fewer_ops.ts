/** All that makes a recorded step fewer ops before it becomes a graph. */
import { neededOps, type AttributeKinds } from './graph_def.js';
import { withJoinedProducts, withSmallProducts } from './products.js';
import type { Recording } from './recording.js';
import { simplified } from './simplified.js';
import { withSums } from './sums.js';

/** The same step in as few ops as we know; its sums and products may be taken in another order. */
export function fewerOps(recording: Recording, kinds: AttributeKinds): Recording {
  const simple = simplified(withSmallProducts(recording, kinds));
  // What nobody takes any more must not look like somebody who takes a sum.
  const needed = { ...simple, ops: neededOps(simple) };
  return withJoinedProducts(withSums(needed, kinds), kinds);
}
