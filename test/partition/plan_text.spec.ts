/** Plans as text. */
import { ValueError } from '../../src/base/errors.js';
import { planEmbedding, readPlan, type PlanData } from '../../src/partition/index.js';
import { planText } from '../../src/partition/plan_text.js';

const TABLES = [
  { name: 'users', inputDim: 1000, outputDim: 16 },
  { name: 'tiny', inputDim: 2, outputDim: 4 },
  { name: 'long', inputDim: 5000, outputDim: 8 },
  { inputDim: 10, outputDim: 16 },
  { inputDim: 300, outputDim: 64 },
];
const ARGS = {
  tables: TABLES,
  inputTableMap: [0, 1, 2, 3, 4, 0],
  worldSize: 2,
  strategy: 'memory_balanced' as const,
  rowSliceThreshold: 30000,
  dataParallelThreshold: 8,
  hotness: [1, 2, 3, 4, 5, 6],
  batchSize: 64,
};

describe('planText', () => {
  it('shows every piece, aligned, and what each device has of all', () => {
    expect(String(planEmbedding(ARGS)).split('\n')).toEqual([
      '5 tables for 6 inputs on 2 devices, strategy memory_balanced: 1 copied to each device, 3 placed whole or by columns, 1 by rows',
      'device  table    rows        columns  elements     bytes   share  held as',
      '     0  1 tiny   0..2        0..4            8      32 B   0.0 %  copy',
      '     0  4 4      0..300      0..64       19200   76.8 kB  25.5 %  weight 0 from row 0',
      '     0  2 long   0..2500     0..8        20000   80.0 kB  26.5 %  rows',
      '     0  in all                           39208  156.8 kB  52.0 %  per step 440 ns, 480 lookups, 9.12 kB sent',
      '     1  1 tiny   0..2        0..4            8      32 B   0.0 %  copy',
      '     1  0 users  0..1000     0..16       16000   64.0 kB  21.2 %  weight 0 from row 0',
      '     1  3 3      0..10       0..16         160     640 B   0.2 %  weight 0 from row 1000',
      '     1  2 long   2500..5000  0..8        20000   80.0 kB  26.5 %  rows',
      '     1  in all                           36168  144.7 kB  48.0 %  per step 375 ns, 864 lookups, 7.07 kB sent',
      "a step: a batch of 64, on devices that read 897 GB/s of their own memory and 51.0 GB/s of the host's, and send 600 GB/s",
    ]);
  });

  it('says for which batch and machine it predicts, also once it was stored', () => {
    const last = (plan: unknown): string => String(plan).split('\n').at(-1)!;
    const [tables, worldSize] = [[{ inputDim: 3, outputDim: 4 }], 1];
    const plain = planEmbedding({ tables, worldSize, batchSize: 4096, machine: { linkBandwidth: 600e9 } });
    expect(last(plain)).toMatch(/^a step: a batch of 4096, .* 897 GB\/s .* 51\.0 GB\/s .* 600 GB\/s$/);
    expect('predictedFor' in plain).toBeFalse();
    const machine = { memoryBandwidth: 2.765e12, linkBandwidth: 9e7 };
    const other = planEmbedding({ tables, worldSize, batchSize: 7, machine });
    expect(other.predictedFor).toEqual({ batchSize: 7, machine: { ...machine, hostBandwidth: 51e9 } });
    expect(last(other)).toMatch(/^a step: a batch of 7, .* 2\.77 TB\/s .* 51\.0 GB\/s .* 90\.0 MB\/s$/);
    expect(String(readPlan(JSON.stringify(other)))).toBe(String(other));
    expect(planEmbedding({ tables, worldSize, machine: { hostBandwidth: 5e10 } }).predictedFor!.batchSize).toBe(4096);
    const wrong = { ...other.toJSON(), predictedFor: { batchSize: 7, machine } } as unknown as PlanData;
    expect(() => readPlan(wrong)).toThrowError(ValueError, /predictedFor\.machine\.hostBandwidth: missing/);
  });

  it('tells rows that are dealt out and weights that stay with the host', () => {
    const dealt = String(planEmbedding({ ...ARGS, rowSharding: 'modulo' })).split('\n');
    expect(dealt[9]).toBe('     1  2 long   id mod 2 = 1  0..8        20000   80.0 kB  26.5 %  rows');
    const offloaded = String(planEmbedding({ ...ARGS, deviceMemory: 5000 })).split('\n');
    expect(offloaded[3]).toContain('25.5 %  weight 0 from row 0, host memory');
    expect(offloaded[5]).toContain('per step 6.65 us, 480 lookups');
  });

  it('numbers tables where they have no names, and says nothing of loads where there are none', () => {
    const plan = planEmbedding({ tables: [{ inputDim: 3, outputDim: 4 }], worldSize: 1 }).toJSON() as PlanData;
    delete plan.tableNames;
    delete plan.ranks[0]!.predicted;
    plan.notes = ['one', 'two'];
    expect(planText(plan).split('\n').slice(1)).toEqual([
      'device  table   rows  columns  elements  bytes    share  held as',
      '     0  0       0..3  0..4           12   48 B  100.0 %  weight 0 from row 0',
      '     0  in all                       12   48 B  100.0 %',
      'note: one',
      'note: two',
    ]);
  });

  it('gives sizes and times three or four digits and a unit', () => {
    const plan = planEmbedding({ tables: [{ inputDim: 3, outputDim: 4 }], worldSize: 1 }).toJSON() as PlanData;
    const shown = (bytesOut: number, seconds: number): string => {
      plan.ranks[0]!.predicted = { seconds, lookups: 2.6, bytesMemory: 0, bytesOut };
      return /per step (.*) sent$/m.exec(planText(plan))![1]!;
    };
    expect(shown(0, 0)).toBe('0.00 s, 3 lookups, 0 B');
    expect(shown(999, 1)).toBe('1.00 s, 3 lookups, 999 B');
    expect(shown(1000, 0.999)).toBe('999 ms, 3 lookups, 1.00 kB');
    expect(shown(99_900, 1e-3)).toBe('1.00 ms, 3 lookups, 99.9 kB');
    expect(shown(100_000, 2.5e-6)).toBe('2.50 us, 3 lookups, 100.0 kB');
    expect(shown(5e6, 3e-9)).toBe('3.00 ns, 3 lookups, 5.00 MB');
    expect(shown(5e9, 3e-10)).toBe('0.300 ns, 3 lookups, 5.00 GB');
    expect(shown(5e12, 12)).toBe('12.0 s, 3 lookups, 5.00 TB');
    expect(shown(7e18, 12)).toBe('12.0 s, 3 lookups, 7000 PB');
  });
});
