/** The site of `npm run docs` in a browser, from its files: navigation, search, links, and pages that fit their window. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { Application, TypeDocReader } from 'typedoc';
import { chromium, launch } from '../browser/chromium.js';
import { skipOrFail } from '../helpers/backends.js';
import { ROOT } from '../helpers/project.js';

const CHECK = pathToFileURL(join(ROOT, 'test', 'check', 'site_links.mjs')).href;

interface SiteCheck {
  checkSite(folder: string): { complaints: string[]; links: number; pages: number };
}

/** All pages; the reference is that of one small file, because the whole takes a minute. `npm run check` makes it. */
async function buildSite(folder: string): Promise<void> {
  const app = await Application.bootstrapWithPlugins(
    {
      options: join(ROOT, 'typedoc.json'),
      entryPoints: [join(ROOT, 'test', 'docs', 'site_entry.ts')],
      intentionallyNotExported: [],
      skipErrorChecking: true,
      logLevel: 'Warn',
    },
    [new TypeDocReader()],
  );
  app.options.setValue('entryPoints', [join(ROOT, 'test', 'docs', 'site_entry.ts')]);
  app.options.setValue('intentionallyNotExported', []);
  const project = await app.convert();
  await app.generateDocs(project!, folder);
  expect(app.logger.hasErrors() || app.logger.hasWarnings()).toBeFalse();
}

describe('the site of the docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const failures: string[] = [];
  let browser: Browser | undefined;
  let page: Page;
  let missing: string | null = null;

  beforeAll(async () => {
    await buildSite(folder);
    const found = chromium();
    if ('missing' in found) {
      missing = found.missing;
      return;
    }
    browser = await launch(found.path);
    page = await browser.newPage();
    page.on('pageerror', (error) => failures.push(error.message));
  }, 10 * 60_000);

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (name: string): Promise<unknown> => page.goto(pathToFileURL(join(folder, name)).href);

  it('has a page for each page of docs and each example, whose links lead somewhere', async () => {
    const { checkSite } = (await import(CHECK)) as SiteCheck;
    const { complaints, links, pages } = checkSite(folder);
    expect(complaints).toEqual([]);
    expect(links).toBeGreaterThan(500);
    const sources = ['docs', 'docs/examples'].flatMap((name) => readdirSync(join(ROOT, name)));
    expect(pages).toBeGreaterThan(sources.filter((name) => /\.(md|ts|html)$/.test(name)).length);
  });

  it('begins with the README and leads to guides, examples and reference', async () => {
    if (missing !== null) return skipOrFail(missing);
    await page.setViewportSize({ width: 1200, height: 900 });
    await open('index.html');
    expect(await page.textContent('.col-content h1')).toContain('tfjs-embeddings');
    await page.waitForSelector('#tsd-nav-container details');
    const sections = await page.locator('#tsd-nav-container > li > details > summary').allTextContents();
    expect(sections.map((text) => text.trim())).toEqual(['Guides', 'Examples', 'Reference', 'More about it']);
    expect(await page.isVisible('#tsd-nav-container a:has-text("Optimizers")')).toBeTrue();
    await page.click('#tsd-nav-container a:has-text("Optimizers")');
    await page.waitForURL(/Optimizers\.html$/);
    const tables = (await page.locator('.col-content table').allTextContents()).join();
    expect(tables).toContain('initialAccumulatorValue');
  });

  it('finds words of guides without a server', async () => {
    if (missing !== null) return skipOrFail(missing);
    for (const [word, title] of [
      ['quantize', 'Precision'],
      ['FeatureConfig', 'Many tables on many devices'],
    ] as const) {
      await open('index.html');
      await page.click('#tsd-search-trigger');
      await page.fill('#tsd-search input', word);
      await page.waitForSelector(`#tsd-search li:has-text("${title}")`, { timeout: 20_000 });
    }
    expect(failures).toEqual([]);
  });

  for (const width of [1200, 420]) {
    it(`fits a window of ${width} pixels`, async () => {
      if (missing !== null) return skipOrFail(missing);
      await page.setViewportSize({ width, height: 900 });
      const documents = readdirSync(join(folder, 'documents')).map((name) => `documents/${name}`);
      const wide: string[] = [];
      for (const name of ['index.html', ...documents]) {
        await open(name);
        const taken = await page.evaluate('document.documentElement.scrollWidth');
        if ((taken as number) > width) wide.push(`${name}: ${taken as number}`);
      }
      expect(documents.length).toBeGreaterThan(30);
      expect(wide).toEqual([]);
    }, 120_000);
  }
});
