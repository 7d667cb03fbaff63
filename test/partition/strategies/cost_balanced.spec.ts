/** Where `cost_balanced` puts pieces, in cases small enough to look at. */
import { planEmbedding, type EmbeddingPlan } from '../../../src/partition/index.js';

interface Case {
  readonly what: string;
  readonly worldSize: number;
  /** Rows, columns and ids per sample of each table. */
  readonly tables: readonly [rows: number, columns: number, hotness: number][];
  readonly widths: readonly (readonly number[])[];
  readonly divided: readonly (readonly number[])[];
}

const CASES: readonly Case[] = [
  {
    what: 'cuts the one table that is read most, and no other',
    worldSize: 2,
    tables: [[1000, 12, 1], [50, 16, 1], [10, 16, 10], [50, 12, 1], [5000, 12, 3], [10, 16, 10], [50, 64, 1], [10, 64, 1], [10, 4, 1]], // prettier-ignore
    widths: [[12], [16], [16], [12], [6, 6], [16], [64], [64], [4]],
    divided: [[0, 3, 4, 5, 7], [1, 2, 4, 6, 8]], // prettier-ignore
  },
  {
    what: 'keeps what memory_balanced found where nothing is better',
    worldSize: 3,
    tables: [[200, 4, 10], [5000, 16, 3], [1000, 16, 3], [50, 16, 1]], // prettier-ignore
    widths: [[4], [16], [16], [16]],
    divided: [[1], [2], [3, 0]],
  },
  {
    what: 'gives each device a piece of every table, the odd column to another one each time',
    worldSize: 3,
    tables: [[200, 16, 3], [200, 64, 3], [50, 16, 1]], // prettier-ignore
    widths: [[5, 6, 5], [22, 21, 21], [5, 5, 6]], // prettier-ignore
    divided: [[0, 1, 2], [0, 1, 2], [0, 1, 2]], // prettier-ignore
  },
  {
    what: 'cuts several tables into unlike numbers of pieces',
    worldSize: 3,
    tables: [[200, 64, 1], [50, 12, 3], [10, 12, 1], [10, 12, 10], [50, 4, 10], [5000, 16, 1], [10, 4, 1]], // prettier-ignore
    widths: [[32, 32], [12], [12], [6, 6], [4], [6, 5, 5], [4]],
    divided: [[1, 2, 4, 5, 6], [0, 3, 5], [0, 3, 5]], // prettier-ignore
  },
  {
    what: 'cuts finely where few tables serve many devices',
    worldSize: 8,
    tables: [[10, 16, 3], [1000, 12, 3], [1000, 4, 3], [5000, 8, 3]], // prettier-ignore
    widths: [
      [2, 2, 2, 2, 2, 2, 2, 2],
      [2, 2, 2, 2, 1, 1, 1, 1],
      [1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1, 1, 1],
    ],
    divided: [[0, 1, 3], [0, 1, 3], [0, 1, 3], [0, 1, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]], // prettier-ignore
  },
];

describe('cost_balanced', () => {
  for (const { what, worldSize, tables, widths, divided } of CASES) {
    it(what, () => {
      const plan = planEmbedding({
        tables: tables.map(([inputDim, outputDim]) => ({ inputDim, outputDim })),
        hotness: tables.map(([, , hotness]) => hotness),
        worldSize,
        batchSize: 64,
        strategy: 'cost_balanced',
      });
      expect(plan.tableParallel!.sliceWidthsPerTable).toEqual(widths as number[][]);
      expect(plan.tableParallel!.dividedIds).toEqual(divided as number[][]);
    });
  }

  it('leaves tables whole where cutting them makes the step dearer, however even that would be', () => {
    const request = {
      tables: [[100, 128], [1000, 16], [100, 64]].map(([inputDim, outputDim]) => ({ inputDim: inputDim!, outputDim: outputDim! })), // prettier-ignore
      hotness: [5, 1, 5],
      worldSize: 3,
      batchSize: 1024,
    };
    const slowest = ({ ranks }: EmbeddingPlan): number => Math.max(...ranks.map(({ predicted }) => predicted!.seconds));
    const cut = planEmbedding({ ...request, strategy: 'basic', columnSliceThreshold: 1 });
    expect(cut.tableParallel!.dividedIds).toEqual([[0, 1, 2], [0, 1, 2], [0, 1, 2]]); // prettier-ignore
    const plan = planEmbedding({ ...request, strategy: 'cost_balanced' });
    expect(plan.tableParallel!.dividedIds).toEqual([[1, 2], [0, 1], [0]]); // prettier-ignore
    expect(slowest(cut)).toBeGreaterThan(1.03 * slowest(plan));
  });
});
