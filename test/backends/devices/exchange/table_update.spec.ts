/** Steps of tables that lie on devices: those of one device, whatever the layout. */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTable } from '../../../../src/backends/devices/machine/device_table.js';
import type { LookupGradient, TableUpdate } from '../../../../src/backends/contract.js';
import { HYPER_FIELDS, packHyper, type Hyper } from '../../../../src/rules/hyper.js';
import {
  IdOutOfRange,
  floatTable,
  type BagOptions,
  type HostBags,
  type HostTable,
} from '../../../../src/backends/kernel_set.js';
import { kernelSet } from '../../../../src/backends/registry.js';
import { UPDATE_NAMES, SLOT_NAMES, slotShapes, type UpdateName } from '../../../../src/rules/rules.js';
import { bagCases, copyTable, hyperCase, usedSlots, type BagCase } from '../../../helpers/bag_cases.js';
import { gradientMagnitude } from '../../../helpers/magnitudes.js';
import { Random } from '../../../helpers/random.js';
import { firstDifference } from '../../../helpers/tensors.js';
import { HOSTS, describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { LAYOUT_NAMES, bagTensors, numbersOf, placeTable, type LayoutName } from '../../emulator/tables.js';
import { stepOne } from '../../../helpers/kernel_calls.js';
import { tableOf } from '../../../../src/backends/table.js';

const SINGLE: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
const STEPS = 3;

/** What a table gets in one step: lookups, and a gradient of all rows or none. */
interface Uses {
  readonly examples: readonly BagCase[];
  readonly dense: Float32Array | null;
}

/** One step as the cpu backend makes it: one lookup goes to the kernel, several are first united by rows. */
function stepHere(
  optimizer: UpdateName,
  table: HostTable<Float32Array>,
  slots: Float32Array[],
  uses: Uses,
  hyper: Hyper,
): void {
  const kernels = kernelSet();
  const { examples, dense } = uses;
  const numbers = packHyper(hyper);
  if (examples.length === 1 && dense === null) {
    const { gradient, bags, options } = examples[0]!;
    return stepOne(kernels, optimizer, table, slots, gradient, bags, options, numbers);
  }
  const parts = examples.map(({ gradient, bags, options }) => kernels.rowGradients(gradient, bags, table, options));
  if (dense !== null) {
    parts.push({ uniqueIds: Int32Array.from({ length: table.rows }, (_, row) => row), rowGradients: dense });
  }
  const values = Int32Array.from(parts.flatMap(({ uniqueIds }) => [...uniqueIds]));
  const gradient = Float32Array.from(parts.flatMap(({ rowGradients }) => [...rowGradients]));
  const rowSplits = Int32Array.from({ length: values.length + 1 }, (_, i) => i);
  stepOne(kernels, optimizer, table, slots, gradient, { values, rowSplits, weights: null }, SINGLE, numbers);
}

/** Calls that step tables on the devices. Call inside a tidy. */
function entryOf({ gradient, bags, options, table }: BagCase): LookupGradient {
  const batch = bags.rowSplits.length - 1;
  return { gradient: tf.tensor2d(gradient, [batch, table.dim]), bags: bagTensors(bags), options };
}

interface Trained {
  readonly what: string;
  readonly optimizer: UpdateName;
  readonly table: tf.Variable;
  readonly slots: readonly tf.Variable[];
  readonly expected: HostTable<Float32Array>;
  readonly expectedSlots: readonly Float32Array[];
  readonly uses: Uses;
  readonly hyper: Hyper;
}

/** A table with used slots on the devices, and the same on the host. */
function trained(layout: LayoutName, optimizer: UpdateName, uses: Uses, hyper: Hyper, seed: number): Trained {
  const [{ table, name }] = uses.examples as [BagCase];
  const expectedSlots = usedSlots(optimizer, table, seed);
  const placed = placeTable(layout, table, new Random(seed));
  const slots = expectedSlots.map((values, i) => {
    const shape = slotShapes(optimizer, [table.rows, table.dim])[i]!;
    const slot = emulator().createSlot(placed, SLOT_NAMES[optimizer][i]!, shape, 0.5);
    expect(slot.dataSync().every((value) => value === 0.5)).toBeTrue();
    emulator().writeRows(slot, 0, values);
    return slot;
  });
  const what = `${layout} ${optimizer} ${name} ${JSON.stringify(hyper)}`;
  return { what, optimizer, table: placed, slots, expected: copyTable(table), expectedSlots, uses, hyper };
}

function step(tables: readonly Trained[]): void {
  tf.tidy(() => {
    emulator().update(
      tables.map(({ optimizer, table, slots, uses, hyper }): TableUpdate => {
        const { examples, dense } = uses;
        const full = dense === null ? null : tf.tensor2d(dense, table.shape as [number, number]);
        return {
          optimizer,
          table: tableOf(table),
          slots,
          entries: examples.map(entryOf),
          dense: full,
          hyper: packHyper(hyper),
        };
      }),
    );
  });
  for (const { optimizer, expected, expectedSlots, uses, hyper } of tables) {
    stepHere(optimizer, expected, expectedSlots as Float32Array[], uses, hyper);
  }
}

/** The same bits in each copy of each table that is copied. */
function expectEqualCopies(what: string): void {
  const { machine } = emulator();
  for (const table of machine.tables as unknown as ReadonlySet<DeviceTable>) {
    const { kind, rows, columns, shards } = table.layout;
    if (kind !== 'replicated') continue;
    const copies = shards.map(({ device }, place) => {
      machine.exchange.reserve(rows * columns);
      const where = { at: 0, stride: columns };
      machine.post(device, [{ op: 'read', table: table.at(place), firstRow: 0, rows, where }]);
      machine.finish();
      return machine.exchange.ints.slice(0, rows * columns);
    });
    for (const copy of copies)
      expect(copy.every((bits, i) => bits === copies[0]![i]))
        .withContext(what)
        .toBeTrue();
  }
}

function expectTrained({ what, table, slots, expected, expectedSlots, uses }: Trained): void {
  const { kind, shards } = emulator().layoutOf(table)!;
  // Copies add up what devices found of their parts of the batch: sums in another order.
  const exact = kind !== 'replicated';
  const pairs = [[table, expected.data] as const, ...slots.map((slot, i) => [slot, expectedSlots[i]!] as const)];
  pairs.forEach(([variable, values], i) => {
    const layout = emulator().layoutOf(variable)!;
    expect(layout.shards.map(({ device }) => device)).toEqual(shards.map(({ device }) => device));
    const actual = variable.dataSync();
    const context = `${what}: ${i === 0 ? 'table' : `slot ${i - 1}`}`;
    if (exact) {
      const at = values.findIndex((value, j) => !Object.is(value, actual[j]));
      expect(at).withContext(`${context}: place of the first value that differs in a bit`).toBe(-1);
    } else {
      const magnitude = uses.examples.reduce((sum, example) => sum + gradientMagnitude(example), 1) * STEPS;
      const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const at = firstDifference(actual, values, magnitude * (1 + size));
      expect(at).withContext(`${context}: ${actual[at]}, expected ${values[at]}`).toBe(-1);
    }
  });
}

function disposeAll(tables: readonly Trained[]): void {
  for (const { table, slots } of tables) tf.dispose([table, ...slots]);
}

function train(tables: readonly Trained[]): void {
  for (let i = 0; i < STEPS; i++) step(tables);
  tables.forEach(expectTrained);
  expectEqualCopies(tables.map(({ what }) => what).join());
  disposeAll(tables);
}

const small = bagCases(400, 4000).filter(({ table }) => table.rows * table.dim < 3000);

describeEmulator(
  'steps on 3 devices',
  { chips: 3, coresPerChip: 1 },
  (host) => {
    const count = host === 'cpu' ? 36 : 12;
    for (const layout of LAYOUT_NAMES) {
      for (const optimizer of UPDATE_NAMES) {
        it(`of one lookup: ${layout}, ${optimizer}`, () => {
          small.slice(0, count).forEach((example, seed) => {
            train([trained(layout, optimizer, { examples: [example], dense: null }, hyperCase(optimizer, seed), seed)]);
          });
        });
      }

      it(`of several lookups and a dense part: ${layout}`, () => {
        small.slice(40, 40 + count).forEach((example, seed) => {
          const optimizer = UPDATE_NAMES[seed % UPDATE_NAMES.length]!;
          const random = new Random(seed);
          const { table } = example;
          const again = small.slice(0, 60).map(({ bags, options, gradient, name }): BagCase => {
            const batch = bags.rowSplits.length - 1;
            const values = bags.values.map((id) =>
              options.outOfRange === 'zero' && id < 0 ? id : Math.abs(id) % table.rows,
            );
            return {
              name,
              table,
              bags: { ...bags, values },
              options,
              gradient: gradient.length === batch * table.dim ? gradient : random.floats(batch * table.dim),
            };
          });
          const examples = [example, ...again.slice(seed, seed + (seed % 3))];
          const dense = seed % 2 === 0 ? random.floats(table.rows * table.dim) : null;
          train([trained(layout, optimizer, { examples, dense }, hyperCase(optimizer, Math.floor(seed / 6)), seed)]);
        });
      });
    }

    it('of many tables in one call', () => {
      train(
        small.slice(100, 130).map((example, seed) => {
          const optimizer = UPDATE_NAMES[seed % UPDATE_NAMES.length]!;
          const layout = LAYOUT_NAMES[seed % LAYOUT_NAMES.length]!;
          return trained(layout, optimizer, { examples: [example], dense: null }, hyperCase(optimizer, seed), seed);
        }),
      );
    });
  },
  HOSTS,
);

describeEmulator('steps', { chips: 4, coresPerChip: 1 }, () => {
  const bags: HostBags = { values: Int32Array.of(0, 3, 5, 3), rowSplits: Int32Array.of(0, 2, 4), weights: null };
  const table = floatTable(new Random(1).floats(48), 6, 8);
  const example: BagCase = { name: 'small', table, bags, options: SINGLE, gradient: new Random(2).floats(16) };
  const plain = { ...hyperCase('adagrad', 0) };

  it('cover every hyper-parameter', () => {
    const used = new Set<string>();
    for (const optimizer of UPDATE_NAMES) {
      for (let seed = 0; seed < 36; seed++) {
        const neutral = hyperCase('sgd', 0);
        for (const field of HYPER_FIELDS) if (hyperCase(optimizer, seed)[field] !== neutral[field]) used.add(field);
      }
    }
    for (const field of ['lazy', 'clipNorm', 'clipGradientMin', 'clipWeightMax', 'weightDecay', 'constraint']) {
      expect(used.has(field)).withContext(field).toBeTrue();
    }
  });

  it('bring a table together where they need whole rows, and only then', () => {
    const shards = (layout: LayoutName, optimizer: UpdateName, extra: Partial<Hyper>, maxNorm = 0): number[] => {
      const use = { ...example, options: { ...SINGLE, maxNorm } };
      const one = trained(layout, optimizer, { examples: [use], dense: null }, { ...plain, ...extra }, 3);
      step([one]);
      expectTrained(one);
      const counts = [one.table, ...one.slots].map((each) => emulator().layoutOf(each)!.shards.length);
      disposeAll([one]);
      return counts;
    };
    expect(shards('columns', 'adagrad', {})).toEqual([4, 4]);
    expect(shards('columns', 'adagrad', { constraint: 1 })).toEqual([4, 4]);
    expect(shards('columns', 'adagrad', { clipGradientMax: 0.1 })).toEqual([4, 4]);
    expect(shards('columns', 'adagrad', { clipNorm: 0.1 })).toEqual([1, 1]);
    expect(shards('columns', 'adagrad', { constraint: 2, constraintMax: 0.1 })).toEqual([1, 1]);
    expect(shards('columns', 'adagrad', {}, 0.5)).toEqual([1, 1]);
    expect(shards('columns', 'rowWiseAdagrad', {})).toEqual([1, 1]);
    for (const rows of ['range', 'modulo'] as const) {
      expect(shards(rows, 'adagrad', { constraint: 2, constraintMax: 0.1 })).toEqual([4, 4]);
      expect(shards(rows, 'rowWiseAdagrad', {}, 0.5)).toEqual([4, 4]);
      expect(shards(rows, 'adagrad', { clipNorm: 0.1 })).toEqual([1, 1]);
    }
    expect(shards('replicated', 'rowWiseAdagrad', { clipNorm: 0.1, constraint: 2, constraintMax: 0.1 })).toEqual([
      4, 4,
    ]);
  });

  it('change nothing where one of them is refused', () => {
    tf.tidy(() => {
      const good = trained('range', 'adagrad', { examples: [example], dense: null }, plain, 4);
      const bad = trained('columns', 'adagrad', { examples: [example], dense: null }, plain, 5);
      const wrong = { ...example, bags: { ...bags, values: Int32Array.of(0, 3, 6, 3) } };
      const updates = [good, bad].map(({ optimizer, table, slots, hyper }, i): TableUpdate => {
        return {
          optimizer,
          table: tableOf(table),
          slots,
          entries: [entryOf(i === 0 ? example : wrong)],
          dense: null,
          hyper: packHyper(hyper),
        };
      });
      let thrown: unknown;
      emulator().machine.counters.reset();
      try {
        emulator().update(updates);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(IdOutOfRange);
      expect((thrown as IdOutOfRange).position).toBe(2);
      expect(emulator().machine.counters.counters().updates).toBe(0);
      [good, bad].forEach(expectTrained);
      step([good, bad]);
      [good, bad].forEach(expectTrained);
      disposeAll([good, bad]);
    });
  });

  it('put variables that lie elsewhere on the devices, slots beside their table', () => {
    tf.tidy(() => {
      const table = tf.variable(tf.tensor2d(example.table.data, [6, 8])) as unknown as tf.Variable;
      const slot = tf.variable(tf.fill([6, 8], 0.25)) as unknown as tf.Variable;
      emulator().place(slot, { like: table, name: 'accumulators' });
      const expected = copyTable(example.table);
      const expectedSlot = new Float32Array(48).fill(0.25);
      const one: Trained = {
        what: 'settled',
        optimizer: 'adagrad',
        table,
        slots: [slot],
        expected,
        expectedSlots: [expectedSlot],
        uses: { examples: [example], dense: null },
        hyper: plain,
      };
      step([one]);
      expectTrained(one);
      // What is assigned to a variable goes where the variable lay.
      const { device } = emulator().layoutOf(table)!.shards[0]!;
      table.assign(tf.zeros([6, 8]) as tf.Tensor);
      slot.assign(tf.ones([6, 8]) as tf.Tensor);
      expect(emulator().layoutOf(table)).toBeNull();
      expected.data.fill(0);
      expectedSlot.fill(1);
      step([one]);
      expectTrained(one);
      expect(emulator().layoutOf(table)!.shards[0]!.device).toBe(device);
      expect(numbersOf(table)).not.toEqual(new Array<number>(48).fill(0));
      disposeAll([one]);
    });
  });
});
