/** Calls of layers in a graph, as Keras 2 and Keras 3 write them. */
import { describe } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { layerError } from '../layer_error.js';
import { withFloats } from './float_literals.js';
import type { Json, LayerJson } from './topology.js';

/** One output of a call of a layer. */
export class TensorRef {
  constructor(
    readonly layer: string,
    readonly node: number,
    readonly tensor: number,
  ) {}
}

/** A call: what the layer is given, with references in place of tensors. */
export interface CallJson {
  readonly args: readonly unknown[];
  readonly kwargs: Json;
  /** Whether the file tells the mask of the call, as Keras 3 does: without one there is none. */
  readonly tellsMask: boolean;
}

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** `["ids", 0, 0]`, as both versions write the inputs and outputs of models. */
export function readRef(value: unknown): TensorRef | null {
  if (!Array.isArray(value) || value.length < 3 || value.length > 4) return null;
  const [layer, node, tensor] = value as unknown[];
  return typeof layer === 'string' && isIndex(node) && isIndex(tensor) ? new TensorRef(layer, node, tensor) : null;
}

/** A structure of references: lists and objects, with `["ids", 0, 0]` at each end. */
export function readRefs(value: unknown, layer: LayerJson, field: string): unknown {
  const ref = readRef(value);
  if (ref !== null) return ref;
  if (Array.isArray(value)) return value.map((item) => readRefs(item, layer, field));
  if (isRecord(value)) return mapRecord(value, (item) => readRefs(item, layer, field));
  throw layerError(layer, field, 'tensors as [layer, node, tensor]', value);
}

/** Keys are data: `__proto__` is a key like any other. */
function mapRecord(record: Json, map: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** Keras 3: `{class_name: "__keras_tensor__", config: {keras_history: [layer, node, tensor]}}`. */
function readNewValue(value: unknown, layer: LayerJson): unknown {
  if (Array.isArray(value)) return value.map((item) => readNewValue(item, layer));
  if (!isRecord(value)) return value;
  if (value['class_name'] === '__keras_tensor__') {
    const config = value['config'];
    const ref = isRecord(config) ? readRef(config['keras_history']) : null;
    if (ref === null) throw layerError(layer, 'inbound_nodes', 'tensors with their keras_history', config);
    return ref;
  }
  return mapRecord(value, (item) => readNewValue(item, layer));
}

/** Keras 2: `["ids", 0, 0, {kwargs}]`; kwargs stand at the first tensor and name tensors as `["w", 0, 0]`. */
function readOldNode(node: unknown, layer: LayerJson): CallJson {
  let kwargs: Json | null = null;
  const read = (value: unknown): unknown => {
    const ref = readRef(value);
    if (ref !== null) {
      const given = (value as unknown[])[3];
      if (kwargs === null && isRecord(given)) kwargs = given;
      return ref;
    }
    // A number in place of the first operand of a function of TensorFlow.
    if (Array.isArray(value) && value[0] === '_CONSTANT_VALUE') {
      const [, , constant, given] = value as unknown[];
      if (kwargs === null && isRecord(given)) kwargs = given;
      return constant;
    }
    if (Array.isArray(value)) return value.map(read);
    if (isRecord(value)) return mapRecord(value, read);
    throw layerError(layer, 'inbound_nodes', 'tensors as [layer, node, tensor]', value);
  };
  const args = read(node);
  const single = Array.isArray(args) && args.length === 1 && args[0] instanceof TensorRef ? (args[0] as unknown) : args;
  const readKwarg = (value: unknown): unknown => {
    const ref = readRef(value);
    if (ref !== null) return ref;
    return Array.isArray(value) ? value.map(readKwarg) : value;
  };
  return { args: [single], kwargs: mapRecord(kwargs ?? {}, readKwarg), tellsMask: false };
}

/** Operations of two numbers: what they give is of floats where one of them is. */
const MEETING = /^(Add|Subtract|Multiply|Divide|TrueDivide|FloorDivide|Mod|Power|Maximum|Minimum|Where)$/;
const MEETING_LAMBDA =
  /(^|\.)(add|subtract|multiply|divide|truediv|floordiv|floor_div|floormod|pow|maximum|minimum|where)$/;

/** Whether a number in a call of it is an operand. */
function takesNumbers({ className, module, config }: LayerJson): boolean {
  if (className === 'TFOpLambda') return MEETING_LAMBDA.test(String(config['function']));
  return MEETING.test(className) && (module === null || module.includes('.ops'));
}

/** Reads the calls of a layer. */
export function readCalls(layer: LayerJson): CallJson[] {
  const keepsFloats = takesNumbers(layer);
  return layer.inboundNodes.map((written) => {
    const node = withFloats(written, keepsFloats);
    if (!isRecord(node) || !Array.isArray(node['args'])) return readOldNode(node, layer);
    const kwargs = node['kwargs'] ?? {};
    if (!isRecord(kwargs)) throw layerError(layer, 'inbound_nodes', 'kwargs in an object', describe(kwargs));
    const args = node['args'].map((value) => readNewValue(value, layer));
    return { args, kwargs: mapRecord(kwargs, (value) => readNewValue(value, layer)), tellsMask: true };
  });
}

/** An object of a structure, not a reference or a tensor. */
function isPlain(value: unknown): value is Json {
  return isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
}

/** The references of a structure, as Keras flattens it: lists in their order, objects in the order of their sorted keys. */
export function flatten(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(flatten);
  if (!isPlain(value)) return [value];
  return Object.keys(value)
    .sort()
    .flatMap((key) => flatten(value[key]));
}

/** The references within a structure. */
export function refsOf(value: unknown): TensorRef[] {
  if (value instanceof TensorRef) return [value];
  if (Array.isArray(value)) return value.flatMap(refsOf);
  return isPlain(value) ? Object.values(value).flatMap(refsOf) : [];
}

/** The same structure with something in place of each reference. */
export function replaceRefs(value: unknown, replace: (ref: TensorRef) => unknown): unknown {
  if (value instanceof TensorRef) return replace(value);
  if (Array.isArray(value)) return value.map((item) => replaceRefs(item, replace));
  return isPlain(value) ? mapRecord(value, (item) => replaceRefs(item, replace)) : value;
}
