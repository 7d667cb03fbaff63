/**
 * Writes the files that a release can write, with what they must give back:
 *
 *     node tools/release/make_fixtures.mjs TARBALL [--python PYTHON] [--name NAME]
 *
 * The tarball is installed into an empty folder, without TensorFlow and without a compiler. Its files go into
 * tools/release/VERSION/files, each folder with a case.json: inputs, predictions, and predictions after more steps from
 * where the file left off. PYTHON has TensorFlow and tensorflowjs and makes graph models of the SavedModels; without it
 * there are none. What a release has written stays; this is run once for each. The tarball of 0.1.0 is that of commit
 * b28673a4, before any release was tagged. NAME, in place of VERSION, is that of a state between two releases: 0.2.0-1
 * is the last one whose tables were variables alone. make_cluster_fixtures.ts adds what servers write.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fill } from '../frozen/programs/models.mjs';
import { drawFor, packageAt, useBackend } from '../frozen/programs/package.mjs';
import { releasedModels } from './fixtures/models.mjs';
import { onDevices, stepOn, tablesOf, VERSIONS } from './fixtures/tpu.mjs';
import { plain, predicted, train } from './fixtures/values.mjs';

const { values: options, positionals } = parseArgs({
  options: { python: { type: 'string' }, name: { type: 'string' } },
  allowPositionals: true,
});
if (positionals.length !== 1) throw new Error('the path of one tarball, as npm pack makes it');
const TARBALL = resolve(positionals[0]);

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr.slice(-2000)}`);
}

function installed() {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'];
  run('npm', ['install', ...quiet, TARBALL, '@tensorflow/tfjs@4.22.0'], folder);
  return folder;
}

const folder = installed();
const root = join(folder, 'node_modules', 'tfjs-embeddings');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const found = await packageAt(root);
const { tf, emb } = found;
const OUT = fileURLToPath(new URL(`./${options.name ?? version}/files/`, import.meta.url));
rmSync(OUT, { recursive: true, force: true });

const folderName = (name) => name.replace(/\W+/g, '_');

function put(path, told) {
  writeFileSync(path, `${JSON.stringify(told)}\n`);
}

function made(...names) {
  const path = join(OUT, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

const WAYS = {
  layers: (made, path) => made.model.save(`file://${path}`, { includeOptimizer: made.isTrained === true }),
  keras: (made, path) => emb.exportKeras(made.model, `${path}.keras`),
  saved_model: (made, path) => emb.savedModel.export(made.model, path, { includeOptimizer: made.isTrained === true }),
};

/** Writes a model in every way that it can be written, then trains on. */
async function writeModel(name, make) {
  await useBackend(found, 'cpu reference');
  let each;
  try {
    each = await make();
  } catch (error) {
    // The list of models is that of today; an earlier release may lack one.
    if (!(error instanceof emb.ValueError)) throw error;
    console.log(`${name}: not made by ${version}: ${error.message}`);
    return;
  }
  const { model, inputs, targets, steps, isTrained } = each;
  if (isTrained) await train(model, inputs, targets, steps);
  const path = made('models', folderName(name));
  const written = [];
  const refused = {};
  for (const [way, write] of Object.entries(WAYS)) {
    try {
      await write(each, join(path, way));
      written.push(way);
    } catch (error) {
      if (!(error instanceof emb.ValueError)) throw error;
      refused[way] = error.message;
    }
  }
  const outputs = predicted(tf, model, inputs);
  if (isTrained) await train(model, inputs, targets, steps);
  const later = isTrained ? { targets: targets.map(plain), steps, outputs: predicted(tf, model, inputs) } : null;
  const names = { inputs: model.inputNames, outputs: model.outputNames };
  put(join(path, 'case.json'), { name, names, written, refused, inputs: inputs.map(plain), outputs, later });
}

async function writeArrays() {
  const path = made('arrays');
  const tables = {
    users: tf.tensor2d(drawFor('users').floats(40), [10, 4]),
    counts: tf.tensor1d(drawFor('counts').ids(7, 100), 'int32'),
  };
  await emb.weights.writeNpy(join(path, 'users.npy'), tables.users);
  await emb.weights.writeNpy(join(path, 'counts.npy'), tables.counts);
  await emb.weights.writeNpz(join(path, 'tables.npz'), tables);
  await emb.weights.writeSafetensors(join(path, 'tables.safetensors'), tables);
  put(join(path, 'case.json'), { users: plain(tables.users), counts: plain(tables.counts) });
}

