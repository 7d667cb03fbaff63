/** What is looked up for a feature: a bag of ids for each row of its activations. */
import type { HostBags } from '../../backends/kernel_set.js';
import { ValueError, described } from '../../base/errors.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { HostIds } from '../features/host_ids.js';
import { sequenceBags } from '../features/sequences.js';
import { isSequence } from './output_shapes.js';

/**
 * The bags of a feature whose activations have this shape without their columns. Ragged and sparse ids with fewer rows
 * than the shape has are sequences, in which weights have no effect, as in serving.
 * Throws ValueError where the rows do not fit the shape.
 */
export function featureBags(ids: HostIds, feature: FeatureConfig, shape: readonly number[], path: string): HostBags {
  const rows = ids.rowSplits.length - 1;
  const size = shape.reduce((product, each) => product * each, 1);
  if (ids.kind !== 'dense' && isSequence(feature) && ids.shape.length === 2) {
    return sequenceBags(ids, feature.maxSequenceLength);
  }
  if (rows === size) return ids;
  const isSpread = ids.kind !== 'dense' && ids.shape.length === 2 && rows > 0 && size > rows && size % rows === 0;
  if (isSpread) return sequenceBags({ ...ids, weights: null }, size / rows);
  const expected = `ids for the output shape [${shape.join(', ')}]`;
  throw new ValueError(path, expected, described(`${ids.kind} ids with ${rows} rows`));
}
