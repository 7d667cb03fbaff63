/** Nested structures of features: objects and arrays, any depth, with a feature at each end. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';

export type FeatureStructure =
  | { readonly kind: 'feature'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly FeatureStructure[] }
  | { readonly kind: 'record'; readonly entries: readonly (readonly [key: string, value: FeatureStructure])[] };

/** Features one after another, in the order of the structure. */
export interface FlatFeatures<T> {
  readonly structure: FeatureStructure;
  readonly features: T[];
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;
const DEEPEST = 100;

/** An object that holds features, not an instance of some class. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  return prototype === null || prototype.constructor?.name === 'Object';
}

/** The path of a key below another path. */
export function keyPath(path: string, key: string): string {
  return PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The structure `[feature, feature, …]`. */
export function listStructure(count: number): FeatureStructure {
  return { kind: 'list', items: Array.from({ length: count }, (_, index) => ({ kind: 'feature', index })) };
}

/** Reads a structure whose ends are features. `readFeature` returns null for what is no feature. */
export function readStructure<T>(
  value: unknown,
  argument: string,
  expected: string,
  readFeature: (value: unknown) => T | null,
): FlatFeatures<T> {
  const features: T[] = [];
  const read = (part: unknown, path: string, depth: number): FeatureStructure => {
    if (depth > DEEPEST) throw new ValueError(argument, `at most ${DEEPEST} levels`, described('more'));
    const feature = readFeature(part);
    if (feature !== null) {
      return { kind: 'feature', index: features.push(feature) - 1 };
    }
    if (Array.isArray(part)) {
      return { kind: 'list', items: Array.from(part, (item, i) => read(item, `${path}[${i}]`, depth + 1)) };
    }
    if (!isPlain(part)) throw new ArgumentTypeError(path, expected, part);
    const entries = Object.keys(part).map((key) => {
      return [key, read(part[key], keyPath(path, key), depth + 1)] as const;
    });
    return { kind: 'record', entries };
  };
  const structure = read(value, argument, 0);
  if (features.length === 0) throw new ValueError(argument, 'at least one feature', described('none'));
  return { structure, features };
}

/** Which parts may be null: none, all of a branch too, or those of features alone. */
export type Optional = boolean | 'features';

/**
 * The parts of a value of this structure, one per feature. With `optional` a part, or all of a branch, may be null; with
 * 'features' a part alone may be, and has its place.
 *
 * @throws TypeError for another kind of branch; ValueError, which names the path, for missing and extra parts.
 */
export function flattenAs(
  structure: FeatureStructure,
  value: unknown,
  argument: string,
  optional: Optional = false,
): unknown[] {
  const parts: unknown[] = [];
  const isNone = (part: unknown): boolean => part === null || part === undefined;
  const isAbsent = (part: unknown): boolean => optional === true && isNone(part);
  const visit = (branch: FeatureStructure, part: unknown, path: string): void => {
    if (branch.kind === 'feature') {
      if (isNone(part) && optional === false) throw new ArgumentTypeError(path, 'the ids of a feature', part);
      parts[branch.index] = part ?? null;
    } else if (branch.kind === 'list') {
      if (!isAbsent(part)) checkList(branch.items.length, part, path);
      branch.items.forEach((item, i) => visit(item, isAbsent(part) ? null : (part as unknown[])[i], `${path}[${i}]`));
    } else {
      if (!isAbsent(part)) checkKeys(branch.entries, part, path, optional === true);
      for (const [key, item] of branch.entries) {
        visit(item, isAbsent(part) ? null : (part as Record<string, unknown>)[key], keyPath(path, key));
      }
    }
  };
  visit(structure, value, argument);
  return parts;
}

function checkList(length: number, part: unknown, path: string): void {
  const expected = `a list of ${length}, one per feature`;
  if (!Array.isArray(part)) throw new ArgumentTypeError(path, expected, part);
  if (part.length !== length) throw new ValueError(path, expected, described(`a list of ${part.length}`));
}

function checkKeys(
  entries: readonly (readonly [string, unknown])[],
  part: unknown,
  path: string,
  optional: boolean,
): void {
  const keys = entries.map(([key]) => key);
  const expected = `an object with the keys ${keys.map((key) => JSON.stringify(key)).join(', ')}`;
  if (!isRecord(part)) throw new ArgumentTypeError(path, expected, part);
  const missing = keys.find((key) => !Object.hasOwn(part, key));
  if (missing !== undefined && !optional)
    throw new ValueError(keyPath(path, missing), expected, described('no such key'));
  const extra = Object.keys(part).find((key) => !keys.includes(key));
  if (extra !== undefined) throw new ValueError(keyPath(path, extra), expected, described('a key of no feature'));
}

/** Where each feature lies, below a path. */
export function featurePaths(structure: FeatureStructure, path: string): string[] {
  const paths: string[] = [];
  const visit = (branch: FeatureStructure, at: string): void => {
    if (branch.kind === 'feature') paths[branch.index] = at;
    else if (branch.kind === 'list') branch.items.forEach((item, i) => visit(item, `${at}[${i}]`));
    else for (const [key, item] of branch.entries) visit(item, keyPath(at, key));
  };
  visit(structure, path);
  return paths;
}

/** Puts one part per feature into the structure; objects keep their keys and order. */
export function packAs(structure: FeatureStructure, parts: readonly unknown[]): unknown {
  if (structure.kind === 'feature') return parts[structure.index];
  if (structure.kind === 'list') return structure.items.map((item) => packAs(item, parts));
  return Object.fromEntries(structure.entries.map(([key, item]) => [key, packAs(item, parts)]));
}

/**
 * The structure as data for a config. tfjs rewrites keys and texts of a config except those under `name`, so that is
 * where the keys of objects are.
 */
export function structureConfig(structure: FeatureStructure, featureConfig: (index: number) => object): object {
  switch (structure.kind) {
    case 'feature':
      return { kind: 'feature', ...featureConfig(structure.index) };
    case 'list':
      return { kind: 'list', items: structure.items.map((item) => structureConfig(item, featureConfig)) };
    case 'record': {
      const entries = structure.entries.map(([key, item]) => {
        return { name: key, value: structureConfig(item, featureConfig) };
      });
      return { kind: 'record', entries };
    }
  }
}

/** The nested value that such data stand for. `readFeature` makes a feature of its config. */
export function readStructureConfig(
  data: unknown,
  argument: string,
  readFeature: (config: Record<string, unknown>, path: string) => unknown,
): unknown {
  const expected = 'the structure of features in a config';
  const part = isRecord(data) ? data : null;
  if (part === null) throw new ArgumentTypeError(argument, expected, data);
  const { kind, items, entries, ...feature } = part;
  if (kind === 'feature') return readFeature(feature, argument);
  if (kind === 'list' && Array.isArray(items)) {
    return items.map((item, i) => readStructureConfig(item, `${argument}[${i}]`, readFeature));
  }
  if (kind !== 'record' || !Array.isArray(entries)) throw new ValueError(argument, expected, data);
  const pairs = (entries as Record<string, unknown>[]).map((entry) => {
    const name = String(entry['name']);
    return [name, readStructureConfig(entry['value'], keyPath(argument, name), readFeature)] as const;
  });
  return Object.fromEntries(pairs);
}
