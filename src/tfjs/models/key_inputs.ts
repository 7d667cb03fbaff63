/** Inputs of models that take keys in place of tensors. */
import type * as tf from '@tensorflow/tfjs';
import { asOwn } from '../engine/own_functions.js';

/** Makes a tensor that stands for keys; `sizes`: of the input, without the batch; `path`: what they are called in errors. */
type ReadKeys = (value: unknown, sizes: readonly (number | null)[], path: string) => tf.Tensor;

interface KeyInputLayer {
  keys?: { readonly kind: string; readonly read: ReadKeys };
}

/** The kind of keys that a layer of inputs takes; null: it takes none. */
export function keyInputKind(layer: tf.layers.Layer): string | null {
  return (layer as KeyInputLayer).keys?.kind ?? null;
}

/** Has a layer of inputs take keys. */
export function asKeyInput(layer: tf.layers.Layer, kind: string, read: ReadKeys): void {
  (layer as KeyInputLayer).keys = { kind, read: asOwn(read) };
}

/** What reads the keys of an input of a model; null: it takes none. */
export function keyReaderOf(input: tf.SymbolicTensor): ReadKeys | null {
  return (input.sourceLayer as KeyInputLayer | null)?.keys?.read ?? null;
}
