/** Predicted loads, reckoned by hand. */
import { planEmbedding, type PlanEmbeddingArgs } from '../../src/partition/index.js';

/** A machine that moves a byte per second everywhere: its seconds are bytes. */
const SLOW = { memoryBandwidth: 1, hostBandwidth: 1, linkBandwidth: 1 };
/** A machine that moves bytes in one place only. */
const only = (place: keyof typeof SLOW): typeof SLOW => ({
  memoryBandwidth: 1e300,
  hostBandwidth: 1e300,
  linkBandwidth: 1e300,
  [place]: 1,
});

function seconds(args: Partial<PlanEmbeddingArgs> & Pick<PlanEmbeddingArgs, 'tables'>): number[] {
  const plan = planEmbedding({ worldSize: 1, hotness: [3], batchSize: 10, machine: SLOW, ...args });
  return plan.ranks.map(({ predicted }) => predicted!.seconds);
}

/** Three passes, each of which reads 30 ids and their rows and writes 10 pooled ones. */
const passes = (width: number, penalty: number): number => 3 * 4 * (30 * (1 + width * penalty) + 10 * width);

describe('rankLoads', () => {
  it('reads rows that are short less well', () => {
    for (const [width, penalty] of [
      [256, 1],
      [128, 1],
      [127, 1.15],
      [64, 1.15],
      [63, 1.75],
      [1, 1.75],
    ] as const) {
      const tables = [{ inputDim: 100, outputDim: width }];
      expect(seconds({ tables })[0]).withContext(`${width}`).toBeCloseTo(passes(width, penalty), 6);
      expect(seconds({ tables, machine: only('memoryBandwidth') })[0]).toBeCloseTo(passes(width, penalty), 6);
      expect(seconds({ tables, machine: only('linkBandwidth') })[0]).toBeCloseTo(0, 6);
    }
  });

  it('reads rows of the host from the host', () => {
    const tables = [{ inputDim: 100, outputDim: 128 }];
    expect(seconds({ tables, deviceMemory: 0, machine: only('hostBandwidth') })[0]).toBeCloseTo(passes(128, 1), 6);
    expect(seconds({ tables, deviceMemory: 0, machine: only('memoryBandwidth') })[0]).toBeCloseTo(0, 6);
  });

  it('sends ids and gradients one way and pooled rows the other, for the part of the batch that others have', () => {
    const tables = [4, 4].map((outputDim) => ({ inputDim: 100, outputDim }));
    const args = { tables, worldSize: 2, hotness: [3, 1], machine: only('linkBandwidth') };
    const pooled = (4 * 10 * 4) / 2;
    const ids = (hotness: number): number => (4 * 10 * hotness) / 2;
    expect(seconds(args)).toEqual([2 * pooled + ids(3), 2 * pooled + ids(1)]);
    expect(seconds({ ...args, dpInput: false })).toEqual([2 * pooled, 2 * pooled]);
  });

  it('updates copies on every device, and sums their gradients in a ring', () => {
    const args = { tables: [{ inputDim: 6, outputDim: 128 }], worldSize: 4, dataParallelThreshold: 768, batchSize: 40 };
    const bytes = 4 * 6 * 128;
    const [device] = seconds({ ...args, machine: only('memoryBandwidth') });
    expect(device).toBeCloseTo(passes(128, 1) + 9.22 * bytes, 6);
    expect(seconds({ ...args, machine: only('linkBandwidth') })[0]).toBeCloseTo((2 * bytes * 3) / 4, 6);
  });
});
