/** What a SavedModel answers: named inputs and outputs, found in the model. */
import type * as tf from '@tensorflow/tfjs';
import { kerasNamesOf } from '../../tfjs/models/keras_names.js';
import { keyInputKind } from '../../tfjs/models/key_inputs.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { closestName } from '../../base/closest_name.js';
import { isRecord, readOptions } from '../../base/options.js';
import { dataTypeOf, type DataTypeName } from './wire/data_types.js';
import type { Shape } from './graph/value.js';
import { isInput, layerOf, nodeOf, type LayerNode } from './model_graph.js';

export const SERVING_DEFAULT = 'serving_default';

/** What the caller asks for: names of layers under names of their own. */
export interface SignatureArgs {
  /** Layers that are inputs of the model. Default: all that the outputs need, under their own names. */
  inputs?: Readonly<Record<string, string>> | undefined;
  /** Any layers of the model. Default: its outputs, under the names of their layers. */
  outputs?: Readonly<Record<string, string>> | undefined;
}

export interface SignatureInput {
  /** As Python takes it for a keyword. */
  readonly name: string;
  readonly symbolic: tf.SymbolicTensor;
  readonly dtype: DataTypeName;
  readonly shape: Shape;
}

export interface SignatureOutput {
  readonly name: string;
  readonly symbolic: tf.SymbolicTensor;
}

export interface Signature {
  readonly name: string;
  readonly inputs: readonly SignatureInput[];
  readonly outputs: readonly SignatureOutput[];
}

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** A name as Python takes it for a keyword; what layers are called may hold other signs. */
function identifier(name: string): string {
  const plain = name.replace(/\W/g, '_');
  const begun = /^(\d|$)/.test(plain) ? `_${plain}` : plain;
  // What Python calls is a method, which has an argument `self`.
  return KEYWORDS.has(begun) || begun === 'self' ? `${begun}_` : begun;
}

/** Names for layers in their order, each its own. */
function freeNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const plain = identifier(name);
    let free = plain;
    for (let n = 1; taken.has(free); n++) free = `${plain}_${n}`;
    taken.add(free);
    return free;
  });
}

function checkAlias(alias: string, path: string): string {
  if (alias === identifier(alias)) return alias;
  const expected = 'names that Python takes as keywords: letters, digits and _, and no reserved word';
  throw new ValueError(path, expected, alias);
}

/** The inputs of the model that a value depends on. */
function neededInputs(outputs: readonly tf.SymbolicTensor[]): Set<number> {
  const needed = new Set<number>();
  const seen = new Set<LayerNode>();
  const visit = (symbolic: tf.SymbolicTensor): void => {
    const node = nodeOf(symbolic);
    if (seen.has(node)) return;
    seen.add(node);
    if (isInput(symbolic)) needed.add(symbolic.id);
    else node.inputTensors.forEach(visit);
  };
  outputs.forEach(visit);
  return needed;
}

/** A layer's only output in this model. */
function outputOf(model: tf.LayersModel, name: string, path: string): tf.SymbolicTensor {
  const names = model.layers.map((layer) => layer.name);
  const layer = model.layers.find((each) => each.name === name);
  if (layer === undefined) {
    const meant = closestName(name, names);
    const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
    throw new ValueError(path, `the name of a layer: ${names.join(', ')}`, name, note);
  }
  const own = model.outputs.filter((output) => layerOf(output) === layer);
  if (own.length === 1) return own[0]!;
  const { output } = layer;
  if (!Array.isArray(output)) return output;
  throw new ValueError(path, 'a layer with one output', described(`${name}, which has ${output.length}`));
}

function readNames(value: unknown, path: string): [alias: string, layer: string][] | null {
  if (value === undefined || value === null) return null;
  const expected = 'an object of names of layers';
  if (!isRecord(value)) throw new ArgumentTypeError(path, expected, value);
  return Object.entries(value).map(([alias, layer]) => {
    if (typeof layer !== 'string') throw new ArgumentTypeError(`${path}.${alias}`, 'the name of a layer', layer);
    return [checkAlias(alias, path), layer];
  });
}

function inputOf(model: tf.LayersModel, name: string, path: string): tf.SymbolicTensor {
  const found = model.inputs.find((input) => layerOf(input).name === name);
  if (found !== undefined) return found;
  const names = model.inputs.map((input) => layerOf(input).name);
  throw new ValueError(path, `the name of an input of the model: ${names.join(', ')}`, name);
}

function withType(name: string, symbolic: tf.SymbolicTensor): SignatureInput {
  // Keys come as they are, whatever stands for them in a model.
  const keys = keyInputKind(layerOf(symbolic)) as 'int64' | 'string' | null;
  return { name, symbolic, dtype: keys ?? dataTypeOf(symbolic.dtype, name), shape: symbolic.shape };
}

function readSignature(model: tf.LayersModel, name: string, args: unknown): Signature {
  const path = `signatures.${name}`;
  const given = readOptions<SignatureArgs>(args, ['inputs', 'outputs'], path);
  const outputNames = readNames(given.outputs, `${path}.outputs`);
  const called = kerasNamesOf(model);
  const nameOf = (end: tf.SymbolicTensor): string =>
    Object.hasOwn(called.layers, layerOf(end).name) ? called.layers[layerOf(end).name]! : layerOf(end).name;
  const ownNames = freeNames(called.outputs?.names ?? model.outputs.map(nameOf));
  const outputs: SignatureOutput[] =
    outputNames === null
      ? model.outputs.map((symbolic, i) => ({ name: ownNames[i]!, symbolic }))
      : outputNames.map(([alias, layer]) => ({ name: alias, symbolic: outputOf(model, layer, `${path}.outputs`) }));
  if (outputs.length === 0) throw new ValueError(`${path}.outputs`, 'at least one output', described('none'));
  const needed = neededInputs(outputs.map(({ symbolic }) => symbolic));
  const all = freeNames(called.inputs?.names ?? model.inputs.map(nameOf));
  const inputNames = readNames(given.inputs, `${path}.inputs`);
  const inputs =
    inputNames === null
      ? model.inputs.flatMap((input, i) => (needed.has(input.id) ? [withType(all[i]!, input)] : []))
      : inputNames.map(([alias, layer]) => withType(alias, inputOf(model, layer, `${path}.inputs`)));
  const lacking = model.inputs.find(({ id }) => needed.has(id) && !inputs.some(({ symbolic }) => symbolic.id === id));
  if (lacking === undefined) return { name, inputs, outputs };
  throw new ValueError(`${path}.inputs`, `${layerOf(lacking).name} too, on which outputs depend`, args);
}

/** The signatures of a model: `serving_default` with all inputs and outputs, and those that are asked for. */
export function readSignatures(model: tf.LayersModel, args: unknown): Signature[] {
  if (args !== undefined && args !== null && !isRecord(args)) {
    throw new ArgumentTypeError('signatures', 'an object of {inputs, outputs} by name', args);
  }
  const given = { [SERVING_DEFAULT]: {}, ...(args as Record<string, unknown> | null | undefined) };
  return Object.entries(given).map(([name, each]) => {
    if (name === identifier(name)) return readSignature(model, name, each);
    throw new ValueError('signatures', 'names of letters, digits and _, and no reserved word of Python', name);
  });
}
