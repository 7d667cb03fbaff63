/** Reports made from hand-made machines: data, options, predictions. */
import { makeReport } from '../../src/report/report.js';
import type { ReportedTable } from '../../src/backends/devices/report_source.js';
import { RuntimeError, ValueError } from '../../src/base/errors.js';
import { wholeOn } from '../../src/partition/table_layout.js';
import { busyCounters, sourceOf } from './report_sources.js';

const NONE = { ids: 0, linkBytes: 0 };
const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 16, combiner: 'sum' },
  { name: 'items', inputDim: 100, outputDim: 8, combiner: 'mean' },
] as const;

describe('Report', () => {
  it('tells shards with their bytes, slots of one column included', () => {
    const slots = [
      { name: 'momentum', columns: 16 },
      { name: 'rowWise', columns: 1 },
    ];
    const request = { tables: [TABLES[0]!], worldSize: 2, columnSliceThreshold: 8000 };
    const [table] = makeReport(sourceOf(request, { slots })).tables;
    expect(table).toEqual(
      jasmine.objectContaining({ name: 'users', kind: 'columns', rows: 1000, columns: 16, bytes: 64_000 }),
    );
    // Half of the momentum, and a whole column, on each device.
    expect(table!.shards).toEqual(
      [0, 1].map((device) => ({
        device,
        rows: { first: 0, step: 1, count: 1000 },
        columns: [8 * device, 8 * device + 8],
        inHost: false,
        bytes: 32_000,
        slotBytes: 32_000 + 4000,
      })),
    );
    expect(table!.slotBytes).toBe(72_000);
  });

  it('tells rows in ranges and modulo, copies, and shards in the memory of the host', () => {
    const ranges = makeReport(
      sourceOf({ tables: [{ inputDim: 10, outputDim: 4 }], worldSize: 4, rowSliceThreshold: 1 }),
    );
    expect(ranges.tables[0]!.kind).toBe('rows');
    expect(ranges.tables[0]!.shards.map(({ rows }) => rows.count).reduce((sum, count) => sum + count)).toBe(10);
    const modulo = makeReport(
      sourceOf({ tables: [{ inputDim: 10, outputDim: 4 }], worldSize: 4, rowSliceThreshold: 1, rowSharding: 'modulo' }),
    );
    expect(modulo.tables[0]!.shards.map(({ rows }) => [rows.first, rows.step, rows.count])).toEqual([
      [0, 4, 3],
      [1, 4, 3],
      [2, 4, 2],
      [3, 4, 2],
    ]);
    const copies = makeReport(
      sourceOf({
        tables: [...TABLES, { name: 'few', inputDim: 5, outputDim: 2 }],
        worldSize: 2,
        dataParallelThreshold: 10,
      }),
    );
    expect(copies.tables[2]).toEqual(jasmine.objectContaining({ kind: 'replicated', bytes: 80 }));
    const host = makeReport(sourceOf({ tables: TABLES, worldSize: 2, deviceMemory: 10_000 }));
    expect(host.tables.map(({ shards }) => shards.map(({ inHost }) => inHost))).toEqual([[true], [false]]);
    expect(host.devices.map(({ memory }) => [memory.tables, memory.host])).toEqual([
      [0, 64_000],
      [3200, 0],
    ]);
  });

  it('tells loads, links and balance', () => {
    const source = sourceOf({ tables: TABLES, worldSize: 2 });
    const counters = busyCounters(source.counters, 2, 128);
    const report = makeReport({ ...source, counters });
    expect(report.machine).toEqual(
      jasmine.objectContaining({ chips: 2, devices: 2, kind: 'worker', host: 'tensorflow' }),
    );
    expect(report.counted).toEqual({ lookUps: 2, updates: 2, bags: 256, seconds: { lookUp: 0.0246, update: 0.042 } });
    expect(report.links.bytes).toEqual(counters.links.bytes as number[][]);
    expect(report.links.totalBytes).toBe(counters.devices[0]!.bytesOut + counters.devices[1]!.bytesOut);
    const [first, second] = report.devices;
    expect([first!.ids, second!.ids]).toEqual([18_000, 27_000]);
    expect(first!.ofMean.elements! + second!.ofMean.elements!).toBeCloseTo(2, 12);
    expect(report.balance.elements).toBeCloseTo(27 / 22.5, 12);
    expect(report.balance.bytes).toBe(1);
    expect(report.balance.memory).toBeCloseTo(64_000 / 33_600, 12);
    expect(report.prediction).toBeNull();
  });

  it('has no balance before anything was counted', () => {
    const { balance, devices } = makeReport(sourceOf({ tables: TABLES, worldSize: 2 }));
    expect([balance.elements, balance.bytes]).toEqual([null, null]);
    expect(devices[0]!.ofMean.bytes).toBeNull();
  });

  it('is plain data with methods beside it', () => {
    const report = makeReport(sourceOf({ tables: TABLES, worldSize: 2 }), { generation: 'v4' });
    expect(Object.keys(report)).toEqual([
      'machine',
      'counted',
      'tables',
      'devices',
      'links',
      'balance',
      'plans',
      'sparseCores',
      'prediction',
      'cluster',
    ]);
    const copy = report.toJSON();
    expect(JSON.parse(JSON.stringify(report))).toEqual(copy);
    expect(copy).not.toBe(report);
    expect(structuredClone(copy)).toEqual(copy);
  });
});

