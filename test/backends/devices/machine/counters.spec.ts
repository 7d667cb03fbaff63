/** What the emulator counts, on cases small enough to be counted by hand. */
import * as tf from '@tensorflow/tfjs';
import type { Counters, TableCounts } from '../../../../src/backends/devices/machine/counters.js';
import type { LookupGradient } from '../../../../src/backends/contract.js';
import { running } from '../../../../src/backends/emulator/register.js';
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../../../src/rules/hyper.js';
import type { BagOptions } from '../../../../src/backends/kernel_set.js';
import { wholeOn, type LayoutShard, type TableLayout } from '../../../../src/partition/table_layout.js';
import { describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { bagTensors, place } from '../../emulator/tables.js';
import { tableOf } from '../../../../src/backends/table.js';

const SUM: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
const SIZE = { rows: 6, columns: 4 };
const ZEROS = new Float32Array(24);

function shardOf(device: number, part: Partial<LayoutShard>): LayoutShard {
  return { device, rows: { first: 0, step: 1, count: 6 }, columns: [0, 4], inHost: false, ...part };
}

const WHOLE = wholeOn(1, SIZE);
const COLUMNS: TableLayout = {
  kind: 'columns',
  ...SIZE,
  shards: [shardOf(0, { columns: [0, 3] }), shardOf(2, { columns: [3, 4] })],
};
const RANGE: TableLayout = {
  kind: 'rows',
  ...SIZE,
  shards: [0, 1, 2].map((device) => shardOf(device, { rows: { first: 2 * device, step: 1, count: 2 } })),
};
const MODULO: TableLayout = {
  kind: 'rows',
  ...SIZE,
  shards: [0, 1, 2].map((device) => shardOf(device, { rows: { first: device, step: 3, count: 2 } })),
};
const COPIES: TableLayout = { kind: 'replicated', ...SIZE, shards: [0, 1, 2].map((device) => shardOf(device, {})) };

/** Five bags over three devices: the first begins with bags 0 and 1, the second with 2 and 3, the third with 4. */
const IDS = Int32Array.of(0, 0, 5, 3, 3, 2, 1);
const SPLITS = Int32Array.of(0, 2, 3, 3, 6, 7);

function bags(weighted = false): LookupGradient['bags'] {
  return bagTensors({ values: IDS, rowSplits: SPLITS, weights: weighted ? new Float32Array(7).fill(1) : null });
}

/** Counts of one lookup. */
function lookUp(
  layout: TableLayout,
  more: { weighted?: boolean; idsArePlaced?: boolean; options?: BagOptions } = {},
): Counters {
  const { counters } = emulator().machine;
  const table = place(layout, ZEROS);
  counters.reset();
  tf.tidy(() => {
    const { weighted, idsArePlaced = false, options = SUM } = more;
    emulator().lookUp([{ table: tableOf(table), bags: bags(weighted), options, idsArePlaced }]);
  });
  const counts = counters.counters();
  table.dispose();
  return counts;
}

/** Counts of one step of SGD. */
function update(layout: TableLayout, hyper: Partial<Hyper> = {}, weighted = false): Counters {
  const { counters } = emulator().machine;
  const table = place(layout, ZEROS);
  counters.reset();
  tf.tidy(() => {
    const entries = [{ gradient: tf.ones([5, 4]) as tf.Tensor2D, bags: bags(weighted), options: SUM }];
    const numbers = packHyper({ ...NEUTRAL_HYPER, learningRate: 1, ...hyper });
    emulator().update([{ optimizer: 'sgd', table: tableOf(table), slots: [], entries, dense: null, hyper: numbers }]);
  });
  const counts = counters.counters();
  table.dispose();
  return counts;
}

/** Counts of one gradient with respect to weights. */
function weightsGradient(layout: TableLayout): Counters {
  const { counters } = emulator().machine;
  const table = place(layout, ZEROS);
  counters.reset();
  tf.tidy(() => emulator().weightsGradient(table, tf.ones([5, 4]), bags(true), SUM));
  const counts = counters.counters();
  table.dispose();
  return counts;
}

const idsOf = ({ devices }: Counters): number[] => devices.map(({ ids }) => ids);
const uniqueOf = ({ devices }: Counters): number[] => devices.map(({ uniqueIds }) => uniqueIds);
const elementsOf = ({ devices }: Counters): number[] => devices.map(({ elements }) => elements);

describeEmulator('counters of gradients with respect to weights', { chips: 3, coresPerChip: 1 }, () => {
  it('one number per id goes back to where its bag began', () => {
    expect(weightsGradient(WHOLE).links.bytes).toEqual([[0, 0, 0], [12, 0, 4], [0, 0, 0]]); // prettier-ignore
    expect(weightsGradient(COLUMNS).links.bytes).toEqual([[0, 12, 4], [0, 0, 0], [12, 12, 0]]); // prettier-ignore
    expect(weightsGradient(RANGE).links.bytes).toEqual([[0, 0, 4], [0, 0, 0], [4, 0, 0]]); // prettier-ignore
    expect(weightsGradient(COPIES).links.bytes.flat()).toEqual(new Array<number>(9).fill(0));
  });
});

describeEmulator('counters of lookups', { chips: 3, coresPerChip: 1 }, () => {
  it('of a table on one device', () => {
    const counts = lookUp(WHOLE);
    expect([counts.lookUps, counts.updates, counts.bags]).toEqual([1, 0, 5]);
    expect(idsOf(counts)).toEqual([0, 7, 0]);
    expect(uniqueOf(counts)).toEqual([0, 5, 0]);
    expect(elementsOf(counts)).toEqual([0, 28, 0]);
    // Ids of the first device (3) and the third (1) go to the second.
    expect(counts.links.ids).toEqual([[0, 3, 0], [0, 0, 0], [0, 1, 0]]); // prettier-ignore
    // With the length of each bag: 3 + 2 words, 1 + 1 words. Back come rows of 4 words, one for each bag.
    expect(counts.links.bytes).toEqual([[0, 20, 0], [32, 0, 16], [0, 8, 0]]); // prettier-ignore
    expect(counts.devices.map(({ bytesOut, bytesIn }) => [bytesOut, bytesIn])).toEqual([[20, 32], [48, 28], [8, 16]]); // prettier-ignore
  });

  it('of a table cut by columns', () => {
    const counts = lookUp(COLUMNS);
    expect(idsOf(counts)).toEqual([7, 0, 7]);
    expect(uniqueOf(counts)).toEqual([5, 0, 5]);
    expect(elementsOf(counts)).toEqual([21, 0, 7]);
    expect(counts.links.ids).toEqual([[0, 0, 3], [3, 0, 3], [1, 0, 0]]); // prettier-ignore
    const fromFirst = [0, 4 * 2 * 3, 4 * 3 + 4 * (3 + 2)];
    const fromSecond = [4 * (3 + 2), 0, 4 * (3 + 2)];
    const fromThird = [4 * (1 + 1) + 4 * 2, 4 * 2, 0];
    expect(counts.links.bytes).toEqual([fromFirst, fromSecond, fromThird]);
  });

  it('of a table cut into ranges of rows', () => {
    const counts = lookUp(RANGE);
    // Device 0 has rows 0, 1: ids 0, 0 and 1; device 1 rows 2, 3: ids 3, 3, 2; device 2 row 5.
    expect(idsOf(counts)).toEqual([3, 3, 1]);
    expect(uniqueOf(counts)).toEqual([2, 2, 1]);
    expect(elementsOf(counts)).toEqual([12, 12, 4]);
    // Id 5 from the first to the third device, id 1 from the third to the first; each with the length of its bag.
    expect(counts.links.ids).toEqual([[0, 0, 1], [0, 0, 0], [1, 0, 0]]); // prettier-ignore
    expect(counts.links.bytes).toEqual([[0, 0, 8 + 16], [0, 0, 0], [8 + 16, 0, 0]]); // prettier-ignore
  });

  it('of a table whose rows are dealt out', () => {
    const counts = lookUp(MODULO);
    // Device 0 has rows 0, 3; device 1 rows 1, 4; device 2 rows 2, 5.
    expect(idsOf(counts)).toEqual([4, 1, 2]);
    expect(uniqueOf(counts)).toEqual([2, 1, 2]);
    expect(counts.links.ids).toEqual([[0, 0, 1], [2, 0, 1], [0, 1, 0]]); // prettier-ignore
    // Ids with the lengths of their bags: 2 + 1 words from the second device to the first, 1 + 1 on the other links.
    expect(counts.links.bytes).toEqual([[0, 16, 8], [12, 0, 8 + 16], [16, 8 + 16, 0]]); // prettier-ignore
  });

  it('of a table with copies: nothing is sent', () => {
    const counts = lookUp(COPIES);
    expect(idsOf(counts)).toEqual([3, 3, 1]);
    expect(uniqueOf(counts)).toEqual([2, 2, 1]);
    expect(elementsOf(counts)).toEqual([12, 12, 4]);
    for (const { bytesOut, bytesIn } of counts.devices) expect([bytesOut, bytesIn]).toEqual([0, 0]);
  });

  it('of weights, which travel with their ids', () => {
    const counts = lookUp(WHOLE, { weighted: true });
    expect(counts.links.ids[0]).toEqual([0, 3, 0]);
    expect([counts.links.bytes[0]![1], counts.links.bytes[2]![1]]).toEqual([4 * (3 + 3 + 2), 4 * (1 + 1 + 1)]);
    expect(lookUp(RANGE, { weighted: true }).links.bytes[0]).toEqual([0, 0, 12 + 16]);
    // The divisor of a mean of rows that are dealt out travels as a weight.
    expect(lookUp(RANGE, { options: { ...SUM, combiner: 'mean' } }).links.bytes[0]).toEqual([0, 0, 12 + 16]);
    expect(lookUp(WHOLE, { options: { ...SUM, combiner: 'mean' } }).links.bytes[0]).toEqual([0, 20, 0]);
  });

  it('of ids that came with the input', () => {
    for (const layout of [WHOLE, COLUMNS, RANGE, MODULO]) {
      const counts = lookUp(layout, { idsArePlaced: true });
      expect(counts.links.ids.flat()).toEqual(new Array<number>(9).fill(0));
      expect(idsOf(counts)).toEqual(idsOf(lookUp(layout)));
    }
    expect(lookUp(WHOLE, { idsArePlaced: true }).links.bytes).toEqual([[0, 0, 0], [32, 0, 16], [0, 0, 0]]); // prettier-ignore
  });

  it('of bags of one length, whose lengths are not sent', () => {
    const table = place(WHOLE, ZEROS);
    const { counters } = emulator().machine;
    counters.reset();
    tf.tidy(() => {
      const even = bagTensors({ values: IDS.slice(0, 6), rowSplits: Int32Array.of(0, 2, 4, 6), weights: null });
      emulator().lookUp([{ table: tableOf(table), bags: even, options: SUM }]);
      emulator().lookUp([
        { table: tableOf(table), bags: even, options: SUM },
        { table: tableOf(table), bags: even, options: SUM },
      ]);
    });
    const counts = counters.counters();
    expect([counts.lookUps, counts.bags]).toEqual([2, 9]);
    expect(counts.links.bytes[0]).toEqual([0, 3 * 8, 0]);
    expect(idsOf(counts)).toEqual([0, 18, 0]);
    counters.reset();
    expect(counters.counters().links.bytes.flat()).toEqual(new Array<number>(9).fill(0));
    table.dispose();
  });

  it('of a batch smaller than the number of devices', () => {
    const table = place(COPIES, ZEROS);
    const { counters } = emulator().machine;
    counters.reset();
    tf.tidy(() => {
      const one = bagTensors({ values: Int32Array.of(2), rowSplits: Int32Array.of(0, 1), weights: null });
      emulator().lookUp([{ table: tableOf(table), bags: one, options: SUM }]);
    });
    expect(idsOf(counters.counters())).toEqual([1, 0, 0]);
    table.dispose();
  });
});

describeEmulator('counters of steps', { chips: 3, coresPerChip: 1 }, () => {
  it('of a table on one device: gradients of all bags', () => {
    const counts = update(WHOLE);
    expect([counts.lookUps, counts.updates, counts.bags]).toEqual([0, 1, 0]);
    expect(idsOf(counts)).toEqual([0, 0, 0]);
    expect(counts.links.bytes).toEqual([[0, 32, 0], [0, 0, 0], [0, 16, 0]]); // prettier-ignore
  });

  it('of a table cut by columns: the columns of each device', () => {
    expect(update(COLUMNS).links.bytes).toEqual([[0, 0, 8], [24, 0, 8], [12, 0, 0]]); // prettier-ignore
  });

  it('of a table cut by rows: gradients of bags with an id there', () => {
    expect(update(RANGE).links.bytes).toEqual([[0, 0, 16], [0, 0, 0], [16, 0, 0]]); // prettier-ignore
    expect(update(MODULO).links.bytes).toEqual([[0, 0, 16], [16, 0, 16], [0, 16, 0]]); // prettier-ignore
  });

  it('of a table with copies: the rows that each device found, to all others', () => {
    // Two rows, two rows and one, each an id and 4 floats.
    expect(update(COPIES).links.bytes).toEqual([[0, 40, 40], [40, 0, 40], [20, 20, 0]]); // prettier-ignore
  });
});

describeEmulator('seconds of the host', { chips: 3, coresPerChip: 1 }, () => {
  it('are those inside lookups and steps, devices included', () => {
    // A clock that stands still, but for the work of the devices.
    let milliseconds = 5000;
    spyOn(performance, 'now').and.callFake(() => milliseconds);
    const { machine } = emulator();
    const start = machine.start.bind(machine);
    spyOn(machine, 'start').and.callFake((commands) => {
      start(commands);
      milliseconds += 250;
    });
    expect(lookUp(WHOLE).seconds).toEqual({ lookUp: 0.25, update: 0 });
    expect(update(WHOLE).seconds).toEqual({ lookUp: 0, update: 0.25 });
    // Copies are stepped once their gradients are together.
    expect(update(COPIES).seconds).toEqual({ lookUp: 0, update: 0.5 });
    const table = place(WHOLE, ZEROS);
    machine.counters.reset();
    tf.tidy(() => {
      for (let call = 0; call < 3; call++) emulator().lookUp([{ table: tableOf(table), bags: bags(), options: SUM }]);
    });
    expect(machine.counters.counters().seconds.lookUp).toBe(0.75);
    machine.counters.reset();
    expect(machine.counters.counters().seconds).toEqual({ lookUp: 0, update: 0 });
    table.dispose();
  });
});

describeEmulator('counters of tables', { chips: 3, coresPerChip: 1 }, () => {
  const countsOf = (table: tf.Variable): TableCounts => {
    const { machine, tensors } = running()!;
    return machine.counters.table(tensors.get(table.dataId)!.owner);
  };

  it('tell what was looked up in each, and sent for each', () => {
    const tables = [WHOLE, COLUMNS, RANGE, MODULO, COPIES].map((layout) => place(layout, ZEROS));
    const { counters } = emulator().machine;
    counters.reset();
    tf.tidy(() => {
      emulator().lookUp(tables.map((table) => ({ table: tableOf(table), bags: bags(), options: SUM })));
    });
    expect(tables.map((table) => countsOf(table).ids)).toEqual([7, 7, 7, 7, 7]);
    const lookups = tables.map((table) => countsOf(table).linkBytes);
    // As told link by link above.
    expect(lookups).toEqual([20 + 48 + 8, 24 + 32 + 20 + 20 + 16 + 8, 24 + 24, 24 + 36 + 40, 0]);
    const numbers = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
    tf.tidy(() => {
      const entries = [{ gradient: tf.ones([5, 4]) as tf.Tensor2D, bags: bags(), options: SUM }];
      const step = { optimizer: 'sgd' as const, slots: [], entries, dense: null, hyper: numbers };
      emulator().update(tables.map((table) => ({ ...step, table: tableOf(table) })));
    });
    expect(tables.map((table) => countsOf(table).ids)).toEqual([7, 7, 7, 7, 7]);
    const steps = tables.map((table, i) => countsOf(table).linkBytes - lookups[i]!);
    expect(steps).toEqual([48, 8 + 32 + 12, 32, 16 + 32 + 16, 80 + 80 + 40]);
    const all = tables.reduce((sum, table) => sum + countsOf(table).linkBytes, 0);
    expect(
      counters
        .counters()
        .links.bytes.flat()
        .reduce((sum, bytes) => sum + bytes),
    ).toBe(all);
    counters.reset();
    expect(countsOf(tables[0]!)).toEqual({ ids: 0, linkBytes: 0 });
    for (const table of tables) table.dispose();
  });

  it('tell what goes back as gradients with respect to weights', () => {
    const table = place(WHOLE, ZEROS);
    emulator().machine.counters.reset();
    tf.tidy(() => emulator().weightsGradient(table, tf.ones([5, 4]), bags(true), SUM));
    expect(countsOf(table)).toEqual({ ids: 0, linkBytes: 16 });
    table.dispose();
  });

  it('stay with a table that moves', () => {
    const table = place(COLUMNS, ZEROS);
    emulator().machine.counters.reset();
    tf.tidy(() => void emulator().lookUp([{ table: tableOf(table), bags: bags(), options: SUM }]));
    const before = countsOf(table);
    emulator().place(table, { layout: WHOLE });
    expect(countsOf(table)).toEqual(before);
    expect(before.ids).toBe(7);
    table.dispose();
  });
});

const EXCHANGED: readonly { name: string; layout: TableLayout; ids: number[]; lookUp: number[]; update: number[] }[] = [
  // Words: ids and 4 (columns) for each bag.
  { name: 'one device', layout: WHOLE, ids: [0, 7, 0], lookUp: [0, 7 + 20, 0], update: [0, 27, 0] },
  { name: 'columns', layout: COLUMNS, ids: [7, 0, 7], lookUp: [7 + 15, 0, 7 + 5], update: [22, 0, 12] },
  { name: 'rows', layout: RANGE, ids: [3, 3, 1], lookUp: [3 + 8, 3 + 4, 1 + 4], update: [11, 7, 5] },
  // A step has the rows of all devices besides: five, each an id and 4 floats.
  {
    name: 'replicated',
    layout: COPIES,
    ids: [3, 3, 1],
    lookUp: [3 + 8, 3 + 8, 1 + 4],
    update: [11 + 25, 11 + 25, 5 + 25],
  },
];

const words = ({ devices }: Counters): number[] => devices.map(({ memory }) => memory.exchange / 4);

for (const { name, layout, ...expected } of EXCHANGED) {
  describeEmulator(`memory for exchange with weights: ${name}`, { chips: 3, coresPerChip: 1 }, () => {
    it('has room for the weight of each id', () => {
      const withWeights = (counts: readonly number[]): number[] => counts.map((count, i) => count + expected.ids[i]!);
      expect(words(lookUp(layout, { weighted: true }))).toEqual(withWeights(expected.lookUp));
      expect(words(update(layout, {}, true))).toEqual(withWeights(expected.update));
    });
  });

  describeEmulator(
    `memory for exchange of gradients with respect to weights: ${name}`,
    { chips: 3, coresPerChip: 1 },
    () => {
      it('has room for the weight of each id, and for the number that is found', () => {
        expect(words(weightsGradient(layout))).toEqual(expected.lookUp.map((count, i) => count + 2 * expected.ids[i]!));
      });
    },
  );

  describeEmulator(`memory for exchange: ${name}`, { chips: 3, coresPerChip: 1 }, () => {
    it('is the largest of a call', () => {
      expect(words(lookUp(layout))).toEqual(expected.lookUp);
      expect(words(update(layout))).toEqual(expected.update);
      expect(words(lookUp(layout))).toEqual(expected.update);
      const { memory } = emulator().machine.counters.counters().devices[0]!;
      expect(memory.capacity).toBeNull();
    });
  });
}
