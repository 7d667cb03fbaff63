/** Squares of traffic where devices are many. */
import { linksSection } from '../../../src/report/page/link_matrix.js';
import { reportData } from '../../../src/report/report_data.js';
import { sourceOf } from '../report_sources.js';

/** The section of so many devices, of which each sends to the next one `bytes` of its number. */
function section(devices: number, bytes: (device: number) => number): string {
  const data = reportData(sourceOf({ tables: [{ inputDim: 9, outputDim: 4 }], worldSize: devices }), null);
  const links = Array.from({ length: devices }, () => new Array<number>(devices).fill(0));
  links.forEach((row, from) => (row[(from + 1) % devices] = bytes(from)));
  const totalBytes = links.flat().reduce((sum, value) => sum + value, 0);
  return linksSection({ ...data, links: { bytes: links, ids: links, totalBytes } });
}

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly side: number;
  readonly share: string;
}

/** By the tooltip. */
function cells(markup: string): Map<string, Cell> {
  const found =
    /<rect x="(\d+)" y="(\d+)" width="(\d+)" height="\3" class="cell" style="--share:([\d.]+)"><title>([^<]*)</g;
  return new Map(
    [...markup.matchAll(found)].map(([, x, y, side, share, title]) => {
      return [title!, { x: Number(x), y: Number(y), side: Number(side), share: share! }];
    }),
  );
}

/** Numbers along the upper edge, with their places. */
function axis(markup: string): (readonly [place: number, number: string])[] {
  const found = /<text class="axis" x="([\d.]+)" y="28" text-anchor="middle">(\d+)</g;
  return [...markup.matchAll(found)].map(([, x, number]) => [Number(x), number!]);
}

describe('The section of links', () => {
  it('says that nothing was sent, and is not there for one device', () => {
    const none = section(2, () => 0);
    expect(none).toMatch(/^<section aria-labelledby="links"><h2 id="links">Traffic over links<\/h2>/);
    expect(none).toContain('<p class="quiet">Nothing was sent from device to device yet.</p>');
    expect(section(2, () => 5)).toMatch(/^<section aria-labelledby="links"><h2 id="links">/);
    expect(section(1, () => 0)).toBe('');
  });
});

describe('Squares of traffic', () => {
  it('are one for each link up to 64 devices', () => {
    const markup = section(20, (device) => (device === 3 ? 0 : 1000 + 100 * device));
    const found = cells(markup);
    expect(found.size).toBe(20 * 20);
    // 640 / 20 wide with a gap of one, from the left and upper edge on.
    expect(found.get('0 to 1: 1.00 kB')).toEqual({ x: 44 + 32, y: 34, side: 31, share: '0.120' });
    expect(found.get('19 to 0: 2.90 kB')).toEqual({ x: 44, y: 34 + 19 * 32, side: 31, share: '1.000' });
    expect(found.get('3 to 4: 0 B')!.share).toBe('0');
    expect(markup).toContain('<svg width="684" height="674"');
    expect(axis(markup)).toEqual(Array.from({ length: 20 }, (_, i) => [44 + 32 * i + 16, String(i)]));
    expect(markup).toContain('<text class="axis" x="38" y="54" text-anchor="end">0</text>');
    expect(markup).toContain('37.7 kB of ids, pooled rows and gradients in all.');
    expect(markup).toContain('from 1.00 kB (faint) to 2.90 kB.');
    expect(section(64, () => 1)).toContain('<title>63 to 0: 1 B</title>');
  });

  it('are numbered as often as there is room', () => {
    // 640 / 60 = 10 wide: every third.
    const numbers = axis(section(60, () => 1));
    expect(numbers.map(([, number]) => Number(number))).toEqual(Array.from({ length: 20 }, (_, i) => 3 * i));
  });

  it('are sums of blocks beyond', () => {
    const found = cells(section(65, (device) => device));
    expect(found.size).toBe(33 * 33);
    // 0 to 1 has no bytes; 2 to 3 and 3 to 4 lie in different blocks.
    expect([...found.keys()].slice(0, 2)).toEqual(['0-1 to 0-1: 0 B', '0-1 to 2-3: 1 B']);
    expect(found.get('64-64 to 0-1: 64 B')!.share).toBe('1.000');
    expect(found.get('2-3 to 4-5: 3 B')!.side).toBe(18);
  });

  it('come with the ten busiest links, of equal ones the first', () => {
    const markup = section(20, (device) => (device < 9 ? 500 : 100 * device));
    const rows = [...markup.matchAll(/<th scope="row" class="left">([^<]*)<\/th><td>([^<]*)</g)].map(
      ([, link, bytes]) => [link, bytes],
    );
    const most = Array.from({ length: 10 }, (_, i) => [`${19 - i} to ${(20 - i) % 20}`, `${(1.9 - i / 10).toFixed(2)} kB`]); // prettier-ignore
    expect(rows).toEqual(most);
    const equal = section(20, () => 5).matchAll(/<th scope="row" class="left">([^<]*)</g);
    expect([...equal].map(([, link]) => link)).toEqual(Array.from({ length: 10 }, (_, i) => `${i} to ${i + 1}`));
  });

  it('are numbers up to 16 devices', () => {
    const [few, more] = [section(16, () => 1), section(17, () => 1)];
    expect([few.includes('<svg'), more.includes('<svg')]).toEqual([false, true]);
    expect([few, more].map((markup) => markup.includes('The busiest links'))).toEqual([false, true]);
    expect(few).toContain('title="15 to 0: 1 B, 1 ids">1 B</td>');
  });

  it('are none of a single device, nor before anything is sent', () => {
    expect(section(1, () => 0)).toBe('');
    const none = section(2, () => 0);
    expect(none).toContain('Nothing was sent from device to device yet.');
    expect(none).not.toContain('<table');
  });
});
