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
    /** The text of the program, and the backend. */
    private readonly program: string,
    private readonly backend: GpuBackend,
    /** The browser and the server end with the first page. */
    private readonly isFirst = true,
  ) {
    page.on('pageerror', ({ message }) => this.failures.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.failures.push(message.text());
    });
  }

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
    const text = await programText(program);
    const opened = new GpuPage(await browser.newPage(), browser, server, text, backend);
    if (await opened.#start()) return opened;
    await opened.close();
    skipOrFail(`this Chromium has no ${backend}`);
    return null;
  }

  /** Another page with the program, which shares nothing but the browser with this one, and is closed before it. */
  async another(): Promise<GpuPage> {
    const { browser, server, program, backend } = this;
    const context = await browser.newContext();
    const opened = new GpuPage(await context.newPage(), browser, server, program, backend, false);
    if (!(await opened.#start())) throw new Error(`another page has no ${backend}`);
    return opened;
  }

  /** Has the program run in the page; false where there is no such GPU. */
  async #start(): Promise<boolean> {
    // An address of this machine is a secure context, which WebGPU asks for.
    await this.page.goto(`${this.server.origin}/gpu.html`);
    if ((await this.page.evaluate(HAS_GPU[this.backend])) !== true) return false;
    await this.page.addScriptTag({ content: this.program });
    await this.run('start', this.backend);
    return true;
  }

  /** Calls a function of the program. */
  run<Name extends keyof GpuProgram>(
    name: Name,
    ...args: Parameters<GpuProgram[Name]>
  ): Promise<Awaited<ReturnType<GpuProgram[Name]>>> {
    return this.page.evaluate(`gpu.${name}(...${JSON.stringify(args)})`);
  }

  async close(): Promise<void> {
    if (!this.isFirst) return this.page.context().close();
    await this.browser.close();
    await this.server.close();
  }
}
