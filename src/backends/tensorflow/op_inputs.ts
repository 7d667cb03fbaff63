/** Attributes and inputs of the custom ops. */
import type * as tf from '@tensorflow/tfjs';
import { checkNotLost } from '../../ids/lost_arrays.js';
import type { RowAttributes } from '../bag_tensors.js';
import type { BagOptions } from '../kernel_set.js';
import { withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { watchedBackend } from './ownership.js';

/** Refuses an array that lost its memory before TensorFlow saw it. */
export function checkInput(backend: NodeBackend, info: tf.TensorInfo | null | undefined, argument: string): void {
  const values = info && backend.tensorMap.get(info.dataId).values;
  if (ArrayBuffer.isView(values)) checkNotLost(values, argument);
}

type OpInputs = Readonly<Record<string, tf.TensorInfo | null | undefined>>;

/** The same of the inputs of an op, by the names of the arguments. */
export function checkInputs(backend: NodeBackend, inputs: OpInputs): void {
  for (const argument in inputs) checkInput(backend, inputs[argument], argument);
}

/** The backend in use, for an op on these inputs. */
export function backendFor(inputs: OpInputs): NodeBackend {
  const backend = watchedBackend();
  checkInputs(backend, inputs);
  return backend;
}

/** The attributes that every bag op has. */
export function bagAttributes(backend: NodeBackend, options: BagOptions): OpAttribute[] {
  const { TF_ATTR_STRING, TF_ATTR_FLOAT } = backend.binding;
  return [
    { name: 'combiner', type: TF_ATTR_STRING, value: options.combiner },
    { name: 'out_of_range', type: TF_ATTR_STRING, value: options.outOfRange },
    { name: 'max_norm', type: TF_ATTR_FLOAT, value: options.maxNorm },
  ];
}

/** An op has one type of table: of words there is one beside that of floats. */
export function opOf(ofFloats: `Embedding${string}`, { storage }: RowAttributes): string {
  return storage === undefined ? ofFloats : ofFloats.replace('Embedding', 'EmbeddingPacked');
}

/** What the words of a table stand for, where they are not its numbers. */
export function storageAttributes(backend: NodeBackend, { storage, dim }: RowAttributes): OpAttribute[] {
  if (storage === undefined) return [];
  const { TF_ATTR_STRING, TF_ATTR_INT } = backend.binding;
  return [
    { name: 'storage', type: TF_ATTR_STRING, value: storage },
    { name: 'dim', type: TF_ATTR_INT, value: dim! },
  ];
}

export function rowsAttribute(backend: NodeBackend, rows: number): OpAttribute {
  return { name: 'rows', type: backend.binding.TF_ATTR_INT, value: rows };
}

const noWeights = new WeakMap<NodeBackend, tf.TensorInfo>();

/** The weights, or an empty tensor for an op that has none: one per backend, as making it costs as much as a kernel. */
export function weightsOrNone(backend: NodeBackend, weights: tf.TensorInfo | null | undefined): tf.TensorInfo {
  if (weights !== null && weights !== undefined) return weights;
  let none = noWeights.get(backend);
  if (none === undefined) {
    none = { dataId: backend.write(new Float32Array(0), [0], 'float32'), shape: [0], dtype: 'float32' };
    noWeights.set(backend, none);
  }
  return none;
}

/** The hyper-parameters of a step, as they were given last, and the tensor of them. */
interface KeptNumbers {
  readonly values: Float32Array;
  readonly tensor: tf.TensorInfo;
}

const keptNumbers = new WeakMap<NodeBackend, KeptNumbers>();

/**
 * A tensor of hyper-parameters, which often are those of the step before: making one costs as much as a small step.
 * It belongs to this module, and is good until the next call. Not for live values, which are told by their array.
 */
export function numbersOfStep(backend: NodeBackend, values: Float32Array): tf.TensorInfo {
  const kept = keptNumbers.get(backend);
  const isSame = kept?.values.length === values.length && values.every((value, i) => Object.is(value, kept.values[i]));
  if (kept !== undefined && isSame) return kept.tensor;
  if (kept !== undefined) backend.disposeData(kept.tensor.dataId, true);
  const copy = values.slice();
  const shape = [copy.length];
  const tensor: tf.TensorInfo = { dataId: backend.write(copy, shape, 'float32'), shape, dtype: 'float32' };
  keptNumbers.set(backend, { values: copy.slice(), tensor });
  return tensor;
}

/** Runs `run` with the table; EmbeddingBagGrad reads only its dimension unless maxNorm is set. */
export function withTable<T>(
  backend: NodeBackend,
  table: tf.TensorInfo | null | undefined,
  dim: number,
  run: (table: tf.TensorInfo) => T,
): T {
  if (table !== null && table !== undefined) return run(table);
  return withTensor(backend, new Float32Array(0), [0, dim], run);
}
