/** The kernels of webgl, in a headless Chromium that draws in software. */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { chromium as playwright, type Browser } from 'playwright-core';
import { chromium } from '../../browser/chromium.js';
import { skipOrFail } from '../../helpers/backends.js';
import type { Report } from './webgl_page.js';

const ARGUMENTS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('webgl_page.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

describe('kernels of webgl', () => {
  it('agree with the reference', async () => {
    const found = chromium();
    if ('missing' in found) return skipOrFail(found.missing);
    let browser: Browser | undefined;
    try {
      browser = await playwright.launch({ executablePath: found.path, args: ARGUMENTS });
      const page = await browser.newPage();
      const hasWebgl = await page.evaluate("document.createElement('canvas').getContext('webgl2') !== null");
      if (hasWebgl !== true) return skipOrFail('this Chromium has no WebGL 2');
      await page.addScriptTag({ content: await pageScript() });
      const report = (await page.evaluate('compare(24, 1e-6)')) as Report;
      expect(report).toEqual({
        backend: 'webgl',
        implementation: 'wasm',
        compared: 24,
        differences: [],
        tensorsLeft: 0,
      });
    } finally {
      await browser?.close();
    }
  }, 300_000);
});
