/** An index in a page: one that is built there, and one by URL, give the values and ids that Node gives. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

/** Runs in Node and, as text, in the page: what an index finds, that one after changes, and how many rows it has. */
async function found(library: typeof emb, tfjs: typeof tf, url: string | null): Promise<number[][]> {
  // The same numbers everywhere, around twenty centers.
  let state = 1;
  const draw = (): number => (state = (Math.imul(state, 1664525) + 1013904223) | 0) / 2 ** 31;
  const centers = Array.from({ length: 20 }, () => Array.from({ length: 12 }, () => 3 * draw()));
  const rows = (count: number): number[][] => {
    return Array.from({ length: count }, (_, i) => centers[i % 20]!.map((x) => Math.fround(x + draw())));
  };
  const table = rows(800);
  const index = url === null ? library.ann.build(table, { lists: 24, seed: 5 }) : await library.ann.load(url);
  const queries = tfjs.tensor2d(rows(6));
  const search = (): number[][] => {
    const { values, indices } = index.search(queries, 8, { probes: 4 });
    const read = [Array.from(values.dataSync()), Array.from(indices.dataSync())];
    tfjs.dispose([values, indices]);
    return read;
  };
  const first = search();
  index.add([900, 3], rows(2));
  index.remove([0, 1, 2]);
  const second = search();
  queries.dispose();
  return [...first, ...second, [index.size]];
}

const PAGE = `<!doctype html>
${SCRIPTS}
<script>
  const found = ${String(found)};
  window.run = async (backend, url) => {
    await tf.setBackend(backend);
    return found(tfjsEmbeddings, tf, url);
  };
</script>`;

describe('an index in a page', () => {
  it('finds what it finds in Node', async () => {
    const browserAt = chromium();
    if ('missing' in browserAt) return skipOrFail(browserAt.missing);
    await tf.setBackend('cpu');
    const folder = mkdtempSync(join(tmpdir(), 'page-index-'));
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    const expected = await found(emb, tf, null);
    expect(expected.at(-1)).toEqual([798]);
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(browserAt.path);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      const run = (url: string | null): Promise<number[][]> =>
        page.evaluate(`window.run('cpu', ${JSON.stringify(url)})`);
      expect(await run(null)).toEqual(expected);
      // The index as it was before it was changed, out of a file.
      let state = 1;
      const draw = (): number => (state = (Math.imul(state, 1664525) + 1013904223) | 0) / 2 ** 31;
      const centers = Array.from({ length: 20 }, () => Array.from({ length: 12 }, () => 3 * draw()));
      const table = Array.from({ length: 800 }, (_, i) => centers[i % 20]!.map((x) => Math.fround(x + draw())));
      await emb.ann.build(table, { lists: 24, seed: 5 }).save(join(folder, 'items.ann.safetensors'));
      expect(await run('/items.ann.safetensors')).toEqual(expected);
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
