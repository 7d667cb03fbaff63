/** Predictions against numbers worked out by hand. */
import { sumOf, type StepLoad } from '../../src/partition/step_load.js';
import { predictStep, type StepArgs } from '../../src/report/cost_model.js';

function stepOf(loads: StepLoad[], changes: Partial<StepArgs> = {}): ReturnType<typeof predictStep> {
  const memory = loads.map(() => ({ tables: 0, slots: 0, exchange: 0, host: 0 }));
  const chips = loads.length;
  return predictStep({ generation: 'v5p', chips, devicesPerChip: 1, loads, memory, hostBandwidth: 50e9, ...changes });
}

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
