/** The bar of a predicted step, and the tables below it. */
import { predictionSection } from '../../../src/report/page/prediction_section.js';
import type { Prediction } from '../../../src/report/prediction.js';
import { makeReport } from '../../../src/report/report.js';
import { sourceOf } from '../report_sources.js';

function predicted(changes: Partial<Prediction> = {}, generation = 'v5e'): string {
  const source = sourceOf({ tables: [{ inputDim: 9, outputDim: 4 }], worldSize: 1 });
  return predictionSection({ ...makeReport(source, { generation }).prediction!, ...changes });
}

const PARTS = {
  lookupSeconds: 1e-3,
  exchangeForwardSeconds: 0,
  exchangeBackwardSeconds: 2e-3,
  updateSeconds: 1e-3,
  stepSeconds: 4e-3,
};

/** The content of the bar: [left, width, class, title] of each part. */
function bars(section: string): (string | number)[][] {
  const svg = section.slice(section.indexOf('<svg viewBox'), section.indexOf('</svg>'));
  const parts = svg.matchAll(/<rect x="([\d.]+)" y="0" width="([\d.]+)" height="26" class="(\w+)"><title>([^<]*)</g);
  return [...parts].map(([, x, width, name, title]) => [Number(x), Number(width), name!, title!]);
}

describe('Prediction in a page', () => {
  it('has a bar of the parts, to scale; what takes no time has none', () => {
    const section = predicted(PARTS);
    expect(bars(section)).toEqual([
      [0, 248.5, 'phase0', 'lookup: 1.00 ms, 25.0 % of the step'],
      [250, 498.5, 'phase2', 'exchange backward: 2.00 ms, 50.0 % of the step'],
      [750, 248.5, 'phase3', 'update: 1.00 ms, 25.0 % of the step'],
    ]);
    const label = 'lookup 1.00 ms, exchange forward 0 s, exchange backward 2.00 ms, update 1.00 ms';
    expect(section).toContain(
      `<svg viewBox="0 0 1000 26" width="100%" height="26" preserveAspectRatio="none" role="img" aria-label="${label}"><rect x="0"`,
    );
    expect(section).toMatch(/<rect x="250"[^>]*><title>[^<]*<\/title><\/rect><rect x="750"/);
    expect(section).toContain('</svg> exchange forward 0 s</li>');
  });

  it('has no bar of a step that takes no time, or an unknown one', () => {
    for (const stepSeconds of [0, null]) expect(predicted({ ...PARTS, stepSeconds })).not.toContain('<svg viewBox');
  });

  it('shows a part whose time is unknown without width', () => {
    const section = predicted({ ...PARTS, exchangeBackwardSeconds: null });
    expect(bars(section).map(([x, , name]) => [x, name])).toEqual([
      [0, 'phase0'],
      [250, 'phase3'],
    ]);
    expect(section).toContain('exchange backward unknown');
  });

  it('has tables of the phases, and of devices with too little memory', () => {
    const phases = [
      { name: 'lookup' as const, bound: 'memory' as const, seconds: 1e-6, bytes: 10, totalBytes: 30, busiest: 2 },
      { name: 'ids' as const, bound: 'links' as const, seconds: null, bytes: 5, totalBytes: 6, busiest: 1 },
    ];
    const lacks = [{ device: 7, bytesWanted: 2e9, bytesThere: 1e9 }];
    const section = predicted({ phases, doesNotFit: lacks });
    const row = (first: string, ...cells: string[]): string => `<th scope="row"${first}</th>${cells.map((cell) => `<td${cell}</td>`).join('')}</tr>`; // prettier-ignore
    const left = ' class="left">';
    expect(section).toContain(row(`${left}lookup`, '>1.00 us', '>10 B', '>30 B', `${left}device 2`, `${left}memory`));
    expect(section).toContain(row(`${left}ids`, '>unknown', '>5 B', '>6 B', `${left}chip 1`, `${left}links`));
    expect(section).toContain(row('>7', '>2.00 GB', '>1.00 GB'));
    expect(section).toContain('<p class="warn">Memory: does not fit; device 7');
    const fits = predicted({ doesNotFit: [] });
    expect(fits).toContain('<p class="quiet">Memory: fits');
    expect(fits).not.toContain('Devices with too little memory');
  });

  it('lists what is assumed and what is lacking, where there is something', () => {
    const some = predicted({ assumptions: ['a & b', 'c'], lacking: ['d'] });
    expect(some).toContain('<h3>Assumed</h3><ul class="plain"><li>a &amp; b</li><li>c</li></ul><h3>Lacking</h3>');
    const none = predicted({ assumptions: [], lacking: [] });
    expect(none).not.toContain('<h3>');
    expect(none).not.toContain('class="plain"');
  });

  it('shows published figures with their units and sources', () => {
    const section = predicted({}, 'v5e');
    const cells = [...section.matchAll(/<tr><th scope="row" class="left long">([^<]*)<\/th><td>([^<]*)<\/td><td class="left long">/g)]; // prettier-ignore
    expect(cells.map(([, meaning, value]) => [meaning, value])).toEqual([
      ['memory of a chip', '16.0 GB (14.9 GiB)'],
      ['memory bandwidth of a chip', '819 GB/s'],
      ['bytes per second that one link of a chip carries in each direction', '50.0 GB/s'],
      ['links from a chip to its neighbours', '4'],
      ['TensorCores of a chip', '1'],
      ['SparseCores of a chip', 'not published'],
      ['chips of the largest pod', '256'],
    ]);
    const page =
      'href="https://docs.cloud.google.com/tpu/docs/v5e" rel="noreferrer">Google Cloud documentation, TPU v5e</a>';
    expect(section).toContain(`${page}: the page says GB, not GiB</td>`);
    expect(section).toContain(`${page}</td>`);
  });
});
