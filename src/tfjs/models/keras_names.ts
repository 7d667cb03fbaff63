/**
 * The names that Keras has for inputs, outputs and layers of a model, where they are others here. They lie in the metadata
 * of the model, and are saved and loaded with it.
 */
import type * as tf from '@tensorflow/tfjs';
import { isRecord } from '../../base/options.js';
import { addOnce, MODELS, override } from './own_models.js';
import { takeInputsByName } from './named_calls.js';

/** Names in the order of the inputs or outputs. */
export interface NamedEnds {
  readonly names: readonly string[];
  /** Whether they are the keys of an object; else the names of layers. */
  readonly isKeyed: boolean;
}

export interface KerasNames {
  readonly inputs: NamedEnds | null;
  readonly outputs: NamedEnds | null;
  /** By the names that layers have here. */
  readonly layers: Readonly<Record<string, string>>;
}

const FIELD = 'kerasNames';

function readEnds(value: unknown, count: number): NamedEnds | null {
  if (!isRecord(value)) return null;
  const { names, isKeyed } = value;
  const isList = Array.isArray(names) && names.length === count && names.every((name) => typeof name === 'string');
  return isList ? { names: names as string[], isKeyed: isKeyed === true } : null;
}

/** The names that a model holds; those that do not fit it, as of a damaged file, are left out. */
export function kerasNamesOf(model: tf.LayersModel): KerasNames {
  const metadata = model.getUserDefinedMetadata() as Record<string, unknown> | null | undefined;
  const held = isRecord(metadata?.[FIELD]) ? metadata[FIELD] : {};
  const layers = isRecord(held['layers']) ? Object.entries(held['layers']) : [];
  return {
    inputs: readEnds(held['inputs'], model.inputs.length),
    outputs: readEnds(held['outputs'], model.outputs.length),
    layers: Object.fromEntries(layers.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  };
}

/** Gives a model of ours names of Keras, under which it takes inputs and outputs from now on. */
export function keepKerasNames(model: tf.LayersModel, names: KerasNames): void {
  if (names.inputs === null && names.outputs === null && Object.keys(names.layers).length === 0) return;
  const before = model.getUserDefinedMetadata() as object | null | undefined;
  model.setUserDefinedMetadata({ ...before, [FIELD]: names });
}

/** Has models of ours that are loaded with such names take them. */
export function takeKerasNames(): void {
  addOnce('names of Keras', () => {
    const named = new WeakSet<object>();
    override(MODELS.graphs, 'setUserDefinedMetadata', (stock: (this: tf.LayersModel, metadata: object) => void) => {
      return function (this: tf.LayersModel, metadata): void {
        stock.call(this, metadata);
        if (named.has(this) || !(FIELD in metadata)) return;
        named.add(this);
        const { inputs, outputs } = kerasNamesOf(this);
        takeInputsByName(this, inputs?.names ?? null, outputs?.names ?? null);
      };
    });
  });
}
