/** Pages of reports on small screens. */
import type { Browser } from 'playwright-core';
import { makeReport } from '../../src/report/report.js';
import { skipOrFail } from '../helpers/backends.js';
import { busyCounters, sourceOf } from '../report/report_sources.js';
import { chromium, launch } from './chromium.js';

function pageOf(tables: number, devices: number): string {
  const request = {
    tables: Array.from({ length: tables }, (_, i) => ({
      name: `recommender/features_that_have_long_names_${i}/embeddings`,
      inputDim: 1000 * (1 + (i % 7)),
      outputDim: 8 * (1 + (i % 5)),
    })),
    worldSize: devices,
  };
  const source = sourceOf(request, { slots: [{ name: 'accumulators', columns: 8 }], hbmBytesPerChip: 32e6 });
  return makeReport({ ...source, counters: busyCounters(source.counters, 3, 100) }, { generation: 'v5e' }).toHTML();
}

/** What a reader sees of a page; run there. */
interface Seen {
  /** How much wider the page is than the screen. */
  readonly tooWide: number;
  /** Texts and pictures that end beyond the screen and cannot be scrolled to. */
  readonly lost: string[];
  /** Pictures of tables that cover the words below. */
  readonly covering: number;
  /** Areas that scroll whose first column would scroll away. */
  readonly withoutFirstColumn: number;
}

const LOOK = `(() => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  const { clientWidth, scrollWidth } = document.documentElement;
  const box = (element) => element.getBoundingClientRect();
  const inScroll = (element) => element.closest('.scroll') !== null;
  const all = [...document.querySelectorAll('p,li,dt,dd,h1,h2,h3,figcaption span,summary,.cards svg,.legend svg,.scroll,caption')];
  const outside = all.filter((element) => !inScroll(element.parentElement) && box(element).right > clientWidth + 0.5);
  const figures = [...document.querySelectorAll('figure')];
  const covers = ({ children: [svg, caption] }) => box(svg).bottom > box(caption).top + 0.5 || box(svg).right > clientWidth;
  const scrolled = [...document.querySelectorAll('.scroll')].filter((area) => area.scrollWidth > area.clientWidth);
  const drops = (area) => {
    const [first] = area.querySelectorAll('tbody th');
    if (first === undefined) return false;
    area.scrollLeft = 60;
    return box(first).left < box(area).left - 0.5;
  };
  return {
    tooWide: scrollWidth - clientWidth,
    lost: outside.map((element) => element.outerHTML.slice(0, 80)),
    covering: figures.filter(covers).length,
    withoutFirstColumn: scrolled.filter(drops).length,
  };
})()`;

describe('page of a report on a small screen', () => {
  const pages: [string, number, number][] = [
    ['a few tables on eight devices', 5, 8],
    ['tables on sixteen devices', 30, 16],
    ['many tables on many devices', 100, 70],
  ];
  for (const [what, tables, devices] of pages) {
    it(`shows all of it: ${what}`, async () => {
      const found = chromium();
      if ('missing' in found) return skipOrFail(found.missing);
      let browser: Browser | undefined;
      try {
        browser = await launch(found.path);
        for (const width of [320, 360, 412, 1280]) {
          const page = await browser.newPage({ viewport: { width, height: 740 } });
          await page.setContent(pageOf(tables, devices));
          const seen = (await page.evaluate(LOOK)) as Seen;
          const phone = width < 640 ? { withoutFirstColumn: 0 } : {};
          expect(seen)
            .withContext(`${width} pixels`)
            .toEqual({ ...seen, tooWide: 0, lost: [], covering: 0, ...phone });
          await page.close();
        }
      } finally {
        await browser?.close();
      }
    }, 120_000);
  }
});
