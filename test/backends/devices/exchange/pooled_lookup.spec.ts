/** Lookups from tables that lie on devices: those of one device, whatever the layout. */
import * as tf from '@tensorflow/tfjs';
import type { Lookup } from '../../../../src/backends/contract.js';
import { IdOutOfRange, floatTable, type BagOptions } from '../../../../src/backends/kernel_set.js';
import { kernelSet } from '../../../../src/backends/registry.js';
import * as emb from '../../../../src/index.js';
import { lookUp as lookUpAll } from '../../../../src/lookup/lookup.js';
import { bagCases, type BagCase } from '../../../helpers/bag_cases.js';
import { expectError } from '../../../helpers/errors.js';
import { pooledMagnitudes } from '../../../helpers/magnitudes.js';
import { Random } from '../../../helpers/random.js';
import { expectClose } from '../../../helpers/tensors.js';
import { HOSTS, describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { LAYOUT_NAMES, bagTensors, isExact, numbersOf, placeTable, lookUpPooled } from '../../emulator/tables.js';
import { lookUpInto } from '../../../helpers/kernel_calls.js';
import { tableOf } from '../../../../src/backends/table.js';

const SUM: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
const TABLE = floatTable(
  Float32Array.from({ length: 24 }, (_, i) => i + 1),
  6,
  4,
);

/** What the kernels of this thread give. */
function expectedOf({ table, bags, options }: BagCase): Float32Array {
  const pooled = new Float32Array((bags.rowSplits.length - 1) * table.dim);
  lookUpInto(kernelSet(), table, bags, options, pooled);
  return pooled;
}

function expectPooled(actual: tf.Tensor, example: BagCase, exact: boolean, what: string): void {
  const expected = expectedOf(example);
  expect(actual.shape).toEqual([example.bags.rowSplits.length - 1, example.table.dim]);
  if (exact) {
    const values = actual.dataSync();
    const at = expected.findIndex((value, i) => !Object.is(value, values[i]));
    expect(at).withContext(`${what}: place of the first value that differs in a bit`).toBe(-1);
  } else expectClose(actual.dataSync(), expected, pooledMagnitudes(example), what);
}

const CASES = 120;

for (const [chips, coresPerChip] of [
  [1, 1],
  [3, 1],
  [4, 2],
] as const) {
  const devices = chips * coresPerChip;
  describeEmulator(
    `lookups from ${devices} devices`,
    { chips, coresPerChip },
    (host) => {
      for (const layout of LAYOUT_NAMES) {
        it(`of generated batches: ${layout}`, () => {
          for (const example of bagCases(host === 'cpu' ? CASES : 40)) {
            tf.tidy(() => {
              const table = placeTable(layout, example.table, new Random(devices));
              const { options } = example;
              const [pooled] = lookUpPooled([{ table: tableOf(table), bags: bagTensors(example.bags), options }]);
              expectPooled(pooled!, example, isExact(emulator().layoutOf(table)!), `${layout} ${example.name}`);
              table.dispose();
            });
          }
        });
      }
    },
    devices === 3 ? HOSTS : ['cpu'],
  );
}

describeEmulator('lookups', { chips: 3, coresPerChip: 1 }, () => {
  it('of one call are those of many calls, tables used twice included', () => {
    tf.tidy(() => {
      const random = new Random(5);
      const cases = bagCases(25, 300);
      const tables: tf.Variable[] = [];
      const requests = cases.flatMap((example, i): Lookup[] => {
        const table = placeTable(LAYOUT_NAMES[i % LAYOUT_NAMES.length]!, example.table, random);
        tables.push(table);
        const request = { table: tableOf(table), bags: bagTensors(example.bags), options: example.options };
        return [request, { ...request, bags: bagTensors(example.bags), idsArePlaced: true }];
      });
      const together = lookUpPooled(requests);
      const apart = requests.map((request) => lookUpPooled([request])[0]!);
      together.forEach((pooled, i) => {
        expect(numbersOf(pooled)).withContext(`request ${i}`).toEqual(numbersOf(apart[i]!));
        const example = cases[Math.floor(i / 2)]!;
        expectPooled(pooled, example, isExact(emulator().layoutOf(tables[Math.floor(i / 2)]!)!), example.name);
      });
      tf.dispose(tables);
    });
  });

  it('of tables, tensors and variables that do not lie on the devices, in one call', () => {
    tf.tidy(() => {
      const placed = placeTable('range', TABLE, new Random(1));
      const tensor = tf.tensor2d(TABLE.data, [6, 4]);
      const variable = tf.variable(tensor) as unknown as tf.Variable;
      const bags = bagTensors({
        values: Int32Array.of(5, 0, 2),
        rowSplits: Int32Array.of(0, 2, 2, 3),
        weights: null,
      });
      const requests = [placed, tensor, variable].map((table) => ({ table: tableOf(table), bags, options: SUM }));
      for (const pooled of lookUpPooled(requests)) {
        expect(numbersOf(pooled)).toEqual([22, 24, 26, 28, 0, 0, 0, 0, 9, 10, 11, 12]);
      }
      expect(emulator().layoutOf(variable)!.kind).withContext('a variable is settled').toBe('columns');
      expect(emulator().layoutOf(tensor)).toBeNull();
      tf.dispose([placed, variable]);
    });
  });

  it('leave no results of a call that fails', () => {
    const { dim, rows } = TABLE;
    const here = tf.tidy(() => tf.variable(tf.tensor2d(TABLE.data, [rows, dim]))) as unknown as tf.Variable;
    emulator().place(here);
    const there = tf.tensor2d(TABLE.data, [rows, dim]);
    const bagsOf = (id: number): Lookup['bags'] =>
      bagTensors({ values: Int32Array.of(id), rowSplits: Int32Array.of(0, 1), weights: null });
    const [good, stray] = [bagsOf(1), bagsOf(rows)];
    const before = tf.memory().numTensors;
    // The first is done by the host at once, and the devices refuse the second.
    const lookups: Lookup[] = [
      { table: tableOf(there), bags: good, options: SUM },
      { table: tableOf(here), bags: stray, options: SUM },
    ];
    expect(() => emulator().lookUp(lookups)).toThrowError(IdOutOfRange);
    expect(tf.memory().numTensors).toBe(before);
    expect(() => emulator().lookUp(lookups.reverse())).toThrowError(IdOutOfRange);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([here, there, ...[good, stray].flatMap(({ values, rowSplits }) => [values, rowSplits])]);
  });

  it('of nothing at all', () => {
    expect(lookUpPooled([])).toEqual([]);
    for (const layout of LAYOUT_NAMES) {
      tf.tidy(() => {
        const table = placeTable(layout, TABLE, new Random(2));
        const empty = bagTensors({ values: new Int32Array(0), rowSplits: Int32Array.of(0), weights: null });
        const bare = bagTensors({ values: new Int32Array(0), rowSplits: new Int32Array(8), weights: null });
        const [none, zeros] = lookUpPooled([
          { table: tableOf(table), bags: empty, options: SUM },
          { table: tableOf(table), bags: bare, options: { ...SUM, combiner: 'mean' } },
        ]);
        expect(none!.shape).toEqual([0, 4]);
        expect(numbersOf(zeros!)).toEqual(new Array<number>(28).fill(0));
        table.dispose();
      });
    }
  });

  for (const layout of LAYOUT_NAMES) {
    it(`refuse an id outside the table before anything is sent: ${layout}`, () => {
      tf.tidy(() => {
        const table = placeTable(layout, TABLE, new Random(3));
        const { machine } = emulator();
        machine.counters.reset();
        const good = bagTensors({ values: Int32Array.of(1, 2), rowSplits: Int32Array.of(0, 1, 2), weights: null });
        const bad = bagTensors({ values: Int32Array.of(1, 0, 6), rowSplits: Int32Array.of(0, 2, 3), weights: null });
        const requests = [good, bad].map((bags) => ({ table: tableOf(table), bags, options: SUM }));
        let thrown: unknown;
        try {
          lookUpPooled(requests);
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(IdOutOfRange);
        const { id, position, rows } = thrown as IdOutOfRange;
        expect([id, position, rows]).toEqual([6, 2, 6]);
        const { lookUps, bags, devices } = machine.counters.counters();
        expect([lookUps, bags, ...devices.map(({ ids, bytesOut }) => ids + bytesOut)]).toEqual([0, 0, 0, 0, 0]);

        const text = /6 at position 2 of the values \(the table has 6 rows\)/;
        expectError(() => lookUpAll(requests), 'ValueError', 'ids', text);
        const lookUp = (ids: number[]): tf.Tensor => emb.ops.embeddingBag(table, ids, [0, 2, 3], { combiner: 'sum' });
        expectError(() => lookUp([1, 0, 6]), 'ValueError', 'ids', text);
        expectError(() => lookUp([1, -1, 3]), 'ValueError', 'ids', '-1 at position 1');
        expect(numbersOf(lookUp([1, 0, 3]))).toEqual([6, 8, 10, 12, 13, 14, 15, 16]);
        table.dispose();
      });
    });

    it(`through the ops of the package, with every option: ${layout}`, () => {
      for (const example of bagCases(40, 700)) {
        tf.tidy(() => {
          const table = placeTable(layout, example.table, new Random(4));
          const { values, rowSplits, weights } = example.bags;
          const { combiner, outOfRange, maxNorm } = example.options;
          const options = { combiner, outOfRange, maxNorm: maxNorm === 0 ? null : maxNorm, weights };
          const snapshot = table.clone() as unknown as tf.Tensor2D;
          for (const matrix of [table, snapshot]) {
            const pooled = emb.ops.embeddingBag(matrix, values, rowSplits, options);
            expectPooled(pooled, example, isExact(emulator().layoutOf(table)!), `${layout} ${example.name}`);
          }
          tf.dispose([table, snapshot]);
        });
      }
    });
  }

  it('of single rows', () => {
    for (const layout of LAYOUT_NAMES) {
      tf.tidy(() => {
        const table = placeTable(layout, TABLE, new Random(6));
        const rows = emb.embeddingLookup(
          table,
          tf.tensor2d(
            [
              [5, 0],
              [3, 3],
            ],
            [2, 2],
            'int32',
          ),
        );
        expect(rows.shape).toEqual([2, 2, 4]);
        expect(numbersOf(rows as tf.Tensor)).toEqual([21, 22, 23, 24, 1, 2, 3, 4, 13, 14, 15, 16, 13, 14, 15, 16]);
        table.dispose();
      });
    }
  });
});
