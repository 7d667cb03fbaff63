/** `.npy` files, and `.npz` archives of them. */
import { ValueError, described } from '../../base/errors.js';
import { positioned, type ByteSource } from '../byte_source.js';
import { readNpyLayout, type PositionedFile } from '../npy.js';
import { readZip, type ZipEntry } from '../zip_archive.js';
import { sizeOf, tensorAt, type ArrayFile, type StoredArray } from './array_file.js';
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
export function npyArray(file: PositionedFile, name: string, key: string): StoredArray {
  const { shape, descr, isColumnMajor, start } = readNpyLayout(file, name, 'source');
  const type = readType(descr, name);
  const expected = 'an array in row-major order (fortran_order False)';
  if (isColumnMajor && shape.length > 1) throw new ValueError('source', expected, described(`${name}, column-major`));
  const bytes = sizeOf(shape, { name }) * type.bytes;
  if (bytes !== file.size - start) {
    const wanted = `${bytes} bytes of values for shape [${shape.join(', ')}]`;
    throw new ValueError('source', wanted, described(`${name}, which holds ${file.size - start}`));
  }
  return { name: key, shape, type, read: async () => tensorAt(file, name, start, shape, type) };
}

async function entryArray(source: ByteSource, entry: ZipEntry, key: string): Promise<StoredArray> {
  const name = `${source.name}, ${JSON.stringify(entry.name.slice(0, 80))}`;
  const unpack = async (): Promise<StoredArray> => npyArray(positioned(await entry.read()), name, key);
  const { shape, type } = await unpack();
  // Unpacked again when it is asked for, so that tables lie in memory one after the other.
  return { name: key, shape, type, read: async () => (await unpack()).read() };
}

/** The arrays of an `.npz` archive by name, without `.npy`. Each is unpacked once, which compares its checksum. */
export async function openNpz(source: ByteSource, wanted?: (name: string) => boolean): Promise<ArrayFile> {
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
