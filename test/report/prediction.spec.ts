/** What a prediction takes from the plans of a machine and from the tables that lie there. */
import { predictionOf } from '../../src/report/prediction.js';
import { placesOfTables } from '../../src/report/measured.js';
import type { PlanEmbeddingArgs } from '../../src/partition/index.js';
import type { ReportSource } from '../../src/backends/devices/report_source.js';
import { sourceOf } from './report_sources.js';

const CHIPS = 1;
/** No device memory is left: all tables lie in the memory of the host. */
const IN_HOST: PlanEmbeddingArgs = {
  tables: [{ inputDim: 1000, outputDim: 128 }],
  worldSize: CHIPS,
  batchSize: 64,
  hotness: [10],
  deviceMemory: 0,
};

function withHostBandwidth(hostBandwidth: number): PlanEmbeddingArgs {
  return { ...IN_HOST, machine: { hostBandwidth } };
}

/** A machine with the plans of both requests. */
function sourceOfBoth(one: PlanEmbeddingArgs, other: PlanEmbeddingArgs): ReportSource {
  const [first, second] = [sourceOf(one), sourceOf(other)];
  const plans = [first.plans[0]!, { ...second.plans[0]!, name: 'others' }];
  return { ...first, plans, tables: [...first.tables, ...second.tables] };
}

describe('Prediction of a report', () => {
  it('the host memory of several plans is as fast as that of the slowest', () => {
    const secondsOf = (one: number, other: number): number => {
      const source = sourceOfBoth(withHostBandwidth(one), withHostBandwidth(other));
      return predictionOf(source, 'v5p', CHIPS).lookupSeconds!;
    };
    const slow = secondsOf(10e9, 10e9);
    expect(slow).toBeGreaterThan(0);
    expect(secondsOf(20e9, 20e9)).toBeCloseTo(slow / 2, 15);
    expect(secondsOf(10e9, 20e9)).toBe(slow);
    expect(secondsOf(20e9, 10e9)).toBe(slow);
  });

  it('slots of tables in the memory of the host lie there too', () => {
    const slots = [{ name: 'momenta', columns: 128 }];
    const named = { ...IN_HOST, tables: [{ name: 'a', inputDim: 1000, outputDim: 128 }] };
    const wanted = (request: PlanEmbeddingArgs): number => {
      const source = sourceOf(request, { slots });
      return predictionOf(source, 'v5p', CHIPS).mostBytesWanted;
    };
    const inHost = wanted(named);
    const onDevice = wanted({ ...named, deviceMemory: null });
    // The table and as many slots of 512,000 bytes; what is exchanged lies on the device in both.
    expect(onDevice - inHost).toBe(2 * 4 * 1000 * 128);
  });

  it('says that plans were made again, and only where they were', () => {
    const source = sourceOf({ ...IN_HOST, deviceMemory: null });
    const [same, other] = [predictionOf(source, 'v5p', CHIPS), predictionOf(source, 'v5p', 2 * CHIPS)];
    const said = 'the plans were made again for 2 devices, as they were for 1 device';
    expect([same.plannedAgain, other.plannedAgain]).toEqual([false, true]);
    expect(same.assumptions.filter((text) => text.includes('made again'))).toEqual([]);
    expect(other.assumptions).toContain(said);
  });

  it('tables of a plan are found by name and size, where nobody tells which they are', () => {
    const source = sourceOf({ ...IN_HOST, tables: [{ name: 'a', inputDim: 1000, outputDim: 128 }] });
    const [table] = source.tables;
    const placesWith = (name: string, rows: number, columns: number): (number | null)[][] => {
      const other = { ...table!, name, layout: { ...table!.layout, rows, columns } };
      return placesOfTables({ ...source, tables: [{ ...other, name: 'x' }, other] });
    };
    for (const name of ['a', 'layer/a', 'a/embeddings', 'layer/a/embeddings']) {
      expect(placesWith(name, 1000, 128)).toEqual([[1]]);
    }
    expect(placesWith('aa', 1000, 128)).toEqual([[null]]);
    expect(placesWith('a', 999, 128)).toEqual([[null]]);
    expect(placesWith('a', 1000, 127)).toEqual([[null]]);
    const plans = source.plans.map((plan) => ({ ...plan, tables: [5] }));
    expect(placesOfTables({ ...source, plans })).toEqual([[5]]);
  });
});
