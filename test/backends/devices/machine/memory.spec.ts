/** Memory of the devices: what is booked, and what is said where something does not fit. */
import * as tf from '@tensorflow/tfjs';
import type { TableUpdate } from '../../../../src/backends/contract.js';
import type { DeviceMemoryCounts } from '../../../../src/backends/devices/machine/counters.js';
import { DeviceMemory } from '../../../../src/backends/devices/machine/traffic_stats.js';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import { wholeOn, type LayoutShard, type TableLayout } from '../../../../src/partition/table_layout.js';
import { expectError } from '../../../helpers/errors.js';
import { describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { bagTensors, numbersOf, place, lookUpPooled } from '../../emulator/tables.js';
import { tableOf } from '../../../../src/backends/table.js';

const ZEROS = { kind: 'constant', value: 0 } as const;
const SUM = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
const ADAGRAD = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });

function memory(): DeviceMemoryCounts[] {
  return emulator()
    .machine.counters.counters()
    .devices.map((device) => device.memory);
}

const held = (): number[][] => memory().map(({ tables, slots, host }) => [tables, slots, host]);

function inColumns(widths: readonly number[], inHost: readonly boolean[] = []): TableLayout {
  const columns = widths.reduce((sum, width) => sum + width, 0);
  let start = 0;
  const shards = widths.map((width, device): LayoutShard => {
    start += width;
    const rows = { first: 0, step: 1, count: 10 };
    return { device, rows, columns: [start - width, start], inHost: inHost[device] ?? false };
  });
  return { kind: 'columns', rows: 10, columns, shards };
}

