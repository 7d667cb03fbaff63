/** `file://` with and without tfjs-node; in processes of their own, because other specs load tfjs-node. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import 'tfjs-embeddings/node';
import { skipOrFail } from '../../helpers/backends.js';
import { WITH_DIST } from '../../helpers/programs.js';

const WEIGHTS = /^weights-[0-9a-f]{16}\.bin$/;

/** Models that need this package only where `emb` is there. */
const MODELS = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
const url = 'file://' + process.env.FOLDER;
const x = tf.tensor2d([[1, 2], [3, 4]], [2, 2], 'int32');
const y = tf.tensor2d([[1], [-1]]);
const same = (a, b) => String(a.predict(x).dataSync()) === String(b.predict(x).dataSync());
const errorOf = (promise) => promise.then(() => 'none', (error) => error.message);
async function stockModel() {
  const layers = [tf.layers.embedding({inputDim: 9, outputDim: 3, inputLength: 2}), tf.layers.flatten(), tf.layers.dense({units: 1})];
  const model = tf.sequential({layers});
  model.compile({optimizer: 'adam', loss: 'meanSquaredError'});
  await model.fit(x, y, {epochs: 2, verbose: 0});
  model.setUserDefinedMetadata({note: 'ä'});
  return model;
}
async function overHttp(path, load) {
  const server = createServer((request, response) => response.end(readFileSync(process.env.FOLDER + request.url)));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const model = await load('http://127.0.0.1:' + server.address().port + path);
  server.close();
  return model;
}
const say = (facts) => console.log(JSON.stringify(facts));
`;

const WITH_EMBEDDINGS = `
const table = emb.layers.embedding({inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2]});
const model = tf.sequential({layers: [table, tf.layers.dense({units: 1})]});
model.compile({optimizer: emb.train.adagrad({learningRate: 0.1}), loss: 'meanSquaredError'});
await model.fit(x, y, {epochs: 2, verbose: 0});
await model.save(url);
const {modelArtifactsInfo} = await model.save(url, {includeOptimizer: true});
const again = await tf.loadLayersModel(url + '/model.json');
const equal = same(model, again);
const losses = await Promise.all([model, again].map((each) => each.trainOnBatch(x, y)));
const missing = await errorOf(tf.loadLayersModel(url + '/none.json'));
const handlers = tf.io.getSaveHandlers(url).length + tf.io.getLoadHandlers(url).length;
say({equal, sameLoss: losses[0] === losses[1], missing: missing.includes(process.env.FOLDER + '/none.json'), handlers, bytes: modelArtifactsInfo.weightDataBytes});
`;

const TFJS = `import * as tf from '@tensorflow/tfjs';`;
const TFJS_NODE = `import * as tf from '@tensorflow/tfjs-node';`;
const EMBEDDINGS = `import * as emb from 'tfjs-embeddings/node';`;
/** What tfjs-node needs on newer versions of Node; /node brings it too. */
const LEGACY = `import util from 'node:util'; util.isNullOrUndefined ??= (value) => value === null || value === undefined;`;

describe('file://', () => {
  let folder = '';

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'file-handler-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** What a program says, and on standard error why it says nothing. */
  function run(...program: string[]): { facts: Record<string, unknown>; stderr: string } {
    const args = [...WITH_DIST, '--input-type=module', '--eval', program.join('\n')];
    const env = { ...process.env, FOLDER: folder };
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    const last = stdout.trim().split('\n').at(-1)!;
    return { facts: last.startsWith('{') ? (JSON.parse(last) as Record<string, unknown>) : {}, stderr };
  }

  function isMissing(stderr: string): boolean {
    return /tfjs_binding\.node/.test(stderr) && /can not be found|Cannot find/.test(stderr);
  }

  const choices = {
    'without tfjs-node': [TFJS, EMBEDDINGS, MODELS, `await tf.setBackend('cpu');`],
    'with tfjs-node loaded first': [TFJS_NODE, EMBEDDINGS, MODELS],
    'with tfjs-node loaded later': [EMBEDDINGS, TFJS_NODE, MODELS, `await tf.setBackend('cpu');`],
  };
  for (const [name, program] of Object.entries(choices)) {
    it(`saves and loads models with their optimizers ${name}`, () => {
      const { facts, stderr } = run(...program, WITH_EMBEDDINGS);
      if (isMissing(stderr)) return skipOrFail('tfjs-node was not built');
      expect(facts)
        .withContext(stderr)
        .toEqual({ equal: true, sameLoss: true, missing: true, handlers: 2, bytes: 4 * (27 + 27 + 3 + 3 + 1 + 1 + 1) });
      const [json, weights, ...others] = readdirSync(folder).sort();
      expect([json, others]).toEqual(['model.json', []]);
      expect(weights).toMatch(WEIGHTS);
    }, 60_000);
  }

  it('agrees with tfjs-node: each loads what the other saved', () => {
    const facts = `const factsOf = async (model) => ({
  note: model.getUserDefinedMetadata().note,
  values: Array.from(model.predict(x).dataSync()),
  loss: await model.trainOnBatch(x, y),
});`;
    const stock = run(
      ...[LEGACY, TFJS_NODE, MODELS, facts],
      `const model = await stockModel(); await model.save(url + '/stock', {includeOptimizer: true}); say(await factsOf(model));`,
    );
    if (isMissing(stock.stderr)) return skipOrFail('tfjs-node was not built');
    expect(stock.facts['note']).withContext(stock.stderr).toBe('ä');
    const ours = run(
      ...[TFJS_NODE, EMBEDDINGS, MODELS, facts],
      // Captured products may round otherwise.
      `emb.setCapture(false);
