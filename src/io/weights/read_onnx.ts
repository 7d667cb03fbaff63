/** Tensors of files of ONNX. What reads them is loaded on first use. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import type { ByteInput } from '../byte_source.js';
import { unknownName } from './load.js';

export interface ReadOnnxOptions {
  /** Which tensors are read. Default: all. */
  names?: readonly string[] | undefined;
}

function checkNames(value: unknown): string[] | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value as string[];
  throw new ArgumentTypeError('names', 'a list of names', value);
}

/**
 * Returns the tensors that a file of ONNX holds, by name: the initializers of its graph, of whichever program wrote it,
 * such as embedding tables.
 *
 * Floats of 16, 32 and 64 bits and bfloat16 become float32, whole numbers int32, truth values bool, texts string. Values
 * that lie in a file beside are read from there, where the model came from a path or a URL; that file must lie in the
 * folder of the model. Nothing of the graph is run or looked at: numbers in nodes, quantized types and the tensors of
 * graphs within nodes are not among them.
 * Source: onnx.load and onnx.numpy_helper.to_array (ONNX 1.17).
 *
 * @param source - A path (with the entry `tfjs-embeddings/node`), a URL, a File or Blob, or bytes.
 * @param options - `{names}`: which tensors; those of other types are then no error.
 * @returns The tensors by name, which are the caller's.
 * @throws TypeError for another kind of source; ValueError for damaged files, names that are not there, types that
 * tensors here do not have, whole numbers beyond int32, and files beside that lie elsewhere.
 *
 * @example
 * const { 'items/embeddings': items } = await emb.weights.readOnnx('ctr.onnx', { names: ['items/embeddings'] });
 */
export async function readOnnx(source: ByteInput, options: ReadOnnxOptions = {}): Promise<Record<string, tf.Tensor>> {
  const names = checkNames(readOptions<ReadOnnxOptions>(options ?? {}, ['names'], 'options').names);
  const found: [string, tf.Tensor][] = [];
  const { openOnnx } = await import('./onnx_file.js');
  const file = await openOnnx(source, (name) => names === null || names.includes(name));
  try {
    const missing = names?.find((name) => !file.arrays.has(name));
    if (missing !== undefined) throw unknownName('names', 'a tensor of the file', missing, file.arrays.keys());
    for (const array of file.arrays.values()) found.push([array.name, await array.read()]);
  } catch (error) {
    found.forEach(([, tensor]) => tensor.dispose());
    throw error;
  } finally {
    file.close();
  }
  return Object.fromEntries(found);
}
