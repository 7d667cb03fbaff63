/** The browser bundle in a real page: loads, trains on cpu and wasm, and predicts what Node predicts. */
import * as tf from '@tensorflow/tfjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import * as emb from 'tfjs-embeddings';
import { chromium, launch } from './chromium.js';
import { BUNDLE, ROOT, SCRIPTS, TFJS, TFJS_CORE, TFJS_WASM } from './libraries.js';
import { skipOrFail } from '../helpers/backends.js';
import { serve, type Server } from './server.js';
import { trainSmallModel } from './small_model.js';

interface Trained {
  predictions: number[];
  losses: number[];
  kernels: Record<string, { implementation: string; instructionSet: string }>;
}

const PAGE = `<!doctype html>
${SCRIPTS}
<script type="module">
  import { trainSmallModel } from '/test/browser/small_model.js';
  tf.wasm.setWasmPaths('${TFJS_WASM}/');
  window.train = async (backend) => {
    await tf.setBackend(backend);
    await tf.ready();
    await tfjsEmbeddings.ready();
    return trainSmallModel(tf, tfjsEmbeddings);
  };
  window.loaded = true;
</script>`;

describe('the browser bundle', () => {
  let browser: Browser | undefined;
  let server: Server | undefined;
  let page: Page;
  const failures: string[] = [];

  beforeAll(async () => {
    expect(existsSync(join(ROOT, BUNDLE)))
      .withContext('dist is built by set-up')
      .toBeTrue();
    const found = chromium();
    if ('missing' in found) {
      missing = found.missing;
      return;
    }
    server = await serve(ROOT, { '/index.html': PAGE });
    browser = await launch(found.path);
    page = await browser.newPage();
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(`${server.origin}/index.html`);
    await page.waitForFunction('window.loaded === true');
  }, 10 * 60_000);

  let missing: string | null = null;

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const withoutTfjs: [what: string, scripts: string[], received: string][] = [
    ['without tfjs', [BUNDLE], 'received nothing'],
    ['before tfjs', [BUNDLE, `${TFJS}/tf.min.js`], 'received nothing'],
    ['with a part of tfjs', [`${TFJS_CORE}/tf-core.min.js`, BUNDLE], 'without tf.layers'],
  ];
  for (const [what, scripts, received] of withoutTfjs) {
    it(`says in a page ${what} what is missing`, async () => {
      if (missing !== null) skipOrFail(missing);
      const html = scripts.map((address) => `<script src="${address}"></script>`).join('\n');
      const alone = await serve(ROOT, { '/index.html': `<!doctype html>${html}` });
      const own = await browser!.newPage();
      try {
        const errors: string[] = [];
        own.on('pageerror', ({ message }) => errors.push(message));
        await own.goto(`${alone.origin}/index.html`);
        expect(errors.length).withContext(errors.join('\n')).toBe(1);
        expect(errors[0]).toContain('@tensorflow/tfjs, loaded before tfjs-embeddings');
        expect(errors[0]).toContain(received);
        expect(errors[0]).toContain('tf.min.js');
      } finally {
        await own.close();
        await alone.close();
      }
    });
  }

  async function trainInNode(): Promise<Trained> {
    await tf.setBackend('cpu');
    await tf.ready();
    return (await trainSmallModel(tf, emb)) as Trained;
  }

  for (const backend of ['cpu', 'wasm']) {
    it(`trains on ${backend} with WebAssembly kernels and predicts as Node does`, async () => {
      if (missing !== null) skipOrFail(missing);
      const expected = await trainInNode();
      const actual = (await page.evaluate(`window.train('${backend}')`)) as Trained;
      expect(failures).toEqual([]);
      expect(actual.kernels.EmbeddingBag!.implementation).toBe('wasm');
      expect(actual.losses.at(-1)!).toBeLessThan(actual.losses[0]!);
      expect(actual.predictions.length).toBe(expected.predictions.length);
      actual.predictions.forEach((value, i) => {
        expect(Math.abs(value - expected.predictions[i]!)).toBeLessThanOrEqual(1e-6);
      });
    }, 120_000);
  }
});
