/** Plans that fit into devices with limits, wherever one does. */
import { fittingPlan } from '../../../src/partition/strategies/fitting_plan.js';
import { planEmbedding } from '../../../src/partition/planner.js';

const fullest = (plan: ReturnType<typeof fittingPlan>): number =>
  Math.max(...plan.ranks.map(({ predicted }) => predicted!.bytesMemory));

describe('A plan for devices with limits', () => {
  it('is the one that is asked for where that fits with the slots of any optimizer', () => {
    const args = {
      tables: [
        { inputDim: 100, outputDim: 4 },
        { inputDim: 50, outputDim: 4 },
      ],
      worldSize: 2,
    };
    expect(fittingPlan(args, 3 * 1600).toJSON()).toEqual(planEmbedding(args).toJSON());
  });

  it('cuts a table that takes more than a device has with its slots', () => {
    // 56 MB of tables, as many of slots, on two devices of 62 MB.
    const tables = [
      { inputDim: 400_000, outputDim: 32 },
      { inputDim: 20_000, outputDim: 32 },
      { inputDim: 20_000, outputDim: 32 },
    ];
    for (const strategy of ['basic', 'memory_balanced', 'memory_optimized'] as const) {
      const args = { tables, worldSize: 2, strategy };
      expect(2 * fullest(planEmbedding(args))).toBeGreaterThan(62e6);
      const plan = fittingPlan(args, 62e6);
      expect(2 * fullest(plan)).toBeLessThanOrEqual(62e6);
      expect(plan.notes!.join()).toContain('1 slots');
    }
  });

  it('leaves what the caller has cut, and what fits nowhere, as it is asked for', () => {
    const tables = [
      { inputDim: 1000, outputDim: 8 },
      { inputDim: 10, outputDim: 8 },
    ];
    for (const args of [
      { tables, worldSize: 2, columnSliceThreshold: 1e6 },
      { tables, worldSize: 2, rowSliceThreshold: 1e6 },
    ]) {
      expect(fittingPlan(args, 20_000).toJSON()).toEqual(planEmbedding(args).toJSON());
    }
    expect(fittingPlan({ tables, worldSize: 2 }, 1000).toJSON()).toEqual(
      planEmbedding({ tables, worldSize: 2 }).toJSON(),
    );
  });

  it('fits where a cut into equal columns would, for drawn tables', () => {
    for (let round = 0; round < 60; round++) {
      const worldSize = 2 + Math.floor(Math.random() * 3);
      const tables = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => ({
        inputDim: 1 + Math.floor(Math.random() * 1000),
        outputDim: worldSize * (1 + Math.floor(Math.random() * 8)),
      }));
      const all = tables.reduce((sum, { inputDim, outputDim }) => sum + 4 * inputDim * outputDim, 0);
      const slots = Math.floor(Math.random() * 3);
      // What every device needs where each table is cut into as many columns, and a little more.
      const room = Math.ceil((1.34 * (1 + slots) * all) / worldSize) + 64;
      const plan = fittingPlan({ tables, worldSize }, room);
      expect((1 + slots) * fullest(plan))
        .withContext(JSON.stringify({ tables, worldSize, room }))
        .toBeLessThanOrEqual(room);
    }
  });
});
