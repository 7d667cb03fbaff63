/** Inputs of models that take keys in place of tensors. */
import type * as tf from '@tensorflow/tfjs';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { SparseInput } from '../../ids/sparse_values.js';
import { asOwn } from '../engine/own_functions.js';

/** A key, or arrays of them to any depth, even or uneven. */
export type NestedKeys = string | number | bigint | readonly NestedKeys[];

/** Keys in one typed array. */
export type KeyArray =
  BigInt64Array | BigUint64Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

/** Strings as Arrow holds them: string i is the UTF-8 in bytes[offsets[i] .. offsets[i + 1]). */
export interface KeyTexts {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
}

/**
 * Keys in any container: strings; or whole numbers below 2^53, bigints and typed arrays. Dense, ragged ({values, rowSplits},
 * uneven arrays) or sparse.
 */
export type KeysInput =
  | NestedKeys
  | KeyArray
  | readonly KeyArray[]
  | KeyTexts
  | tf.Tensor
  | RaggedTensor
  | { readonly values: readonly NestedKeys[] | KeyArray | KeyTexts; readonly rowSplits: Int32Array | readonly number[] }
  | {
      readonly indices: SparseInput['indices'];
      readonly values: readonly NestedKeys[] | KeyArray;
      readonly denseShape: SparseInput['denseShape'];
    };

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
