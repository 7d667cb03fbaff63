/** What each device does in a step, worked out by hand, and what the planner weighs of it. */
import { planEmbedding, type PlanEmbeddingArgs } from '../../src/partition/index.js';
import { readRequest } from '../../src/partition/plan_request.js';
import { rankLoads } from '../../src/partition/rank_load.js';
import { stepLoads, sumOf, type StepLoad } from '../../src/partition/step_load.js';
import { generatedArgs } from './table_sets.js';

function loadsOf(args: PlanEmbeddingArgs): StepLoad[] {
  return stepLoads(readRequest(args), planEmbedding(args));
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