// 2 chips of 2 cores: 500 bytes for each device.
describeEmulator('memory of devices', { chips: 2, coresPerChip: 2, hbmBytesPerChip: 1001 }, () => {
  it('is shared evenly by the cores of a chip', () => {
    expect(memory().map(({ capacity }) => capacity)).toEqual([500, 500, 500, 500]);
  });

  it('holds tables, slots and what is exchanged', () => {
    const table = place(inColumns([3, 5, 2]), new Float32Array(100));
    expect(held()).toEqual([[120, 0, 0], [200, 0, 0], [80, 0, 0], [0, 0, 0]]); // prettier-ignore
    const slot = emulator().createSlot(table, 'accumulators', [10, 10], 1);
    expect(slot.trainable).toBeFalse();
    expect(held()).toEqual([[120, 120, 0], [200, 200, 0], [80, 80, 0], [0, 0, 0]]); // prettier-ignore
    slot.dispose();
    expect(held()).toEqual([[120, 0, 0], [200, 0, 0], [80, 0, 0], [0, 0, 0]]); // prettier-ignore
    table.dispose();
  });

  it('that a table lacks is said with device, table and bytes, and nothing is taken', () => {
    const wide = inColumns([3, 13, 2]);
    const make = (): tf.Tensor => emulator().create({ name: 'users', layout: wide, fill: ZEROS });
    expectError(make, 'ValueError', 'users', '520 bytes');
    expect(make).toThrowError(/at most \d+ bytes, which device 1 still has of its 500/);
    expect(held().flat()).toEqual(new Array<number>(12).fill(0));
    const full = place(wholeOn(3, { rows: 10, columns: 8 }), new Float32Array(80));
    const copies: TableLayout = {
      kind: 'replicated',
      rows: 10,
      columns: 5,
      shards: [0, 1, 2, 3].map((device) => ({ ...wholeOn(device, { rows: 10, columns: 5 }).shards[0]! })),
    };
    const more = (): tf.Tensor => emulator().create({ name: 'more', layout: copies, fill: ZEROS });
    expect(more).toThrowError(/`more`: expected at most \d+ bytes, which device 3 still has of its 500, received 200/);
    expect(held()).toEqual([[0, 0, 0], [0, 0, 0], [0, 0, 0], [320, 0, 0]]); // prettier-ignore
    full.dispose();
    more().dispose();
  });

  it('that slots, copies for snapshots and moves lack is said too, and everything stays usable', () => {
    const before = tf.memory().numTensors;
    const values = Float32Array.from({ length: 80 }, (_, i) => i);
    const table = place(wholeOn(1, { rows: 10, columns: 8 }), values, 'items');
    const slotOf = (): tf.Variable => emulator().createSlot(table, 'accumulators', [10, 8], 1);
    expectError(slotOf, 'ValueError', 'items/accumulators', '320 bytes');
    expect(tf.memory().numTensors).toBe(before + 1);
    const kept = table.clone();
    const write = (): void => emulator().writeRows(table, 0, new Float32Array(8));
    expect(write).toThrowError(/device 1/);
    kept.dispose();
    write();
    expect(numbersOf(table).slice(0, 9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 8]);
    const cut = inColumns([5, 5, 5]);
    const beside = { ...cut, shards: cut.shards.map((shard, i) => ({ ...shard, device: [0, 2, 3][i]! })) };
    const big = place(beside, new Float32Array(150), 'other');
    const whole = (): void => emulator().place(big, { layout: wholeOn(0, { rows: 10, columns: 15 }) });
    expect(whole).toThrowError(/device 0/);
    expect(emulator().layoutOf(big as unknown as tf.Tensor)!.shards.length).toBe(3);
    tf.dispose([table, big]);
  });

  it('that the exchange lacks is said before anything is sent, and nothing changes', () => {
    tf.tidy(() => {
      const values = Float32Array.from({ length: 100 }, (_, i) => i);
      const table = place(wholeOn(2, { rows: 10, columns: 10 }), values);
      const bags = bagTensors({
        values: Int32Array.of(0, 1, 2),
        rowSplits: Int32Array.of(0, 1, 2, 3),
        weights: null,
      });
      const { machine } = emulator();
      machine.counters.reset();
      const lookUp = (): tf.Tensor[] => lookUpPooled([{ table: tableOf(table), bags, options: SUM }]);
      expectError(lookUp, 'ValueError', 'exchange buffers', /bytes/);
      const entries = [{ gradient: tf.ones([3, 10]) as tf.Tensor2D, bags, options: SUM }];
      const update: TableUpdate = {
        optimizer: 'sgd',
        table: tableOf(table),
        slots: [],
        entries,
        dense: null,
        hyper: ADAGRAD,
      };
      expect(() => emulator().update([update])).toThrowError(/exchange buffers.*device 2/);
      const { lookUps, updates, links, devices } = machine.counters.counters();
      expect([lookUps, updates]).toEqual([0, 0]);
      expect(links.bytes.flat()).toEqual(new Array<number>(16).fill(0));
      expect(devices.map(({ ids }) => ids)).toEqual([0, 0, 0, 0]);
      expect(numbersOf(table)).toEqual([...values]);
      table.dispose();
    });
  });

  it('does not hold what a plan leaves to the host', () => {
    const table = place(inColumns([3, 13, 2], [false, true, false]), new Float32Array(180));
    expect(held()).toEqual([[120, 0, 0], [0, 0, 520], [80, 0, 0], [0, 0, 0]]); // prettier-ignore
    const slot = emulator().createSlot(table, 'accumulators', [10, 18], 1);
    expect(held()).toEqual([[120, 120, 0], [0, 0, 1040], [80, 80, 0], [0, 0, 0]]); // prettier-ignore
    tf.dispose([table, slot]);
  });

  it('of a table that lies with the host keeps it there when the table is brought together', () => {
    const table = place(inColumns([13, 13], [true, true]), new Float32Array(260));
    tf.tidy(() => {
      const bags = bagTensors({ values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null });
      lookUpPooled([{ table: tableOf(table), bags, options: { ...SUM, maxNorm: 1 } }]);
    });
    const { shards } = emulator().layoutOf(table as unknown as tf.Tensor)!;
    expect(shards.map(({ inHost }) => inHost)).toEqual([true]);
    expect(held().map(([tables, , host]) => [tables, host]).flat().reduce((a, b) => a! + b!)).toBe(1040); // prettier-ignore
    table.dispose();
  });

  it('is taken where most room is when a table is brought together', () => {
    const { machine } = emulator();
    const bags = (): ReturnType<typeof bagTensors> =>
      bagTensors({ values: Int32Array.of(0), rowSplits: Int32Array.of(0, 1), weights: null });
    // What else lies on the three devices that share a table; the fourth, which is empty, has no part of it.
    for (const [others, roomiest] of [
      [[8, 2, 5], 1],
      [[1, 8, 5], 0],
      [[8, 5, 1], 2],
    ] as const) {
      const beside = others.map((columns, device) =>
        place(wholeOn(device, { rows: 10, columns }), new Float32Array(10 * columns)),
      );
      const table = place(inColumns([1, 1, 1]), new Float32Array(30));
      tf.tidy(() => void lookUpPooled([{ table: tableOf(table), bags: bags(), options: { ...SUM, maxNorm: 1 } }]));
      const { shards } = emulator().layoutOf(table as unknown as tf.Tensor)!;
      expect(shards.map(({ device }) => device)).toEqual([roomiest]);
      expect(machine.memory.free(3)).toBeGreaterThan(machine.memory.free(roomiest));
      tf.dispose([table, ...beside]);
    }
  });

  it('goes to the device with most room where nothing else is said', () => {
    const first = place(wholeOn(0, { rows: 10, columns: 2 }), new Float32Array(20));
    const variables = [1, 2, 3].map(() => tf.tidy(() => tf.variable(tf.zeros([10, 1])) as unknown as tf.Variable));
    for (const variable of variables) emulator().place(variable);
    const devices = variables.map((each) => emulator().layoutOf(each as unknown as tf.Tensor)!.shards[0]!.device);
    expect(devices.sort()).toEqual([1, 2, 3]);
    tf.dispose([first, ...variables]);
  });
});

