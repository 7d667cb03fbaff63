/** What the layer looks up for the ids of an input, in batches of any size. */
import type { HostBags } from '../../backends/kernel_set.js';
import type { FeatureConfig } from '../config/feature_config.js';
import type { HostIds } from '../features/host_ids.js';
import { featureBags } from './feature_bags.js';
import { isSequence } from './output_shapes.js';

/** The shape of activations without their columns, for ids of the shape [batch, …, ids] or [batch]. */
export function layerShape(feature: FeatureConfig, shape: readonly (number | null)[]): (number | null)[] {
  if (feature.outputShape !== null) return [...feature.outputShape];
  const [batch = null] = shape;
  if (shape.length <= 2) return isSequence(feature) ? [batch, feature.maxSequenceLength] : [batch];
  return shape.slice(0, -1);
}

export interface LayerBags {
  readonly bags: HostBags;
  /** Of the activations, without their columns. */
  readonly shape: readonly number[];
}

/** Throws ValueError where the ids do not fit the output shape of the feature. */
export function layerBags(ids: HostIds, feature: FeatureConfig, path: string): LayerBags {
  // Sizes that a config leaves open are those of the batch.
  const shape = layerShape(feature, ids.shape).map((size, axis) => size ?? ids.shape[axis] ?? 1);
  return { bags: featureBags(ids, feature, shape, path), shape };
}
