/** Initial values in a page equal Node's to the bit. */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { FilledPart } from '../../src/backends/counter_random.js';
import { fillPart, type Fill } from '../../src/backends/fill.js';
import { skipOrFail } from '../helpers/backends.js';
import { chromium, launch } from './chromium.js';

const FILLS: readonly Fill[] = [
  { kind: 'uniform', min: -0.05, max: 0.05, seed: 3 },
  { kind: 'normal', mean: 0.1, deviation: 0.3, seed: 2 ** 52 + 1 },
  { kind: 'truncatedNormal', mean: 0, deviation: 1, seed: 0 },
];
const PART: FilledPart = { firstRow: 2, rowStep: 3, rows: 3000, firstColumn: 5, columns: 13 };

async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/backends/fill.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'fills',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('initial values in a page', () => {
  it('equal those in Node to the bit', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    let browser: Browser | undefined;
    try {
      browser = await launch(found.path);
      const page = await browser.newPage();
      await page.addScriptTag({ content: await pageScript() });
      for (const fill of FILLS) {
        const values = new Float32Array(PART.rows * PART.columns);
        fillPart(values, PART, fill);
        const inPage = (await page.evaluate(`(() => {
          const values = new Float32Array(${values.length});
          fills.fillPart(values, ${JSON.stringify(PART)}, ${JSON.stringify(fill)});
          return [...new Int32Array(values.buffer)];
        })()`)) as number[];
        expect(inPage)
          .withContext(fill.kind)
          .toEqual(Array.from(new Int32Array(values.buffer)));
      }
    } finally {
      await browser?.close();
    }
  }, 120_000);
});
