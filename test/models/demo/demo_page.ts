/** The page of the demo in a Chromium: opened, watched for whatever goes wrong, and photographed. */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { buildDemo } from '../../../models/demo/job.js';
import { servePage, type PageServer } from '../../../models/page/server.js';
import { chromium } from '../../browser/chromium.js';
import { skipOrFail } from '../../helpers/backends.js';

/** Where pictures of the page go, for people to look at. */
export const PICTURES = join(tmpdir(), 'tfjs-embeddings-demo');
/** WebGL is drawn in software where there is no GPU. */
const ARGS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const PATIENCE = 120_000;

/** A server of the page, and a browser. */
export interface DemoSite {
  readonly browser: Browser;
  readonly server: PageServer;
  close(): Promise<void>;
}

/** A browser that draws WebGL; the reason where there is none. */
export async function launchForPages(): Promise<Browser | { readonly missing: string }> {
  const found = chromium();
  return 'missing' in found ? found : playwright.launch({ executablePath: found.path, args: ARGS });
}

export async function openSite(): Promise<DemoSite | { readonly missing: string }> {
  const browser = await launchForPages();
  if ('missing' in browser) return browser;
  const server = await servePage(await buildDemo(), 0);
  return {
    browser,
    server,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/**
 * Opens a site for all specs of a `describe`. Returns what gives it to a spec: without a browser the spec is skipped, and
 * fails under CI.
 */
export function siteForSpecs(): () => DemoSite {
  let opened: Awaited<ReturnType<typeof openSite>> | null = null;
  beforeAll(async () => {
    opened = await openSite();
  }, 300_000);
  afterAll(async () => {
    if (opened !== null && 'close' in opened) await opened.close();
  });
  return () => {
    if (opened === null) throw new Error('no site was opened');
    if (!('missing' in opened)) return opened;
    skipOrFail(opened.missing);
    throw new Error('a spec went on without a browser');
  };
}

export interface Look {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

/** A visitor: tabs of one visitor share what the browser keeps. */
export async function newVisitor({ browser }: DemoSite, { width = 1200, colorScheme = 'light' }: Look = {}) {
  return browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true });
}

export class DemoPage {
  /** What the console and the network complained of. */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page) {}

  static async open(visitor: BrowserContext, { server }: DemoSite): Promise<DemoPage> {
    const page = await visitor.newPage();
    page.setDefaultTimeout(PATIENCE);
    const opened = new DemoPage(page);
    const complain = (text: string): void => void opened.complaints.push(text);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()));
    page.on('pageerror', (error) => complain(error.message));
    page.on('requestfailed', (request) => complain(`no answer: ${request.url()}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      const isOwn = `${origin}/` === server.url || ['blob:', 'data:'].includes(protocol);
      if (!isOwn) complain(`asked of another server: ${request.url()}`);
    });
    // Functions that run there are compiled to call this.
    await page.addInitScript('globalThis.__name = (each) => each');
    await page.goto(server.url);
    await opened.calm();
    return opened;
  }

  /** Waits until nothing goes on; returns what the page says then. */
  async calm(): Promise<string> {
    await this.page.waitForFunction(() => document.getElementById('progress')!.hidden);
    return (await this.page.textContent('#status-text'))!;
  }

  /** What went wrong, as the page says it. */
  async wrong(): Promise<string> {
    return (await this.page.textContent('#alert'))!;
  }

  async click(selector: string): Promise<string> {
    await this.page.click(selector);
    return this.calm();
  }

  /** The figures of the training by their names. */
  async figures(): Promise<Readonly<Record<string, string>>> {
    const names = await this.page.locator('#figures dt').allTextContents();
    const values = await this.page.locator('#figures dd').allTextContents();
    return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
  }

  /** Rows of a table as texts. */
  async rows(selector: string): Promise<string[][]> {
    const rows = await this.page.locator(`${selector} tbody tr`).all();
    return Promise.all(rows.map((row) => row.locator('th,td').allTextContents()));
  }

  /** Sets fields of a form by their labels' ids. */
  async set(values: Readonly<Record<string, number | string>>): Promise<void> {
    for (const [id, value] of Object.entries(values)) await this.page.fill(`#${id}`, String(value));
  }

  async picture(name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }
}
