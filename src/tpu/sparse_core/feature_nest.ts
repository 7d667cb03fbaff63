/** Nested structures of features in the order of TensorFlow: keys of objects sorted. */
import { isRecord } from '../../options.js';
import { ValueError } from '../../errors.js';
import { FeatureConfig } from '../config/feature_config.js';
import {
  featurePaths,
  flattenAs,
  packAs,
  readStructure,
  type FeatureStructure,
} from '../../layers/distributed_embedding/structure.js';

/** The features of a nested config, flat. */
export class FeatureNest {
  readonly features: readonly FeatureConfig[];
  private readonly structure: FeatureStructure;

  /** Throws TypeError and ValueError for anything but objects and lists of FeatureConfigs. */
  constructor(featureConfig: unknown, argument = 'featureConfig') {
    const expected = 'an emb.tpu.FeatureConfig, or objects and lists of them';
    const isFeature = (value: unknown): FeatureConfig | null => (value instanceof FeatureConfig ? value : null);
    const { structure, features } = readStructure(sorted(featureConfig), argument, expected, isFeature);
    this.structure = structure;
    this.features = features;
  }

  /** The parts of a value of the same structure. */
  flatten(value: unknown, argument: string, optional = false): unknown[] {
    return flattenAs(this.structure, value, argument, optional);
  }

  pack(parts: readonly unknown[]): unknown {
    return packAs(this.structure, parts);
  }

  /** What each feature is called in errors. */
  paths(argument: string): string[] {
    return featurePaths(this.structure, argument);
  }
}

/** The same value with the keys of plain objects in order. */
function sorted(value: unknown, depth = 0): unknown {
  if (depth > 100) throw new ValueError('featureConfig', 'at most 100 levels', 'more');
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1));
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key], depth + 1)]));
}
