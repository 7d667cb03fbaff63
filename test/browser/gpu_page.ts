/** A page of a headless Chromium whose tfjs runs on a GPU backend, drawn in software; `gpu_program.ts` runs in it. */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import { skipOrFail } from '../helpers/backends.js';
import { chromium } from './chromium.js';
import type { GpuProgram } from './gpu_program.js';
import { ROOT } from './libraries.js';
import { serve, type Server } from './server.js';

export type GpuBackend = 'webgl' | 'webgpu';

const FLAGS: Readonly<Record<GpuBackend, readonly string[]>> = {
  webgl: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  webgpu: ['--enable-unsafe-webgpu'],
};

const HAS_GPU: Readonly<Record<GpuBackend, string>> = {
  webgl: "document.createElement('canvas').getContext('webgl2') !== null",
  webgpu: 'navigator.gpu === undefined ? false : navigator.gpu.requestAdapter().then((adapter) => adapter !== null)',
};

const GPU_PROGRAM = new URL('gpu_program.ts', import.meta.url);

/** A program with tfjs, its backends and this package, of their sources. */
async function programText(program: URL): Promise<string> {
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

/** A page with the program; open until it is closed. */
export class GpuPage {
  /** What the page said of errors: `failures` of exceptions and its console. */
  readonly failures: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly browser: Browser,
    private readonly server: Server,
  ) {}

  /**
   * Opens a page with the program, or one that adds to it. Where there is no such GPU the spec is skipped, under CI it
   * fails; then null.
   */
  static async open(backend: GpuBackend, program = GPU_PROGRAM): Promise<GpuPage | null> {
    const found = chromium();
    if ('missing' in found) {
      skipOrFail(found.missing);
      return null;
    }
    const browser = await playwright.launch({
      executablePath: found.path,
      args: ['--no-sandbox', '--disable-background-networking', ...FLAGS[backend]],
    });
    const server = await serve(ROOT, {
      '/gpu.html': '<!doctype html><title>tables on a GPU</title><link rel="icon" href="data:,">',
    });
    const page = await browser.newPage();
    const opened = new GpuPage(page, browser, server);
    page.on('pageerror', ({ message }) => opened.failures.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') opened.failures.push(message.text());
    });
    // An address of this machine is a secure context, which WebGPU asks for.
    await page.goto(`${server.origin}/gpu.html`);
    if ((await page.evaluate(HAS_GPU[backend])) !== true) {
      await opened.close();
      skipOrFail(`this Chromium has no ${backend}`);
      return null;
    }
    await page.addScriptTag({ content: await programText(program) });
    await opened.run('start', backend);
    return opened;
  }

  /** Calls a function of the program. */
  run<Name extends keyof GpuProgram>(
    name: Name,
    ...args: Parameters<GpuProgram[Name]>
  ): Promise<Awaited<ReturnType<GpuProgram[Name]>>> {
    return this.page.evaluate(`gpu.${name}(...${JSON.stringify(args)})`);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.close();
  }
}
