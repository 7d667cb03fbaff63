/** Reports as pages. */
import { makeReport } from '../../src/report/report.js';
import type { ReportSource } from '../../src/backends/devices/report_source.js';
import { secondsText } from '../../src/base/units.js';
import { busyCounters, sourceOf } from './report_sources.js';

const VOID = ['meta', 'br', 'wbr', 'link'];
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
    expect(elementsOf(page).filter(({ name }) => name === 'figure').length).toBe(2);
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
    expect(elementsOf('<p>a &amp; b<br/></p>').map(({ name }) => name)).toEqual(['p', 'br']);
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

  it('shades links from the smallest number that was sent', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 4 });
    const shadesOf = (bytes: number[][]): (string | undefined)[] => {
      const counters = { ...source.counters, links: { bytes, ids: bytes } };
      const page = makeReport({ ...source, counters }).toHTML();
      return [...page.matchAll(/<td style="--share:([\d.]+)" title="\d to \d/g)].map(([, share]) => share);
    };
    const even = [[0, 1000, 1000, 1000], [1010, 0, 1010, 1010], [1020, 1020, 0, 1020], [1010, 1000, 1020, 0]]; // prettier-ignore
    const [low, middle, high] = ['0.120', '0.560', '1.000'];
    expect(shadesOf(even)).toEqual([low, low, low, middle, middle, middle, high, high, high, middle, low, high]);
    const sparse = [[0, 500, 0, 0], [0, 0, 0, 0], [0, 0, 0, 900], [700, 0, 0, 0]]; // prettier-ignore
    expect(shadesOf(sparse)).toEqual([low, '0', '0', '0', '0', '0', '0', '0', high, middle, '0', '0']);
    const single = sparse.map((row) => row.map((value) => (value === 0 ? 0 : 5)));
    expect(shadesOf(single).filter((share) => share === high).length).toBe(3);
    const counters = { ...source.counters, links: { bytes: sparse, ids: sparse } };
    expect(makeReport({ ...source, counters }).toHTML()).toContain('from 500 B (faint) to 900 B. A field without');
  });

  it('shades blocks of devices by what they sent together', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 128 });
    const bytes = source.counters.links.bytes.map((row) => [...row]);
    // Two links of one block, and one of another.
    bytes[0]![2] = bytes[1]![3] = 300;
    bytes[126]![0] = 200;
    const counters = { ...source.counters, links: { bytes, ids: bytes } };
    const page = makeReport({ ...source, counters }).toHTML();
    const shades = [...page.matchAll(/class="cell" style="--share:([\d.]+)"><title>(\S+ to \S+): /g)];
    expect(shades.length).toBe(64 * 64);
    expect(shades.filter(([, share]) => share !== '0').map(([, share, link]) => [link, share])).toEqual([
      ['0-1 to 2-3', '1.000'],
      ['126-127 to 0-1', '0.120'],
    ]);
    expect(page).toContain('from 200 B (faint) to 600 B');
  });

  it('is there for the largest machine', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 1024, dataParallelThreshold: 1e6 });
    const page = makeReport(busy(source)).toHTML();
    expect(page.match(/class="cell"/g)!.length).toBe(64 * 64);
  });

  it('tells every name whole, with places for line ends between words', () => {
    const name = 'recommender/categories_of_the_items_that_were_seen_last_by_the_user';
    const tables = [
      { ...TABLES[0]!, name: `${name}/embeddings` },
      { ...TABLES[1]!, name: 'recommender/i/embeddings' },
    ];
    const page = makeReport(sourceOf({ tables, worldSize: 2 })).toHTML();
    const whole =
      'categories_<wbr/>of_<wbr/>the_<wbr/>items_<wbr/>that_<wbr/>were_<wbr/>seen_<wbr/>last_<wbr/>by_<wbr/>the_<wbr/>user<';
    expect(page).toContain(`<span class="name">${whole}`);
    expect(page).toContain(`<td class="left long">recommender/<wbr/>${whole}`);
    expect(page).not.toContain('text-overflow');
  });

  it('tells ids and traffic of each table', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 2 });
    const counts = [
      { ids: 4321, linkBytes: 98_700 },
      { ids: 55, linkBytes: 0 },
      { ids: 0, linkBytes: 0 },
    ];
    const tables = source.tables.map((table, i) => ({ ...table, counts: counts[i]! }));
    const report = makeReport({ ...source, tables });
    expect(report.tables.map(({ ids, linkBytes }) => ({ ids, linkBytes }))).toEqual(counts);
    const page = report.toHTML();
    const cards = [...page.matchAll(/<span>([^<]*( sent|not looked up))<\/span>/g)].map(([, text]) => text);
    expect(cards).toEqual(['4,321 ids, 98.7 kB sent', '55 ids, 0 B sent', 'not looked up']);
    for (const [ids, bytes] of [
      ['4,321', '98.7 kB'],
      ['55', '0 B'],
      ['0', '0 B'],
    ]) {
      expect(page).toContain(`<td>${ids}</td><td>${bytes}</td>`);
    }
    // Tables that share a card are told together.
    const many = Array.from({ length: 50 }, (_, i) => ({ name: `t_${i}`, inputDim: 9, outputDim: 2 }));
    const alike = sourceOf({ tables: many, worldSize: 1 });
    const own = alike.tables.map((table, i) => ({ ...table, counts: { ids: i, linkBytes: 2 * i } }));
    expect(makeReport({ ...alike, tables: own }).toHTML()).toContain('<span>1,225 ids, 2.45 kB sent</span>');
    expect(String(makeReport({ ...alike, tables: own }))).toMatch(/ 1,225 +2\.45 kB {2}/);
  });

  it('has no predicted time in a title, as latency is not known', () => {
    const report = makeReport(sourceOf({ tables: TABLES, worldSize: 4 }), { generation: 'v5p' });
    const page = report.toHTML();
    const time = secondsText(report.prediction!.stepSeconds!);
    const titles = [...page.matchAll(/<(h1|h2|h3|dd|dt)[^>]*>(.*?)<\/\1>/g)].map(([, , text]) => text);
    expect(titles.length).toBeGreaterThan(10);
    for (const text of titles) expect(text).not.toMatch(/\d (ns|us|ms|s)\b/);
    expect(page).not.toContain(time);
    expect(page).toContain('Prediction for TPU v5p, 4 chips');
    expect(page).toContain('without the latency of messages: the least that each phase can take');
    expect(page).toContain('<th scope="col">at least</th>');
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
