/** Data sets in a page: a file that was picked, and one by URL, give the batches that Node gives. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';
import { ROOT, SCRIPTS } from './libraries.js';
import { serve } from './server.js';

const IMPORTS = {
  hyparquet: '/node_modules/hyparquet/src/index.js',
  'hyparquet/src/': '/node_modules/hyparquet/src/',
  'hyparquet-compressors': '/node_modules/hyparquet-compressors/src/index.js',
  fzstd: '/node_modules/fzstd/esm/index.mjs',
  hysnappy: '/node_modules/hysnappy/js/index.js',
};

type Columns = Record<string, number[] | { values: number[]; rowSplits: number[] }>;

/** Runs in Node and, as text, in the page: all batches as plain values. */
async function batchesOf(library: typeof emb, tfjs: typeof tf, dataset: emb.data.Dataset): Promise<Columns[]> {
  const batches: Columns[] = [];
  for await (const { features } of dataset.shuffle(100, 3).batch(50)) {
    const columns: Columns = {};
    for (const [name, value] of Object.entries(features)) {
      if (value instanceof library.RaggedTensor) {
        columns[name] = { values: Array.from(value.values), rowSplits: Array.from(value.rowSplits) };
      } else {
        columns[name] = Array.from((value as tf.Tensor).dataSync());
        tfjs.dispose(value as tf.Tensor);
      }
    }
    batches.push(columns);
  }
  return batches;
}

const PARQUET_TYPES = { ids: 'ids', int64: 'int', float32: 'float', date: { type: 'date', part: 'weekday' } } as const;
const CSV_TYPES = { ids: 'ids', n: 'float' } as const;
const CSV = `n,ids\n${Array.from({ length: 300 }, (_, row) => `${row / 4},"${row}|${row + 1}"`).join('\n')}`;

const PAGE = `<!doctype html>
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
${SCRIPTS}
<input type="file" id="picked">
<script>
  const batchesOf = ${String(batchesOf)};
  window.read = async (kind, columns, url) => {
    const source = url ?? document.getElementById('picked').files[0];
    const before = tf.memory().numTensors;
    const batches = await batchesOf(tfjsEmbeddings, tf, tfjsEmbeddings.data[kind](source, {columns}));
    return {batches, left: tf.memory().numTensors - before};
  };
</script>`;

describe('data sets in a page', () => {
  it('give the batches that Node gives, of a picked file and by URL', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    const folder = mkdtempSync(join(tmpdir(), 'page-data-'));
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
    const goldens = join(ROOT, 'test/goldens/parquet');
    symlinkSync(goldens, join(folder, 'goldens'));
    const server = await serve(folder, { '/index.html': PAGE });
    const browser = await launch(found.path);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      const read = (kind: string, columns: object, url?: string): Promise<{ batches: Columns[]; left: number }> => {
        const args = [kind, columns, url ?? null].map((each) => JSON.stringify(each)).join(', ');
        return page.evaluate(`window.read(${args})`);
      };
      for (const name of ['snappy_dictionary', 'zstd_groups', 'gzip_dictionary_v2']) {
        const path = join(goldens, `${name}.parquet`);
        const expected = await batchesOf(emb, tf, emb.data.fromParquet(path, { columns: PARQUET_TYPES }));
        expect(expected.length).toBe(6);
        await page.setInputFiles('#picked', path);
        expect(await read('fromParquet', PARQUET_TYPES))
          .withContext(name)
          .toEqual({ batches: expected, left: 0 });
        const byUrl = await read('fromParquet', PARQUET_TYPES, `/goldens/${name}.parquet`);
        expect(byUrl).withContext(name).toEqual({ batches: expected, left: 0 });
      }
      const csv = Buffer.from(CSV);
      const expected = await batchesOf(emb, tf, emb.data.fromCsv(new Uint8Array(csv), { columns: CSV_TYPES }));
      await page.setInputFiles('#picked', { name: 'rows.csv', mimeType: 'text/csv', buffer: csv });
      expect(await read('fromCsv', CSV_TYPES)).toEqual({ batches: expected, left: 0 });
    } finally {
      await browser.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  }, 120_000);
});
