/** Variables that an op writes in place: they share memory with nobody, and no op reads what it writes. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from './node_backend.js';
import { checkInput } from './op_inputs.js';
import { Ownership } from './ownership.js';

const SLOT_ARGUMENTS = ['slots[0]', 'slots[1]'] as const;

/** Gives a table and its slots buffers that nobody else sees. */
export function makeWritable(table: tf.Variable, slots: readonly tf.Variable[] = []): void {
  const backend = asNodeBackend(tf.backend());
  checkInput(backend, table, 'table');
  for (let i = 0; i < slots.length; i++) checkInput(backend, slots[i], SLOT_ARGUMENTS[i]!);
  const ownership = Ownership.of(backend);
  ownership.makeWritable(table);
  for (const slot of slots) ownership.makeWritable(slot);
}

/** Whether a tensor is none of those that are written. */
export function isApart({ dataId }: tf.Tensor, written: readonly tf.Variable[]): boolean {
  return written.every((variable) => variable.dataId !== dataId);
}

/** A tensor that is read, or a copy where it is one of those that are written: the op refuses to do both. */
export function apart<T extends tf.Tensor>(tensor: T, written: readonly tf.Variable[]): T {
  if (isApart(tensor, written)) return tensor;
  return asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingCopy', [], [tensor]) as T;
}
