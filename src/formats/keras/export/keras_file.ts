/** `.keras` files: a zip archive of the model's JSON and an HDF5 file of its weights. */
import type * as tf from '@tensorflow/tfjs';
import type * as h5wasm from 'h5wasm';
import type { Group } from 'h5wasm';
import { numbersShape, tableOf } from '../../../backends/table.js';
import type { Write } from '../../../io/whole_file.js';
import { loadZip } from '../../../io/zip_archive.js';
import type { ExportedModel, WeightPlace } from './model_json.js';
import { loadPackage } from '../../../base/platform.js';

/** A library that is ready, and its files in memory. */
interface Hdf5Library {
  readonly h5: typeof h5wasm;
  readonly files: { readFile(path: string): Uint8Array; unlink(path: string): void };
}

const loadHdf5 = (): Promise<Hdf5Library> =>
  loadPackage('h5wasm', 'file', async () => {
    const h5 = await import('h5wasm');
    const { FS } = await h5.ready;
    return { h5, files: FS as unknown as Hdf5Library['files'] };
  });

let counter = 0;

/** A new name for a file in memory. */
function newFileName(): string {
  return `/tfjs-embeddings-${++counter}.h5`;
}

/** The version of Keras that writes such files. */
const KERAS_VERSION = '3.15.1';

/** The numbers of a weight; of packed rows those that they stand for. */
async function numbersOf(weight: tf.LayerVariable): Promise<{ data: tf.TypedArray; shape: number[]; dtype: string }> {
  const { codec, dim, tensor } = tableOf(weight.read());
  const [data, shape] = [await tensor.data(), numbersShape(tensor)];
  if (!codec.isPlain) return { data: codec.unpack(data as Int32Array, dim), shape, dtype: '<f' };
  return { data, shape, dtype: weight.dtype === 'int32' ? '<i' : '<f' };
}

/** The HDF5 file of the weights. */
async function hdf5Of(weights: readonly WeightPlace[]): Promise<Uint8Array> {
  const { h5, files } = await loadHdf5();
  const path = newFileName();
  const file = new h5.File(path, 'w');
  let isOpen = true;
  try {
    const groups = new Map<string, Group>([['', file]]);
    const groupAt = (at: string): Group => {
      const known = groups.get(at);
      if (known !== undefined) return known;
      const end = at.lastIndexOf('/');
      const made = groupAt(at.slice(0, Math.max(0, end))).create_group(at.slice(end + 1));
      groups.set(at, made);
      return made;
    };
    groupAt('layers');
    for (const { path: place, weight } of weights) {
      const end = place.lastIndexOf('/');
      const name = place.slice(end + 1);
      groupAt(place.slice(0, end)).create_dataset({ name, ...(await numbersOf(weight)) });
    }
    file.close();
    isOpen = false;
    return files.readFile(path);
  } finally {
    if (isOpen) file.close();
    files.unlink(path);
  }
}

/** Writes the file, piece by piece. */
export async function writeKerasFile({ json, weights }: ExportedModel, write: Write): Promise<void> {
  const zip = await loadZip();
  const stored = await hdf5Of(weights);
  const writable = new WritableStream<Uint8Array>({ write });
  // Stored, as Keras does: weights hardly get smaller.
  const archive = new zip.ZipWriter(writable, { level: 0, useWebWorkers: false });
  const text = (value: unknown): InstanceType<typeof zip.TextReader> => new zip.TextReader(JSON.stringify(value));
  const saved = new Date().toISOString().slice(0, 19).replace('T', '@');
  await archive.add('metadata.json', text({ keras_version: KERAS_VERSION, date_saved: saved }));
  await archive.add('config.json', text(json));
  await archive.add('model.weights.h5', new zip.Uint8ArrayReader(stored as Uint8Array<ArrayBuffer>));
  await archive.close();
}
