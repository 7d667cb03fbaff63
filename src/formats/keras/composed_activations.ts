/** Activations of TensorFlow.js that Keras 3 has no name for: as objects of Keras that compute the same. */
import { isRecord } from '../../base/options.js';

type Json = Record<string, unknown>;

function layer(className: string, config: Json): Json {
  return { module: 'keras.layers', class_name: className, config, registered_name: null };
}

const HARD_SIGMOID = [
  layer('Rescaling', { scale: 0.2, offset: 0.5 }),
  layer('ReLU', { max_value: 1, negative_slope: 0, threshold: 0 }),
];

const COMPOSED: Readonly<Record<string, Json>> = {
  // clip(0.2 x + 0.5, 0, 1)
  hardSigmoid: layer('Pipeline', { layers: HARD_SIGMOID, name: 'hard_sigmoid' }),
  gelu_new: {
    module: 'keras.src.ops.nn',
    class_name: 'Gelu',
    config: { approximate: true },
    registered_name: 'Gelu',
  },
};

/** The object for the activation of this name; null where there is none. */
export function composedActivation(name: string): Json | null {
  return Object.hasOwn(COMPOSED, name) ? COMPOSED[name]! : null;
}

/** Whether a value has all that another one has: Keras writes more fields than it needs. */
function holds(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((each, i) => holds(value[i], each));
  }
  if (!isRecord(wanted)) return value === wanted;
  return isRecord(value) && Object.entries(wanted).every(([key, each]) => holds(value[key], each));
}

/** The class and what it computes with, without what only Python needs. */
function essence(value: Json): Json {
  const { class_name: className, config } = value as { class_name: string; config: Json };
  const { layers, name: _name, ...own } = config;
  if (!Array.isArray(layers)) return { class_name: className, config: own };
  return { class_name: className, config: { layers: (layers as Json[]).map(essence) } };
}

/** The name here of an activation that a file of Keras holds as such an object; null for any other value. */
export function readComposed(value: unknown): string | null {
  const found = Object.entries(COMPOSED).find(([, json]) => holds(value, essence(json)));
  return found === undefined ? null : found[0];
}
