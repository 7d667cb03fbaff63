/** Models as a page serves them: what Node learned of their columns, and the best items of each query. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

const ROWS = [
  { user: 'a', tags: ['y', 'new'], age: 29 },
  { user: 'ünknown', tags: [], age: 61.5 },
  { user: 'b', tags: ['x'], age: -3 },
];
const QUERIES = [
  [0.5, -1, 2],
  [1, 1, 1],
];

const PAGE = `<!doctype html>
${SCRIPTS}
<script>
  const plain = (results) => [results].flat().map((each) => Array.from(each.dataSync()));
  window.run = async (backend, name, given) => {
    tf.wasm.setWasmPaths('/wasm/');
    await tf.setBackend(backend);
    const model = await tf.loadLayersModel('/' + name + '/model.json');
    const before = tf.memory().numTensors;
    const found = tf.tidy(() => plain(model.predict(model.pipeline ? model.pipeline.apply(given) : tf.tensor2d(given))));
    return {backend: tf.getBackend(), found, left: tf.memory().numTensors - before};
  };
</script>`;

/** Users, tags and ages, turned into ids and numbers by a pipeline. */
function profileModel(): tf.LayersModel {
  const { Pipeline, Normalization, StringLookup } = emb.preprocessing;
  const columns = { user: new StringLookup(), tags: { list: new StringLookup() }, age: new Normalization() };
  const pipeline = new Pipeline({ columns });
  pipeline.adapt([
    { user: 'a', tags: ['x', 'y'], age: 20 },
    { user: 'b', tags: ['y'], age: 40 },
  ]);
  const inputs = pipeline.inputs() as Record<'user' | 'tags' | 'age', tf.SymbolicTensor>;
  const rows = (['user', 'tags'] as const).map((name, seed) => {
    const embeddingsInitializer = tf.initializers.randomUniform({ minval: -1, maxval: 1, seed });
    const args = { inputDim: pipeline.inputDims()[name]!, outputDim: 4, combiner: 'mean' as const };
    return emb.layers.embedding({ ...args, embeddingsInitializer }).apply(inputs[name]) as tf.SymbolicTensor;
  });
  const joined = tf.layers.concatenate().apply([...rows, inputs.age]) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 2 }).apply(joined) as tf.SymbolicTensor;
  const model = tf.model({ inputs: Object.values(inputs), outputs });
  model.pipeline = pipeline;
  return model;
}

/** The best three of some items for each query, by identifiers that are no numbers of rows. */
function retrievalModel(): tf.LayersModel {
  const query = tf.input({ shape: [3] });
  const candidates = Array.from({ length: 40 }, (_, row) => [Math.sin(row), Math.cos(3 * row), (row % 5) / 4]);
  const identifiers = candidates.map((_, row) => 1000 - 7 * row);
  const layer = emb.layers.bruteForceRetrieval({ candidates, identifiers, k: 3 });
  return tf.model({ inputs: query, outputs: layer.apply(query) });
}

describe('models that a page serves', () => {
  it('predict what they predict in Node, on cpu and on wasm', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    const folder = mkdtempSync(join(tmpdir(), 'served-models-'));
    await emb.ready();
    await tf.setBackend('cpu');
    const models = { profile: profileModel(), retrieval: retrievalModel() };
    const given = { profile: ROWS, retrieval: QUERIES };
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    symlinkSync(join(ROOT, 'node_modules/@tensorflow/tfjs-backend-wasm/dist'), join(folder, 'wasm'));
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(found.path);
    try {
      const page = await browser.newPage();
      for (const name of ['profile', 'retrieval'] as const) {
        const model = models[name];
        await model.save(`file://${folder}/${name}`);
        const expected = tf.tidy(() => {
          const input = name === 'profile' ? model.pipeline!.apply(ROWS as never) : tf.tensor2d(QUERIES);
          return [model.predict(input as tf.Tensor)].flat().map((each) => Array.from(each.dataSync()));
        });
        for (const backend of ['cpu', 'wasm']) {
          await page.goto(`${server.origin}/index.html`);
          const call = `window.run('${backend}', '${name}', ${JSON.stringify(given[name])})`;
          const result = (await page.evaluate(call)) as { backend: string; found: number[][]; left: number };
          expect(result.backend).toBe(backend);
          expect(result.left).withContext('tensors left').toBe(0);
          expect(result.found.map((each) => each.length)).toEqual(expected.map((each) => each.length));
          result.found.flat().forEach((value, i) => {
            expect(value).withContext(`${name}, ${backend}, ${i}`).toBeCloseTo(expected.flat()[i]!, 5);
          });
        }
      }
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
      for (const model of Object.values(models)) model.dispose();
    }
  }, 120_000);
});
