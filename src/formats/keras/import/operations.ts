/** Operations of Keras 3 between layers, `a + b` or `keras.ops.mean(x)`, as layers of this package. */
import type * as tf from '@tensorflow/tfjs';
import { toCamelCase } from '../../../base/camel_case.js';
import { described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { typeNamed } from '../../../layers/operations/elementwise.js';
import { nextName } from '../../../base/layer_names.js';
import {
  OPERATIONS,
  Operation,
  ruleOf,
  type OperandTemplate,
  type OperationArgs,
} from '../../../layers/operations/operation.js';
import { layerError, naming } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { asOperation, isLambda } from './lambda_operations.js';
import { flatten, type CallJson } from './nodes.js';
import { refuse, type Reading } from './stock_config.js';
import { ToldMask, isTensor } from './told_masks.js';
import { nameHere, type Json, type LayerJson } from './topology.js';

type Symbolic = tf.SymbolicTensor;

/** Whether this is an operation, not a layer. Some have names of layers; HDF5 files tell no module. */
export function isOperation(layer: LayerJson): boolean {
  const { className, module, config } = layer;
  if (isLambda(layer)) return true;
  if (module !== null) return /^keras\.(src\.)?ops\b/.test(module);
  if (!OPERATIONS.includes(className) || config['trainable'] !== undefined) return false;
  return !STOCK_LAYERS.has(className) || config['name'] !== undefined;
}

/** The settings of the operation; those that only Keras has must be off. */
function settingsOf(layer: LayerJson, reading: Reading): Record<string, unknown> {
  const known = ruleOf(layer.className).settings;
  const settings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(layer.config)) {
    const field = toCamelCase(key);
    if (Object.hasOwn(known, field)) settings[field] = value;
    else if (!['name', 'dtype', 'trainable'].includes(key) && value !== null && value !== false) {
      refuse(reading, layer, key, 'nothing: the operation here has no such setting', value);
    }
  }
  return settings;
}

/** What Keras writes in place of values that JSON has not. */
function readWritten(className: unknown, config: Json, layer: LayerJson): OperandTemplate {
  switch (className) {
    case '__tensor__':
    case '__numpy__':
      return { value: config['value'], dtype: naming(layer, () => typeNamed(config['dtype'], 'inbound_nodes')) };
    case '__slice__':
      return { start: config['start'], stop: config['stop'], step: config['step'] } as OperandTemplate;
    case '__ellipsis__':
      return { ellipsis: true };
    default:
      throw layerError(layer, 'inbound_nodes', 'tensors, numbers and slices', className);
  }
}

/** Numbers that a file tells, as a tensor of the graph: TensorFlow.js makes none without a tensor that is there. */
export function constantTensor(layer: LayerJson, value: unknown, near: Symbolic, made: tf.layers.Layer[]): Symbolic {
  const written = Array.isArray(value) ? { class_name: '__tensor__', config: { value, dtype: 'float32' } } : value;
  if (!isRecord(written)) throw layerError(layer, 'inbound_nodes', 'tensors', value);
  const constant = readWritten(written['class_name'], (written['config'] ?? {}) as Json, layer);
  const apply = (args: OperationArgs, input: Symbolic): Symbolic => {
    const operation = new Operation({ ...args, name: nextName('keras_constant') });
    made.push(operation);
    return operation.apply(input);
  };
  const none = apply({ operation: 'ZerosLike', settings: { dtype: 'bool' } }, near);
  const never = apply({ operation: 'Any' }, none);
  return apply({ operation: 'Where', operands: [{ tensor: 0 }, 0, constant] }, never);
}

/** The matrices of a tensor, transposed. */
function swapped(x: Symbolic, made: tf.layers.Layer[]): Symbolic {
  const settings = { axis1: -2, axis2: -1 };
  const layer = new Operation({ name: nextName('keras_transposed'), operation: 'Swapaxes', settings });
  made.push(layer);
  return layer.apply(x) as Symbolic;
}

/** Applies the operation; returns its results. */
export function callOperation(
  given: LayerJson,
  told: CallJson,
  reading: Reading & { readonly made: tf.layers.Layer[] },
): Symbolic[] {
  const { layer, call, turned } = isLambda(given) ? asOperation(given, told) : { layer: given, call: told, turned: [] };
  const { args, kwargs } = call;
  const { className } = layer;
  const name = nameHere(layer);
  if (!OPERATIONS.includes(className)) {
    const known = `one of the operations ${OPERATIONS.join(', ')}`;
    throw layerError(layer, 'class_name', known, className, 'Write the operation as one of these, or as a layer.');
  }
  const { operands: names } = ruleOf(className);
  const inputs: Symbolic[] = [];
  const read = (value: unknown): OperandTemplate => {
    if (value instanceof ToldMask) return { tensor: inputs.push(value.symbolic(reading.made)) - 1 };
    if (isTensor(value)) return { tensor: inputs.push(value) - 1 };
    if (Array.isArray(value)) return value.map(read);
    if (isRecord(value)) return readWritten(value['class_name'], (value['config'] ?? {}) as Json, layer);
    return value as OperandTemplate;
  };
  const operands = args.map((value, i) =>
    read(turned.includes(i) && isTensor(value) ? swapped(value, reading.made) : value),
  );
  for (const [key, value] of Object.entries(kwargs)) {
    const place = names.indexOf(key);
    if (place < 0 && (value === null || value === false)) continue;
    if (place < 0) throw layerError(layer, `inbound_nodes.${key}`, `one of ${names.join(', ')}`, value);
    operands[place] = read(value);
  }
  if (inputs.length === 0) throw layerError(layer, 'inbound_nodes', 'at least one tensor', described('none'));
  return naming(layer, () => {
    const made = new Operation({ name, operation: className, operands, settings: settingsOf(layer, reading) });
    reading.made.push(made);
    return flatten(made.apply(inputs)) as Symbolic[];
  });
}
