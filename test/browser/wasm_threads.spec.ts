/** Threads of the WebAssembly kernels in a real page: with shared memory, without, and where workers are forbidden. */
import type { Browser, Page } from 'playwright-core';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';
import { workerThreads } from './emulator_page.js';
import { ROOT, SCRIPTS, TFJS_WASM } from './libraries.js';
import { ISOLATED, serve, type Server } from './server.js';

interface Outcome {
  /** Of pooled rows and of the table after some steps. */
  readonly bits: readonly number[];
  readonly info: { readonly implementation: string; readonly threads: number; readonly oneThreadBecause?: string };
}

/** Looks up and trains with so many threads, long enough for workers to start in between. */
const TASK = `window.work = async (backend, threads) => {
  const emb = tfjsEmbeddings;
  await emb.ready();
  await tf.setBackend(backend);
  emb.setThreads(threads);
  const hash = (values) => {
    let sum = 0;
    for (const word of new Int32Array(new Float32Array(values).buffer)) sum = (Math.imul(sum, 31) + word) | 0;
    return sum;
  };
  const ids = tf.tensor2d(Int32Array.from({ length: 4096 * 6 }, (_, i) => (i * 7919) % 3000), [4096, 6], 'int32');
  const wanted = tf.tensor2d(Float32Array.from({ length: 4096 }, (_, i) => i % 2), [4096, 1]);
  const layer = emb.layers.embedding({ inputDim: 3000, outputDim: 24, combiner: 'mean', inputShape: [6] });
  const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
  const start = model.getWeights();
  model.setWeights(start.map((each) => tf.tidy(() => tf.cos(tf.range(0, each.size)).reshape(each.shape))));
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  const table = tf.variable(tf.tidy(() => tf.sin(tf.range(0, 3000 * 24)).reshape([3000, 24])));
  const bits = new Set();
  for (let i = 0; i < 30; i++) {
    const pooled = emb.embeddingLookup(table, ids, { combiner: 'sum' });
    bits.add(hash(await pooled.data()));
    pooled.dispose();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (let i = 0; i < 5; i++) await model.trainOnBatch(ids, wanted);
  const trained = hash(await model.getWeights()[0].data());
  const info = emb.backendInfo().kernels.EmbeddingBag;
  return { bits: [...bits, trained], info };
};
tf.wasm.setWasmPaths('${TFJS_WASM}/');`;

const PAGE = `<!doctype html>\n${SCRIPTS}\n<script>${TASK}</script>`;

describe('WebAssembly kernels in Chromium', () => {
  let browser: Browser | null = null;
  let missing: string | null = null;
  beforeAll(async () => {
    const found = chromium();
    if ('missing' in found) missing = found.missing;
    else browser = await launch(found.path);
  }, 10 * 60_000);
  afterAll(() => browser?.close());
  beforeEach(() => {
    if (missing !== null) skipOrFail(missing);
  });

  async function withPage<T>(headers: Record<string, string>, use: (page: Page) => Promise<T>): Promise<T> {
    const server: Server = await serve(ROOT, { '/index.html': PAGE }, headers);
    const page = await browser!.newPage();
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(error.message));
    try {
      await page.goto(`${server.origin}/index.html`);
      return await use(page);
    } finally {
      await page.close();
      await server.close();
      expect(failures).toEqual([]);
    }
  }

  const work = (page: Page, backend: string, threads: number): Promise<Outcome> =>
    page.evaluate(`window.work('${backend}', ${threads})`);

  for (const backend of ['cpu', 'wasm']) {
    it(`have threads on ${backend} where the page is isolated, with the same bits`, async () => {
      await withPage(ISOLATED, async (page) => {
        const alone = await work(page, backend, 1);
        expect(alone.info.threads).toBe(1);
        expect(alone.info.oneThreadBecause).toBeUndefined();
        expect(alone.bits.length).toBe(2);
        const before = process.platform === 'linux' ? await workerThreads(browser!) : 0;
        const many = await work(page, backend, 2);
        expect(many.info).toEqual(jasmine.objectContaining({ implementation: 'wasm', threads: 2 }));
        expect(many.info.oneThreadBecause).toBeUndefined();
        expect(many.bits).toEqual(alone.bits);
        if (process.platform === 'linux') expect(await workerThreads(browser!)).toBe(before + 1);
      });
    }, 120_000);

    it(`run on one thread on ${backend} where it is not, and say why`, async () => {
      await withPage({}, async (page) => {
        const { info, bits } = await work(page, backend, 2);
        expect(info).toEqual(jasmine.objectContaining({ implementation: 'wasm', threads: 1 }));
        expect(info.oneThreadBecause).toContain('cross-origin isolated');
        expect(bits.length).toBe(2);
      });
    }, 120_000);
  }

  it('run on one thread where the page forbids workers from texts, and say why', async () => {
    await withPage({ ...ISOLATED, 'content-security-policy': "worker-src 'self'" }, async (page) => {
      const alone = await work(page, 'cpu', 1);
      const many = await work(page, 'cpu', 2);
      expect(many.info).toEqual(jasmine.objectContaining({ implementation: 'wasm', threads: 1 }));
      expect(many.info.oneThreadBecause).toContain('worker-src');
      expect(many.bits).toEqual(alone.bits);
    });
  }, 120_000);
});
