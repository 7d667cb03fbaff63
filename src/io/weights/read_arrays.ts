/** Arrays of files as tensors. */
import type * as tf from '@tensorflow/tfjs';
import { bytesAt, openBytes, type ByteInput, type ByteSource, positioned } from '../byte_source.js';
import { type ArrayFile, arrayAt, sizeOf, type StoredArray } from './array_file.js';
import { openSafetensors } from './safetensors.js';
import { ArgumentTypeError, ValueError, describe, described } from '../../base/errors.js';
import { checkCount, readOptions } from '../../base/options.js';
import type { PositionedFile } from '../../base/platform.js';
import { readNpyLayout } from '../npy.js';
import { readZip, type ZipEntry } from '../zip_archive.js';
import type { ArrayType } from './array_values.js';

const EXPECTED = 'numbers or truth values: float16, float32, float64, whole numbers, bool';

function readType(descr: string, name: string): ArrayType {
  const [, order, letter, digit] = /^['"]([<>|=])([fiub])([1248])['"]$/.exec(descr) ?? [];
  const bytes = Number(digit) as ArrayType['bytes'];
  const littleEndian = order !== '>';
  if (letter === 'f' && bytes > 1) return { kind: 'float', bytes, littleEndian, dtype: 'float32' };
  if (letter === 'i') return { kind: 'int', bytes, littleEndian, dtype: 'int32' };
  if (letter === 'u') return { kind: 'uint', bytes, littleEndian, dtype: 'int32' };
  if (letter === 'b' && bytes === 1) return { kind: 'bool', bytes, littleEndian, dtype: 'bool' };
  const received = descr.includes('O') ? 'pickled objects' : descr.slice(0, 80);
  throw new ValueError('source', EXPECTED, described(`${name}, which holds ${received}`));
}

/** The array of an `.npy` file. */
function npyArray(file: PositionedFile, name: string, key: string): StoredArray {
  const { shape, descr, isColumnMajor, start } = readNpyLayout(file, name, 'source');
  const type = readType(descr, name);
  const expected = 'an array in row-major order (fortran_order False)';
  if (isColumnMajor && shape.length > 1) throw new ValueError('source', expected, described(`${name}, column-major`));
  const bytes = sizeOf(shape, { name }) * type.bytes;
  if (bytes !== file.size - start) {
    const wanted = `${bytes} bytes of values for shape [${shape.join(', ')}]`;
    throw new ValueError('source', wanted, described(`${name}, which holds ${file.size - start}`));
  }
  return arrayAt(file, name, { name: key, shape, type, at: start });
}

async function entryArray(source: ByteSource, entry: ZipEntry, key: string): Promise<StoredArray> {
  const name = `${source.name}, ${JSON.stringify(entry.name.slice(0, 80))}`;
  const unpack = async (): Promise<StoredArray> => npyArray(positioned(await entry.read()), name, key);
  const { shape, type } = await unpack();
  // Unpacked again when it is asked for, so that tables lie in memory one after the other.
  return { name: key, shape, type, read: async () => (await unpack()).read() };
}

/** The arrays of an `.npz` archive by name, without `.npy`. Each is unpacked once, which compares its checksum. */
async function openNpz(source: ByteSource, wanted?: (name: string) => boolean): Promise<ArrayFile> {
  const arrays = new Map<string, StoredArray>();
  const names = new Set<string>();
  for (const entry of (await readZip(source)).values()) {
    const key = entry.name.replace(/\.npy$/, '');
    if (names.has(key)) {
      const received = described(`${source.name}, with two of ${JSON.stringify(key.slice(0, 80))}`);
      throw new ValueError('source', 'arrays of different names', received);
    }
    names.add(key);
    if (wanted === undefined || wanted(key)) arrays.set(key, await entryArray(source, entry, key));
  }
  return { name: source.name, arrays, close: () => source.close() };
}

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

/**
 * Returns some rows of an array of an `.npy` or safetensors file as a tensor, and reads no others: of a path, files larger
 * than memory do. Types as in `readNpy`.
 * Source: numpy.load with mmap_mode (NumPy 2); safe_open with get_slice (safetensors 0.4).
 *
 * @param source - A path, a URL, bytes, a Blob or a stream.
 * @param tensor - The name of the array; null in an `.npy` file, where it has none.
 * @param range - `{first, count}`: the first row, 0 by default, and how many.
 * @returns A tensor [count, ...shape of a row].
 * @throws TypeError for wrong types; ValueError for a name that the file lacks, rows that it lacks, arrays without rows,
 * archives (`.npz`), and damaged files; RuntimeError where it cannot be read.
 *
 * @example
 * const rows = await emb.weights.readRows('model.safetensors', 'ple.weight', { first: 1_000_000, count: 10 });
 */
export async function readRows(
  source: ByteInput,
  tensor: string | null,
  range: { first?: number; count: number },
): Promise<tf.Tensor> {
  const given = readOptions<{ first: number; count: number }>(range, ['first', 'count'], 'range');
  const first = checkCount(given.first ?? 0, 'first', 0);
  const count = checkCount(given.count, 'count', 1);
  if (tensor !== null && typeof tensor !== 'string') throw new ArgumentTypeError('tensor', 'a name or null', tensor);
  const file = await openArrays(source);
  try {
    const array = file.arrays.get(tensor ?? '');
    if (array === undefined) {
      const names = [...file.arrays.keys()].slice(0, 20).map((name) => (name === '' ? 'null' : describe(name)));
      throw new ValueError('tensor', `one of ${names.join(', ')}, which ${file.name} holds`, tensor);
    }
    const rows = array.shape[0];
    if (array.readRows === undefined || rows === undefined) {
      const received = described(`${file.name}, ${rows === undefined ? 'of shape []' : 'an archive'}`);
      throw new ValueError('source', 'an array with rows in an .npy or safetensors file', received);
    }
    if (first + count > rows) {
      throw new ValueError('range', `rows in [0, ${rows})`, described(`${count} from ${first} on`));
    }
    return array.readRows(first, count);
  } finally {
    file.close();
  }
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
