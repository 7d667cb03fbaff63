/** A page of headless Chromium whose GPU is drawn in software, with a program of the tests in it. */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { chromium as playwright, type Page } from 'playwright-core';
import { skipOrFail } from '../helpers/backends.js';
import { chromium } from './chromium.js';

const FLAGS = {
  webgl: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  webgpu: ['--enable-unsafe-webgpu'],
};

async function bundled(program: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** Runs with a page that holds a program; errors that nobody caught there fail the spec. */
export async function withGpuPage(
  gpu: keyof typeof FLAGS,
  program: URL,
  run: (page: Page) => Promise<void>,
): Promise<void> {
  const found = chromium();
  if ('missing' in found) return skipOrFail(found.missing);
  const browser = await playwright.launch({ executablePath: found.path, args: ['--no-sandbox', ...FLAGS[gpu]] });
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => fail(error));
    await page.addScriptTag({ content: await bundled(program) });
    await run(page);
  } finally {
    await browser.close();
  }
}
