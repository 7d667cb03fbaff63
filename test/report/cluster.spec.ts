/** What a report tells of a step on servers. */
import type { PlanEmbeddingArgs } from '../../src/partition/index.js';
import { planEmbedding } from '../../src/partition/index.js';
import { readReportNetwork } from '../../src/report/cluster.js';
import { makeReport } from '../../src/report/report.js';
import { expectError } from '../helpers/errors.js';
import { busyCounters, sourceOf } from './report_sources.js';

const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 16, combiner: 'sum' as const },
  { name: 'items', inputDim: 100, outputDim: 8, combiner: 'sum' as const },
];
const REQUEST: PlanEmbeddingArgs = { tables: TABLES, worldSize: 2, hotness: [4, 2], batchSize: 32 };
const NETWORK = { bandwidth: 1e9, latency: 1e-4 };

describe('A report on servers', () => {
  it('is what the planner predicts, before anything was looked up', () => {
    const { cluster } = makeReport(sourceOf(REQUEST), { network: NETWORK });
    const { cluster: planned } = planEmbedding({ ...REQUEST, network: NETWORK });
    expect(cluster).toEqual(jasmine.objectContaining({ ...planned! }));
    expect(cluster!.batchSizes).toEqual([32]);
    expect(cluster!.plannedAgain).toBeFalse();
    expect(cluster!.assumptions[0]).toContain('nothing was looked up yet');
    expect(cluster!.countedSeconds).toEqual({ lookUp: null, update: null });
    expect(makeReport(sourceOf(REQUEST)).cluster).toBeNull();
  });

  it('counts ids, bags and weights as they were counted', () => {
    const training = { calls: 5, samples: [320, 320], bags: [320, 320], ids: [3200, 640], weights: [3200, 0] };
    const measured = { all: training, training };
    const source = sourceOf(REQUEST, { plan: { measured } });
    const counters = busyCounters(source.counters, 4, 64);
    const { cluster } = makeReport({ ...source, counters }, { network: { ...NETWORK, exchange: 'float16' } });
    // 64 samples, 10 weighted ids of users on server 0, 2 ids of items on server 1.
    const sent = { ids: 4 * 640, rowSplits: 4 * 65, weights: 4 * 640 };
    expect(cluster!.servers[0]!.lookup).toEqual(jasmine.objectContaining({ ...sent, pooledRows: 2 * 64 * 16 }));
    expect(cluster!.servers[0]!.update).toEqual(jasmine.objectContaining({ ...sent, gradients: 2 * 64 * 16 }));
    expect(cluster!.servers[1]!.lookup).toEqual(
      jasmine.objectContaining({ ids: 4 * 128, weights: 0, pooledRows: 2 * 64 * 8 }),
    );
    expect(cluster!.countedSeconds.lookUp).toBeCloseTo(0.0123, 12);
    expect(cluster!.countedSeconds.update).toBeCloseTo(0.021, 12);
  });

  it('has the slots that are there, and tables that a plan leaves to the host', () => {
    const slots = [
      { name: 'momenta', columns: 16 },
      { name: 'accumulator', columns: 1 },
    ];
    const source = sourceOf(
      { ...REQUEST, tables: [TABLES[0]!], hotness: [4], worldSize: 1, deviceMemory: 0 },
      { slots },
    );
    const { cluster } = makeReport(source, { network: NETWORK });
    expect(cluster!.servers[0]!.memory).toEqual({
      tables: 64_000,
      slots: 64_000 + 4000,
      exchange: jasmine.any(Number) as never,
    });
    expect(cluster!.network.slots).toBe(68 / 64);
  });

  it('makes plans again for other numbers of servers, and says so', () => {
    const { cluster } = makeReport(sourceOf(REQUEST), { network: { ...NETWORK, servers: 4 } });
    expect(cluster!.servers.length).toBe(4);
    expect(cluster!.plannedAgain).toBeTrue();
    expect(cluster!.assumptions.join()).toContain('made again for 4 devices, as they were for 2 devices');
    const strict = sourceOf({ ...REQUEST, rowFallback: false, columnSliceThreshold: 1e6 });
    const report = (): unknown => makeReport(strict, { network: { ...NETWORK, servers: 9 } });
    expectError(report, 'ValueError', 'network.servers', '9');
  });

  it('adds layers up, whose lookups follow one another', () => {
    const source = sourceOf(REQUEST);
    const one = makeReport(source, { network: NETWORK }).cluster!;
    const plans = [source.plans[0]!, { ...source.plans[0]!, name: 'others' }];
    const two = makeReport({ ...source, plans }, { network: NETWORK }).cluster!;
    expect(two.servers[0]!.lookup.bytesIn).toBe(2 * one.servers[0]!.lookup.bytesIn);
    expect(two.servers[0]!.update.gradients).toBe(2 * one.servers[0]!.update.gradients);
    expect([one.calls, two.calls]).toEqual([4, 6]);
    expect(two.lookupSeconds).toBeGreaterThan(one.lookupSeconds + 2 * NETWORK.latency);
  });

  it('is a part of text and page, beside what was counted here', () => {
    const source = sourceOf(REQUEST);
    const counters = busyCounters(source.counters, 4, 64);
    const report = makeReport({ ...source, counters }, { network: { ...NETWORK, clients: 2 } });
    const text = String(report);
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120);
    const title = '2 servers, 2 clients, links of 1.00 GB/s and 100 us, pooled rows and gradients as float32';
    expect(text.replace(/\n +/g, ' ')).toContain(`\n\nOn servers: ${title}, batch 32 of each client`);
    expect(text).toContain('counted on this machine: 12.3 ms for a lookup call, 21.0 ms for an update');
    expect(text).toMatch(/\n {5}0 +64\.0 kB +0 B /);
    const page = report.toHTML();
    expect(page).toContain(`<h2 id="cluster">On ${title}, batch 32 of each client</h2>`);
    expect(page).toContain('counted on this machine: 12.3 ms');
    expect(makeReport(source).toHTML()).not.toContain('id="cluster"');
    expect(report.toJSON().cluster!.servers.length).toBe(2);
  });

  it('shows the busiest of many servers', () => {
    const tables = Array.from({ length: 33 }, (_, table) => ({ inputDim: 40, outputDim: 4 + table }));
    const many = makeReport(sourceOf({ tables, worldSize: 33 }), { network: NETWORK });
    const lines = String(many).split('\n');
    const left = lines.indexOf('the 16 busiest of 33 servers');
    expect(lines.slice(left - 16, left).map((line) => Number(line.trim().split(' ')[0]))).toEqual(
      Array.from({ length: 16 }, (_, place) => 32 - place),
    );
    expect(many.toHTML()).toContain('A step of one client, the 16 busiest of 33 servers');
    // Of equal ones the first.
    const even = tables.map(({ inputDim }) => ({ inputDim, outputDim: 4 }));
    const equal = String(makeReport(sourceOf({ tables: even, worldSize: 33 }), { network: NETWORK })).split('\n');
    const end = equal.indexOf('the 16 busiest of 33 servers');
    expect(equal.slice(end - 16, end).map((line) => Number(line.trim().split(' ')[0]))).toEqual(
      Array.from({ length: 16 }, (_, place) => place),
    );
  });

  it('has 1 to 65536 servers, as many as there are devices by default', () => {
    const read = (servers?: number): number | undefined => readReportNetwork({ ...NETWORK, servers }, 7)?.servers;
    expect([read(), read(1), read(65536)]).toEqual([7, 1, 65536]);
    for (const servers of [0, -1, 1.5, 65537]) {
      expectError(() => read(servers), 'ValueError', 'network.servers', String(servers));
    }
    expect(readReportNetwork(null, 7)).toBeNull();
  });

  it('needs a plan', () => {
    expectError(() => makeReport({ ...sourceOf(REQUEST), plans: [] }, { network: NETWORK }), 'RuntimeError', 'network');
  });
});
