/** Tables of PyTorch and TensorFlow users in models. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import type { ByteInput } from '../byte_source.js';
import type { ArrayFile, StoredArray } from './array_file.js';
import { openArrays } from './read_arrays.js';

export interface LoadWeightsOptions {
  /**
   * For each array that is loaded: its name in the file, and that of the weight of the model. A weight is called
   * `layer/weight`; a layer with one weight may stand for it. The other way round is understood too, where only that way
   * round there are such an array and such a weight. By default arrays are called as weights are.
   */
  names?: Readonly<Record<string, string>> | undefined;
}

/** A model, or anything else with weights. */
interface Weighted {
  readonly layers: readonly { readonly name: string; readonly weights: readonly tf.LayerVariable[] }[];
  readonly weights: readonly tf.LayerVariable[];
}

interface Assignment {
  readonly weight: tf.LayerVariable;
  readonly array: StoredArray;
}

/** Weights by all their names. */
export function weightsByName(model: Weighted): Map<string, tf.LayerVariable> {
  const known = new Map<string, tf.LayerVariable>();
  for (const { name, weights } of model.layers) if (weights.length === 1) known.set(name, weights[0]!);
  // `tables/users` for `tables/users/embeddings`.
  for (const weight of model.weights) {
    const path = weight.originalName.replace(/\/embeddings$/, '');
    if (!known.has(path)) known.set(path, weight);
  }
  for (const weight of model.weights) known.set(weight.originalName, weight);
  return known;
}

export function unknownName(argument: string, what: string, name: string, known: Iterable<string>): ValueError {
  const list = [...known];
  const meant = closestName(name, list);
  const shown = `one of ${list.slice(0, 8).join(', ')}${list.length > 8 ? ', …' : ''}`;
  return new ValueError(
    argument,
    `${what}: ${shown}`,
    name,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}

type Names = Pick<ReadonlyMap<string, unknown>, 'has'>;

/** Which of two names is that of the weight; where both or neither may be, the second. */
function reading(a: string, b: string, weights: Names, arrays: Names): { own: string; stored: string } {
  const ways = [
    { own: b, stored: a },
    { own: a, stored: b },
  ];
  return (
    ways.find(({ own, stored }) => weights.has(own) && arrays.has(stored)) ??
    ways.find(({ own, stored }) => weights.has(own) || arrays.has(stored)) ??
    ways[0]!
  );
}

function readPairs(
  names: unknown,
  weights: ReadonlyMap<string, tf.LayerVariable>,
  { arrays }: ArrayFile,
): Assignment[] {
  if (!isRecord(names)) throw new ArgumentTypeError('names', 'an object of names', names);
  return Object.entries(names).map(([a, b]) => {
    if (typeof b !== 'string') throw new ArgumentTypeError(`names[${JSON.stringify(a)}]`, 'a name', b);
    const { own, stored } = reading(a, b, weights, arrays);
    const weight = weights.get(own);
    if (weight === undefined) throw unknownName('names', 'a weight of the model', own, weights.keys());
    const array = arrays.get(stored);
    if (array === undefined) throw unknownName('names', 'an array of the file', stored, arrays.keys());
    return { weight, array };
  });
}

function matchNames(weights: ReadonlyMap<string, tf.LayerVariable>, { arrays, name }: ArrayFile): Assignment[] {
  if (arrays.size === 0) throw new ValueError('source', 'at least one array', described(`${name}, with none`));
  return [...arrays.values()].map((array) => {
    const weight = weights.get(array.name);
    if (weight === undefined)
      throw unknownName('source', 'arrays called as weights of the model, or names', array.name, weights.keys());
    return { weight, array };
  });
}

function check(assignments: readonly Assignment[]): void {
  const seen = new Set<tf.LayerVariable>();
  for (const { weight, array } of assignments) {
    const { originalName: name, dtype } = weight;
    if (seen.has(weight)) throw new ValueError('names', 'each weight once', described(`${name} twice`));
    seen.add(weight);
    const shape = weight.shape as number[];
    const text = (each: readonly number[]): string => `[${each.join(', ')}]`;
    const quoted = JSON.stringify(array.name);
    if (array.type.dtype !== dtype) {
      throw new ArgumentTypeError(
        'source',
        `${dtype} values for ${name}`,
        described(`${array.type.dtype} in ${quoted}`),
      );
    }
    if (tf.util.arraysEqual([...array.shape], shape)) continue;
    const isTurned = array.shape.length === 2 && tf.util.arraysEqual([...array.shape].reverse(), shape);
    const note = isTurned ? 'It is transposed, as PyTorch keeps the weights of a Linear.' : undefined;
    throw new ValueError(
      'source',
      `shape ${text(shape)} for ${name}`,
      described(`${text(array.shape)} in ${quoted}`),
      note,
    );
  }
}

/**
 * Puts arrays of a file into the weights of a model; returns the names of the weights that were written.
 *
 * `source`: an `.npz`, `.npy` or safetensors file, from a path (with the entry `tfjs-embeddings/node`), a URL, a File or
 * Blob, or bytes. With `names` the weights that it names are loaded; without it every array of the file must be called
 * as a weight. Tables of `DistributedEmbedding` are called `layer/table/embeddings`, or `layer/table`. Names, shapes,
 * types and checksums are compared before anything is written; one array lies in memory at a time.
 * Source: torch.nn.Module.load_state_dict (PyTorch 2) for named tables.
 *
 * @param model - A layers model.
 * @param source - A path, a URL, bytes, a Blob or a stream.
 * @param options - Which array goes to which weight.
 * @returns The names of the weights that were written.
 * @throws TypeError for anything but a model and for whole numbers in place of floats; ValueError for names that are not
 * there, for other shapes, and for damaged files.
 *
 * @example
 * await emb.weights.load(model, 'model.safetensors', {names: {'user_emb.weight': 'users/embeddings'}});
 */
export async function load(
  model: tf.LayersModel,
  source: ByteInput,
  options: LoadWeightsOptions = {},
): Promise<string[]> {
  const { names } = readOptions<LoadWeightsOptions>(options, ['names']);
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a tf.LayersModel', model);
  const file = await openArrays(source);
  try {
    const weights = weightsByName(model);
    const assignments =
      names === undefined || names === null ? matchNames(weights, file) : readPairs(names, weights, file);
    check(assignments);
    for (const { weight, array } of assignments) {
      const value = await array.read();
      try {
        weight.write(value);
      } finally {
        value.dispose();
      }
    }
    return assignments.map(({ weight }) => weight.originalName);
  } finally {
    file.close();
  }
}
