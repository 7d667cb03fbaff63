/** Weights of a file on their way into the layers that were built of it. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../../base/errors.js';
import type { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { isRecord } from '../../../base/options.js';
import { warnOnce } from '../../../base/warn_once.js';
import { layerError } from '../layer_error.js';
import { NameCounter, attributePaths } from '../layer_paths.js';
import { layersOf, type Built, type BuiltLayer, type BuiltModel } from './built.js';
import { pythonName } from './topology.js';
import { layerPath, type WeightSource } from './weight_source.js';

/** The names of the weights of one layer, in its order. */
type Assignment = Map<BuiltLayer, readonly (string | undefined)[]>;

const LAYERS = ['layers', '_layer_checkpoint_dependencies'];
/** State of Python's optimizers and generators of random numbers, and what a model of Keras 2 has of its metrics. */
const NO_WEIGHTS =
  /^optimizer\/|(^|\/)seed_generator\/|(^|\/)_?optimizer|^(layers\/(functional|sequential|model)(_\d+)?\/)*metrics\//;

/** The tables of the features of a DistributedEmbedding, in the order of Keras. */
function tablesOfFeatures({ config }: BuiltLayer['json']): unknown[] {
  const ends = (value: unknown): unknown[] => {
    if (Array.isArray(value)) return value.flatMap(ends);
    if (!isRecord(value)) return [];
    if (typeof value['table'] === 'number') return [value['table']];
    return Object.keys(value)
      .sort()
      .flatMap((key) => ends(value[key]));
  };
  const tables = config['tables'] as readonly { readonly name?: unknown }[];
  return ends(config['feature_configs']).map((table) => tables[table as number]?.name);
}

/** Keras RS keeps one layer per feature; that of a table that is already there has no weights of its own. */
function distributedPaths({ json, layer }: BuiltLayer): string[] {
  const counter = new NameCounter();
  const paths = new Map<unknown, string>();
  for (const name of tablesOfFeatures(json)) {
    const path = `_default_device_embedding_layers/${counter.next('EmbedReduce')}/`;
    if (!paths.has(name)) paths.set(name, path);
  }
  return (layer as DistributedEmbedding).tableNames.map((name) => paths.get(name) ?? '?/');
}

/** Lists of weights name the tables of Keras RS by their first feature; the layer here has them as it was given them. */
function inLayerOrder(
  { json, layer }: BuiltLayer,
  names: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  if (json.className !== 'DistributedEmbedding') return names;
  const listed = [...new Set(tablesOfFeatures(json))];
  const { tableNames } = layer as DistributedEmbedding;
  // Another number of weights is refused where shapes are compared.
  return names.length === listed.length ? tableNames.map((name) => names[listed.indexOf(name)]) : names;
}

function pathsOf(part: BuiltLayer): string[] {
  if (part.json.className === 'DistributedEmbedding') return distributedPaths(part);
  const inner = part.json.config['layer'];
  const innerClass = isRecord(inner) && typeof inner['class_name'] === 'string' ? inner['class_name'] : null;
  return attributePaths(part.json.className, innerClass);
}

/** The weights of a layer of a user's class: of its own, or all of one attribute, as no file tells the order of several. */
function namesOfCustom({ json }: BuiltLayer, at: string, known: ReadonlySet<string>): string[] {
  const lists = new Map<string, string[]>();
  for (const name of known) {
    if (!name.startsWith(at)) continue;
    const folder = name.slice(0, name.lastIndexOf('/'));
    lists.set(folder, [...(lists.get(folder) ?? []), name]);
  }
  if (lists.size > 1)
    throw layerError(json, 'weights', 'weights in one place', described([...lists.keys()].join(' and ')));
  const number = (name: string): number => Number(name.slice(name.lastIndexOf('/') + 1));
  return [...lists.values()].flat().sort((a, b) => number(a) - number(b));
}

/** Files of Keras 3 and `.keras` files of Keras 2: paths of class names. */
function assignByPath(model: BuiltModel, prefix: string, known: ReadonlySet<string>, into: Assignment): void {
  const counter = new NameCounter();
  for (const part of model.parts) {
    const at = `${prefix}/${counter.next(pythonName(part.json))}/`;
    if (part.kind === 'model') {
      assignByPath(part, `${at}${prefix.split('/').at(-1)}`, known, into);
      continue;
    }
    if (part.places !== undefined) {
      into.set(part, [`${at}token_embedding/vars/0`]).set(part.places, [`${at}position_embedding/vars/0`]);
      continue;
    }
    if (part.json.isCustom) {
      into.set(part, namesOfCustom(part, at, known));
      continue;
    }
    const names: string[] = [];
    for (const told of pathsOf(part)) {
      // Keras 2 names the attribute itself, Keras 3 the property that shows it.
      const path = known.has(`${at}_${told}vars/0`) ? `_${told}` : told;
      for (let i = 0; known.has(`${at}${path}vars/${i}`); i++) names.push(`${at}${path}vars/${i}`);
    }
    into.set(part, names);
  }
}

