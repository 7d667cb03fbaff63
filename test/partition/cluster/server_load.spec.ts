/** What a step sends to each server and gets from it, worked out by hand. */
import { serverLoads, bytesOfCalls, type ServerLoad } from '../../../src/partition/cluster/server_load.js';
import { planEmbedding, type PlanEmbeddingArgs } from '../../../src/partition/index.js';
import { readRequest } from '../../../src/partition/plan_request.js';
import { bagsPerSample } from '../../../src/partition/step_load.js';

function loadsOf(
  args: PlanEmbeddingArgs,
  exchange: 'float32' | 'float16' = 'float32',
  weights: readonly number[] = [],
): ServerLoad[] {
  const request = readRequest(args);
  return serverLoads(request, planEmbedding(args), { exchange }, { bags: bagsPerSample(request), weights });
}

const sent = (ids: number, bags: number): object => ({ ids: 4 * ids, rowSplits: 4 * (bags + 1), weights: 0 });

describe('The load of a server', () => {
  it('is ids, row splits and pooled rows of its tables, whichever part of the batch they come from', () => {
    const [wide, narrow] = loadsOf({
      tables: [
        { inputDim: 1000, outputDim: 128, combiner: 'sum' },
        { inputDim: 1000, outputDim: 64, combiner: 'mean' },
      ],
      worldSize: 2,
      hotness: [10, 5],
      batchSize: 8,
    });
    // 80 ids of 4 bytes; as many rows of 512 bytes are read, 8 pooled rows written; twice that for the update.
    const pass = 4 * (80 + 80 * 128 + 8 * 128);
    const rows = { rows: 4 * 8 * 128, copiesIn: 0, copiesOut: 0 };
    expect(wide!.lookup).toEqual({ ...sent(80, 8), ...rows, memoryBytes: pass } as never);
    expect(wide!.update).toEqual({ ...sent(80, 8), ...rows, memoryBytes: 2 * pass } as never);
    expect(narrow!.lookup).toEqual(jasmine.objectContaining({ ...sent(40, 8), rows: 4 * 8 * 64 }) as never);
    // A lookup sends ids and row splits and gets rows; an update sends all of it.
    expect(bytesOfCalls(wide!.lookup, 'lookup')).toEqual({ bytesIn: 4 * (80 + 9), bytesOut: 4096 });
    expect(bytesOfCalls(wide!.update, 'update')).toEqual({ bytesIn: 4 * (80 + 9) + 4096, bytesOut: 0 });
  });

  it('has each id and each weight on all servers that hold columns, and half of the bytes of rows as float16', () => {
    const args = {
      tables: [{ inputDim: 100, outputDim: 10, combiner: 'sum' as const }],
      worldSize: 2,
      hotness: [3],
      batchSize: 4,
    };
    for (const [exchange, bytes] of [
      ['float32', 4],
      ['float16', 2],
    ] as const) {
      for (const { lookup, update } of loadsOf(args, exchange, [3])) {
        const both = { ids: 4 * 12, rowSplits: 4 * 5, weights: 4 * 12, rows: bytes * 4 * 5 };
        expect(lookup).toEqual(jasmine.objectContaining(both) as never);
        expect(update).toEqual(jasmine.objectContaining(both) as never);
      }
    }
  });

  it('is the ids of its rows and the bags that have one, with what means are divided by', () => {
    const rows = (combiner: 'sum' | 'mean' | 'sqrtn' | null, hotness: number): ServerLoad[] =>
      loadsOf({
        tables: [{ inputDim: 100, outputDim: 8, combiner }],
        worldSize: 4,
        hotness: [hotness],
        batchSize: 16,
        rowSliceThreshold: 1,
      });
    const reached = 16 * (1 - 0.75 ** 10);
    for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
      for (const { lookup } of rows(combiner, 10)) {
        expect(lookup.ids).toBe(4 * 40);
        expect(lookup.rowSplits).toBeCloseTo(4 * (reached + 1), 9);
        expect(lookup.weights).toBe(combiner === 'sum' ? 0 : 4 * 40);
        expect(lookup.rows).toBeCloseTo(4 * 8 * reached, 9);
      }
    }
    // One id per bag is divided by 1; without a combiner each id is a bag.
    expect(rows('mean', 1)[0]!.lookup.weights).toBe(0);
    expect(rows(null, 10)[0]!.lookup).toEqual(
      jasmine.objectContaining({ ids: 4 * 40, rowSplits: 4 * 41, weights: 0, rows: 4 * 8 * 40 }) as never,
    );
  });

  it('is nothing on a server that has no rows', () => {
    const loads = loadsOf({ tables: [{ inputDim: 2, outputDim: 1 }], worldSize: 3, batchSize: 8 });
    const { ids, rowSplits, rows } = loads[2]!.lookup;
    expect([ids, rowSplits, rows]).toEqual([0, 0, 0]);
    expect(loads.slice(0, 2).every(({ lookup }) => lookup.ids === 4 * 4)).toBeTrue();
  });

  it('has gradients of rows of copies twice: from its part to the client, then those of all parts', () => {
    const loads = loadsOf(
      {
        tables: [
          { inputDim: 2, outputDim: 6, combiner: 'sum' },
          { inputDim: 1000, outputDim: 16, combiner: 'sum' },
        ],
        worldSize: 2,
        inputTableMap: [0, 0, 1],
        hotness: [1, 2, 0],
        batchSize: 8,
        dataParallelThreshold: 12,
      },
      'float16',
    );
    // 4 and 8 ids on each: 12 of 2 rows leave one out with 1/2 to the 12th.
    const rows = 2 * (1 - 0.5 ** 12);
    for (const { lookup, update } of loads) {
      expect(lookup.ids).toBe(4 * 12);
      expect(lookup.copiesIn + lookup.copiesOut).toBe(0);
      expect(update.copiesOut).toBeCloseTo(rows * (4 + 2 * 6), 9);
      expect(update.copiesIn).toBeCloseTo(2 * update.copiesOut, 9);
      // 12 ids and 8 bags of the part, 8 empty bags of half of the other table; then the rows of both parts.
      const part = 4 * (12 * (1 + 6 * 1.75) + 8 * 6 + 8 * 8);
      const rest = 4 * 2 * rows * (1 + 6 * 1.75 + 6);
      expect(lookup.memoryBytes).toBeCloseTo(part, 9);
      expect(update.memoryBytes).toBeCloseTo(2 * (part + rest), 9);
    }
    const empty = loadsOf({
      tables: [{ inputDim: 2, outputDim: 6 }],
      worldSize: 2,
      hotness: [0],
      batchSize: 8,
      dataParallelThreshold: 12,
    });
    expect(empty.map(({ update }) => update.copiesOut)).toEqual([0, 0]);
  });
});