function writePlans() {
  const tables = [
    { name: 'users', inputDim: 1000, outputDim: 16 },
    { name: 'items', inputDim: 200, outputDim: 8 },
    { name: 'places', inputDim: 20, outputDim: 4 },
  ];
  const limits = { dataParallelThreshold: 100, columnSliceThreshold: 4000, rowSliceThreshold: 9000 };
  const strategies = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'];
  const plans = strategies.map((strategy) => {
    const plan = emb.planEmbedding({ tables, worldSize: 4, strategy, ...limits });
    return { strategy, stored: JSON.stringify(plan) };
  });
  put(join(made('plans'), 'case.json'), { tables, plans });
}

function writePreprocessing() {
  const { StringLookup, IntegerLookup, Hashing, Discretization } = emb.preprocessing;
  const words = new StringLookup({ maskToken: '', numOovIndices: 2 }).adapt(['fr', 'de', 'fr', 'nl', 'fr', 'de']);
  const numbers = new IntegerLookup({ maxTokens: 4 }).adapt([7, 7, 3, 9, 9, 9, 1]);
  const cases = [
    ['StringLookup', words, ['de', 'it', '', 'fr', 'zoë']],
    ['IntegerLookup', numbers, [9, 1, 7, 100]],
    ['Hashing', new Hashing({ numBins: 16, salt: 3 }), ['Firefox', 'Safari', '']],
    ['Hashing', new Hashing({ numBins: 16, maskValue: 0 }), [0, 12, -4]],
    ['Discretization', new Discretization({ binBoundaries: [18, 30, 50] }), [17, 18, 64, 33]],
    ['Discretization', new Discretization({ numBins: 3 }).adapt([1, 5, 2, 9, 7, 3, 3]), [0, 3, 8]],
  ];
  const told = cases.map(([kind, step, data]) => ({
    kind,
    config: step.getConfig(),
    vocabulary: step.getVocabulary?.() ?? null,
    data,
    ids: Array.from(step.apply(data)),
  }));
  put(join(made('preprocessing'), 'case.json'), told);
}

async function writePipeline() {
  const { Pipeline, Normalization, Hashing } = emb.preprocessing;
  const rows = [
    { user: 'a', tags: ['x', 'y'], age: 30, site: 'one' },
    { user: 'b', tags: [], age: 41, site: 'two' },
    { user: 'a', tags: ['y'], age: 29, site: 'three' },
  ];
  const columns = {
    user: 'string',
    tags: { list: 'string' },
    age: new Normalization(),
    site: new Hashing({ numBins: 7, salt: 2 }),
  };
  const pipeline = new Pipeline({ columns }).adapt(rows);
  const [inputs, dims] = [pipeline.inputs(), pipeline.inputDims()];
  const pooled = ['user', 'tags', 'site'].map((name) =>
    emb.layers
      .embedding({ inputDim: dims[name], outputDim: 3, combiner: 'mean', name: `of_${name}` })
      .apply(inputs[name]),
  );
  const joined = tf.layers.concatenate().apply([...pooled, inputs.age]);
  const outputs = tf.layers.dense({ units: 1, name: 'head' }).apply(joined);
  const model = tf.model({ inputs: Object.values(inputs), outputs, name: 'rows' });
  fill(tf, model);
  model.pipeline = pipeline;
  const path = made('pipeline');
  await model.save(`file://${join(path, 'layers')}`);
  await emb.savedModel.export(model, join(path, 'saved_model'));
  const asked = [...rows, { user: 'new', tags: ['y', 'new'], age: 0, site: 'one' }];
  put(join(path, 'case.json'), { rows: asked, outputs: plain(model.predict(pipeline.apply(asked))) });
}

async function writeTables() {
  for (const name of VERSIONS) {
    await onDevices(found, 2);
    const embedding = tablesOf(found, name);
    for (let step = 0; step < 2; step++) stepOn(found, name, embedding, step);
    const path = made('tpu', name);
    await embedding.save(join(path, 'tfjs'));
    await embedding.save(join(path, 'npy'), { format: 'npy' });
    const weights = embedding.getWeights().map(plain);
    stepOn(found, name, embedding, 2);
    put(join(path, 'case.json'), { name, weights, later: embedding.getWeights().map(plain) });
    embedding.dispose();
  }
}

for (const [name, make] of Object.entries(releasedModels(found))) {
  await writeModel(name, make);
}
await writeTables();
await useBackend(found, 'cpu reference');
await writeArrays();
writePlans();
writePreprocessing();
await writePipeline();
if (options.python !== undefined) {
  run(options.python, [fileURLToPath(new URL('./fixtures/convert.py', import.meta.url)), OUT], folder);
}
rmSync(folder, { recursive: true, force: true });
// Workers of the kernels would keep the process alive.
process.exit(0);