describe('Prediction of a report', () => {
  const request = { tables: TABLES, worldSize: 2, hotness: [4, 2], batchSize: 32 };

  it('takes the plan as it is on as many devices, with what it was asked for before the first lookup', () => {
    const { prediction } = makeReport(sourceOf(request), { generation: 'v5p' });
    expect(prediction).toEqual(
      jasmine.objectContaining({ generation: 'v5p', chips: 2, devices: 2, plannedAgain: false }),
    );
    expect(prediction!.batchSizes).toEqual([32]);
    expect(prediction!.assumptions[0]).toContain('nothing was looked up yet');
    // users on device 0: 128 ids, 16 columns with the penalty of short rows, 32 pooled rows.
    const bytes = 4 * (128 * (1 + 16 * 1.75) + 32 * 16);
    expect(prediction!.phases[0]!.bytes).toBe(bytes);
    expect(prediction!.lookupSeconds).toBeCloseTo(bytes / 2765e9, 15);
  });

  it('reads what lies with the host at the speed that the plan was made for', () => {
    const tables = [{ inputDim: 1000, outputDim: 128, combiner: 'sum' as const }];
    const asked = { tables, worldSize: 1, hotness: [4], batchSize: 32, deviceMemory: 0 };
    // 128 ids and their rows, and 32 pooled rows; the backward pass with its update moves twice that.
    const bytes = 4 * (128 * (1 + 128) + 32 * 128);
    for (const hostBandwidth of [1e9, 20e9]) {
      const machine = { memoryBandwidth: 900e9, linkBandwidth: 50e9, hostBandwidth };
      const { prediction } = makeReport(sourceOf({ ...asked, machine }), { generation: 'v5p' });
      expect(prediction!.lookupSeconds).toBeCloseTo(bytes / hostBandwidth, 15);
      expect(prediction!.updateSeconds).toBeCloseTo((2 * bytes) / hostBandwidth, 15);
      expect(prediction!.assumptions.join()).toContain(`read at ${hostBandwidth / 1e9} GB/s for each device`);
      expect(prediction!.mostBytesWanted).toBe(4 * (128 + 32 * 128));
    }
  });

  it('sends each row where there is no combiner', () => {
    const tables = [{ name: 'items', inputDim: 100, outputDim: 8 }];
    const { prediction } = makeReport(sourceOf({ ...request, tables, worldSize: 1, hotness: [3] }), {
      generation: 'v5p',
    });
    expect(prediction!.phases[0]!.totalBytes).toBe(4 * 96 * (1 + 8 * 1.75 + 8));
  });

  it('takes batch, ids and bags per sample from the training steps of the plan, not from its other calls', () => {
    const training = { calls: 5, samples: [320, 320], bags: [320, 640], ids: [640, 3200], weights: [0, 0] };
    const all = { calls: 7, samples: [4000, 4000], bags: [4000, 8000], ids: [9000, 40_000], weights: [0, 0] };
    const { prediction } = makeReport(sourceOf(request, { plan: { measured: { all, training } } }), {
      generation: 'v5p',
    });
    expect(prediction!.batchSizes).toEqual([64]);
    // 640 ids of items in a step, ten a sample, in two bags a sample.
    expect(prediction!.phases[0]!.bytes).toBe(4 * (640 * (1 + 8 * 1.75) + 128 * 8));
    expect(prediction!.assumptions[0]).toBe('batch 64 and ids per sample as measured in 5 training steps');
  });

  it('takes them from all calls where there was no training', () => {
    const none = { calls: 0, samples: [], bags: [], ids: [], weights: [] };
    const all = { calls: 2, samples: [200, 200], bags: [200, 200], ids: [200, 400], weights: [0, 0] };
    const measured = { all, training: none };
    const { prediction } = makeReport(sourceOf(request, { plan: { measured } }), { generation: 'v5p' });
    expect(prediction!.batchSizes).toEqual([100]);
    expect(prediction!.phases[0]!.totalBytes).toBe(4 * (100 * (1 + 16 * 1.75 + 16) + 200 * (1 + 8 * 1.75) + 100 * 8));
    expect(prediction!.assumptions[0]).toBe('batch 100 and ids per sample as measured in 2 calls');
  });

  it('sends pooled rows of a row slice for the bags that have an id there only', () => {
    const tables = [{ name: 'users', inputDim: 1000, outputDim: 16, combiner: 'sum' as const }];
    const rows = { tables, worldSize: 4, rowSliceThreshold: 1, hotness: [2], batchSize: 64 };
    const { prediction } = makeReport(sourceOf(rows), { generation: 'v5p' });
    const bags = 64 * (1 - 0.75 ** 2); // of the bags on each device
    expect(prediction!.phases[0]!.bytes).toBeCloseTo(4 * (32 * (1 + 16 * 1.75) + bags * 16), 9);
    expect(prediction!.assumptions.join()).toContain('cut by rows are spread evenly');
    const out = 4 * bags * 16 * 0.75;
    expect(prediction!.phases.find(({ name }) => name === 'pooled rows')!.totalBytes).toBeCloseTo(4 * out, 9);
  });

  it('makes the plans again for another number of devices, and says so', () => {
    const slots = [{ name: 'momentum', columns: 1 }];
    const { prediction } = makeReport(sourceOf(request, { slots, coresPerChip: 2, chips: 1 }), {
      generation: 'v4',
      chips: 4,
    });
    expect(prediction).toEqual(jasmine.objectContaining({ chips: 4, devices: 8, plannedAgain: true }));
    expect(prediction!.assumptions.join()).toContain('made again for 8 devices, as they were for 2 devices');
    expect(prediction!.bytesPerDevice).toBe(16 * 2 ** 30);
    expect(prediction!.doesNotFit).toEqual([]);
  });

  it('tells devices that the plan does not fit', () => {
    const tables = [
      { name: 'users', inputDim: 2 ** 27, outputDim: 32 },
      { name: 'items', inputDim: 10, outputDim: 32 },
    ];
    const slots = [{ name: 'momentum', columns: 32 }];
    const report = makeReport(sourceOf({ tables, worldSize: 2, batchSize: 1 }, { slots }), { generation: 'v3' });
    const bytesWanted = 2 ** 35 + 4 * (1 + 32);
    expect(report.prediction!.doesNotFit).toEqual([{ device: 0, bytesWanted, bytesThere: 2 ** 35 }]);
    expect(String(report)).toContain('device 0 wants 34.4 GB and has 34.4 GB');
  });

  it('leaves out tables outside plans, and says so', () => {
    const source = sourceOf(request);
    const other: ReportedTable = {
      name: 'other',
      layout: wholeOn(1, { rows: 250, columns: 4 }),
      slots: [],
      counts: NONE,
    };
    const { prediction } = makeReport({ ...source, tables: [other, ...source.tables] }, { generation: 'v4' });
    expect(prediction!.assumptions.join()).toContain('1 table outside plans (4.00 kB) not counted');
  });

  it('adds up several plans', () => {
    const source = sourceOf(request);
    const once = makeReport(source, { generation: 'v4' }).prediction!;
    const [plan] = source.plans;
    const tables = [...source.tables, ...source.tables];
    const plans = [
      { ...plan!, tables: [0, 1] },
      { ...plan!, tables: [2, 3] },
    ];
    const twice = makeReport({ ...source, tables, plans }, { generation: 'v4' }).prediction!;
    expect(twice.stepSeconds).toBeCloseTo(2 * once.stepSeconds!, 15);
    expect(twice.mostBytesWanted).toBe(2 * once.mostBytesWanted);
    // Tables that both plans look up lie there once.
    const shared = makeReport({ ...source, plans: [...source.plans, ...source.plans] }, { generation: 'v4' });
    expect(shared.prediction!.stepSeconds).toBeCloseTo(2 * once.stepSeconds!, 15);
    const tableBytes = 64_000;
    expect(shared.prediction!.mostBytesWanted).toBe(twice.mostBytesWanted - tableBytes);
  });
});

