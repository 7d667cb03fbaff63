/** A model of Keras from wherever it is kept: a `.keras` file, an HDF5 file, or a layers model of the converter. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, describe, described } from '../../../base/errors.js';
import { allBytes, bytesAt, isFetched, openBytes, pathOf, textOf, type ByteSource } from '../../../io/byte_source.js';
import { readZip, type ZipEntry } from '../../../io/zip_archive.js';
import { isRecord } from '../../../base/options.js';
import { Hdf5File } from '../hdf5.js';
import { parseMarked } from './float_literals.js';
import { addLearned } from '../learned/archive_values.js';
import { readTopology, type Topology } from './topology.js';
import { ConvertedWeights, type WeightSource } from './weight_source.js';

/** Reads the layers and the names of their weights, where a file lists them, as Keras 2 does. */
function readGroups(file: Hdf5File, root: string): Map<string, string[]> | null {
  const layers = file.texts(root === '' ? '/' : root, 'layer_names');
  if (layers === null) return null;
  return new Map(
    layers.map((layer) => {
      const names = file.texts(`${root}/${layer}`, 'weight_names') ?? [];
      return [layer, names.map((name) => `${layer}/${name}`)];
    }),
  );
}

/** The arrays below a group of an HDF5 file, but for some that are no weights. */
class Hdf5Weights implements WeightSource {
  readonly names: readonly string[];
  readonly groups: ReadonlyMap<string, readonly string[]> | null;
  readonly layers = null;

  constructor(
    private readonly file: Hdf5File,
    private readonly root: string,
    others: ReadonlySet<string> = new Set(),
  ) {
    this.groups = readGroups(file, root);
    this.names = file.arrays(root).filter((name) => !others.has(name));
  }

  shapeOf(name: string): readonly number[] {
    return this.file.shape(`${this.root}/${name}`);
  }

  read(name: string): tf.Tensor {
    const shape = [...this.shapeOf(name)];
    return tf.tensor(this.file.values(`${this.root}/${name}`), shape);
  }
}

/** The model in a source: JSON and weights, open until it is closed. */
export interface KerasSource {
  readonly topology: Topology;
  /** null where the source holds none. */
  readonly weights: WeightSource | null;
  close(): void;
}

/** A model that TensorFlow.js wrote itself, which its own loader reads. */
export interface OwnSource {
  readonly artifacts: tf.io.ModelArtifacts;
}

const EXPECTED =
  'a URL, a path, a .keras or HDF5 file, a File, or an IOHandler of TensorFlow.js such as tf.io.browserFiles([…])';
const ZIP = [0x50, 0x4b];
const HDF5 = [0x89, 0x48, 0x44, 0x46];
const ARCHIVE = /\.(keras|h5|hdf5|zip)$/i;

function begins(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

function parse(text: string, what: string): unknown {
  try {
    return parseMarked(text);
  } catch (error) {
    throw new ValueError('source', 'a model in JSON', described(what), (error as Error).message);
  }
}

function openHdf5Model(file: Hdf5File): KerasSource {
  const text = file.text('/', 'model_config');
  if (text === null) {
    const note = 'Files of save_weights hold no model.';
    throw new ValueError('source', 'a model, in the attribute model_config', described(file.name), note);
  }
  const topology = readTopology(parse(text, file.name), file.text('/', 'keras_version') ?? undefined);
  return { topology, weights: new Hdf5Weights(file, '/model_weights'), close: () => {} };
}

async function readText(entry: ZipEntry): Promise<string> {
  return new TextDecoder().decode(await entry.read());
}

async function openArchive(source: ByteSource): Promise<KerasSource> {
  const entries = await readZip(source);
  const config = entries.get('config.json');
  if (config === undefined) {
    throw new ValueError('source', 'a .keras file, with config.json in it', described(source.name));
  }
  const json = parse(await readText(config), `${source.name}, config.json`);
  const metadata = entries.get('metadata.json');
  const told = metadata === undefined ? null : parse(await readText(metadata), `${source.name}, metadata.json`);
  const topology = readTopology(json, isRecord(told) ? told['keras_version'] : undefined);
  const stored = entries.get('model.weights.h5');
  if (stored === undefined) {
    const other = [...entries.keys()].find((name) => name.includes('weights'));
    const note = "Weights in several files (max_shard_size) or in NumPy's format are not read.";
    const received = described(`${source.name}, with ${other === undefined ? 'none' : describe(other)}`);
    throw new ValueError('source', 'weights in model.weights.h5', received, other === undefined ? undefined : note);
  }
  const file = await Hdf5File.open(await stored.read(), `${source.name}, model.weights.h5`);
  const learned = await addLearned(topology.root, entries, file, file.arrays(''));
  return { topology, weights: new Hdf5Weights(file, '', learned), close: () => {} };
}

async function openFile(source: ByteSource): Promise<KerasSource | null> {
  const magic = bytesAt(source, 0, Math.min(8, source.size));
  if (begins(magic, ZIP)) return openArchive(source);
  if (begins(magic, HDF5)) return openHdf5Model(await Hdf5File.open(allBytes(source), source.name));
  return null;
}

function handlerFor(url: string): tf.io.IOHandler {
  const handlers = tf.io.getLoadHandlers(url);
  if (handlers.length === 1) return handlers[0]!;
  const note = url.startsWith('file://') ? "The entry 'tfjs-embeddings/node' reads files." : undefined;
  throw new ValueError('source', EXPECTED, url, note);
}

async function openArtifacts(handler: tf.io.IOHandler): Promise<KerasSource | OwnSource> {
  const artifacts = await handler.load!();
  const { modelTopology: json, weightSpecs, weightData } = artifacts;
  if (!isRecord(json)) throw new ValueError('source', 'a layers model in JSON', json);
  if (typeof json['keras_version'] === 'string' && json['keras_version'].startsWith('tfjs')) return { artifacts };
  if ('node' in json) {
    throw new ValueError('source', 'a layers model', described('a graph model'), 'tf.loadGraphModel loads it.');
  }
  const topology = readTopology(json);
  if (weightSpecs === undefined || weightData === undefined) return { topology, weights: null, close: () => {} };
  const weights = new ConvertedWeights(weightSpecs, weightData);
  return { topology, weights, close: () => weights.dispose() };
}

/** Opens the model of a source. Throws TypeError for what is none, ValueError for what holds no model. */
export async function openModel(source: unknown): Promise<KerasSource | OwnSource> {
  const isHandler = isRecord(source) && typeof (source as { load?: unknown }).load === 'function';
  if (isHandler) return openArtifacts(source as unknown as tf.io.IOHandler);
  const text = source instanceof URL ? textOf(source) : source;
  if (typeof text === 'string' && isFetched(text) && !ARCHIVE.test(text.replace(/[?#].*$/s, ''))) {
    return openArtifacts(/^[a-z]+:/i.test(text) ? handlerFor(text) : tf.io.browserHTTPRequest(text));
  }
  if (source === undefined || source === null) throw new ArgumentTypeError('source', EXPECTED, source);
  const bytes = await openBytes(text, 'source');
  try {
    const model = await openFile(bytes);
    if (model !== null) return model;
  } finally {
    bytes.close();
  }
  if (typeof text !== 'string') {
    const note = 'A model.json needs its weights beside it: tf.io.browserFiles([json, weights]).';
    throw new ValueError('source', 'a .keras or HDF5 file', described(bytes.name), note);
  }
  return openArtifacts(handlerFor(`file://${pathOf(text)}`));
}
