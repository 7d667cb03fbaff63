/** The text of `model.json`: what it says, checked before anything of it is believed. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { isDeeperThan } from '../depth.js';
import { SpecFault, readSpec, type WeightSpec } from './weight_specs.js';

/** tfjs goes down into a topology by recursion. Each model within a model adds some levels. */
const DEEPEST = 1000;

/** Weights that lie in some files one after the other. */
export interface WeightGroup {
  readonly paths: readonly string[];
  readonly specs: readonly WeightSpec[];
}

/** Makes an error that names the file and tells what was found in it. */
export function modelError(path: string, expected: string, found: string, note?: string): ValueError {
  return new ValueError('path', expected, described(`${path}, ${found}`), note);
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw modelError(path, 'a model in JSON', 'which is none', (error as Error).message);
  }
}

function readGroup(path: string, group: unknown): WeightGroup {
  const expected = 'a weightsManifest of {paths, weights}';
  if (!isRecord(group)) throw modelError(path, expected, `which has ${describe(group)} in its place`);
  const { paths, weights } = group;
  if (!Array.isArray(paths) || !paths.every((name) => typeof name === 'string' && name !== '')) {
    throw modelError(path, expected, `whose paths are ${describe(paths)}`);
  }
  if (!Array.isArray(weights)) throw modelError(path, expected, `whose weights are ${describe(weights)}`);
  try {
    return { paths: paths as string[], specs: weights.map(readSpec) };
  } catch (error) {
    if (!(error instanceof SpecFault)) throw error;
    throw modelError(path, 'weights with name, shape and dtype', `which names ${error.message}`);
  }
}

function noManifest(path: string, manifest: unknown): ValueError {
  return modelError(path, 'a weightsManifest that is a list', `where it is ${describe(manifest)}`);
}

/** Reads the manifest in the file at `path`. Throws ValueError, which names the file. */
export function readGroups(path: string, manifest: unknown): WeightGroup[] {
  if (!Array.isArray(manifest)) throw noManifest(path, manifest);
  const groups = manifest.map((group) => readGroup(path, group));
  const names = new Set<string>();
  for (const { name } of groups.flatMap(({ specs }) => specs)) {
    if (names.has(name)) throw modelError(path, 'weights of different names', `which has two called ${describe(name)}`);
    names.add(name);
  }
  return groups;
}

/** Reads the text of the file at `path`, but for its weights. Throws ValueError, which names it. */
export function readModelJson(path: string, text: string): tf.io.ModelJSON {
  const json = parse(path, text);
  if (!isRecord(json)) throw modelError(path, 'a model in JSON', `which holds ${describe(json)}`);
  if (isDeeperThan(json, DEEPEST)) throw modelError(path, `at most ${DEEPEST} levels`, 'which is nested deeper');
  const { modelTopology, weightsManifest } = json;
  if (!isRecord(modelTopology)) {
    throw modelError(path, 'a model with its modelTopology', `where it is ${describe(modelTopology)}`);
  }
  // Without one the file is a topology alone, to which tfjs gives new weights; it does so for null too.
  if (weightsManifest === null) throw noManifest(path, weightsManifest);
  return json as unknown as tf.io.ModelJSON;
}
