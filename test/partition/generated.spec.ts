/** Plans for generated tables: equal to a second planner, complete, in order, never worse than they should be. */
import { ValueError } from '../../src/base/errors.js';
import { checkPlan, planEmbedding, readPlan, type EmbeddingPlan, type PlanData } from '../../src/partition/index.js';
import { naivePlan } from './naive_planner.js';
import { generatedArgs, tinyModel, type FullArgs } from './table_sets.js';

const UPSTREAM = ['basic', 'memory_balanced', 'memory_optimized'] as const;
const ALL = [...UPSTREAM, 'cost_balanced'] as const;

function withoutLoads(plan: PlanData): PlanData {
  const data = structuredClone({ ...plan });
  for (const rank of data.ranks) delete rank.predicted;
  delete data.predictedFor;
  return data;
}

/** What a device does per sample: elements read, elements of pooled rows, and those with ids. */
function loads(
  plan: EmbeddingPlan,
  hotness: readonly number[],
): Record<'memory' | 'read' | 'out' | 'exchanged', number>[] {
  return plan.ranks.map(({ tableParallel }) => {
    const load = { memory: tableParallel?.elements ?? 0, read: 0, out: 0, exchanged: 0 };
    tableParallel?.inputIdsGlobal.forEach((input, place) => {
      const width = tableParallel.physicalTables[tableParallel.localMap[place]!]!.outputDim;
      load.read += hotness[input]! * width;
      load.out += width;
      load.exchanged += 2 * width + hotness[input]!;
    });
    return load;
  });
}

/** Ids of each input go where the plan sends them; the columns that come back must be the table's, in its order. */
function columnsThatComeBack(plan: EmbeddingPlan): Map<number, number[][]> {
  const whole = plan.tableParallel!;
  const outputs = plan.ranks.flatMap(({ tableParallel: rank }) =>
    rank!.inputIdsGlobal.map((input, place) => {
      const weight = rank!.localMap[place]!;
      const member = rank!.weightOffsets[weight]!.indexOf(rank!.inputOffsets[place]!);
      const shard = rank!.shards[rank!.concatGroups[weight]![member]!]!;
      return { input, table: shard.table, columns: shard.columns };
    }),
  );
  let ordered = whole.revTpIds.map((place) => [outputs[place]!]);
  for (const [start, end] of whole.slicedOutRanges) {
    ordered = [...ordered.slice(0, start), ordered.slice(start, end).flat(), ...ordered.slice(end)];
  }
  expect(ordered.length).toBe(plan.inputGroups.tableParallel.length);
  return new Map(
    ordered.map((pieces, place) => {
      const input = plan.inputGroups.tableParallel[place]!;
      const table = plan.tableGroups.tableParallel[plan.mapGroups.tableParallel[place]!];
      for (const piece of pieces) expect([piece.input, piece.table]).toEqual([input, table!]);
      return [input, pieces.map(({ columns }) => [...columns])] as const;
    }),
  );
}

