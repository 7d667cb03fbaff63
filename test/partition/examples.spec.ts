/** Worked examples, and what goes wrong in the planner that ours mirrors. */
import { checkPlan, planEmbedding, type EmbeddingPlan, type PlanTableArgs } from '../../src/partition/index.js';

function tablesOf(...sizes: [rows: number, columns: number][]): PlanTableArgs[] {
  return sizes.map(([inputDim, outputDim]) => ({ inputDim, outputDim }));
}

function elements(plan: EmbeddingPlan): number[] {
  return plan.ranks.map(({ tableParallel }) => tableParallel!.elements);
}

function held(plan: EmbeddingPlan, device: number): [number, number, number][] {
  return plan.ranks[device]!.tableParallel!.shards.map(({ table, columns }) => [table, ...columns]);
}

const SEVEN = tablesOf([11, 7], [5, 8], [3, 8], [5, 8], [12, 25], [3, 12], [7, 13]);
const SLICED = tablesOf([100, 8], [5, 8], [10, 8], [25, 4]);

describe('Examples of plans', () => {
  it('seven tables on four devices', () => {
    const place = (strategy: 'basic' | 'memory_balanced' | 'memory_optimized'): EmbeddingPlan =>
      planEmbedding({ tables: SEVEN, worldSize: 4, strategy });
    expect(elements(place('basic'))).toEqual([377, 76, 115, 40]);
    expect(elements(place('memory_balanced'))).toEqual([300, 115, 113, 80]);
    const optimized = place('memory_optimized');
    expect(elements(optimized)).toEqual([91, 104, 113, 300]);
    expect(optimized.ranks[1]!.tableParallel!.weightOffsets).toEqual([[0, 5, 10, 13]]);
    expect(optimized.tableParallel!.widthsListFlat).toEqual([13, 8, 8, 8, 7, 12, 25]);
    expect(optimized.tableParallel!.revTpIds).toEqual([4, 2, 3, 1, 6, 5, 0]);
  });

  it('slices of one table that meet on a device become one shard', () => {
    const plan = planEmbedding({
      tables: SLICED,
      worldSize: 4,
      strategy: 'memory_balanced',
      columnSliceThreshold: 45,
    });
    expect(plan.tableParallel!.dividedIds).toEqual([
      [0, 3, 3],
      [0, 3, 1],
      [0, 3, 2],
      [0, 2],
    ]);
    expect(held(plan, 0)).toEqual([
      [0, 0, 2],
      [3, 0, 2],
    ]);
    expect(plan.ranks[0]!.tableParallel!.weightOffsets).toEqual([[0, 100, 125]]);
    expect(plan.tableParallel!.slicedOutRanges).toEqual([
      [0, 4],
      [2, 4],
      [3, 6],
    ]);
    expect(elements(plan)).toEqual([250, 265, 265, 240]);
  });

  it('fewer tables than devices: the largest is halved until there are pieces for all', () => {
    const plan = planEmbedding({ tables: tablesOf([1000, 16], [100, 16], [10, 16]), worldSize: 8 });
    expect(plan.tableParallel!.sliceWidthsPerTable).toEqual([[2, 2, 2, 2, 2, 2, 2, 2], [16], [16]]);
    expect(plan.tableParallel!.slicedOutRanges).toEqual([[0, 8]]);
    expect(held(plan, 1)).toEqual([
      [0, 2, 4],
      [2, 0, 16],
    ]);
  });

  it('what the device has no room for stays with the host', () => {
    const tables = tablesOf([100, 32], [100, 32], [100, 32], [100, 32], [1000, 64], [1000, 64], [1000, 64], [1000, 64]);
    const plan = planEmbedding({ tables, worldSize: 2, deviceMemory: 4 * 32000 });
    for (const { tableParallel, predicted } of plan.ranks) {
      const weights = tableParallel!.physicalTables.map((w) => [w.inputDim, w.outputDim, w.cpuOffload]);
      expect(weights).toEqual([
        [200, 32, false],
        [1000, 64, true],
        [1000, 64, true],
      ]);
      expect(tableParallel!.inputOffsets).toEqual([0, 100, 0, 0]);
      expect(predicted!.bytesMemory).toBe(4 * 200 * 32);
    }
  });

  it('thresholds include their bounds', () => {
    const plan = planEmbedding({
      tables: tablesOf([10, 4], [10, 5], [20, 5], [10, 9]),
      worldSize: 2,
      dataParallelThreshold: 40,
      rowSliceThreshold: 100,
    });
    expect(plan.tableGroups).toEqual({ dataParallel: [0], tableParallel: [1, 3], rowSlice: [2] });
    const shape = { table: 2, inputDim: 10, outputDim: 5 };
    expect(plan.ranks.map(({ rowSlice }) => rowSlice)).toEqual([
      [{ ...shape, rows: [0, 10], inputOffset: 0 }],
      [{ ...shape, rows: [10, 20], inputOffset: -10 }],
    ]);
  });

  it('thresholds of 0 are none', () => {
    const plan = planEmbedding({
      tables: tablesOf([10, 4], [10, 5]),
      worldSize: 1,
      dataParallelThreshold: 0,
      rowSliceThreshold: 0,
    });
    expect(plan.tableGroups).toEqual({ dataParallel: [], tableParallel: [0, 1], rowSlice: [] });
  });

  it('the 26 tables of DLRM share one weight per device, evenly with a threshold', () => {
    const rows = [
      39884406, 39043, 17289, 7420, 20263, 3, 7120, 1543, 63, 38532951, 2953546, 403346, 10, 2208, 11938, 155, 4, 976,
      14, 39979771, 25641295, 39664984, 585935, 12972, 108, 36,
    ];
    const args = {
      tables: rows.map((inputDim) => ({ inputDim, outputDim: 128 })),
      worldSize: 8,
      strategy: 'memory_optimized' as const,
    };
    const whole = elements(planEmbedding(args)).map((n) => Math.round(n / 1e6));
    expect(whole).toEqual([67, 75, 378, 3282, 4932, 5077, 5105, 5117]);
    const plan = planEmbedding({ ...args, columnSliceThreshold: 2 ** 30 });
    const even = elements(plan);
    expect(Math.max(...even) / Math.min(...even)).toBeLessThan(1.17);
    for (const { tableParallel } of planEmbedding(args).ranks) expect(tableParallel!.physicalTables.length).toBe(1);
  });

  it('rows modulo the number of devices', () => {
    const plan = planEmbedding({
      tables: tablesOf([7, 3]),
      worldSize: 3,
      rowSliceThreshold: 1,
      rowSharding: 'modulo',
    });
    expect(plan.ranks.map(({ rowSlice }) => rowSlice)).toEqual(
      [3, 2, 2].map((inputDim, remainder) => [{ table: 0, modulo: { divisor: 3, remainder }, inputDim, outputDim: 3 }]),
    );
    expect(String(plan)).toMatch(/1 +0 +id mod 3 = 1 +0\.\.3 +6 +24 B +28\.6 % +rows/);
  });

  it('fewer rows than devices leave the last ones without any', () => {
    const plan = planEmbedding({ tables: tablesOf([2, 3]), worldSize: 4, rowSliceThreshold: 1 });
    expect(plan.ranks.map(({ rowSlice }) => rowSlice![0]!.inputDim)).toEqual([1, 1, 0, 0]);
    expect(checkPlan(plan, tablesOf([2, 3]))).toEqual([]);
  });

  it('prints each piece, each device and each name', () => {
    const tables = [
      { name: 'users', inputDim: 1000, outputDim: 16 },
      { name: 'items', inputDim: 100, outputDim: 16, rowCoupled: true },
    ];
    const text = String(planEmbedding({ tables, worldSize: 4, strategy: 'memory_balanced' }));
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^2 tables for 2 inputs on 4 devices, strategy memory_balanced/);
    expect(lines[1]).toMatch(/^device +table +rows +columns +elements +bytes +share +held as$/);
    expect(text).toMatch(/\n +0 +0 users +0\.\.1000 +0\.\.4 +4000 +16\.0 kB +22\.7 % +weight 0 from row 0\n/);
    expect(text).toMatch(/\n +3 +1 items +0\.\.100 +0\.\.16 +1600 +6\.40 kB +9\.1 % +weight 1 from row 0\n/);
    expect(text).toMatch(/\n +3 +in all +5600 +22\.4 kB +31\.8 % +per step/);
    expect(text).toMatch(/\nnote: table 1 \(items\) of 100 x 16 is not cut by columns, because its rows are coupled$/);
    expect(text).not.toContain('NaN');
  });
});

