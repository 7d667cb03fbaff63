/** Values of a bundle come in pieces, which end within rows. */
import { BundleReader, type DataFile } from '../../../src/formats/saved_model/bundle/bundle_reader.js';
import { BundleWriter } from '../../../src/formats/saved_model/bundle/bundle_writer.js';
import { readRows, readTensor } from '../../../src/io/models/stored_model.js';

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A bundle of one value, read in pieces of so many bytes. */
async function bundleOf(values: Float32Array, shape: number[], pieceBytes: number): Promise<BundleReader> {
  const writer = new BundleWriter();

  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(values.buffer);
  };
  const parts: Uint8Array[] = [];
  const data = writer.data([{ key: 'table', dtype: 'float32', shape, pieces }], new Uint8Array(3));
  for await (const part of data) parts.push(part.slice());
  const bytes = joined(parts);
  const file = {
    size: bytes.length,
    read: (offset: number, into: Uint8Array): Promise<void> => {
      into.set(bytes.subarray(offset, offset + into.length));
      return Promise.resolve();
    },
  };
  return new BundleReader(writer.index(), () => Promise.resolve(file as unknown as DataFile), pieceBytes);
}

describe('values of a bundle', () => {
  for (const shape of [[7, 3], [5, 4], [11], [2, 13], [3, 2, 5], [1, 1]]) {
    for (const pieceBytes of [4, 8, 12, 20, 28, 52, 1024]) {
      it(`are whole rows of [${shape.join(', ')}] in pieces of ${pieceBytes} bytes`, async () => {
        const size = shape.reduce((product, each) => product * each, 1);
        const values = Float32Array.from({ length: size }, (_, i) => i + 0.5);
        const bundle = await bundleOf(values, shape, pieceBytes);
        const stored = bundle.find('table')!;
        const columns = size / shape[0]!;
        const found = new Float32Array(size);
        let next = 0;
        await readRows(bundle.array(stored), (row, rows) => {
          expect(row).toBe(next);
          expect(rows.length % columns).toBe(0);
          found.set(rows, row * columns);
          next += rows.length / columns;
        });
        expect(next).toBe(shape[0]!);
        expect(found).toEqual(values);
        const tensor = await readTensor(bundle.array(stored));
        expect(tensor.dataSync<'float32'>()).toEqual(values);
        tensor.dispose();
      });
    }
  }
});
