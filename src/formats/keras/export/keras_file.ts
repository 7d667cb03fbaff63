/** `.keras` files: a zip archive of the model's JSON and an HDF5 file of its weights. */
import { numbersShape, tableOf } from '../../../backends/table.js';

import { floatPiecesOf, piecesOf } from '../../../io/models/tensor_pieces.js';
import type { Write } from '../../../io/whole_file.js';
import { loadZip } from '../../../io/zip_archive.js';
import { hdf5Bytes, type Hdf5Array } from './hdf5_bytes.js';
import { withWholeNumbers } from './keyed_json.js';
import type { ExportedModel, WeightPlace } from './model_json.js';

/** The version of Keras that writes such files. */
const KERAS_VERSION = '3.15.1';

/** A weight in the file; of packed rows the numbers that they stand for. */
function arrayOf({ path, weight, array }: WeightPlace): Hdf5Array {
  if (array !== undefined) return { path, ...array };
  const table = tableOf(weight.read());
  const { tensor, isPlain } = table;
  const dtype = isPlain && weight.dtype === 'int32' ? 'int32' : 'float32';
  const pieces = (): AsyncIterable<Uint8Array> => (isPlain ? piecesOf(tensor) : floatPiecesOf(tensor, table));
  return { path, dtype, shape: numbersShape(tensor), pieces };
}

/** Chunks of a stream are read when the next may have been asked for. */
function streamOf(bytes: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await bytes.next();
      if (done === true) controller.close();
      else controller.enqueue(value.slice());
    },
    cancel: async () => void (await bytes.return(undefined)),
  });
}

/** Writes the file, piece by piece. */
export async function writeKerasFile({ json, weights }: ExportedModel, write: Write): Promise<void> {
  const zip = await loadZip();
  const stored = hdf5Bytes(weights.map(arrayOf), ['layers']);
  const writable = new WritableStream<Uint8Array>({ write });
  // Stored, as Keras does: weights hardly get smaller.
  const archive = new zip.ZipWriter(writable, { level: 0, useWebWorkers: false });
  const text = (value: unknown): InstanceType<typeof zip.TextReader> =>
    new zip.TextReader(withWholeNumbers(JSON.stringify(value)));
  const saved = new Date().toISOString().slice(0, 19).replace('T', '@');
  await archive.add('metadata.json', text({ keras_version: KERAS_VERSION, date_saved: saved }));
  await archive.add('config.json', text(json));
  await archive.add('model.weights.h5', { readable: streamOf(stored.bytes()), size: stored.size });
  await archive.close();
}