describe('Defects that are not copied', () => {
  it('merged shards may be uneven, and the plan says which columns each has', () => {
    const plan = planEmbedding({
      tables: tablesOf([3, 4], [5, 5]),
      worldSize: 3,
      strategy: 'memory_balanced',
      columnSliceThreshold: 10,
    });
    const shards = [0, 1, 2].flatMap((device) => held(plan, device)).filter(([table]) => table === 1);
    expect(shards).toEqual([
      [1, 0, 2],
      [1, 2, 5],
    ]);
  });

  it('outputs are joined by the number of devices, whatever the order of inputs', () => {
    const inputTableMap = [3, 0, 0, 2, 1];
    const plan = planEmbedding({
      tables: SLICED,
      inputTableMap,
      worldSize: 4,
      strategy: 'memory_balanced',
      columnSliceThreshold: 45,
    });
    const devices = SLICED.map(
      (_, table) => [0, 1, 2, 3].filter((d) => held(plan, d).some(([t]) => t === table)).length,
    );
    expect(devices).toEqual([4, 1, 2, 3]);
    expect(plan.tableParallel!.slicedOutRanges).toEqual([
      [0, 3],
      [1, 5],
      [2, 6],
      [3, 5],
    ]);
  });

  it('tables share a weight only where initializer, optimizer, regularizer and constraint agree', () => {
    const zeros = { className: 'Zeros', config: { a: 1, b: [2] } };
    const same = { config: { b: [2], a: 1 }, className: 'Zeros' };
    const joined = (...pairs: Partial<PlanTableArgs>[]): number[][] => {
      const tables = pairs.map((extra) => ({ inputDim: 4, outputDim: 2, ...extra }));
      return planEmbedding({ tables, worldSize: 1 }).ranks[0]!.tableParallel!.concatGroups;
    };
    expect(joined({ initializer: zeros }, { initializer: same }, { initializer: 'zeros' })).toEqual([[0, 1], [2]]);
    expect(joined({ optimizer: 'sgd' }, {}, { optimizer: null })).toEqual([[0], [1, 2]]);
    expect(joined({ regularizer: 'l2' }, { regularizer: 'l1' })).toEqual([[0], [1]]);
    expect(joined({ constraint: 'nonNeg' }, {})).toEqual([[0], [1]]);
    expect(joined({ combiner: 'sum' }, { combiner: 'mean' }, { combiner: 'sum' })).toEqual([[0, 2], [1]]);
    expect(joined({ optimizer: '1' }, { optimizer: 1 }, { optimizer: '1' })).toEqual([[0, 2], [1]]);
    class Own {}
    const own = new Own();
    expect(joined({ optimizer: own }, { optimizer: new Own() }, { optimizer: own })).toEqual([[0, 2], [1]]);
    const custom = (): number => 0;
    expect(joined({ initializer: custom }, { initializer: custom }, { initializer: () => 0 })).toEqual([[0, 1], [2]]);
  });

  it('a table narrower than the number of devices serves all of them by rows', () => {
    const plan = planEmbedding({ tables: [{ name: 'wide', inputDim: 1000, outputDim: 2 }], worldSize: 4 });
    expect(plan.tableGroups).toEqual({ dataParallel: [], tableParallel: [], rowSlice: [0] });
    expect(plan.ranks.map(({ rowSlice }) => rowSlice![0]!.inputDim)).toEqual([250, 250, 250, 250]);
    expect(plan.tableParallel).toBeUndefined();
    expect(plan.notes).toEqual([
      'table 0 (wide) of 1000 x 2 is cut by rows, because columns left 2 of 4 devices without a piece of a table',
    ]);
    const idle = planEmbedding({ tables: tablesOf([1000, 2]), worldSize: 4, dpInput: false });
    expect(idle.ranks.map(({ tableParallel }) => tableParallel!.shards.length)).toEqual([1, 1, 0, 0]);
    expect(idle.notes![0]).toMatch(/^2 of 4 devices without a piece of a table: they stay idle/);
  });

  it('each shard is offloaded on its own: weights are never mixed, and nothing more would fit', () => {
    const sizes: [number, number][] = [];
    for (let i = 0; i < 12; i++) sizes.push([10 + 7 * i, 8]);
    for (let deviceMemory = 0; deviceMemory < 22000; deviceMemory += 500) {
      const plan = planEmbedding({ tables: tablesOf(...sizes), worldSize: 2, deviceMemory });
      for (const { tableParallel, predicted } of plan.ranks) {
        const { physicalTables, concatGroups, shards } = tableParallel!;
        const bytes = (weight: number): number[] =>
          concatGroups[weight]!.map((shard) => 4 * 8 * sizes[shards[shard]!.table]![0]);
        const own = physicalTables.flatMap((w, i) => (w.cpuOffload ? [] : bytes(i)));
        const host = physicalTables.flatMap((w, i) => (w.cpuOffload ? bytes(i) : []));
        expect(physicalTables.every((w, i) => !w.cpuOffload || concatGroups[i]!.length === 1)).toBeTrue();
        const used = own.reduce((sum, size) => sum + size, 0);
        expect(used).toBeLessThanOrEqual(deviceMemory);
        expect(predicted!.bytesMemory).toBe(used);
        if (host.length > 0) expect(used + Math.min(...host)).toBeGreaterThan(deviceMemory);
        expect(own.length + host.length).toBe(shards.length);
      }
    }
  });

  it('no weight has more rows than an int32 id can name', () => {
    const plan = planEmbedding({ tables: tablesOf([1.5e9, 4], [1.5e9, 4], [1000, 4]), worldSize: 1 });
    expect(plan.ranks[0]!.tableParallel!.concatGroups).toEqual([[0, 2], [1]]);
  });
});

