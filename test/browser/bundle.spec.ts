/** The browser bundle in a real page: loads, trains on cpu and wasm, and predicts what Node predicts. */
import * as tf from '@tensorflow/tfjs';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import * as emb from 'tfjs-embeddings';
import { chromium } from './chromium.js';
import { serve, type Server } from './server.js';
import { trainSmallModel } from './small_model.js';

interface Trained {
  predictions: number[];
  losses: number[];
  kernels: Record<string, { implementation: string; instructionSet: string }>;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(import.meta.url);
const served = (file: string): string => file.slice(root.length);
const tfjs = join(dirname(require.resolve('@tensorflow/tfjs/package.json')), 'dist');
const wasm = join(dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json')), 'dist');

const PAGE = `<!doctype html>
<script src="${served(tfjs)}/tf.min.js"></script>
<script src="${served(wasm)}/tf-backend-wasm.min.js"></script>
<script src="/dist/tfjs-embeddings.min.js"></script>
<script type="module">
  import { trainSmallModel } from '/test/browser/small_model.js';
  tf.wasm.setWasmPaths('${served(wasm)}/');
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
    expect(existsSync(join(root, 'dist/tfjs-embeddings.min.js')))
      .withContext('dist is built by set-up')
      .toBeTrue();
    const found = chromium();
    if ('missing' in found) {
      if (process.env.CI === 'true') throw new Error(`CI must run the browser tests: ${found.missing}`);
      pendingReason = found.missing;
      return;
    }
    server = await serve(root, { '/index.html': PAGE });
    browser = await playwright.launch({
      executablePath: found.path,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    page = await browser.newPage();
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(`${server.origin}/index.html`);
    await page.waitForFunction('window.loaded === true');
  }, 10 * 60_000);

  let pendingReason: string | null = null;

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function trainInNode(): Promise<Trained> {
    await tf.setBackend('cpu');
    await tf.ready();
    return (await trainSmallModel(tf, emb)) as Trained;
  }

  for (const backend of ['cpu', 'wasm']) {
    it(`trains on ${backend} with WebAssembly kernels and predicts as Node does`, async () => {
      if (pendingReason !== null) pending(pendingReason);
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
