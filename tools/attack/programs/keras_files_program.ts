/**
 * Loads spoilt files of Keras models, in a process of its own.
 *   node --import tsx tools/attack/programs/keras_files_program.ts <seed>
 * A file loads or ends in an error of this package, soon and without much memory, and leaves no tensor. Says on standard
 * error which case it is at; prints a JSON line with what fell.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import {
  BlobReader,
  BlobWriter,
  TextReader,
  Uint8ArrayReader,
  ZipReader,
  ZipWriter,
  type FileEntry,
} from '@zip.js/zip.js';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../../test/helpers/random.js';
import { HOSTILE_KERAS_FILES, type KerasParts } from '../hostile/keras_files.js';

const TIMES = 40;
const MOST_MS = 5000;
const MOST_BYTES = 500e6;
const FOLDER = fileURLToPath(new URL('../../../test/goldens/keras_files/', import.meta.url));
const seed = Number(process.argv[2] ?? 1);
const fallen: string[] = [];

async function partsOf(name: string): Promise<KerasParts> {
  const bytes = new Uint8Array(readFileSync(FOLDER + name));
  if (name.endsWith('.h5')) return { hdf5: bytes, config: null };
  const reader = new ZipReader(new BlobReader(new Blob([bytes])));
  const entries = new Map((await reader.getEntries()).map((entry) => [entry.filename, entry as FileEntry]));
  const read = async (entry: string): Promise<Uint8Array> =>
    new Uint8Array(await (await entries.get(entry)!.getData(new BlobWriter())).arrayBuffer());
  return { hdf5: await read('model.weights.h5'), config: new TextDecoder().decode(await read('config.json')) };
}

/** The bytes of a file; an archive has the sums of what is in it now. */
async function fileOf({ hdf5, config }: KerasParts, entry = 'model.weights.h5'): Promise<Uint8Array> {
  if (config === null) return hdf5;
  const writer = new ZipWriter(new BlobWriter(), { level: 0 });
  await writer.add('metadata.json', new TextReader('{"keras_version": "3.15.0"}'));
  await writer.add('config.json', new TextReader(config));
  await writer.add(entry, new Uint8ArrayReader(hdf5));
  return new Uint8Array(await (await writer.close()).arrayBuffer());
}

async function errorOf(bytes: Uint8Array): Promise<unknown> {
  try {
    (await emb.loadKerasModel(bytes)).dispose();
    return null;
  } catch (error) {
    return error;
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && typeof (error as { argument?: unknown }).argument === 'string';
}

/** What is wrong with a load; null where all is as it should be. */
async function faultOf(bytes: Uint8Array, isAlwaysBad: boolean): Promise<string | null> {
  const { numTensors } = tf.memory();
  const [start, rss] = [performance.now(), process.memoryUsage().rss];
  const error = await errorOf(bytes);
  const took = performance.now() - start;
  const grown = process.memoryUsage().rss - rss;
  if (Object.hasOwn(Object.prototype, 'className') || ({} as { x?: unknown }).x !== undefined)
    return 'changes prototypes';
  if (took > MOST_MS) return `takes ${Math.round(took)} ms`;
  if (grown > MOST_BYTES) return `takes ${Math.round(grown / 1e6)} MB`;
  if (tf.memory().numTensors !== numTensors)
    return `leaves ${tf.memory().numTensors - numTensors} tensors (${String(error)})`;
  if (error === null) return isAlwaysBad ? 'loads' : null;
  return isOurs(error) ? null : `an error that is not ours: ${(error as Error).stack ?? String(error)}`.slice(0, 600);
}

await tf.setBackend('cpu');
await emb.ready();
const files = readdirSync(FOLDER)
  .filter((name) => /\.(h5|keras)$/.test(name))
  .sort();
const parts = new Map<string, KerasParts>();
for (const name of files) parts.set(name, await partsOf(name));
let tried = 0;
for (const { kind, isAlwaysBad, spoil } of HOSTILE_KERAS_FILES) {
  for (let n = 0; n < TIMES; n++) {
    // Each case has numbers of its own, so that one can be run again alone.
    const random = new Random(seed * 1_000_003 + tried);
    const name = random.pick(files);
    process.stderr.write(`case ${tried}: ${kind}, ${name}\n`);
    tried++;
    const { entry, ...spoilt } = spoil(parts.get(name)!, random);
    const fault = await faultOf(await fileOf(spoilt, entry), isAlwaysBad);
    if (fault !== null) fallen.push(`case ${tried - 1}, ${kind}, ${name}: ${fault}`);
  }
}
console.log(JSON.stringify({ tried, fallen }));
