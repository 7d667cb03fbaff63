/** Models of a folder that Node saved, in a page; and what a page saves by itself. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

const PAGE = `<!doctype html>
${SCRIPTS}
<script>
  const x = () => tf.tensor2d([[1, 2], [3, 8]], [2, 2], 'int32');
  const predict = (model) => Array.from(model.predict(x()).dataSync());
  window.compare = async () => {
    await tf.setBackend('cpu');
    const model = await tf.loadLayersModel('/model/model.json');
    await model.save('indexeddb://model', {includeOptimizer: true});
    const again = await tf.loadLayersModel('indexeddb://model');
    const downloads = [];
    HTMLAnchorElement.prototype.dispatchEvent = function () { downloads.push(this.download); };
    await model.save('downloads://model');
    return {fromHttp: predict(model), fromPage: predict(again), downloads};
  };
  window.exported = async () => {
    await tf.setBackend('cpu');
    const model = await tf.loadLayersModel('/model/model.json');
    const files = {};
    await tfjsEmbeddings.savedModel.export(model, {
      async write(path, chunks) {
        files[path] = [];
        for await (const chunk of chunks) files[path].push(...chunk);
      },
    });
    return {files, predicted: predict(model)};
  };
</script>`;

interface Exported {
  readonly files: Readonly<Record<string, number[]>>;
  readonly predicted: number[];
}

/** What a page wrote is a SavedModel here, which predicts the same. */
async function expectLoads(
  folder: string,
  files: Exported['files'],
  predicted: readonly number[],
  x: tf.Tensor,
): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Uint8Array.from(bytes));
  }
  expect(Object.keys(files).at(-1)).toBe('saved_model.pb');
  const model = (await emb.savedModel.load(folder)) as tf.LayersModel;
  const again = model.predict(x) as tf.Tensor;
  Array.from(again.dataSync()).forEach((value, i) => expect(value).toBeCloseTo(predicted[i]!, 6));
  again.dispose();
  model.dispose();
}

describe('a model that Node saved', () => {
  it('loads in a page, which saves and exports as pages do', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    const folder = mkdtempSync(join(tmpdir(), 'saved-model-'));
    await emb.ready();
    await tf.setBackend('cpu');
    const table = emb.layers.embedding({ inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2] });
    const model = tf.sequential({ layers: [table, tf.layers.dense({ units: 2 })] });
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const [x, y] = [tf.tensor2d([1, 2, 3, 8], [2, 2], 'int32'), tf.ones([2, 2])];
    await model.trainOnBatch(x, y);
    await model.save(`file://${folder}/model`, { includeOptimizer: true });
    const expected = Array.from((model.predict(x) as tf.Tensor).dataSync());
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(found.path);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      const { fromHttp, fromPage, downloads } = (await page.evaluate('window.compare()')) as Record<string, unknown[]>;
      expect(fromHttp).toEqual(fromPage!);
      expected.forEach((value, i) => expect(fromHttp![i] as number).toBeCloseTo(value, 6));
      expect(downloads).toEqual(['model.json', 'model.weights.bin']);
      const { files, predicted } = (await page.evaluate('window.exported()')) as Exported;
      await expectLoads(join(folder, 'exported'), files, predicted, x);
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
      tf.dispose([x, y]);
      model.dispose();
      optimizer.dispose();
    }
  }, 120_000);
});
