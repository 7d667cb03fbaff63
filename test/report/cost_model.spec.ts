/** Predictions against numbers worked out by hand, and against the planner's own formulas. */
import { predictStep, type StepArgs } from '../../src/report/cost_model.js';
import { stepLoads, sumOf, type StepLoad } from '../../src/report/step_load.js';
import { planEmbedding, type PlanEmbeddingArgs } from '../../src/partition/index.js';
import { readRequest } from '../../src/partition/plan_request.js';
import { rankLoads } from '../../src/partition/rank_load.js';
import { generatedArgs } from '../partition/table_sets.js';

function loadsOf(args: PlanEmbeddingArgs): StepLoad[] {
  return stepLoads(readRequest(args), planEmbedding(args));
}

function stepOf(loads: StepLoad[], changes: Partial<StepArgs> = {}): ReturnType<typeof predictStep> {
  const memory = loads.map(() => ({ tables: 0, slots: 0, exchange: 0, host: 0 }));
  const chips = loads.length;
  return predictStep({ generation: 'v5p', chips, devicesPerChip: 1, loads, memory, hostBandwidth: 50e9, ...changes });
}

describe('Loads of a step', () => {
  it('one whole table on each of two devices, worked out by hand', () => {
    const loads = loadsOf({
      tables: [
        { inputDim: 1000, outputDim: 128 },
        { inputDim: 1000, outputDim: 64 },
      ],
      worldSize: 2,
      hotness: [10, 5],
      batchSize: 8,
    });
    // 8 x 10 ids of 4 bytes, as many rows of 512 bytes, 8 pooled rows of 512 bytes.
    const wide = 4 * (80 + 80 * 128 + 8 * 128);
    const narrow = 4 * (40 + 40 * 64 * 1.15 + 8 * 64);
    expect(loads[0]).toEqual(
      jasmine.objectContaining({
        lookups: 80,
        elements: 80 * 128,
        lookupBytes: wide,
        updateBytes: 2 * wide,
        lookupHostBytes: 0,
        idsIn: 4 * 40,
        idsOut: 4 * 20,
        pooledOut: 4 * 4 * 128,
        pooledIn: 4 * 4 * 64,
        copiedBytes: 0,
        exchangeMemory: 4 * (80 + 8 * 128),
      }),
    );
    expect(loads[1]!.lookupBytes).toBeCloseTo(narrow, 9);
    expect([loads[1]!.idsIn, loads[1]!.pooledOut, loads[1]!.pooledIn]).toEqual([4 * 20, 4 * 4 * 64, 4 * 4 * 128]);
  });

  it('rows: each id goes to its owner, partial sums of the bags that it belongs to come back', () => {
    const tables = [{ inputDim: 100, outputDim: 128 }];
    const loads = loadsOf({ tables, worldSize: 4, hotness: [10], batchSize: 8, rowSliceThreshold: 1 });
    for (const load of loads) {
      expect(load.lookups).toBe(20);
      expect(load.idsIn).toBe(4 * 20 * 0.75);
      expect(load.idsOut).toBe(load.idsIn);
      // All but 0.75^10 of the bags have one of their ten ids in a quarter of the rows.
      expect(load.pooledOut).toBeCloseTo(4 * 8 * (1 - 0.75 ** 10) * 128 * 0.75, 9);
      expect(load.pooledIn).toBeCloseTo(load.pooledOut, 9);
    }
  });

  it('copies: each device looks up its part, gradients of the whole table are summed', () => {
    const tables = [
      { inputDim: 10, outputDim: 8 },
      { inputDim: 100, outputDim: 8 },
    ];
    const loads = loadsOf({ tables, worldSize: 2, hotness: [2, 0], batchSize: 8, dataParallelThreshold: 80 });
    const pass = 4 * (8 * (1 + 8 * 1.75) + 4 * 8);
    const other = loadsOf({ tables: [tables[1]!], worldSize: 2, hotness: [0], batchSize: 8 });
    loads.forEach((load, device) => {
      expect(load.copiedBytes).toBe(320);
      expect(load.lookups).toBe(8);
      expect(load.lookupBytes - other[device]!.lookupBytes).toBeCloseTo(pass, 9);
      expect(load.updateBytes - other[device]!.updateBytes).toBeCloseTo(2 * pass + 9.22 * 320, 9);
    });
  });

  it('no ids are sent where they come with the input', () => {
    const loads = loadsOf({ tables: [{ inputDim: 9, outputDim: 4 }], worldSize: 2, batchSize: 8, dpInput: false });
    expect(loads.map(({ idsIn, idsOut }) => [idsIn, idsOut])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    // Two columns for each of the 4 bags of the other device.
    expect(loads.map(({ pooledOut }) => pooledOut)).toEqual([4 * 4 * 2, 4 * 4 * 2]);
  });

  it('agrees with the loads that the planner predicts', () => {
    for (let seed = 0; seed < 60; seed++) {
      const args = generatedArgs(seed, ['basic', 'memory_balanced', 'cost_balanced']);
      const [request, plan] = [readRequest(args), planEmbedding(args)];
      const loads = stepLoads(request, plan);
      rankLoads(request, plan).forEach((rank, device) => {
        const load = loads[device]!;
        const what = `seed ${seed}, device ${device}`;
        expect(load.lookups).withContext(what).toBeCloseTo(rank.lookups, 6);
        expect(load.elements).withContext(what).toBeCloseTo(rank.elementsRead, 6);
        const summed = (2 * load.copiedBytes * (request.worldSize - 1)) / request.worldSize;
        expect(load.pooledOut + summed)
          .withContext(what)
          .toBeCloseTo(rank.bytesOut, 4);
        const bytes = load.lookupBytes + load.updateBytes;
        const host = load.lookupHostBytes + load.updateHostBytes;
        const { memoryBandwidth, hostBandwidth, linkBandwidth } = request.machine;
        const seconds = bytes / memoryBandwidth + host / hostBandwidth + rank.bytesExchanged / linkBandwidth;
        expect(seconds / (rank.seconds || 1))
          .withContext(what)
          .toBeCloseTo(rank.seconds === 0 ? 0 : 1, 9);
      });
      // What is sent arrives.
      const total = sumOf(loads);
      expect(total.idsOut).toBeCloseTo(total.idsIn, 4);
      expect(total.pooledIn).toBeCloseTo(total.pooledOut, 4);
    }
  });
});

describe('Prediction of a step', () => {
  const load = (changes: Partial<StepLoad>): StepLoad => ({ ...sumOf([]), ...changes });

  it('the busiest device decides, phase by phase', () => {
    const step = stepOf([
      load({ lookupBytes: 2765e6, updateBytes: 2765e6, pooledOut: 1e6, pooledIn: 3e6, idsIn: 4e5, idsOut: 2e5 }),
      load({ lookupBytes: 2765e3, updateBytes: 5530e6, pooledOut: 3e6, pooledIn: 1e6, idsIn: 2e5, idsOut: 4e5 }),
    ]);
    expect(step.torus).toEqual([1, 1, 2]);
    expect(step.phases.map(({ name, busiest }) => [name, busiest])).toEqual([
      ['lookup', 0],
      ['ids', 0],
      ['pooled rows', 0],
      ['gradients', 0],
      ['sums of copies', 0],
      ['update', 1],
    ]);
    expect(step.lookupSeconds).toBeCloseTo(1e-3, 12);
    expect(step.updateSeconds).toBeCloseTo(2e-3, 12);
    // Two chips share one link of 100 GB/s.
    expect(step.exchangeForwardSeconds).toBeCloseTo((4e5 + 3e6) / 100e9, 12);
    expect(step.exchangeBackwardSeconds).toBeCloseTo(3e6 / 100e9, 12);
    expect(step.stepSeconds).toBeCloseTo(3e-3 + 6.4e6 / 100e9, 12);
    expect(step.phases[2]!.bytes).toBe(3e6);
    expect(step.phases[2]!.totalBytes).toBe(4e6);
    expect(step.lacking).toEqual([]);
  });

  it('devices of a chip share its memory bandwidth and use no link among themselves', () => {
    const loads = [0, 1, 2, 3].map(() => load({ lookupBytes: 1e6, pooledOut: 3e6, pooledIn: 3e6, copiedBytes: 4e6 }));
    const alone = stepOf(loads, { generation: 'v6e', chips: 1, devicesPerChip: 4 });
    expect(alone.lookupSeconds).toBeCloseTo(4e6 / 1638e9, 15);
    expect([alone.exchangeForwardSeconds, alone.exchangeBackwardSeconds]).toEqual([0, 0]);
    const pair = stepOf(loads, { generation: 'v6e', chips: 2, devicesPerChip: 2 });
    expect(pair.lookupSeconds).toBeCloseTo(2e6 / 1638e9, 15);
    // Two of the three others are on the other chip: 2 x 2 MB over one link; copies: 2 x 4 MB x 1/2.
    expect(pair.exchangeForwardSeconds).toBeCloseTo(4e6 / 100e9, 15);
    expect(pair.exchangeBackwardSeconds).toBeCloseTo(4e6 / 100e9 + 4e6 / 100e9, 15);
    expect(pair.assumptions[0]).toContain('2 SparseCores');
  });

  it('tables in the memory of the host are read at its speed, and that is said', () => {
    const step = stepOf([load({ lookupHostBytes: 5e6, updateHostBytes: 1e7 })]);
    expect(step.lookupSeconds).toBeCloseTo(1e-4, 12);
    expect(step.updateSeconds).toBeCloseTo(2e-4, 12);
    expect(step.assumptions.some((text) => text.includes('50 GB/s'))).toBeTrue();
  });

  it('tells which device lacks memory', () => {
    const memory = [
      { tables: 15e9, slots: 0.5e9, exchange: 0.4e9, host: 99e9 },
      { tables: 15e9, slots: 0.9e9, exchange: 0.2e9, host: 0 },
    ];
    const step = stepOf([load({}), load({})], { generation: 'v5e', memory });
    expect(step.bytesPerDevice).toBe(16e9);
    expect(step.mostBytesWanted).toBe(16.1e9);
    expect(step.doesNotFit).toEqual([{ device: 1, bytesWanted: 16.1e9, bytesThere: 16e9 }]);
    const shared = stepOf([load({}), load({})], { generation: 'v5e', memory, chips: 1, devicesPerChip: 2 });
    expect(shared.doesNotFit.map(({ device, bytesThere }) => [device, bytesThere])).toEqual([
      [0, 8e9],
      [1, 8e9],
    ]);
  });

  it('memory that a device fills to its last byte is enough', () => {
    const memory = [{ tables: 15e9, slots: 0.6e9, exchange: 0.4e9, host: 0 }];
    const step = stepOf([load({})], { generation: 'v5e', memory });
    expect(step.mostBytesWanted).toBe(16e9);
    expect(step.doesNotFit).toEqual([]);
  });

  it('tells which figure is not published', () => {
    expect(stepOf([load({})], { generation: 'v5e' }).lacking).toEqual([jasmine.stringContaining('SparseCores')]);
  });
});
