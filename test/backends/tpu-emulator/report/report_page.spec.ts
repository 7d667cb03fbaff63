/** Reports as pages. */
import { makeReport } from '../../../../src/backends/tpu-emulator/report/report.js';
import type { ReportSource } from '../../../../src/backends/tpu-emulator/report/report_source.js';
import { busyCounters, sourceOf } from './report_sources.js';

const VOID = ['meta', 'br', 'link'];
const ENTITY = /&(amp|lt|gt|quot|#39);/g;

/** Elements in the order of their starts; throws where one is not closed, crosses another, or text is not escaped. */
function elementsOf(page: string): { name: string; attributes: string }[] {
  const found: { name: string; attributes: string }[] = [];
  const open: string[] = [];
  const body = page.replace(/^<!doctype html>\n/, '').replace(/<style>[^<]*<\/style>/, '');
  const tag = /<(\/?)([a-zA-Z]+\d?)((?: [a-zA-Z0-9-]+="[^"<>]*")*)(\/?)>/g;
  let end = 0;
  for (const match of body.matchAll(tag)) {
    const between = body.slice(end, match.index);
    if (/[<>]/.test(between) || between.replace(ENTITY, '').includes('&')) throw new Error(`not escaped: ${between}`);
    end = match.index + match[0].length;
    const [, closes, name, attributes, isEmpty] = match;
    if (attributes!.replace(ENTITY, '').includes('&')) throw new Error(`not escaped: ${attributes}`);
    if (closes === '/') {
      if (open.pop() !== name) throw new Error(`${name} closes something else`);
    } else {
      found.push({ name: name!, attributes: attributes! });
      if (isEmpty !== '/') open.push(name!);
      else if (open.every((outer) => outer !== 'svg') && !VOID.includes(name!)) throw new Error(`${name} is empty`);
    }
  }
  if (open.length > 0 || body.slice(end).trim() !== '') throw new Error('something is left');
  return found;
}

function busy(source: ReportSource): ReportSource {
  return { ...source, counters: busyCounters(source.counters, 3, 100) };
}

const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 16 },
  { name: 'items', inputDim: 100, outputDim: 8 },
  { name: 'few', inputDim: 5, outputDim: 2 },
];

describe('Page of a report', () => {
  it('is well formed for all kinds of layouts', () => {
    const requests = [
      { tables: TABLES, worldSize: 1 },
      { tables: TABLES, worldSize: 2, deviceMemory: 1000 },
      { tables: TABLES, worldSize: 4, dataParallelThreshold: 10, rowSliceThreshold: 5000 },
      { tables: TABLES, worldSize: 8, rowSliceThreshold: 5000, rowSharding: 'modulo' as const },
      { tables: TABLES, worldSize: 70, strategy: 'memory_balanced' as const },
    ];
    for (const request of requests) {
      for (const source of [sourceOf(request), busy(sourceOf(request, { slots: [{ name: 'm', columns: 1 }] }))]) {
        for (const options of [{}, { generation: 'v2', chips: 3 }]) {
          const elements = elementsOf(makeReport(source, options).toHTML());
          expect(elements.filter(({ name }) => name === 'figure').length).toBe(TABLES.length);
          expect(elements.some(({ name }) => ['script', 'img', 'iframe', 'link', 'object'].includes(name))).toBeFalse();
        }
      }
    }
  });

  it('escapes names', () => {
    const evil = '<script>alert("x")</script>&\'\u0000';
    const source = busy(sourceOf({ tables: [{ ...TABLES[0]!, name: evil }, TABLES[1]!], worldSize: 2 }));
    const plans = source.plans.map((plan) => ({ ...plan, name: evil }));
    const slots = [{ name: evil, columns: 1 }];
    const tables = source.tables.map((table) => ({ ...table, slots }));
    const page = makeReport(
      { ...source, plans, tables, host: evil, inlineBecause: evil },
      { generation: 'v4' },
    ).toHTML();
    expect(page).not.toContain('<script');
    expect(page).not.toContain('\u0000');
    expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;\ufffd');
    expect(() => elementsOf(page)).not.toThrow();
  });

  it('the check of this spec finds what is wrong', () => {
    const wrong = [
      '<p>',
      '<p></b>',
      '<p>a & b</p>',
      '<p>1 < 2</p>',
      '<div/>',
      '<p title="&x">y</p>',
      '<a><b></a></b>',
      'x',
    ];
    for (const page of wrong)
      expect(() => elementsOf(page))
        .withContext(page)
        .toThrowError();
    expect(() => elementsOf('<p>a &amp; b<br/></p>')).not.toThrow();
  });

  it('draws shards to scale, each with a tooltip', () => {
    const page = makeReport(sourceOf({ tables: [TABLES[0]!], worldSize: 2, columnSliceThreshold: 8000 })).toHTML();
    const pieces = [
      ...page.matchAll(
        /<rect x="([\d.]+)" y="0" width="([\d.]+)" height="([\d.]+)" class="piece"[^>]*><title>([^<]*)</g,
      ),
    ];
    expect(pieces.map(([, x, width]) => [Number(x), Number(width)])).toEqual([
      [0, 110],
      [110, 110],
    ]);
    expect(pieces.map(([, , , , title]) => title)).toEqual([
      'users on device 0: all 1,000 rows, columns 0..8 of 16, 32.0 kB',
      'users on device 1: all 1,000 rows, columns 8..16 of 16, 32.0 kB',
    ]);
  });

  it('shows traffic as numbers, or as squares where devices are many', () => {
    const small = makeReport(busy(sourceOf({ tables: TABLES, worldSize: 4 }))).toHTML();
    expect(small.match(/style="--share:[\d.]+" title="\d to \d: /g)!.length).toBe(12);
    const large = makeReport(busy(sourceOf({ tables: TABLES, worldSize: 70 }))).toHTML();
    // Blocks of two devices.
    expect(large.match(/class="cell"/g)!.length).toBe(35 * 35);
    expect(large).toContain('The busiest links');
  });

  it('names sources of figures and what does not fit', () => {
    const tables = [{ inputDim: 2 ** 28, outputDim: 32 }];
    const page = makeReport(sourceOf({ tables, worldSize: 1, batchSize: 1 }), { generation: 'v5e' }).toHTML();
    expect(page).toContain('class="warn"');
    expect(page).toContain('Devices with too little memory');
    expect(page).toContain('href="https://docs.cloud.google.com/tpu/docs/v5e"');
    expect(page).toContain('not published');
  });
});
