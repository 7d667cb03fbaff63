/** Any op of TensorFlow on tensors of tfjs. 64-bit integers, which tfjs has not, are made for an op and narrowed again. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { INT32_MAX, INT32_MIN } from '../../base/types.js';
import { BACKEND_NAME, asNodeBackend, type NodeBackend } from './node_backend.js';
import { translated } from './op_errors.js';

/** An attribute as the op definition types it. */
export type StockAttribute =
  | { readonly name: string; readonly kind: 'int' | 'float'; readonly value: number }
  | { readonly name: string; readonly kind: 'bool'; readonly value: boolean }
  | { readonly name: string; readonly kind: 'string'; readonly value: string }
  | { readonly name: string; readonly kind: 'type'; readonly value: tf.DataType };

export interface StockInput {
  readonly tensor: tf.TensorInfo;
  /** Whether the op takes int64 here; the tensor is int32. */
  readonly isLong: boolean;
}

interface Output {
  readonly id: number;
  readonly dtype: number;
  readonly shape: number[];
}

/** What is used of tfjs-node below its kernels. */
interface StockBackend extends NodeBackend {
  readonly binding: NodeBackend['binding'] & {
    readonly TF_ATTR_BOOL: number;
    readonly TF_INT64: number;
    executeOp(name: string, attributes: readonly object[], inputs: readonly number[], outputs: number): Output[];
    deleteTensor(id: number): void;
    tensorDataSync(id: number): unknown;
  };
  readonly tensorMap: { get(dataId: object): { values: unknown; dtype?: unknown } };
  getDTypeInteger(dtype: tf.DataType): number;
  createOutputTensor(output: Output): tf.Tensor;
}

/** The backend in use as tfjs-node's, or null where another one is in use. */
export function stockBackend(): object | null {
  return tf.getBackend() === BACKEND_NAME ? asNodeBackend(tf.backend()) : null;
}

/** Whether a tensor of tfjs-node holds 64-bit integers, which tfjs calls int32. */
export function isLong(tensor: tf.TensorInfo): boolean {
  const backend = stockBackend() as StockBackend | null;
  return backend !== null && backend.tensorMap.get(tensor.dataId).dtype === backend.binding.TF_INT64;
}

/**
 * Runs an op of TensorFlow. int64 results come back as int32; ValueError, with the name of the op, where they do not fit.
 */
export function runStockOp(
  name: string,
  attributes: readonly StockAttribute[],
  inputs: readonly StockInput[],
  outputs: number,
): tf.Tensor[] {
  const backend = asNodeBackend(tf.backend()) as StockBackend;
  const { binding } = backend;
  const ids = backend.getInputTensorIds(inputs.map(({ tensor }) => tensor));
  const made: number[] = [];
  try {
    const wide = ids.map((id, i) => (inputs[i]!.isLong ? widened(backend, id, made) : id));
    const given = attributes.map((attribute) => opAttribute(backend, attribute));
    const results = translated(name, () => binding.executeOp(name, given, wide, outputs));
    return results.map((result) => {
      return result.dtype === binding.TF_INT64 ? narrowed(backend, result, name) : backend.createOutputTensor(result);
    });
  } finally {
    made.forEach((id) => binding.deleteTensor(id));
  }
}

function opAttribute(backend: StockBackend, { name, kind, value }: StockAttribute): object {
  const { binding } = backend;
  const types = {
    int: binding.TF_ATTR_INT,
    float: binding.TF_ATTR_FLOAT,
    bool: binding.TF_ATTR_BOOL,
    string: binding.TF_ATTR_STRING,
    type: binding.TF_ATTR_TYPE,
  };
  return { name, type: types[kind], value: kind === 'type' ? backend.getDTypeInteger(value) : value };
}

function widened({ binding }: StockBackend, id: number, made: number[]): number {
  const types = [
    { name: 'SrcT', type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 },
    { name: 'DstT', type: binding.TF_ATTR_TYPE, value: binding.TF_INT64 },
  ];
  const [wide] = binding.executeOp('Cast', types, [id], 1);
  made.push(wide!.id);
  return wide!.id;
}

function narrowed({ binding }: StockBackend, { id, shape }: Output, name: string): tf.Tensor {
  try {
    const wide = binding.tensorDataSync(id) as BigInt64Array;
    const values = new Int32Array(wide.length);
    wide.forEach((value, i) => {
      if (value < INT32_MIN || value > INT32_MAX) {
        throw new ValueError(name, 'results that fit int32, the only integers of tfjs', value);
      }
      values[i] = Number(value);
    });
    return tf.engine().makeTensor(values, shape, 'int32') as tf.Tensor;
  } finally {
    binding.deleteTensor(id);
  }
}
