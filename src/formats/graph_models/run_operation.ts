/** Runs an op on the backend in use: TensorFlow's own on `tensorflow`, the plain kernel elsewhere. */
import * as tf from '@tensorflow/tfjs';
import { isLong, runStockOp, stockBackend, type StockAttribute } from '../../backends/tensorflow/stock_op.js';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { toInt32 } from '../../ids/whole_ids.js';
import { readValues, sizeOf, type HostArray, type HostValues } from './host_array.js';
import { HostCall, type Attributes, type Operation } from './operation.js';
import { countOf, totalOf, type Argument } from './signature.js';

/** Types of arguments that are always whole numbers, beside the attributes that may only be int32 or int64. */
const INTEGERS: readonly string[] = ['int32', 'int64'];
const INTEGER_ATTRIBUTES = /^(Tidx|Tindices|Tindex|Tsegmentids|Tnumsegments|Tsplits|Tshape|Taxis|Index|out_idx)$/;

function isInteger({ type }: Argument): boolean {
  return INTEGERS.includes(type) || INTEGER_ATTRIBUTES.test(type);
}

/** The argument that each tensor belongs to. */
function argumentsOf({ signature }: Operation, attributes: Attributes): Argument[] {
  return signature.inputs.flatMap((argument) => new Array<Argument>(countOf(argument, attributes)).fill(argument));
}

function checkDtypes(op: Operation, args: readonly Argument[], tensors: readonly tf.TensorInfo[]): void {
  const types = new Map<string, tf.DataType>();
  args.forEach((argument, i) => {
    const tensor = tensors[i];
    if (tensor === undefined) throw new ArgumentTypeError(argument.name, `a tensor for ${op.signature.name}`, tensor);
    const { dtype } = tensor;
    if (isInteger(argument) && dtype === 'float32') return; // read as whole numbers
    const allowed = isInteger(argument) ? ['int32'] : argument.type === 'bool' ? ['bool'] : op.dtypes;
    if (!allowed.includes(dtype)) throw new ArgumentTypeError(argument.name, allowed.join(' or '), tensor);
    const known = types.get(argument.type) ?? dtype;
    if (known !== dtype) throw new ArgumentTypeError(argument.name, `${known}, as the other ${argument.type}`, tensor);
    types.set(argument.type, dtype);
  });
}

/** Arguments that hold sizes, of which none is unknown. Kernels of TensorFlow end the process for negative ones. */
const SIZES =
  /^((a_|input_|output_|dense_)?shape|shapes|num_segments|nrows|(dense_)?output_dim0|dense_values_shape|size)$/;

function checkSizes(argument: string, values: HostValues): void {
  const sizes = values as Int32Array;
  const negative = sizes.findIndex((size) => size < 0);
  if (negative < 0) return;
  throw new ValueError(argument, 'sizes of at least 0', described(`${sizes[negative]} at position ${negative}`));
}

/** Returns the outputs of an op, new tensors that belong to the caller. Errors name the argument, as in TensorFlow. */
export function runOperation(op: Operation, tensors: readonly tf.TensorInfo[], attributes: Attributes): tf.Tensor[] {
  const args = argumentsOf(op, attributes);
  const outputs = totalOf(op.signature.outputs, attributes);
  if (args.length < tensors.length) {
    const expected = `${args.length} tensors, as its attributes say`;
    throw new ValueError(op.signature.name, expected, described(`${tensors.length}`));
  }
  checkDtypes(op, args, tensors);
  op.checkCounts(tensors, attributes);
  const isLeftOut = args.some(({ name }, i) => name === op.notEmpty && sizeOf(tensors[i]!.shape) === 0);
  const isStock = stockBackend() !== null && op.inTensorFlow && !isLeftOut;
  const isWide = (tensor: tf.TensorInfo, i: number): boolean =>
    isLong(tensor) || (isInteger(args[i]!) && tensor.dtype === 'float32');
  if (!isStock || tensors.some(isWide)) return runPlain(op, args, tensors, attributes);
  args.forEach(({ name }, i) => {
    if (SIZES.test(name)) checkSizes(name, readValues(tf.backend(), tensors[i]!, name));
  });
  return runInTensorFlow(op, args, tensors, attributes, outputs);
}

function runPlain(
  op: Operation,
  args: readonly Argument[],
  tensors: readonly tf.TensorInfo[],
  attributes: Attributes,
): tf.Tensor[] {
  return hostResults(op, args, tensors, attributes).map(({ dtype, shape, values }) => {
    return tf.engine().makeTensor(values as tf.DataValues, [...shape], dtype) as tf.Tensor;
  });
}

function hostResults(
  op: Operation,
  args: readonly Argument[],
  tensors: readonly tf.TensorInfo[],
  attributes: Attributes,
): HostArray[] {
  const backend = tf.backend();
  const inputs = tensors.map((tensor, i): HostArray => {
    const { shape, dtype } = tensor;
    const values = readValues(backend, tensor, args[i]!.name);
    if (op.inTensorFlow && SIZES.test(args[i]!.name)) checkSizes(args[i]!.name, values);
    // Stock ops on wasm give float32 for some integers.
    if (!isInteger(args[i]!) || dtype === 'int32') return { dtype, shape, values };
    return { dtype: 'int32', shape, values: toInt32(values, args[i]!.name) };
  });
  const results = op.run(new HostCall(op.signature, inputs, attributes));
  // A result may be an input's own array, which two tensors must not share.
  const given = new Set<unknown>(inputs.map(({ values }) => values));
  return results.map((result) => {
    if (result.values.length !== sizeOf(result.shape)) throw new Error(`${op.signature.name} gave a wrong shape`);
    return given.has(result.values) ? { ...result, values: result.values.slice() } : result;
  });
}

function runInTensorFlow(
  op: Operation,
  args: readonly Argument[],
  tensors: readonly tf.TensorInfo[],
  attributes: Attributes,
  outputs: number,
): tf.Tensor[] {
  const { name } = op.signature;
  const inputs = tensors.map((tensor, i) => ({ tensor, isLong: args[i]!.type === 'int64' }));
  try {
    const given = stockAttributes(op, args, tensors, attributes);
    return runStockOp(name, given, inputs, outputs);
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    // The plain kernel knows which argument is to blame.
    hostResults(op, args, tensors, attributes);
    throw new ValueError(name, 'inputs that TensorFlow takes', described(error.received));
  }
}

function stockAttributes(
  op: Operation,
  args: readonly Argument[],
  tensors: readonly tf.TensorInfo[],
  attributes: Attributes,
): StockAttribute[] {
  const types = new Map<string, tf.DataType>();
  const counts = new Set<string>();
  const { inputs, outputs } = op.signature;
  args.forEach(({ type }, i) => types.set(type, tensors[i]!.dtype));
  for (const { type, count } of [...inputs, ...outputs]) {
    if (count !== null) counts.add(count);
    // An integer type that no input shows.
    if (!types.has(type)) types.set(type, 'int32');
  }
  const isAttribute = (type: string): boolean => !['int32', 'int64', 'bool', 'float32'].includes(type);
  return [
    ...[...types]
      .filter(([type]) => isAttribute(type))
      .map(([attribute, value]): StockAttribute => ({ name: attribute, kind: 'type', value })),
    ...[...counts].map((count): StockAttribute => ({
      name: count,
      kind: 'int',
      value: Number(attributes[count] ?? 0),
    })),
    ...Object.entries(op.attributes)
      .filter(([attribute]) => attributes[attribute] !== undefined)
      .map(([attribute, kind]) => ({ name: attribute, kind, value: attributes[attribute] }) as StockAttribute),
  ];
}
