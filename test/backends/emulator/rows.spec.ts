/** Rows of tables read and written in the global layout. */
import type * as tf from '@tensorflow/tfjs';
import { fillPart, type Fill } from '../../../src/backends/fill.js';
import { Random } from '../../helpers/random.js';
import { HOSTS, describeEmulator, emulator } from './describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, numbersOf, place } from './tables.js';

const SIZES = [
  { rows: 1, columns: 1 },
  { rows: 1, columns: 7 },
  { rows: 2, columns: 3 },
  { rows: 9, columns: 1 },
  { rows: 50, columns: 6 },
  { rows: 333, columns: 17 },
];

for (const [chips, coresPerChip] of [
  [1, 1],
  [3, 1],
  [8, 2],
] as const) {
  // prettier-ignore
  const devices = chips * coresPerChip;
  describeEmulator(
    `rows of tables on ${devices} devices`,
    { chips, coresPerChip },
    () => {
      it('come back as they were written, block by block', () => {
        const random = new Random(devices);
        for (const size of SIZES) {
          for (const name of LAYOUT_NAMES) {
            const { rows, columns } = size;
            const values = random.floats(rows * columns);
            values[0] = NaN;
            values[values.length - 1] = -0;
            const table = place(layoutOf(name, size, devices, random), values);
            const expected = values.slice();
            for (let round = 0; round < 6; round++) {
              const first = random.whole(0, rows);
              const block = random.floats(random.whole(0, rows - first + 1) * columns);
              emulator().writeRows(table, first, block);
              expected.set(block, first * columns);
              const from = random.whole(0, rows);
              const count = random.whole(0, rows - from + 1);
              const read = emulator().readRows(table as unknown as tf.Tensor, from, count);
              const part = expected.slice(from * columns, (from + count) * columns);
              expect(new Int32Array(read.buffer))
                .withContext(`${name} [${rows}, ${columns}]`)
                .toEqual(new Int32Array(part.buffer));
            }
            expect(numbersOf(table)).toEqual([...expected]);
            table.dispose();
          }
        }
      });

      it('begin with the same values in every layout', () => {
        const fills: Fill[] = [
          { kind: 'constant', value: 0.5 },
          { kind: 'uniform', min: -1, max: 1, seed: 3 },
          { kind: 'truncatedNormal', mean: 1, deviation: 2, seed: 4 },
        ];
        for (const fill of fills) {
          for (const size of SIZES) {
            const { rows, columns } = size;
            const expected = new Float32Array(rows * columns);
            fillPart(expected, { firstRow: 0, rowStep: 1, rows, firstColumn: 0, columns }, fill);
            for (const name of LAYOUT_NAMES) {
              const layout = layoutOf(name, size, devices, new Random(1));
              const table = emulator().create({ name, layout, fill });
              expect(table.shape).toEqual([rows, columns]);
              expect(table.dataSync()).withContext(`${name} ${fill.kind}`).toEqual(expected);
              table.dispose();
            }
          }
        }
      });

      it('keep their values when a table moves to another layout', () => {
        const random = new Random(17);
        const size = { rows: 23, columns: 5 };
        const values = random.floats(115);
        const table = place(layoutOf('whole', size, devices, random), values);
        for (let i = 0; i < 20; i++) {
          const layout = layoutOf(random.pick(LAYOUT_NAMES), size, devices, random);
          emulator().place(table, { layout });
          expect(emulator().layoutOf(table as unknown as tf.Tensor)!.kind).toBe(layout.kind);
          expect(numbersOf(table)).toEqual([...values]);
        }
        expect(emulator().machine.tables.size).toBe(1);
        table.dispose();
      });
    },
    devices === 3 ? HOSTS : ['cpu'],
  );
}

describeEmulator('long tables', { chips: 3, coresPerChip: 1 }, () => {
  it('come back in several rounds', () => {
    const size = { rows: 70_001, columns: 31 }; // More than two rounds of a million words.
    const values = new Random(1).floats(size.rows * size.columns);
    for (const name of ['columns', 'modulo', 'range'] as const) {
      const table = place(layoutOf(name, size, 3, new Random(2)), values);
      const read = table.dataSync<'float32'>();
      expect(read.every((value, i) => value === values[i]))
        .withContext(name)
        .toBeTrue();
      emulator().place(table, { layout: layoutOf('whole', size, 3, new Random(3)) });
      const part = emulator().readRows(table as unknown as tf.Tensor, 35_000, 3);
      expect([...part]).toEqual([...values.slice(35_000 * 31, 35_003 * 31)]);
      table.dispose();
    }
  });
});
