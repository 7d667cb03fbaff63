/** Nested features in the order of TensorFlow: keys of objects sorted. */
import { ValueError, described } from '../../base/errors.js';
import { within } from '../../layers/distributed_embedding/features.js';
import {
  featurePaths,
  flattenAs,
  keyPath,
  packAs,
  readStructure,
  type FeatureStructure,
  type Optional,
} from '../../layers/distributed_embedding/structure.js';
import { isRecord } from '../../base/options.js';
import { FeatureConfig as SharedFeatureConfig } from '../../tables/feature_config.js';
import type { Combiner } from '../../base/types.js';
import { FeatureConfig } from '../config/feature_config.js';

const DEEPEST = 100;

/** `FeatureConfig`s of either API in objects and arrays of any depth, or one alone. */
export type NestedFeatureConfigs =
  AnyFeatureConfig | readonly NestedFeatureConfigs[] | { readonly [key: string]: NestedFeatureConfigs };

type AnyFeatureConfig = FeatureConfig | SharedFeatureConfig<Combiner | null>;

/** A `T` for each feature, in the structure of the features. */
export type InStructure<F, T> = NestedFeatureConfigs extends F
  ? // eslint-disable-next-line @typescript-eslint/no-explicit-any -- any structure is one of these
    any
  : F extends AnyFeatureConfig
    ? T
    : { -readonly [K in keyof F]: InStructure<F[K], T> };

export class FeatureNest {
  readonly features: readonly FeatureConfig[];
  readonly structure: FeatureStructure;

  /** Throws TypeError for anything but objects and lists of FeatureConfigs; ValueError where there is none. */
  constructor(featureConfig: unknown, argument = 'featureConfig') {
    const expected = 'an emb.tpu.FeatureConfig, or objects and lists of them';
    const isFeature = (value: unknown): AnyFeatureConfig | null => (isConfig(value) ? value : null);
    const { structure, features } = readStructure(sorted(featureConfig, argument, 0), argument, expected, isFeature);
    this.structure = structure;
    const paths = this.paths(argument);
    this.features = features.map((feature, i) => within(paths[i]!, () => FeatureConfig.from(feature)));
  }

  /** The parts of a value of this structure, one per feature. */
  flatten(value: unknown, argument: string, optional: Optional = false): unknown[] {
    return flattenAs(this.structure, value, argument, optional);
  }

  /** One part per feature in the structure. */
  pack(parts: readonly unknown[]): unknown {
    return packAs(this.structure, parts);
  }

  /** Where each feature lies, below `argument`. */
  paths(argument: string): string[] {
    return featurePaths(this.structure, argument);
  }

  /** A structure of which branches may lack parts: what is there, and how results of those go back into it. */
  subset(value: unknown, argument: string): FeatureSubset {
    const found: FoundPart[] = [];
    const read = (
      branch: FeatureStructure,
      part: unknown,
      path: string,
    ): ((results: readonly unknown[]) => unknown) => {
      if (branch.kind === 'feature') {
        const place = found.push({ feature: branch.index, part, path }) - 1;
        return (results) => results[place];
      }
      if (branch.kind === 'list') {
        if (!Array.isArray(part) || part.length > branch.items.length)
          throw notASubset(path, part, branch.items.length);
        const items = part.map((item, i) => read(branch.items[i]!, item, `${path}[${i}]`));
        return (results) => items.map((pack) => pack(results));
      }
      if (!isRecord(part)) throw notASubset(path, part, branch.entries.length);
      const known = new Map(branch.entries);
      const entries = Object.keys(part).map((key) => {
        const at = keyPath(path, key);
        const item = known.get(key);
        if (item === undefined) {
          const keys = [...known.keys()].map((each) => JSON.stringify(each)).join(', ');
          throw new ValueError(at, `some of the keys ${keys} of featureConfig`, described('a key of no feature'));
        }
        return [key, read(item, part[key], at)] as const;
      });
      return (results) => Object.fromEntries(entries.map(([key, pack]) => [key, pack(results)]));
    };
    const pack = read(this.structure, value, argument);
    return { found, pack };
  }
}

/** One feature that is there. */
export interface FoundPart {
  readonly feature: number;
  readonly part: unknown;
  readonly path: string;
}

export interface FeatureSubset {
  readonly found: readonly FoundPart[];
  /** One result per part that is there, in the structure in which they came. */
  readonly pack: (results: readonly unknown[]) => unknown;
}

function isConfig(value: unknown): value is AnyFeatureConfig {
  return value instanceof SharedFeatureConfig;
}

function notASubset(path: string, part: unknown, most: number): ValueError {
  return new ValueError(path, `at most the ${most} parts of featureConfig, in its structure`, part);
}

/** The same value with the keys of plain objects in order. */
function sorted(value: unknown, argument: string, depth: number): unknown {
  if (depth > DEEPEST) throw new ValueError(argument, `at most ${DEEPEST} levels`, described('more'));
  if (Array.isArray(value)) return Array.from(value as unknown[], (item) => sorted(item, argument, depth + 1));
  if (!isRecord(value) || isConfig(value)) return value;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && prototype.constructor?.name !== 'Object') return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key], argument, depth + 1)]));
}
