/** Variables that an op writes in place: they share memory with nobody, and no op reads what it writes. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from './node_backend.js';
import { checkInputs } from './op_inputs.js';
import { Ownership } from './ownership.js';

/** Gives variables, by the names of the arguments, buffers that nobody else sees. */
export function makeWritable(variables: Readonly<Record<string, tf.Variable>>): void {
  const backend = asNodeBackend(tf.backend());
  checkInputs(backend, variables);
  const ownership = Ownership.of(backend);
  for (const variable of Object.values(variables)) ownership.makeWritable(variable);
}

/** A tensor that is read, or a copy where it is one of those that are written: the op refuses to do both. */
export function apart<T extends tf.Tensor>(tensor: T, written: readonly tf.Variable[]): T {
  const isWritten = written.some(({ dataId }) => dataId === tensor.dataId);
  return isWritten ? (asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingCopy', [], [tensor]) as T) : tensor;
}
