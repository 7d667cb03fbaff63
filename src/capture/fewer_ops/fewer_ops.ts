/** All that makes a recorded step fewer ops before it becomes a graph. */
import { neededOps, type AttributeKinds } from '../graph_def.js';
import { withOwnGradients } from './own_gradients.js';
import { withJoinedProducts, withSmallProducts } from './products.js';
import type { Recording } from '../recording.js';
import { simplified } from './simplified.js';
import { withSums } from './sums.js';

/** Without ops whose results are unused: they would count as users of a sum. */
const needed = (recording: Recording): Recording => ({ ...recording, ops: neededOps(recording) });

/** The same step in as few ops as we know, to the bit, but for products, which are as `withOwnProducts` has them. */
export function fewerOps(recording: Recording, kinds: AttributeKinds): Recording {
  const simple = needed(withOwnGradients(simplified(withSmallProducts(recording, kinds))));
  return withJoinedProducts(needed(withSums(simple, kinds)), kinds);
}
