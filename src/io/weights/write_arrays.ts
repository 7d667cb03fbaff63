/** Tensors on their way into files of NumPy and PyTorch. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { checkWhole } from '../../base/live_tensor.js';
import { isRecord } from '../../base/options.js';
import { littleEndianBytes } from '../byte_order.js';
import { pathOf } from '../byte_source.js';
import { npyHeaderBytes } from '../npy_writer.js';
import { writeWhole, type Write } from '../whole_file.js';
import { loadZip } from '../zip_archive.js';
import { safetensorsStart } from './safetensors.js';

/** A path, or a WritableStream where there are no files. */
export type FileTarget = string | WritableStream<Uint8Array>;
/** Tensors by name. */
export type Tables = Readonly<Record<string, tf.Tensor>>;

/** Names of types in both formats, and bytes of a value. */
const TYPES = {
  float32: { npy: '<f4', safetensors: 'F32', bytes: 4 },
  int32: { npy: '<i4', safetensors: 'I32', bytes: 4 },
  bool: { npy: '|b1', safetensors: 'BOOL', bytes: 1 },
} as const;

type Type = (typeof TYPES)[keyof typeof TYPES];

function typeOf(tensor: unknown, argument: string): Type {
  if (!(tensor instanceof tf.Tensor)) throw new ArgumentTypeError(argument, 'a tensor', tensor);
  const type = Object.hasOwn(TYPES, tensor.dtype) ? TYPES[tensor.dtype as keyof typeof TYPES] : undefined;
  if (type === undefined) throw new ArgumentTypeError(argument, `a tensor of ${Object.keys(TYPES).join(', ')}`, tensor);
  checkWhole(tensor as tf.Tensor, argument);
  return type;
}

/** Tensors and their types. Nothing is written where one is wrong. */
function readTables(tables: unknown): [name: string, tensor: tf.Tensor, type: Type][] {
  if (!isRecord(tables) || tables instanceof tf.Tensor)
    throw new ArgumentTypeError('tables', 'an object of tensors by name', tables);
  return Object.entries(tables).map(([name, tensor]) => {
    if (name === '' || name === '__metadata__') throw new ValueError('tables', 'names that are not empty', name);
    return [name, tensor as tf.Tensor, typeOf(tensor, `tables[${JSON.stringify(name)}]`)];
  });
}

async function bytesOf(tensor: tf.Tensor): Promise<Uint8Array> {
  return littleEndianBytes((await tensor.data()) as Float32Array | Int32Array | Uint8Array);
}

/** Writes what `fill` gives, all of it or nothing where there are files. */
export async function toTarget(file: FileTarget, fill: (write: Write) => Promise<void>): Promise<void> {
  if (typeof file === 'string') {
    if (file === '') throw new ValueError('file', 'a path', file);
    return writeWhole(pathOf(file), true, fill);
  }
  if (!(file instanceof WritableStream)) throw new ArgumentTypeError('file', 'a path or a WritableStream', file);
  const writer = file.getWriter();
  try {
    await fill((chunk) => writer.write(chunk));
    await writer.close();
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
}

/**
 * Writes a tensor as an `.npy` file (float32, int32 or bool; row-major), which is there whole or not at all; a file of
 * that name is replaced.
 *
 * `file`: a path, or a WritableStream where there are no files.
 * Source: numpy.save (NumPy 2).
 *
 * @param file - A path, or a stream.
 * @param tensor - float32, int32 or bool.
 * @returns Resolves when the file is whole.
 * @throws TypeError for other dtypes and anything but a tensor; RuntimeError where the system refuses.
 *
 * @example
 * await emb.weights.writeNpy('users.npy', model.getLayer('users').getWeights()[0]);
 */
export async function writeNpy(file: FileTarget, tensor: tf.Tensor): Promise<void> {
  const type = typeOf(tensor, 'tensor');
  await toTarget(file, async (write) => {
    await write(npyHeaderBytes(tensor.shape, type.npy));
    await write(await bytesOf(tensor));
  });
}

/**
 * Writes tensors as an `.npz` archive, uncompressed, one table in memory at a time. Files and errors as in `writeNpy`.
 * Source: numpy.savez (NumPy 2).
 *
 * @param file - A path, or a stream.
 * @param tables - Tensors by name.
 * @returns Resolves when the file is whole.
 *
 * @example
 * await emb.weights.writeNpz('tables.npz', {users, items});
 */
export async function writeNpz(file: FileTarget, tables: Tables): Promise<void> {
  const list = readTables(tables);
  const zip = await loadZip();
  await toTarget(file, async (write) => {
    const archive = new zip.ZipWriter(new WritableStream<Uint8Array>({ write }), { level: 0, useWebWorkers: false });
    for (const [name, tensor, type] of list) {
      const parts = [npyHeaderBytes(tensor.shape, type.npy), await bytesOf(tensor)];
      const readable = new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = parts.shift();
          if (next === undefined) controller.close();
          else if (next.length > 0) controller.enqueue(next);
          else controller.close();
        },
      });
      await archive.add(`${name}.npy`, readable);
    }
    await archive.close();
  });
}

/**
 * Writes tensors as a safetensors file, one table in memory at a time. Files and errors as in `writeNpy`.
 * Source: safetensors.torch.save_file (safetensors 0.4).
 *
 * @param file - A path, or a stream.
 * @param tables - Tensors by name.
 * @returns Resolves when the file is whole.
 *
 * @example
 * await emb.weights.writeSafetensors('tables.safetensors', {'user_emb.weight': users});
 */
export async function writeSafetensors(file: FileTarget, tables: Tables): Promise<void> {
  const list = readTables(tables);
  const arrays = list.map(([name, { shape, size }, { safetensors, bytes }]) => {
    return { name, dtype: safetensors, shape, bytes: size * bytes };
  });
  await toTarget(file, async (write) => {
    await write(safetensorsStart(arrays));
    for (const [, tensor] of list) await write(await bytesOf(tensor));
  });
}
