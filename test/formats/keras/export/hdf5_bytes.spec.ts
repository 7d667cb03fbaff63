/** Files that the HDF5 library itself reads, and the reader of this package. */
import { File as H5File, ready, type Dataset, type Group } from 'h5wasm';
import { hdf5Bytes, type Hdf5Array } from '../../../../src/formats/keras/export/hdf5_bytes.js';
import { Hdf5File } from '../../../../src/formats/keras/hdf5.js';
import 'tfjs-embeddings/node';

/** Numbers that tell where they are, in pieces that are used again. */
function counting(path: string, shape: number[], dtype: Hdf5Array['dtype'] = 'float32', by = 5): Hdf5Array {
  const size = shape.reduce((product, each) => product * each, 1);
  const numbers = Array.from({ length: size }, (_, i) => i / (dtype === 'int32' ? 1 : 4) - 3);
  const bytes = new Uint8Array((dtype === 'int32' ? Int32Array.from(numbers) : Float32Array.from(numbers)).buffer);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const room = new Uint8Array(by);
    for (let at = 0; at < bytes.length; at += by) {
      const piece = bytes.subarray(at, at + by);
      room.set(piece);
      yield room.subarray(0, piece.length);
    }
  }
  return { path, dtype, shape, pieces };
}

async function written(arrays: readonly Hdf5Array[], groups: readonly string[] = []): Promise<Uint8Array> {
  const { size, bytes } = hdf5Bytes(arrays, groups);
  const all = new Uint8Array(size);
  let at = 0;
  for await (const piece of bytes()) {
    all.set(piece, at);
    at += piece.length;
  }
  expect(at).toBe(size);
  return all;
}

async function withLibrary(bytes: Uint8Array, read: (file: H5File) => void): Promise<void> {
  const { FS } = await ready;
  FS.writeFile('/written.h5', bytes);
  const file = new H5File('/written.h5', 'r');
  try {
    read(file);
  } finally {
    file.close();
    FS.unlink('/written.h5');
  }
}

const namesOf = (file: Group): string[] => [...file.keys()].sort();

describe('an HDF5 file that is written', () => {
  const ARRAYS = [
    counting('layers/dense/vars/1', [5], 'int32'),
    counting('layers/dense/vars/0', [3, 4]),
    counting('layers/dense_1/vars/0', [2, 3, 4, 2]),
    counting('layers/Dense/scalar', []),
    counting('layers/empty/rows', [0, 4]),
    counting('layers/größe/vars/0', [1, 1]),
  ];

  it('has its arrays and groups for the library of HDF5', async () => {
    const bytes = await written(ARRAYS, ['layers', 'optimizer/vars']);
    await withLibrary(bytes, (file) => {
      expect(namesOf(file)).toEqual(['layers', 'optimizer']);
      expect(namesOf(file.get('optimizer/vars') as Group)).toEqual([]);
      expect(namesOf(file.get('layers') as Group)).toEqual(['Dense', 'dense', 'dense_1', 'empty', 'größe']);
      for (const { path, shape, dtype } of ARRAYS) {
        const { shape: found, dtype: type, value } = file.get(path) as Dataset;
        expect([found?.join(), String(type)])
          .withContext(path)
          .toEqual([shape.join(), dtype === 'int32' ? '<i' : '<f']);
        const size = shape.reduce((product, each) => product * each, 1);
        const expected = Array.from({ length: size }, (_, i) => i / (dtype === 'int32' ? 1 : 4) - 3);
        const numbers = shape.length === 0 ? [value as number] : Array.from(value as Float32Array);
        expect(numbers).withContext(path).toEqual(expected);
      }
    });
  });

  it('has them for the reader of this package', async () => {
    const file = await Hdf5File.open(await written(ARRAYS, ['layers']), 'w.h5');
    expect(Array.from(await file.values('layers/dense/vars/0'))).toEqual(
      Array.from({ length: 12 }, (_, i) => i / 4 - 3),
    );
  });

  it('has groups of any size, in the order of their bytes', async () => {
    for (const count of [0, 1, 8, 9, 33, 700]) {
      const arrays = Array.from({ length: count }, (_, i) => counting(`vars/${i}`, [2, 1 + (i % 3)], 'float32', 1000));
      await withLibrary(await written(arrays, ['vars']), (file) => {
        expect((file.get('vars') as Group).keys().length).toBe(count);
        for (const { path, shape } of arrays) {
          const { value } = file.get(path) as Dataset;
          expect(Array.from(value as Float32Array))
            .withContext(path)
            .toEqual(Array.from({ length: shape[0]! * shape[1]! }, (_, i) => i / 4 - 3));
        }
      });
    }
  });
});
