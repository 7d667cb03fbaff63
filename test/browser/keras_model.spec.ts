/** Models of Keras in a page: of the converter, and files that jsfive and zip.js read. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { skipOrFail } from '../helpers/backends.js';
import { expectClose } from '../helpers/tensors.js';
import { convertedCases, fileCases, goldenPath, type KerasCase } from '../formats/keras/keras_cases.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

const IMPORTS = {
  jsfive: '/node_modules/jsfive/dist/esm/index.mjs',
  '@zip.js/zip.js': '/node_modules/@zip.js/zip.js/index.js',
};

const PAGE = `<!doctype html>
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
${SCRIPTS}
<script>
  window.run = async (backend, address, {inputs}) => {
    await tf.setBackend(backend);
    const before = tf.memory().numTensors;
    const model = await tfjsEmbeddings.loadKerasModel(address);
    const entries = Object.entries(inputs);
    const feeds = Object.fromEntries(entries.map(([name, {values, shape, dtype}]) =>
      [entries.length === 1 ? model.inputNames[0] : name, tf.tensor(values, shape, dtype)]));
    const results = [model.predict(feeds)].flat();
    const numbers = results.map((tensor) => Array.from(tensor.dataSync()));
    tf.dispose([results, feeds]);
    model.dispose();
    return {numbers, left: tf.memory().numTensors - before};
  };
  window.refusal = (address) => tfjsEmbeddings.loadKerasModel(address).then(() => 'loaded', (error) => error.name);
</script>`;

const FILES = ['k3_embed_reduce.keras', 'k3_distributed.keras', 'k2_nvidia.h5', 'k3_preprocessing.keras'];

describe('models of Keras in a page', () => {
  it('predict what Keras predicts, on cpu and wasm; a file that is none is refused', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    const folder = mkdtempSync(join(tmpdir(), 'keras-model-'));
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    symlinkSync(goldenPath('.'), join(folder, 'goldens'));
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(found.path);
    const addressOf = ({ path }: KerasCase): string =>
      `${server.origin}/goldens/${relative(goldenPath('.'), path).replaceAll('\\', '/')}`;
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      const files = fileCases().filter(({ name }) => FILES.includes(name));
      expect(files.length).toBe(FILES.length);
      for (const golden of [...convertedCases(), ...files]) {
        for (const backend of ['cpu', 'wasm']) {
          const args = [backend, addressOf(golden), golden].map((each) => JSON.stringify(each)).join(', ');
          const { numbers, left } = (await page.evaluate(`window.run(${args})`)) as {
            numbers: number[][];
            left: number;
          };
          golden.outputs.forEach(({ values }, i) => {
            expectClose(numbers[i]!, values, 0, `${golden.name} on ${backend}, output ${i}`);
          });
          expect(left).withContext(`${golden.name} on ${backend}`).toBe(0);
        }
      }
      expect(await page.evaluate(`window.refusal('${server.origin}/goldens/arrays/nothing.keras')`)).toMatch(/Error$/);
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});