describe('Options of a report', () => {
  const source = sourceOf({ tables: TABLES, worldSize: 2 });
  const report = (options: unknown) => () => makeReport(source, options as object);

  it('lists the known generations', () => {
    expect(report({ generation: 'v1' })).toThrowError(
      ValueError,
      /one of v2, v3, v4, v5e, v5p, v6e, v7, received "v1"/,
    );
    expect(report({ generation: 5 })).toThrowError(TypeError, /generation/);
    expect(report({ generations: 'v4' })).toThrowError(ValueError, /generations/);
    expect(report('v4')).toThrowError(TypeError, /options/);
  });

  it('takes whole numbers of chips up to the pod', () => {
    for (const chips of [0, -1, 1.5, NaN, Infinity, 257]) {
      expect(report({ generation: 'v6e', chips })).toThrowError(ValueError, /`chips`.*1 to 256/);
    }
    for (const chips of ['4', true, [4]])
      expect(report({ generation: 'v6e', chips })).toThrowError(TypeError, /`chips`/);
    expect(report({ chips: 4 })).toThrowError(TypeError, /`generation`/);
    expect(report({ generation: 'v6e', chips: 256 })().prediction!.chips).toBe(256);
    expect(report({ generation: 'v6e', chips: undefined })().prediction!.chips).toBe(2);
    expect(report({ generation: undefined, chips: undefined })().prediction).toBeNull();
  });

  it('says where no plan can be made, and where there is none', () => {
    const strict = sourceOf({ tables: [TABLES[1]!], worldSize: 2, rowFallback: false });
    expect(() => makeReport(strict, { generation: 'v4', chips: 64 })).toThrowError(ValueError, /`chips`.*64 devices/);
    expect(() => makeReport({ ...source, plans: [] }, { generation: 'v4' })).toThrowError(RuntimeError, /plan/);
  });
});