describe('predicted loads', () => {
  it('count ids, bytes held and bytes sent', () => {
    const plan = planEmbedding({
      tables: tablesOf([100, 4], [200, 8], [10, 2], [40, 16]),
      worldSize: 2,
      dataParallelThreshold: 20,
      rowSliceThreshold: 1600,
      hotness: [3, 5, 2, 1],
      batchSize: 10,
    });
    expect(plan.tableGroups).toEqual({ dataParallel: [2], tableParallel: [0, 3], rowSlice: [1] });
    const rows = 10 * 5 * 0.5;
    const reached = 1 - 0.5 ** 5; // of the bags have one of their five ids in a half
    const copies = 5 * 2;
    const copyOut = 4 * 20;
    expect(plan.ranks.map(({ predicted }) => predicted!.lookups)).toEqual([30 + rows + copies, 10 + rows + copies]);
    expect(plan.ranks.map(({ predicted }) => predicted!.bytesMemory)).toEqual([
      4 * (400 + 800 + 20),
      4 * (640 + 800 + 20),
    ]);
    expect(plan.ranks.map(({ predicted }) => predicted!.bytesOut)).toEqual([
      4 * 5 * (4 + 8 * reached) + copyOut,
      4 * 5 * (16 + 8 * reached) + copyOut,
    ]);
    // Three passes over ids, rows (which short ones make 1.75 times as long) and pooled rows; copies are stepped whole.
    const passes = (ids: number, bags: number, width: number): number =>
      3 * 4 * (ids * (1 + 1.75 * width) + bags * width);
    const memory = [passes(30, 10, 4), passes(10, 10, 16)].map(
      (whole) => whole + passes(rows, 10 * reached, 8) + passes(copies, 5, 2) + 9.22 * 4 * 20,
    );
    // Pooled rows go out and gradients come in; ids come in, half of them from the other device.
    const links = [
      { pooled: 4 * 5 * (4 + 8 * reached), ids: 4 * 0.5 * (30 + rows) },
      { pooled: 4 * 5 * (16 + 8 * reached), ids: 4 * 0.5 * (10 + rows) },
    ].map(({ pooled, ids }) => 2 * pooled + ids + copyOut);
    plan.ranks.forEach(({ predicted }, device) => {
      expect(predicted!.seconds).toBeCloseTo(memory[device]! / 897e9 + links[device]! / 600e9, 15);
    });
  });

  it('grow with the batch and shrink with the machine', () => {
    const args = { tables: tablesOf([100, 64], [100, 64]), worldSize: 2, hotness: [4, 4], batchSize: 128 };
    const seconds = (extra: object): number => planEmbedding({ ...args, ...extra }).ranks[0]!.predicted!.seconds;
    const base = seconds({});
    expect(seconds({ batchSize: 256 })).toBeCloseTo(2 * base, 15);
    const machine = { memoryBandwidth: 2 * 897e9, hostBandwidth: 2 * 51e9, linkBandwidth: 2 * 600e9 };
    expect(seconds({ machine })).toBeCloseTo(base / 2, 15);
    expect(seconds({ deviceMemory: 0 })).toBeGreaterThan(5 * base);
    expect(planEmbedding({ ...args, worldSize: 1 }).ranks[0]!.predicted!.bytesOut).toBe(0);
  });
});
