/**
 * What the package writes and reads back, as hashes: `node files.mjs [CHECKOUT]` prints `{key, groups}`. Files are
 * taken byte by byte; only the random name of a weights file is left out.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js';
import { fill, modelsOf } from './models.mjs';
import { Digest, drawFor, outcome, packageAt, useBackend } from './package.mjs';

const KERAS_FILES = fileURLToPath(new URL('../../../test/goldens/keras_files/', import.meta.url));

/** Files hold the time at which they were written. */
const NOW = Date.UTC(2025, 0, 1);
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [NOW] : given));
  }
  static now() {
    return NOW;
  }
};

const found = await packageAt(process.argv[2]);
const { tf, emb } = found;
const key = (await useBackend(found, 'cpu reference')).replace('cpu reference', 'files');
const folder = mkdtempSync(join(tmpdir(), 'frozen-'));
emb.setCapture(false);

/** The random part of names of weights files. */
function plain(text) {
  return text.replace(/weights[-.][0-9a-zA-Z-]+\.bin/g, 'weights.bin');
}

/** Files of an archive, as others may pack the same bytes. */
async function unzipped(path) {
  const reader = new ZipReader(new Uint8ArrayReader(new Uint8Array(readFileSync(path))));
  const entries = await reader.getEntries();
  return Promise.all(entries.map(async (entry) => [entry.filename, await entry.getData(new Uint8ArrayWriter())]));
}

/** Name and content of all files at a path. */
async function contents(path) {
  if (/\.(keras|npz)$/.test(path)) return unzipped(path);
  if (statSync(path).isFile()) return [['', readFileSync(path)]];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((file) => [plain(relative(path, file)), readFileSync(file)]);
}

async function hashOf(path) {
  const digest = new Digest();
  for (const [name, bytes] of (await contents(path)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    digest.add(`${name}\n`);
    const isText = name.endsWith('.json');
    digest.add(isText ? plain(Buffer.from(bytes).toString()) : bytes);
  }
  return digest.text;
}

/** Weights, and what the model makes of inputs. */
function modelHash(model, inputs) {
  const digest = new Digest();
  tf.tidy(() => {
    for (const weight of model.getWeights()) digest.addTensor(weight);
    const outputs = model.predict(inputs.length === 1 ? inputs[0] : inputs);
    for (const output of Object.values(outputs instanceof tf.Tensor ? [outputs] : outputs)) digest.addTensor(output);
  });
  return digest.text;
}

async function trainOnce({ model, inputs }) {
  const targets = model.outputs.map(({ shape }, i) => {
    const full = shape.map((size) => size ?? inputs[0].shape[0]);
    return tf.tensor(drawFor(`target ${i}`).floats(full.reduce((a, b) => a * b, 1)), full);
  });
  await model.trainOnBatch(inputs, targets.length === 1 ? targets[0] : targets);
  tf.dispose(targets);
}

const WAYS = {
  'model.save': {
    path: (name) => join(folder, name),
    write: ({ model, isTrained }, path) => model.save(`file://${path}`, { includeOptimizer: isTrained === true }),
    read: (path) => tf.loadLayersModel(`file://${join(path, 'model.json')}`),
  },
  exportKeras: {
    path: (name) => join(folder, `${name}.keras`),
    write: ({ model }, path) => emb.exportKeras(model, path),
    read: (path) => emb.loadKerasModel(path),
  },
  'savedModel.export': {
    path: (name) => join(folder, name),
    write: ({ model }, path) => emb.savedModel.export(model, path),
    read: (path) => emb.savedModel.load(path),
  },
};

/** What Keras does not have; specs of `exportKeras` say what it answers. */
const NOT_OF_KERAS = [
  'a shared table, float16, adam',
  'a shared table, int8',
  'a shared table, rowWiseAdagrad',
  'concatOneHotEmbedding',
  'distributedEmbedding',
  'distributedEmbedding, float16',
  'distributedEmbedding, int8',
  'distributedEmbedding, side by side',
  'integerLookup',
  'raggedEmbedding, int8',
  'raggedEmbedding, limits',
  'tpuEmbedding, version 1',
  'tpuEmbedding, version 2',
];

async function written(groups, name, make) {
  const made = await make();
  if (!made.isFilled) fill(tf, made.model);
  if (made.isTrained) await trainOnce(made);
  const file = name.replace(/\W+/g, '_');
  for (const [way, { path, write, read }] of Object.entries(WAYS)) {
    if (way === 'exportKeras' && NOT_OF_KERAS.includes(name)) continue;
    const at = path(`${way}_${file}`);
    (groups[way] ??= {})[name] = await outcome(async () => {
      await write(made, at);
      return hashOf(at);
    });
    (groups[`${way}, read`] ??= {})[name] = await outcome(async () => {
      const again = await read(at);
      return modelHash(again, made.inputs);
    });
  }
}

async function arrays() {
  const tables = {
    users: tf.tensor2d(drawFor('users').floats(40), [10, 4]),
    counts: tf.tensor1d(drawFor('counts').ids(7, 100), 'int32'),
  };
  const own = {
    'a.npy': (path) => emb.weights.writeNpy(path, tables.users),
    'ints.npy': (path) => emb.weights.writeNpy(path, tables.counts),
    'a.npz': (path) => emb.weights.writeNpz(path, tables),
    'a.safetensors': (path) => emb.weights.writeSafetensors(path, tables),
  };
  const hashes = {};
  for (const [name, write] of Object.entries(own)) {
    hashes[name] = await outcome(async () => {
      await write(join(folder, name));
      return hashOf(join(folder, name));
    });
  }
  return hashes;
}

/** Models of Keras hold the layers that only come from there; one of a class of its own is refused. */
async function fromKeras(groups) {
  const names = readdirSync(KERAS_FILES).filter((name) => /\.(keras|h5)$/.test(name) && name !== 'k3_subclassed.keras');
  for (const name of names) {
    (groups.loadKerasModel ??= {})[name] = await outcome(async () => {
      const model = await emb.loadKerasModel(join(KERAS_FILES, name), { strict: false });
      const digest = new Digest().add(JSON.stringify(model.toJSON(null, false)));
      for (const weight of model.getWeights()) digest.addTensor(weight);
      model.dispose();
      return digest.text;
    });
  }
}

const groups = {};
const models = modelsOf(found);
for (const [name, make] of Object.entries(models)) {
  try {
    await written(groups, name, make);
  } catch (error) {
    (groups['model.save'] ??= {})[name] = await outcome(() => Promise.reject(error));
  }
}
groups['weights.write'] = await arrays();
await fromKeras(groups);
rmSync(folder, { recursive: true, force: true });
process.stdout.write(JSON.stringify({ key, groups }), () => process.exit(0));