await (await stockModel()).save(url + '/fresh', {includeOptimizer: true});
const model = await tf.loadLayersModel(url + '/stock/model.json');
for (const target of [url + '/ours', tf.io.fileSystem(process.env.FOLDER + '/by_path')]) await model.save(target, {includeOptimizer: true});
const again = await tf.loadLayersModel(tf.io.fileSystem(process.env.FOLDER + '/by_path/model.json'));
say({equal: same(model, again), ...await factsOf(model)});`,
    );
    expect(ours.facts)
      .withContext(ours.stderr)
      .toEqual({ equal: true, ...stock.facts });
    const back = run(
      ...[LEGACY, TFJS_NODE, MODELS, facts],
      `const fromFile = await factsOf(await tf.loadLayersModel(url + '/ours/model.json'));
say({fromFile, overHttp: await factsOf(await overHttp('/ours/model.json', tf.loadLayersModel))});`,
    );
    expect(back.facts).withContext(back.stderr).toEqual({ fromFile: stock.facts, overHttp: stock.facts });

    const read = (name: string): Record<string, unknown> =>
      JSON.parse(readFileSync(join(folder, name, 'model.json'), 'utf8')) as Record<string, unknown>;
    const { weightsManifest: theirManifest, ...theirs } = read('stock');
    const { weightsManifest, ...rest } = read('fresh');
    expect(rest).toEqual(theirs);
    const [{ paths, weights }] = weightsManifest as [{ paths: string[]; weights: object[] }];
    expect(weights).toEqual((theirManifest as { weights: object[] }[])[0]!.weights);
    expect(paths).toEqual([jasmine.stringMatching(WEIGHTS)]);
    expect(readdirSync(join(folder, 'fresh')).sort()).toEqual(['model.json', ...paths]);
    expect(readdirSync(join(folder, 'by_path'))).not.toContain('weights.bin');
  }, 60_000);

  it('is the only kind of URL that is taken', () => {
    for (const url of ['mine://x', 'localstorage://x', 'file:/x', '', ['file:///a', 'mine://b']]) {
      expect(tf.io.getSaveHandlers(url as string))
        .withContext(String(url))
        .toEqual([]);
      expect(tf.io.getLoadHandlers(url as string))
        .withContext(String(url))
        .toEqual([]);
    }
    expect(tf.io.getSaveHandlers('file://x').length).toBe(1);
    expect(tf.io.getLoadHandlers('file://x').length).toBe(1);
  });

  it('reads paths as tfjs-node does, and leaves other URLs alone', () => {
    const { facts, stderr } = run(
      ...[TFJS, EMBEDDINGS, MODELS],
      `import { readdirSync } from 'node:fs';
process.chdir(process.env.FOLDER);
const model = await stockModel();
const names = [];
for (const name of ['a b', '50%', 'a%20b', 'run#3', 'who?']) {
  await model.save('file://./' + name);
  if (same(model, await tf.loadLayersModel(url + '/' + name + '/model.json'))) names.push(name);
}
let artifacts;
await model.save(tf.io.withSaveHandler(async (given) => { artifacts = given; return {}; }), {includeOptimizer: true});
const own = {save: async () => ({mine: true}), load: async () => artifacts};
tf.io.registerSaveRouter((url) => url.startsWith('mine://') ? own : null);
tf.io.registerLoadRouter((url) => url.startsWith('mine://') ? own : null);
const {mine} = await model.save('mine://x');
const equal = same(model, await tf.loadLayersModel('mine://x'));
tf.io.registerSaveRouter((url) => url.startsWith('mine://') ? own : null);
const two = await errorOf(model.save('mine://x'));
const none = await errorOf(model.save('indexeddb://x'));
say({names: names.sort(), files: readdirSync('.').sort(), mine, equal, two, none});`,
    );
    const names = ['50%', 'a b', 'a%20b', 'run#3', 'who?'];
    expect(facts).withContext(stderr).toEqual({
      names,
      files: names,
      mine: true,
      equal: true,
      two: "Found more than one (2) save handlers for URL 'mine://x'",
      none: "Cannot find any save handlers for URL 'indexeddb://x'",
    });
  }, 60_000);
});