/** HDF5 files in the old layout: one group for each layer of the outermost model, which lists its weights. */
function assignByGroup(model: BuiltModel, groups: ReadonlyMap<string, readonly string[]>, into: Assignment): void {
  for (const part of model.parts) {
    const names = groups.get(part.json.name) ?? [];
    if (part.kind === 'layer') {
      into.set(part, names);
      continue;
    }
    // Those of a model: what trains of all its layers, then what does not.
    const leaves = layersOf(part);
    const own = new Map(leaves.map((leaf) => [leaf, [] as (string | undefined)[]]));
    let next = 0;
    for (const isTrained of [true, false]) {
      for (const leaf of leaves) {
        const { trainableWeights, nonTrainableWeights } = leaf.layer;
        const count = (isTrained ? trainableWeights : nonTrainableWeights).length;
        own.get(leaf)!.push(...Array.from({ length: count }, () => names[next++]));
      }
    }
    for (const [leaf, list] of own) into.set(leaf, list);
  }
}

/** What converters make of these: weights of all layers, each under the name of its layer. */
function assignByName(model: BuiltModel, names: readonly string[], into: Assignment): void {
  const owners = new Map<string, BuiltLayer>();
  const visit = (part: Built, path: string): void => {
    const at = `${path}${part.json.name}`;
    if (part.kind === 'model') return part.parts.forEach((inner) => visit(inner, `${at}/`));
    owners.set(at, part);
    if (!owners.has(part.json.name)) owners.set(part.json.name, part);
  };
  // Keras 3 puts the name of a Sequential before those of its layers.
  for (const path of [`${model.json.name}/`, '']) model.parts.forEach((part) => visit(part, path));
  const found = new Map<BuiltLayer, string[]>(layersOf(model).map((leaf) => [leaf, []]));
  for (const name of names) {
    // Names of layers may hold slashes: the longest that fits.
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
      const owner = owners.get(name.slice(0, end));
      if (owner === undefined) continue;
      found.get(owner)!.push(name);
      break;
    }
  }
  for (const [leaf, list] of found) into.set(leaf, list);
}

/** Sources that tell which weights each layer has. */
function assignByLayer(
  model: BuiltModel,
  layers: NonNullable<WeightSource['layers']>,
  names: readonly string[],
  into: Assignment,
): void {
  for (const part of model.parts) {
    const path = [...names, part.json.name];
    if (part.kind === 'model') assignByLayer(part, layers, path, into);
    else into.set(part, layers.get(layerPath(path)) ?? []);
  }
}

function assign(model: BuiltModel, source: WeightSource): Assignment {
  const into: Assignment = new Map();
  const known = new Set(source.names);
  const root = LAYERS.find((each) =>
    source.names.some((name) => name.startsWith(`${each}/`) && /\/vars\/\d+$/.test(name)),
  );
  if (source.layers !== null) assignByLayer(model, source.layers, [], into);
  else if (root !== undefined) assignByPath(model, root, known, into);
  else if (source.groups !== null) assignByGroup(model, source.groups, into);
  else assignByName(model, source.names, into);
  // Paths of attributes are told in the order of the layer; lists are in that of Keras.
  if (root === undefined) for (const [part, names] of into) into.set(part, inLayerOrder(part, names));
  return into;
}

function checkLeft(assignment: Assignment, source: WeightSource, strict: boolean): void {
  const used = new Set([...assignment.values()].flat());
  const left = source.names.filter((name) => !used.has(name) && !NO_WEIGHTS.test(name));
  if (left.length === 0) return;
  const expected = 'weights that belong to layers of the model';
  const error = new ValueError('weights', expected, described(`${left.length} others, ${describe(left[0])} first`));
  if (strict) throw error;
  warnOnce(`left out because strict is false: ${error.message}`);
}

function checkShapes(
  { json, layer }: BuiltLayer,
  names: readonly (string | undefined)[],
  source: WeightSource,
  strict: boolean,
): boolean {
  const { weights } = layer;
  if (names.length !== weights.length || names.includes(undefined)) {
    const found = names.filter((name) => name !== undefined).length;
    const error = layerError(json, 'weights', `${weights.length} weights in the file`, described(`${found}`));
    if (strict) throw error;
    warnOnce(`left as initialized because strict is false: ${error.message}`);
    return false;
  }
  weights.forEach((weight, i) => {
    const shape = source.shapeOf(names[i]!);
    if (tf.util.arraysEqual([...shape], weight.shape as number[])) return;
    const expected = `[${weight.shape.join(', ')}], the shape of ${weight.originalName}`;
    throw layerError(json, 'weights', expected, described(`[${shape.join(', ')}], that of ${describe(names[i])}`));
  });
  return true;
}

/**
 * Puts the weights of a file into the layers of a model. All names and shapes are compared before anything is written.
 *
 * Throws ValueError, which names the layer: weights that are missing or have another shape; and those that belong to no
 * layer. With `strict` false missing weights and left ones are warnings.
 */
export function loadWeights(model: BuiltModel, source: WeightSource, strict: boolean): void {
  const assignment = assign(model, source);
  checkLeft(assignment, source, strict);
  const all = [...assignment].filter(([part, names]) => checkShapes(part, names, source, strict));
  for (const [{ layer }, names] of all) {
    layer.weights.forEach((weight, i) => {
      const value = source.read(names[i]!);
      try {
        weight.write(value);
      } finally {
        value.dispose();
      }
    });
  }
}
