/**
 * What this package uses of the tfjs-node backend, told by shape: the package never imports tfjs-node, so that this
 * folder can be part of the entry for any runtime.
 */
import type * as tf from '@tensorflow/tfjs';
import { RuntimeError } from '../../base/errors.js';
import type { OpBackend } from '../../tfjs/op_inputs.js';

export const BACKEND_NAME = 'tensorflow';

/** What the backend keeps per data id. A new record is made whenever data moves here from another backend. */
export interface TensorRecord {
  /** A typed array that was not handed to TensorFlow yet. */
  values: unknown;
}

/** An attribute of a TensorFlow op. */
export interface OpAttribute {
  readonly name: string;
  readonly type: number;
  readonly value: string | number | boolean;
}

export interface NodeBackend extends OpBackend<readonly OpAttribute[]> {
  readonly binding: {
    readonly TF_ATTR_STRING: number;
    readonly TF_ATTR_INT: number;
    readonly TF_ATTR_FLOAT: number;
    readonly TF_ATTR_BOOL: number;
    readonly TF_ATTR_TYPE: number;
    readonly TF_FLOAT: number;
    readonly TF_INT32: number;
  };
  readonly tensorMap: { get(dataId: object): TensorRecord };
  refCount(dataId: object): number;
  incRef(dataId: object): void;
  write(values: Float32Array | Int32Array, shape: number[], dtype: 'float32' | 'int32'): object;
  disposeData(dataId: object, force?: boolean): boolean;
}

const METHODS = [
  'getInputTensorIds',
  'executeSingleOutput',
  'executeMultipleOutputs',
  'refCount',
  'write',
  'disposeData',
] as const;

/** Backends that were found to be tfjs-node's. */
const known = new WeakSet<object>();

/** The backend as tfjs-node's, or a RuntimeError when it is something else under the same name. */
export function asNodeBackend(backend: unknown): NodeBackend {
  const candidate = backend as NodeBackend;
  if (known.has(candidate)) return candidate;
  const fits =
    METHODS.every((name) => typeof candidate[name] === 'function') && candidate.binding && candidate.tensorMap;
  if (fits) {
    known.add(candidate);
    return candidate;
  }
  throw new RuntimeError('backend', 'the backend of @tensorflow/tfjs-node under the name tensorflow', backend);
}

/** Runs `run` on a tensor made of `values`, which is gone afterwards. */
export function withTensor<T>(
  backend: NodeBackend,
  values: Float32Array | Int32Array,
  shape: number[],
  run: (tensor: tf.TensorInfo) => T,
): T {
  const dtype = values instanceof Int32Array ? 'int32' : 'float32';
  const dataId = backend.write(values, shape, dtype);
  try {
    return run({ dataId, shape, dtype });
  } finally {
    backend.disposeData(dataId, true);
  }
}
