/** What a file of a model or of weights holds, before anything of it is loaded: `emb.inspect`. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, describe } from '../../base/errors.js';
import { checkBoolean } from '../../base/layer_arguments.js';
import { checkCount, readOptions } from '../../base/options.js';
import { bytesAt, openBytes, type ByteInput } from '../../io/byte_source.js';
import type { ArrayFile, StoredArray } from '../../io/weights/array_file.js';
import { ARRAY_TYPES } from '../../io/weights/array_values.js';
import { openArrays } from '../../io/weights/read_arrays.js';
import { readZip } from '../../io/zip_archive.js';
import { Hdf5File } from '../keras/hdf5.js';
import { openModel } from '../keras/import/model_source.js';
import type { CustomObject } from '../keras/import/names/user_classes.js';
import { ConvertedWeights, type WeightSource } from '../keras/import/weight_source.js';
import { inspectLayers, type InspectedLayer } from './model_layers.js';
import { rowsNear, statisticsOf, type NearRow, type TensorStatistics } from './tensors.js';

export type { InspectedLayer } from './model_layers.js';
export type { NearRow, TensorStatistics } from './tensors.js';

export interface InspectOptions {
  /** The one tensor that is told. Default: all. */
  tensor?: string | undefined;
  /** Whether values are read, for their statistics. Default: false. */
  statistics?: boolean | undefined;
  /** The row of `tensor` whose nearest rows are told. */
  near?: number | undefined;
  /** How many of them. Default: 10. */
  count?: number | undefined;
  /** Classes of a user, as `loadKerasModel` takes them. */
  customObjects?: Readonly<Record<string, CustomObject>> | undefined;
}

export interface InspectedTensor {
  readonly name: string;
  /** As the file has it: `float16`, `int64`, … */
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly statistics?: TensorStatistics;
  readonly near?: readonly NearRow[];
}

export interface Inspected {
  /** `'Keras 3'`, `'Keras 2'`, `'TensorFlow.js'`, `'NumPy'`, `'safetensors'`, `'HDF5'`, `'ONNX'`. */
  readonly format: string;
  /** Those of a model, or null where the file holds weights alone. */
  readonly layers: readonly InspectedLayer[] | null;
  readonly tensors: readonly InspectedTensor[];
}

/** A file as arrays, and its layers. */
interface Opened {
  readonly format: string;
  readonly layers: InspectedLayer[] | null;
  readonly arrays: readonly StoredArray[];
  close(): void;
}

function typeName({ type }: StoredArray): string {
  const { kind, bytes } = type;
  return kind === 'bool' ? 'bool' : kind === 'bfloat' ? 'bfloat16' : `${kind}${8 * bytes}`;
}

/** Weights of a model, whose file may have kept them otherwise than as float32: they are read as such. */
function weightsOf(weights: WeightSource | null): StoredArray[] {
  if (weights === null) return [];
  return weights.names.map((name) => {
    return { name, shape: weights.shapeOf(name), type: ARRAY_TYPES.F32, read: async () => weights.read(name) };
  });
}

function opened(format: string, file: ArrayFile): Opened {
  return { format, layers: null, arrays: [...file.arrays.values()], close: () => file.close() };
}

async function hdf5Arrays(bytes: Uint8Array, name: string): Promise<Opened> {
  const file = await Hdf5File.open(bytes, name);
  const arrays = file.arrays('').map((path) => {
    const shape = file.shape(`/${path}`);
    const read = async (): Promise<tf.Tensor> => tf.tensor(file.values(`/${path}`), shape);
    return { name: path, shape, type: ARRAY_TYPES.F32, read };
  });
  return { format: 'HDF5', layers: null, arrays, close: () => undefined };
}

/** What the first bytes and the name of a file say of it. */
async function kindOf(source: ByteInput): Promise<'model' | 'weights' | 'hdf5' | 'onnx'> {
  const file = await openBytes(source);
  try {
    const first = bytesAt(file, 0, Math.min(8, file.size));
    if (first[0] === 0x50 && first[1] === 0x4b) return (await readZip(file)).has('config.json') ? 'model' : 'weights';
    if (first[0] === 0x89 && first[1] === 0x48) return 'hdf5';
    if (first[0] === 0x7b) return 'model';
    return /\.onnx$/i.test(file.name) ? 'onnx' : 'weights';
  } finally {
    file.close();
  }
}

