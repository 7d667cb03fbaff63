/** Rows of the inputs of `fit`, all taken by one op that a graph can hold: tf.gather looks at the row numbers first. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, BACKEND_NAME, type NodeBackend } from '../backends/tensorflow/node_backend.js';
import type { StepData } from '../tfjs_patches/training/model_steps.js';

const TYPES = { float32: 'TF_FLOAT', int32: 'TF_INT32' } as const;

/** The rows of these numbers of each tensor, on any backend: it may change within `fit`. Call inside a tidy. */
export function gathered(whole: StepData, rows: tf.Tensor1D): StepData {
  if (tf.getBackend() === BACKEND_NAME) return gatheredByOps(asNodeBackend(tf.backend()), whole, rows);
  return whole.map((tensor) => (tensor instanceof tf.Tensor ? tf.gather(tensor, rows) : tensor));
}

function gatheredByOps(backend: NodeBackend, whole: StepData, rows: tf.Tensor1D): StepData {
  const { binding } = backend;
  const found = new Map<tf.Tensor, tf.Tensor>();
  for (const dtype of ['float32', 'int32'] as const) {
    const sources = [...new Set(whole)].filter((tensor) => tensor?.dtype === dtype) as tf.Tensor[];
    if (sources.length === 0) continue;
    const attributes = [
      { name: 'N', type: binding.TF_ATTR_INT, value: sources.length },
      { name: 'T', type: binding.TF_ATTR_TYPE, value: binding[TYPES[dtype]] },
    ];
    const taken = backend.executeMultipleOutputs('EmbeddingTakeRows', attributes, [rows, ...sources], sources.length);
    sources.forEach((source, i) => found.set(source, taken[i]!));
  }
  return whole.map((tensor) => {
    return tensor === null || tensor === undefined ? tensor : (found.get(tensor) ?? tf.gather(tensor, rows));
  });
}