describe('planEmbedding on generated tables', () => {
  it('equals a second planner', () => {
    let compared = 0;
    let refused = 0;
    for (let seed = 0; seed < 1500; seed++) {
      const args: FullArgs = { ...generatedArgs(seed, UPSTREAM), rowFallback: false };
      const expected = naivePlan(args);
      if (expected === null) {
        expect(() => planEmbedding(args)).toThrowError(ValueError, /columnSliceThreshold/);
        refused++;
        continue;
      }
      const plan = withoutLoads(planEmbedding(args));
      expect(plan as unknown)
        .withContext(`seed ${seed}`)
        .toEqual(expected);
      compared++;
    }
    expect(compared).toBeGreaterThan(900);
    expect(refused).toBeGreaterThan(50);
  });

  it('holds every row and column once and gives outputs in the order of inputs', () => {
    for (let seed = 0; seed < 500; seed++) {
      const args = generatedArgs(seed + 5000, ALL);
      if (seed % 3 === 0) args.tables.forEach((table, i) => (table.rowCoupled = i % 2 === 0));
      const plan = planEmbedding(args);
      expect(checkPlan(plan, args.tables)).withContext(`seed ${seed}`).toEqual([]);
      expect(plan.ranks.length).toBe(args.worldSize);
      const groups = [
        ...plan.inputGroups.dataParallel,
        ...plan.inputGroups.tableParallel,
        ...plan.inputGroups.rowSlice,
      ];
      expect(plan.revGroupIds.map((place) => groups[place]!)).toEqual(args.inputTableMap.map((_, input) => input));
      if (plan.tableParallel === undefined) continue;
      for (const [input, pieces] of columnsThatComeBack(plan)) {
        let end = 0;
        for (const [from, to] of pieces) {
          expect(from).toBe(end);
          end = to!;
        }
        const table = args.tables[args.inputTableMap[input]!]!;
        expect(end).toBe(table.outputDim);
        if (table.rowCoupled) expect(pieces.length).toBe(1);
      }
    }
  });

  it('gives every device something as long as a table has rows for all', () => {
    for (let seed = 0; seed < 500; seed++) {
      const args = generatedArgs(seed + 9000, ALL);
      args.dpInput = true;
      const plan = planEmbedding(args);
      const movable = plan.tableGroups.tableParallel.length + plan.tableGroups.rowSlice.length;
      if (movable === 0) continue;
      if (plan.ranks.every(({ tableParallel }) => (tableParallel?.shards.length ?? 0) > 0)) continue;
      const most = Math.max(0, ...plan.tableGroups.rowSlice.map((table) => args.tables[table]!.inputDim));
      const holding = plan.ranks.filter((rank) => (rank.rowSlice ?? []).some(({ inputDim }) => inputDim > 0)).length;
      expect(holding).withContext(`seed ${seed}`).toBe(Math.min(args.worldSize, most));
    }
  });

  it('memory_optimized keeps within the mean and one slice, and no device exceeds one device', () => {
    for (let seed = 0; seed < 300; seed++) {
      const { tables, worldSize, columnSliceThreshold } = generatedArgs(seed + 20000, UPSTREAM);
      const plan = planEmbedding({ tables, worldSize, columnSliceThreshold, strategy: 'memory_optimized' });
      if (plan.tableGroups.rowSlice.length > 0) continue;
      const sizes = plan.ranks.map(({ tableParallel }) => tableParallel!.elements);
      const total = tables.reduce((sum, { inputDim, outputDim }) => sum + inputDim * outputDim, 0);
      const largest = Math.max(
        ...plan.tableParallel!.sliceWidthsPerTable.flatMap((list, t) => list.map((w) => w * tables[t]!.inputDim)),
      );
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(total);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(total / worldSize + largest);
    }
  });

  it('cost_balanced is never worse than memory_balanced', () => {
    let better = 0;
    for (let seed = 0; seed < 400; seed++) {
      const args = { ...generatedArgs(seed + 30000, ALL), deviceMemory: null };
      const ours = planEmbedding({ ...args, strategy: 'cost_balanced' });
      const theirs = planEmbedding({ ...args, strategy: 'memory_balanced' });
      for (const kind of ['seconds', 'bytesMemory', 'bytesOut'] as const) {
        const of = (plan: EmbeddingPlan): number => Math.max(...plan.ranks.map(({ predicted }) => predicted![kind]));
        expect(of(ours)).withContext(`seed ${seed}, ${kind}`).toBeLessThanOrEqual(of(theirs));
      }
      if (theirs.notes !== undefined) continue;
      const [a, b] = [loads(ours, args.hotness), loads(theirs, args.hotness)];
      for (const kind of ['memory', 'read', 'out', 'exchanged'] as const) {
        if (kind === 'exchanged' && !args.dpInput) continue;
        // Uneven row shards are part of a device's load; `predicted` counts them, these sums do not.
        if (ours.tableGroups.rowSlice.length > 0) continue;
        const [mine, other] = [Math.max(...a.map((l) => l[kind])), Math.max(...b.map((l) => l[kind]))];
        expect(mine).withContext(`seed ${seed}, ${kind}`).toBeLessThanOrEqual(other);
        if (mine < other) better++;
      }
    }
    expect(better).toBeGreaterThan(100);
  });

  it('cost_balanced cuts by rows for want of pieces where columns would be worse', () => {
    const tables = [{ inputDim: 1000, outputDim: 10 }];
    const args = { tables, worldSize: 4, columnSliceThreshold: 1e6, strategy: 'cost_balanced' as const };
    const plan = planEmbedding(args);
    expect(plan.tableGroups.rowSlice).toEqual([0]);
    expect(plan.notes).toEqual([
      'table 0 of 1000 x 10 is cut by rows, because columns would cost a device more memory, elements read, bytes sent, ' +
        'bytes exchanged, predicted seconds',
    ]);
    expect(checkPlan(plan, tables)).toEqual([]);
    expect(planEmbedding({ ...args, rowFallback: false }).tableGroups.rowSlice).toEqual([]);
  });

  for (const scale of [1, 0.8, 0.5, 0.01]) {
    for (const dpInput of [true, false]) {
      it(`cost_balanced evens out the tiny model, rows x ${scale}, dpInput ${dpInput}`, () => {
        const model = tinyModel(scale);
        const args = { ...model, worldSize: 8, batchSize: 8192, dpInput, strategy: 'cost_balanced' as const };
        const plan = planEmbedding(args);
        expect(checkPlan(plan, model.tables)).toEqual([]);
        const found = loads(plan, model.hotness);
        for (const kind of ['memory', 'read', 'out', 'exchanged'] as const) {
          const list = found.map((load) => load[kind]);
          const mean = list.reduce((sum, load) => sum + load, 0) / list.length;
          expect(Math.max(...list) / mean)
            .withContext(kind)
            .toBeLessThanOrEqual(1.15);
        }
      });
    }
  }

  it('survives JSON, cloning and printing', () => {
    for (let seed = 0; seed < 100; seed++) {
      const plan = planEmbedding(generatedArgs(seed + 40000, ALL));
      const again = readPlan(JSON.stringify(plan));
      expect({ ...again }).toEqual({ ...plan });
      expect(again.toJSON()).toEqual(plan.toJSON());
      expect(String(again)).toBe(String(plan));
      expect(structuredClone({ ...plan })).toEqual({ ...plan } as never);
    }
  });
});