async function openKeras(source: unknown, customObjects: unknown): Promise<Opened> {
  const found = await openModel(source);
  if (!('artifacts' in found)) {
    const layers = inspectLayers(found, customObjects);
    const format = `Keras ${found.topology.version}`;
    return { format, layers, arrays: weightsOf(found.weights), close: () => found.close() };
  }
  // TensorFlow.js loads its own models, or says why not: their weights are told.
  const { weightSpecs, weightData } = found.artifacts;
  const isWhole = weightSpecs !== undefined && weightData !== undefined;
  const weights = isWhole ? new ConvertedWeights(weightSpecs, weightData) : null;
  return { format: 'TensorFlow.js', layers: null, arrays: weightsOf(weights), close: () => weights?.dispose() };
}

async function open(source: ByteInput, customObjects: unknown): Promise<Opened> {
  const kind = await kindOf(source);
  if (kind === 'onnx') {
    const { openOnnx } = await import('../../io/weights/onnx_file.js');
    return opened('ONNX', await openOnnx(source));
  }
  if (kind === 'weights') {
    const file = await openArrays(source);
    const isNumpy = file.arrays.has('') || /\.npz$/i.test(file.name);
    return opened(isNumpy ? 'NumPy' : 'safetensors', file);
  }
  if (kind === 'model') return openKeras(source, customObjects);
  const file = await openBytes(source);
  try {
    const bytes = bytesAt(file, 0, file.size);
    const hdf5 = await Hdf5File.open(bytes, file.name);
    // save_weights writes no model.
    if (hdf5.text('/', 'model_config') === null) return await hdf5Arrays(bytes, file.name);
  } finally {
    file.close();
  }
  return openKeras(source, customObjects);
}

/**
 * Returns what a file holds, and whether it would load, without loading it: of a model of Keras each layer, and why
 * `loadKerasModel` refuses it; of any file the tensors, their dtypes and shapes. Values are read only for `statistics` and
 * `near`, a few megabytes at a time where the format has its rows as they are (`.npy`, safetensors).
 *
 * Files: `.keras` and HDF5 of Keras 2 and 3, a `model.json` of the converter, `.npy`, `.npz`, safetensors, `.onnx`. A layer
 * that could be made may still be called in a way that is not known here, which only loading tells.
 *
 * @param source - A path (with the entry `tfjs-embeddings/node`), a URL, a File or Blob, or bytes.
 * @param options - Which tensor, whether its values are looked at, the row whose nearest rows are wanted.
 * @returns `{format, layers, tensors}`; no tensors of TensorFlow.js.
 * @throws TypeError for another kind of source; ValueError for files of other formats and damaged ones, and for a tensor
 * or a row that is not there; RuntimeError where the file cannot be read.
 *
 * @example
 * const { layers } = await emb.inspect('model.keras');
 * console.log(layers.filter(({ refused }) => refused !== null));
 */
export async function inspect(source: ByteInput, options: InspectOptions = {}): Promise<Inspected> {
  const known = ['tensor', 'statistics', 'near', 'count', 'customObjects'] as const;
  const { tensor, statistics, near, count, customObjects } = readOptions<InspectOptions>(options, known);
  const withStatistics = checkBoolean(statistics, 'statistics', false);
  const most = checkCount(count ?? 10, 'count', 1);
  const row = near === undefined ? null : checkCount(near, 'near', 0);
  const { format, layers, arrays, close } = await open(source, customObjects);
  try {
    const told = tensor === undefined ? arrays : arrays.filter(({ name }) => name === tensor);
    const names = arrays.slice(0, 20).map(({ name }) => describe(name));
    if (told.length === 0 && tensor !== undefined) throw new ValueError('tensor', `one of ${names.join(', ')}`, tensor);
    if (row !== null && told.length !== 1) throw new ValueError('tensor', 'the table that holds the row', tensor);
    const tensors: InspectedTensor[] = [];
    for (const array of told) {
      tensors.push({
        ...{ name: array.name, dtype: typeName(array), shape: array.shape },
        ...(withStatistics && { statistics: await statisticsOf(array) }),
        ...(row !== null && { near: await rowsNear(array, row, most) }),
      });
    }
    return { format, layers, tensors };
  } finally {
    close();
  }
}
