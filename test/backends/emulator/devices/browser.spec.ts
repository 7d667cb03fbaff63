/** Devices in a real browser: in a page, which may not wait, and in a worker of a page. */
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { chromium as playwright, type Browser } from 'playwright-core';
import { chromium } from '../../../browser/chromium.js';
import { skipOrFail } from '../../../helpers/backends.js';
import type { PageReport } from './page_worker.js';

const ORIGIN = 'https://devices.test';
const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

/** In a page `told` keeps the report; in its worker it is sent there. */
const PAGE = `<!doctype html><script>
  const report = new Promise((resolve) => { window.told = resolve; });
  window.here = () => { const s = document.createElement('script'); s.src = '/script.js'; document.head.append(s); return report; };
  window.inWorker = () => { new Worker('/worker.js').onmessage = (event) => window.told(event.data); return report; };
</script>`;

async function script(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page_worker.ts', import.meta.url))],
    ...{ bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'silent' },
  });
  return outputFiles[0]!.text;
}

describe('devices in a browser', () => {
  let browser: Browser | undefined;
  let text: string;
  let missing: string | null = null;

  beforeAll(async () => {
    const found = chromium();
    if ('missing' in found) return void (missing = found.missing);
    text = await script();
    browser = await playwright.launch({ executablePath: found.path, args: ['--no-sandbox'] });
  }, 300_000);
  afterAll(async () => browser?.close());

  async function reportOf(call: 'here' | 'inWorker', headers: Record<string, string>): Promise<PageReport> {
    const context = await browser!.newContext();
    const worker = `self.told = (value) => postMessage(value);\n${text}`;
    await context.route('**/*', (route) => {
      const path = new URL(route.request().url()).pathname;
      const body = path === '/script.js' ? text : path === '/worker.js' ? worker : PAGE;
      return route.fulfill({ body, headers, contentType: path.endsWith('.js') ? 'text/javascript' : 'text/html' });
    });
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/`);
    const report = await page.evaluate(`${call}()`);
    await context.close();
    if (typeof report === 'string') throw new Error(report);
    return report as PageReport;
  }

  it('are workers in a worker of an isolated page, and fail as they do elsewhere', async () => {
    if (missing !== null) return skipOrFail(missing);
    const report = await reportOf('inWorker', ISOLATION);
    expect(report.inlineBecause).toBeNull();
    expect(report.kinds).toEqual(Array(5).fill('worker'));
    expect(report.implementation).toBe('wasm');
    expect(report.equal).toBeTrue();
    expect(report.faults).toEqual({
      kernelError: 'DeviceFault: a kernel failed, as a fault that was injected',
      outOfMemory: 'DeviceFault: RangeError: out of memory, as a fault that was injected',
      terminate: 'DeviceFault: it was terminated',
      hang: 'DeviceFault: it gave no sign of life for 4 s',
    });
  }, 120_000);

  for (const [where, call, headers, reason] of [
    ['an isolated page, which may not wait', 'here', ISOLATION, 'may not wait'],
    ['a page that is not isolated', 'here', {}, 'not cross-origin isolated'],
    ['a worker of a page that is not isolated', 'inWorker', {}, 'not cross-origin isolated'],
    [
      'a page that forbids programs that are texts',
      'inWorker',
      { ...ISOLATION, 'content-security-policy': "worker-src 'self'" },
      'Device 0',
    ],
  ] as const) {
    it(`are in line in ${where}`, async () => {
      if (missing !== null) return skipOrFail(missing);
      const report = await reportOf(call, headers);
      expect(report.inlineBecause).toContain(reason);
      expect(report.kinds).toEqual(Array(5).fill('inline'));
      expect(report.equal).toBeTrue();
    }, 120_000);
  }
});
