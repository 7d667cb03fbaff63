/** Graph models of the converter in a page. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelCases, MODELS } from '../formats/graph_models/graph_models.js';
import { skipOrFail } from '../helpers/backends.js';
import { expectClose } from '../helpers/tensors.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

const PAGE = `<!doctype html>
${SCRIPTS}
<script>
  window.refusal = async () => {
    const node = [{name: 'x', op: 'FooLookup'}, {name: 's', op: 'SegmentSum', input: ['x', 'x']}];
    const artifacts = {modelTopology: {node, versions: {producer: 1}}, weightSpecs: [], weightData: new ArrayBuffer(0)};
    return tf.loadGraphModel({load: async () => artifacts}).then(() => 'loaded', (error) => error.name);
  };
  window.run = async (backend, {name, inputs, outputs}) => {
    await tf.setBackend(backend);
    tfjsEmbeddings.converter.registerOps();
    const model = await tf.loadGraphModel('/models/' + name + '/model.json');
    const before = tf.memory().numTensors;
    const feeds = {};
    for (const [key, {dtype, shape, values}] of Object.entries(inputs)) {
      const known = model.inputs.map((input) => input.name).find((input) => input.split(':')[0] === key);
      feeds[known] = tf.tensor(values, shape, dtype);
    }
    const names = Object.keys(outputs).map((key) => model.modelSignature?.outputs?.[key]?.name ?? key);
    const results = [].concat(await model.executeAsync(feeds, names));
    const numbers = results.map((tensor) => Array.from(tensor.dataSync()));
    tf.dispose([results, feeds]);
    const left = tf.memory().numTensors - before;
    model.dispose();
    return {numbers, left};
  };
</script>`;

const NAMES = [
  ...['partitioned_lookup', 'ragged_mean', 'ragged_sqrtn', 'ragged_sum_weighted', 'ragged_to_padded', 'sparse_mean'],
  ...['tensor_array_grad_concat', 'tensor_array_grad_reads', 'tpu_embedding_activations', 'segments'],
  ...['ragged_lookup_mean_weights', 'static_tables', 'tensor_array_gathers_of_two'],
];

describe('graph models in a page', () => {
  it('give what TensorFlow gives, on cpu and wasm; unknown ops are refused', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    const folder = mkdtempSync(join(tmpdir(), 'graph-model-'));
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    symlinkSync(MODELS, join(folder, 'models'));
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(found.path);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      for (const model of modelCases().filter(({ name }) => NAMES.includes(name))) {
        for (const backend of ['cpu', 'wasm']) {
          const call = `window.run(${JSON.stringify(backend)}, ${JSON.stringify(model)})`;
          const { numbers, left } = (await page.evaluate(call)) as { numbers: number[][]; left: number };
          Object.entries(model.outputs).forEach(([key, { values }], i) => {
            expectClose(numbers[i]!, values, 0, `${model.name} on ${backend}: ${key}`);
          });
          expect(left).withContext(`${model.name} on ${backend}`).toBe(0);
        }
      }
      expect(await page.evaluate('window.refusal()')).toBe('ValueError');
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});