// 2 devices of 1000 bytes, of which nothing was used before.
describeEmulator('peaks of memory', { chips: 2, coresPerChip: 1, hbmBytesPerChip: 1000 }, () => {
  const peaks = (): number[] => memory().map(({ peak }) => peak);

  it('are the most that lay on a device at a time: tables, slots and exchange', () => {
    expect(peaks()).toEqual([0, 0]);
    const table = place(inColumns([3, 5]), new Float32Array(80));
    expect(peaks()).toEqual([120, 200]);
    const slot = emulator().createSlot(table, 'accumulators', [10, 8], 1);
    expect(peaks()).toEqual([240, 400]);
    slot.dispose();
    expect(peaks()).toEqual([240, 400]);
    // Two ids and two rows of 3 or 5 columns: 8 and 12 words.
    const bags = { values: Int32Array.of(1, 2), rowSplits: Int32Array.of(0, 1, 2), weights: null };
    tf.tidy(() => void lookUpPooled([{ table: tableOf(table), bags: bagTensors(bags), options: SUM }]));
    expect(memory().map(({ exchange }) => exchange)).toEqual([32, 48]);
    expect(peaks()).toEqual([240, 400]); // 152 and 248 now
    emulator().machine.counters.reset();
    expect(peaks()).toEqual([152, 248]);
    const again = emulator().createSlot(table, 'accumulators', [10, 8], 1);
    expect(peaks()).toEqual([272, 448]);
    tf.dispose([table, again]);
    expect(peaks()).toEqual([272, 448]);
    // What lies with the host is not on the device.
    const hosted = place(inColumns([70, 1], [true, false]), new Float32Array(710));
    expect(memory().map(({ host }) => host)).toEqual([2800, 0]);
    expect(peaks()).toEqual([272, 448]);
    emulator().machine.counters.reset();
    expect(peaks()).toEqual([32, 48 + 40]);
    hosted.dispose();
  });
});

describeEmulator('memory without a limit', { chips: 3, coresPerChip: 1 }, () => {
  it('is taken where least lies, the first of several', () => {
    const settled = (columns: number): number => {
      const variable = tf.tidy(() => tf.variable(tf.zeros([10, columns])) as unknown as tf.Variable);
      emulator().place(variable);
      made.push(variable);
      return emulator().layoutOf(variable as unknown as tf.Tensor)!.shards[0]!.device;
    };
    const made: tf.Variable[] = [place(wholeOn(0, { rows: 10, columns: 2 }), new Float32Array(20))];
    // Columns on the devices: 2, 0, 0; then 2, 5, 0; 2, 5, 1; 2, 5, 4; 6, 5, 4; 6, 5, 6.
    expect([5, 1, 3, 4, 2, 1].map(settled)).toEqual([1, 2, 2, 0, 2, 1]);
    tf.dispose(made);
  });
});

describe('MemoryBook', () => {
  it('adds up what is taken for one device in one go', () => {
    const book = new DeviceMemory([100, 100]);
    const half = { device: 1, bytes: 60 };
    book.check('fits', [{ device: 0, bytes: 60 }, half]);
    expect(() => book.check('twice', [half, half])).toThrowError(/at most 100 bytes, which device 1.*received 120/);
    book.take(1, 'tables', 60);
    expect([book.free(0), book.free(1)]).toEqual([100, 40]);
    book.give(1, 'tables', 60);
    expect(book.free(1)).toBe(100);
  });

  it('books an exchange on all devices or on none', () => {
    const book = new DeviceMemory([100, 100]);
    expect(() => book.exchange([80, 120])).toThrowError(/exchange buffers.*device 1/);
    expect([book.free(0), book.free(1)]).toEqual([100, 100]);
    book.exchange([80, 90]);
    book.exchange([10, 100]);
    expect([book.counts(0).exchange, book.counts(1).exchange]).toEqual([80, 100]);
  });

  it('has no limit where none is set', () => {
    const book = new DeviceMemory([null]);
    book.check('any', [{ device: 0, bytes: 1e15 }]);
    book.take(0, 'slots', 1e15);
    expect([book.free(0), book.counts(0).peak]).toEqual([Infinity, 1e15]);
  });
});
