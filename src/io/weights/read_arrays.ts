/** Arrays of files as tensors. */
import type * as tf from '@tensorflow/tfjs';
import { bytesAt, openBytes, type ByteInput, type ByteSource } from '../byte_source.js';
import type { ArrayFile } from './array_file.js';
import { npyArray, openNpz } from './npy_arrays.js';
import { openSafetensors } from './safetensors.js';

async function readAll(file: ArrayFile): Promise<Record<string, tf.Tensor>> {
  const found: [string, tf.Tensor][] = [];
  try {
    for (const array of file.arrays.values()) found.push([array.name, await array.read()]);
  } catch (error) {
    found.forEach(([, tensor]) => tensor.dispose());
    throw error;
  }
  return Object.fromEntries(found);
}

async function using<T>(source: ByteInput, read: (opened: ByteSource) => Promise<T>): Promise<T> {
  const opened = await openBytes(source);
  try {
    return await read(opened);
  } finally {
    opened.close();
  }
}

/**
 * Returns the array of an `.npy` file as a tensor: floats of 16, 32 and 64 bits as float32, whole numbers as int32,
 * truth values as bool.
 *
 * `source`: a path (with the entry `tfjs-embeddings/node`), a URL, a File or Blob, or bytes.
 * Source: numpy.load (NumPy 2).
 *
 * @param source - A path, a URL, bytes, a Blob or a stream.
 * @returns The tensor.
 * @throws TypeError for another kind of source; ValueError for anything but such a file: other types, pickles,
 * column-major order, whole numbers beyond int32, files that are cut off.
 *
 * @example
 * const vectors = await emb.weights.readNpy('vectors.npy');
 */
export async function readNpy(source: ByteInput): Promise<tf.Tensor> {
  return using(source, async (opened) => npyArray(opened, opened.name, '').read());
}

/**
 * Returns the arrays of an `.npz` archive as tensors by name. Types, sources and errors as in `readNpy`; ValueError also
 * for damaged archives, by their checksums.
 * Source: numpy.load (NumPy 2).
 *
 * @param source - A path, a URL, bytes, a Blob or a stream.
 * @returns The tensors by name.
 *
 * @example
 * const {users, items} = await emb.weights.readNpz('tables.npz');
 */
export async function readNpz(source: ByteInput): Promise<Record<string, tf.Tensor>> {
  return using(source, async (opened) => readAll(await openNpz(opened)));
}

/**
 * Returns the arrays of a safetensors file as tensors by name; bfloat16 too becomes float32. Sources as in `readNpy`.
 * Source: safetensors.torch.load_file (safetensors 0.4).
 *
 * @param source - A path, a URL, bytes, a Blob or a stream.
 * @returns The tensors by name.
 * @throws ValueError for damaged files: headers that are no JSON, values that overlap or lie outside.
 *
 * @example
 * const tables = await emb.weights.readSafetensors('model.safetensors');
 * tables['user_emb.weight'].shape; // [1000, 16]
 */
export async function readSafetensors(source: ByteInput): Promise<Record<string, tf.Tensor>> {
  return using(source, async (opened) => readAll(openSafetensors(opened)));
}

/** Opens a file of arrays by what it begins with: `.npz`, `.npy` (an array without a name) or safetensors. */
export async function openArrays(source: ByteInput): Promise<ArrayFile> {
  const opened = await openBytes(source);
  try {
    const [first, second] = bytesAt(opened, 0, Math.min(2, opened.size));
    if (first === 0x50 && second === 0x4b) return await openNpz(opened);
    if (first !== 0x93) return openSafetensors(opened);
    const array = npyArray(opened, opened.name, '');
    return { name: opened.name, arrays: new Map([['', array]]), close: () => opened.close() };
  } catch (error) {
    opened.close();
    throw error;
  }
}
