/** Reports as text. */
import { makeReport } from '../../src/report/report.js';
import { fitText, predictionTitle } from '../../src/report/report_text.js';
import { numbersText, whereText } from '../../src/report/report_data.js';
import { busyCounters, sourceOf } from './report_sources.js';

const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 16 },
  { name: 'items', inputDim: 100, outputDim: 8 },
];

function many(count: number): { name: string; inputDim: number; outputDim: number }[] {
  return Array.from({ length: count }, (_, table) => ({
    name: `a feature with a name that is much too long for a column ${table}`,
    inputDim: 10 + table,
    outputDim: 8,
  }));
}

describe('Text of a report', () => {
  it('reads well for two devices', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 2 }, { slots: [{ name: 'rowWise', columns: 1 }] });
    const counters = busyCounters(source.counters, 1, 64);
    const counts = [
      { ids: 768, linkBytes: 12_345 },
      { ids: 20_000, linkBytes: 0 },
    ];
    const tables = source.tables.map((table, i) => ({ ...table, counts: counts[i]! }));
    const text = String(makeReport({ ...source, tables, counters, hbmBytesPerChip: 16e9 }));
    expect(text.split('\n')).toEqual([
      'TPU emulator: 2 devices (2 chips x 1 core), workers, 16.0 GB of memory for each chip, dense ops on tensorflow',
      'Counted: 1 lookup call (64 bags) in 12.3 ms, 1 update in 21.0 ms, exchange included',
      'Busiest device over mean: elements read 1.20, bytes exchanged 1.00, memory 1.90',
      'Plan of layer embeddings: 2 tables by strategy basic, not looked up yet',
      '',
      'device     ids  unique  elements  of mean     sent  received   tables    slots  exchange  in host    peak  free',
      '     0   9,000   5,400     144 k     0.80   127 kB   85.0 kB  64.0 kB  4.00 kB    400 kB      0 B  468 kB     -',
      '     1  13,500   8,100     216 k     1.20  85.0 kB    127 kB  3.20 kB    400 B    430 kB      0 B  434 kB     -',
      '',
      'table  name    rows  columns    bytes    slots     ids     sent  where',
      '    0  users  1,000       16  64.0 kB  4.00 kB     768  12.3 kB  whole on 0',
      '    1  items    100        8  3.20 kB    400 B  20,000      0 B  whole on 1',
      '',
      'Bytes over links: 212 kB in all',
      'from \\ to        0       1',
      '        0        ·  127 kB',
      '        1  85.0 kB       ·',
    ]);
  });

  it('tells the prediction, what it assumes and what does not fit', () => {
    const text = String(makeReport(sourceOf({ tables: TABLES, worldSize: 2 }), { generation: 'v5e', chips: 4 }));
    expect(text).toContain(
      'Prediction for the embeddings: TPU v5e, 4 chips in a 2 x 2 torus, 4 devices, global batch 4,096',
    );
    for (const phase of ['lookup', 'ids', 'pooled rows', 'gradients', 'sums of copies', 'update', 'together']) {
      expect(text).toMatch(new RegExp(`\n${phase} +\\d[\\d.]* (ns|us|ms|s)`));
    }
    expect(text).toMatch(/\nphase +at least +bytes/);
    expect(text).toContain('\nTimes are bytes over bandwidth, without the latency of messages: the least');
    expect(text).toContain('Memory: fits; at most ');
    expect(text).toContain('\nassumed: the plans were made again for 4 devices');
    expect(text).toContain('\nlacking: SparseCores');
  });

  it('tells a prediction line by line', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 2 });
    const lines = String(makeReport(source, { generation: 'v5e', chips: 4 })).split('\n');
    expect(lines.slice(lines.findIndex((line) => line.startsWith('Prediction')))).toEqual([
      'Prediction for the embeddings: TPU v5e, 4 chips in a 2 x 2 torus, 4 devices, global batch 4,096',
      'phase           at least  bytes of busiest   of all  busiest',
      'lookup            700 ns            573 kB  1.16 MB  device 0',
      'ids               246 ns           24.6 kB  61.4 kB  chip 0',
      'pooled rows      1.47 us            147 kB   295 kB  chip 0',
      'gradients        1.47 us            147 kB   295 kB  chip 0',
      'sums of copies       0 s               0 B      0 B  chip 0',
      'update           1.40 us           1.15 MB  2.33 MB  device 0',
      'together         5.30 us',
      'In parts, at least: lookup 700 ns, exchange forward 1.72 us, exchange backward 1.47 us, update 1.40 us',
      'Times are bytes over bandwidth, without the latency of messages: the least that each phase can take.',
      'Memory: fits; at most 249 kB of 16.0 GB wanted of a device',
      'assumed: nothing was looked up yet: batch 4,096 and ids per sample as the plan was asked for, without weights',
      'assumed: the plans were made again for 4 devices, as they were for 2 devices',
      'assumed: one device for each chip, as emulated',
      'assumed: phases follow one another without overlap, and the busiest device or chip decides',
      'assumed: bytes over bandwidth is all that is counted: no latency of messages, no dense layers, no input from the',
      '  host',
      'assumed: memory and links reach their published bandwidth, but for rows shorter than 128 columns (penalty 1.15 or',
      '  1.75)',
      'assumed: a backward pass with its update moves twice the bytes of the lookup',
      'assumed: the chips form the most even torus, wrapped around; messages go to all others alike',
      'lacking: SparseCores of a chip: not published for v5e; not needed for the time',
    ]);
  });

  it('tells in words the machine that is predicted, and what does not fit', () => {
    const { prediction } = makeReport(sourceOf({ tables: TABLES, worldSize: 1 }), { generation: 'v5e' });
    const title = (changes: object): string => predictionTitle({ ...prediction!, ...changes });
    expect(title({})).toBe('TPU v5e, 1 chip, 1 device, global batch 4,096');
    expect(title({ chips: 3, devices: 6, torus: [1, 3], batchSizes: [64, 32, 64] })).toBe(
      'TPU v5e, 3 chips in a ring, 6 devices, global batch 64 and 32',
    );
    const fit = (lacks: number, changes: object = {}): string => {
      const doesNotFit = Array.from({ length: lacks }, (_, i) => ({
        device: 2 * i,
        bytesWanted: 3e9,
        bytesThere: 1e9,
      }));
      return fitText({ ...prediction!, doesNotFit, bytesPerDevice: 1e9, mostBytesWanted: 5e8, ...changes });
    };
    expect(fit(0)).toBe('Memory: fits; at most 500 MB of 1.00 GB wanted of a device');
    expect(fit(0, { bytesPerDevice: null })).toBe('Memory: at most 500 MB wanted; what there is, is unknown');
    const each = [0, 2, 4, 6].map((device) => `device ${device} wants 3.00 GB and has 1.00 GB`);
    expect(fit(1)).toBe(`Memory: does not fit; ${each[0]}`);
    expect(fit(4)).toBe(`Memory: does not fit; ${each.join(', ')}`);
    expect(fit(5)).toBe(`Memory: does not fit; ${each.join(', ')}, and 1 more device too`);
  });

  it('tells why devices run in line, and the busiest links of many devices', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 9 });
    expect(String(makeReport(source))).not.toContain('in line');
    const links = source.counters.links.bytes.map((row, from) => row.map((_, to) => (from === 3 ? 100 * (9 - to) : 0)));
    const counters = { ...source.counters, links: { bytes: links, ids: links } };
    const inline = { ...source, counters, kind: 'inline' as const, inlineBecause: 'there is no shared memory' };
    const text = String(makeReport(inline));
    expect(text).toMatch(
      /^TPU emulator: 9 devices \(9 chips x 1 core\), in line, no memory limit, .*\nin line because there is no shared memory\n/,
    );
    const busiest = [0, 1, 2, 3, 4, 5, 6, 7].map((to) => `3 to ${to}: ${to === 0 ? '900' : String(100 * (9 - to))} B`);
    expect(text.replaceAll('\n  ', ' ')).toContain(`the 10 busiest: ${busiest.join(', ')}, 3 to 8: 100 B, 0 to 0: 0 B`);
    const eight = sourceOf({ tables: TABLES, worldSize: 8 });
    const matrix = String(makeReport({ ...eight, counters: busyCounters(eight.counters, 1, 1) }));
    expect(matrix).toMatch(/\nfrom \\ to( +\d){8}\n/);
  });

  it('stays within 120 columns and cuts long lists short', () => {
    const source = sourceOf({ tables: many(100), worldSize: 16, strategy: 'memory_balanced' });
    const text = String(
      makeReport({ ...source, counters: busyCounters(source.counters, 9, 100) }, { generation: 'v5p' }),
    );
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
    expect(text).toContain('and 70 smaller tables, ');
    // Only a few are told, but those by their whole names.
    const last = text.split('\n').map((line) => /^ +\d+ +(\w.*?)  +\d/.exec(line)?.[1] ?? '');
    expect(last.filter((name) => name.startsWith('a feature with a name that is')).length).toBe(30);
    expect(text).toContain('the 10 busiest: ');
    const wide = sourceOf({ tables: TABLES, worldSize: 64 });
    const few = String(makeReport({ ...wide, counters: busyCounters(wide.counters, 9, 100) }));
    expect(few).toContain('the 16 that read most of 64 devices');
    expect(few.split('\n').length).toBeLessThan(40);
  });

  it('shows the largest of many tables, of equal ones the first, in the order in which they were made', () => {
    const tables = Array.from({ length: 100 }, (_, table) => ({
      name: `t${table}`,
      inputDim: 10 + Math.floor(table / 3),
      // No two are alike.
      outputDim: 1 + (table % 3),
      rowCoupled: true,
    })).map((table) => ({ ...table, inputDim: (600 * table.inputDim) / table.outputDim }));
    const lines = String(makeReport(sourceOf({ tables, worldSize: 1 }))).split('\n');
    const names = lines.map((line) => /^ +\d+ +(t\d+) /.exec(line)?.[1]).filter((name) => name !== undefined);
    // Of t69, t70 and t71, which have the same bytes, two.
    const last = Array.from({ length: 28 }, (_, i) => `t${72 + i}`);
    expect(names).toEqual(['t69', 't70', ...last]);
  });

  it('tells every name whole, on as many lines as it takes', () => {
    const names = [
      'recommender/categories_of_the_items_that_were_seen_last_by_the_user',
      'recommender/x',
      `recommender/${'y'.repeat(100)}`,
      'recommender/users who bought this bought these too',
    ];
    const tables = names.map((name) => ({ name: `${name}/embeddings`, inputDim: 9, outputDim: 4 }));
    const lines = String(makeReport(sourceOf({ tables, worldSize: 4 }))).split('\n');
    const start = lines.indexOf('Tables of recommender:');
    expect(start).toBeGreaterThan(0);
    const [head = '', ...rest] = lines.slice(start + 1, lines.indexOf('', start));
    const [from, to] = [head.indexOf('name'), head.indexOf('  rows')];
    const cells = rest.map((line) => line.slice(from, to).trim());
    expect(cells[0]).toBe('categories_of_the_items_that_');
    expect(cells[1]).toBe('were_seen_last_by_the_user');
    // What is left out at line ends are spaces.
    const joined = names.map((name) => name.slice('recommender/'.length)).join('');
    expect(cells.join('').replaceAll(' ', '')).toBe(joined.replaceAll(' ', ''));
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
  });

  it('stays within them, on lines of its own, whatever tables are called', () => {
    const name = `${'x'.repeat(500)} \n\u0000\u202e y`;
    const request = { tables: [{ name, inputDim: 9, outputDim: 2 }], worldSize: 4, rowFallback: true };
    const source = sourceOf(request);
    expect(source.plans[0]!.plan.notes!.join()).toContain(name);
    for (const line of String(makeReport(source)).split('\n')) {
      expect(line.length).toBeLessThanOrEqual(120);
      expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });

  it('what is free is what a further table may take', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 2 }, { hbmBytesPerChip: 1e6 });
    const text = String(makeReport({ ...source, counters: busyCounters(source.counters, 1, 64) }));
    // Device 0 has tables of 64 kB and an exchange of 400 kB.
    expect(text.split('\n').find((line) => line.startsWith('     0'))).toMatch(/ 536 kB$/);
  });

  it('one device has no links, and an empty machine no tables', () => {
    const text = String(makeReport(sourceOf({ tables: TABLES, worldSize: 1 })));
    expect(text).not.toContain('links');
    const empty = String(makeReport({ ...sourceOf({ tables: TABLES, worldSize: 2 }), tables: [], plans: [] }));
    expect(empty).toContain('no tables on the devices');
    expect(empty).toContain('Bytes over links: 0 B in all');
  });

  it('says where a table lies in a few words', () => {
    const where = (request: Parameters<typeof sourceOf>[0], most?: number): string =>
      whereText(makeReport(sourceOf(request)).tables[0]!, most);
    const one = [TABLES[0]!];
    expect(where({ tables: one, worldSize: 1 })).toBe('whole on 0');
    expect(where({ tables: one, worldSize: 2 })).toBe('columns 0..8 on 0, 8..16 on 1');
    expect(where({ tables: one, worldSize: 2 }, 1)).toBe('2 column slices on 0-1');
    expect(where({ tables: one, worldSize: 2, deviceMemory: 0 })).toContain(', host memory');
    expect(where({ tables: one, worldSize: 2, rowSliceThreshold: 1 })).toBe('rows 0..500 on 0, 500..1000 on 1');
    expect(where({ tables: one, worldSize: 4, rowSliceThreshold: 1 })).toBe(
      'rows 0..250 on 0, 250..500 on 1, 500..750 on 2, 750..1000 on 3',
    );
    expect(where({ tables: one, worldSize: 4 })).toBe('columns 0..4 on 0, 4..8 on 1, 8..12 on 2, 12..16 on 3');
    expect(where({ tables: one, worldSize: 8, rowSliceThreshold: 1 })).toBe('rows in 8 ranges on 0-7');
    expect(where({ tables: one, worldSize: 8, rowSliceThreshold: 1, rowSharding: 'modulo' })).toBe(
      'rows by id mod 8 on 0-7',
    );
    expect(where({ tables: TABLES.slice(0, 2).reverse(), worldSize: 2, dataParallelThreshold: 800 })).toBe(
      'copies on 0-1',
    );
    expect(numbersText([5, 0, 1, 2, 9, 8])).toBe('0-2, 5, 8-9');
  });

  it('tells what was looked up for a layer, and that other lookups were counted too', () => {
    const request = { tables: [{ name: 'users', inputDim: 100, outputDim: 8 }], worldSize: 2 };
    const training = { calls: 3, samples: [96], bags: [96], ids: [240], weights: [0] };
    const all = { calls: 4, samples: [196], bags: [196], ids: [440], weights: [0] };
    const source = sourceOf(request, { plan: { measured: { all, training } } });
    const text = String(makeReport({ ...source, counters: busyCounters(source.counters, 7, 64) }));
    expect(text).toContain('7 lookup calls (448 bags), 4 of them by layers with a plan, in 86.1 ms');
    const plan =
      '1 table by strategy basic; 3 training steps and 1 other call, 32 samples each in training, 1 input with';
    expect(text.replaceAll('\n  ', ' ')).toContain(`Plan of layer embeddings: ${plan} 2.5 ids per sample together`);
  });

  it('has nothing measured of a layer that was not called', () => {
    const request = { tables: [{ name: 'users', inputDim: 100, outputDim: 8 }], worldSize: 2 };
    const none = { calls: 0, samples: [0], bags: [0], ids: [0], weights: [0] };
    const report = makeReport(sourceOf(request, { plan: { measured: { all: none, training: none } } }));
    expect(report.plans[0]!.measured).toBeNull();
    expect(String(report)).toContain('1 table by strategy basic, not looked up yet');
  });
});
