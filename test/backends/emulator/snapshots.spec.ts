/** What was taken from a table on devices stays as it is, and everything that was taken is given back. */
import * as tf from '@tensorflow/tfjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { currentBackend } from '../../../src/backends/registry.js';
import * as emb from '../../../src/index.js';
import { Random } from '../../helpers/random.js';
import { AFTER_TEN_STEPS, SNAPSHOTS, START, valuesOf } from '../cpu/snapshots.js';
import { lookUp, stepSgd } from '../cpu/steps.js';
import { HOSTS, describeEmulator, emulator } from './describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, numbersOf, place, type LayoutName } from './tables.js';

const IDS = [0, 0, 1, 3];
const SIZE = { rows: 4, columns: 3 };
const BYTES = 4 * 12;

function startTable(name: LayoutName): tf.Variable {
  return place(layoutOf(name, SIZE, emulator().count, new Random(7)), START.slice());
}

/** Runs with a fresh table and disposes it, whatever was kept, and every other variable made meanwhile. */
function withTable(name: LayoutName, run: (table: tf.Variable) => void): void {
  const known = new Set(Object.keys(tf.engine().state.registeredVariables));
  tf.engine().startScope();
  try {
    run(startTable(name));
  } finally {
    tf.engine().endScope();
    for (const [key, variable] of Object.entries(tf.engine().state.registeredVariables)) {
      if (!known.has(key)) variable.dispose();
    }
  }
}

/** Bytes of tables on all devices. */
function tableBytes(): number {
  return emulator()
    .machine.counters.counters()
    .devices.reduce((sum, { memory }) => sum + memory.tables, 0);
}

describeEmulator(
  'tables on 3 devices',
  { chips: 3, coresPerChip: 1 },
  () => {
    for (const [name, take] of Object.entries(SNAPSHOTS)) {
      it(`leave alone what was kept by ${name}`, () => {
        for (const layout of LAYOUT_NAMES) {
          withTable(layout, (table) => {
            const kept = take(table);
            const expected = kept.map(valuesOf);
            stepSgd(table, IDS);
            const later = take(table);
            const expectedLater = later.map(valuesOf);
            for (let i = 0; i < 9; i++) stepSgd(table, IDS);
            expect(kept.map(valuesOf)).withContext(layout).toEqual(expected);
            expect(later.map(valuesOf)).withContext(layout).toEqual(expectedLater);
            expect(numbersOf(table)).withContext(layout).toEqual(AFTER_TEN_STEPS);
            expect(numbersOf(lookUp(table, [0])))
              .withContext(layout)
              .toEqual(AFTER_TEN_STEPS.slice(0, 3));
          });
        }
      });
    }

    it('leave alone what data() gave, and are not reached by writes into what was read', async () => {
      for (const layout of LAYOUT_NAMES) {
        const table = startTable(layout);
        const kept = await table.data();
        stepSgd(table, IDS);
        expect([...kept]).toEqual([...START]);
        (table.dataSync() as Float32Array).fill(99);
        kept.fill(99);
        emulator().readRows(table, 0, 4).fill(99);
        expect(numbersOf(table)[11]).toBe(10);
        table.dispose();
      }
    });

    it('leave alone arrays and tensors that a user gave', () => {
      tf.tidy(() => {
        const mine = START.slice();
        const tensor = tf.tensor2d(mine, [4, 3]);
        const table = tf.variable(tensor) as unknown as tf.Variable;
        for (let i = 0; i < 10; i++) stepSgd(table, IDS);
        expect([...mine]).toEqual([...START]);
        expect(numbersOf(tensor)).toEqual([...START]);
        expect(numbersOf(table)).toEqual(AFTER_TEN_STEPS);
        const again = START.slice();
        emulator().writeRows(table, 0, again);
        stepSgd(table, IDS);
        expect([...again]).toEqual([...START]);
        table.dispose();
      });
    });

    it('are copied on the devices for each snapshot that is alive, and for no other', () => {
      for (const layout of LAYOUT_NAMES) {
        const table = startTable(layout);
        const once = tableBytes();
        expect(once).toBe(layout === 'replicated' ? 3 * BYTES : BYTES);
        for (let i = 0; i < 5; i++) {
          lookUp(table, IDS).dispose();
          table.clone().dispose();
          table.dataSync();
          stepSgd(table, IDS);
        }
        expect(tableBytes()).toBe(once);
        const kept = table.clone();
        expect(tableBytes()).withContext('a clone alone costs nothing').toBe(once);
        stepSgd(table, IDS);
        stepSgd(table, IDS);
        expect(tableBytes())
          .withContext(layout)
          .toBe(2 * once);
        const moved = numbersOf(table);
        kept.dispose();
        expect(tableBytes()).withContext(layout).toBe(once);
        expect(numbersOf(table)).toEqual(moved);
        table.dispose();
        expect(tableBytes()).toBe(0);
      }
    });

    it('are written by rows without changing a snapshot', () => {
      withTable('columns', (table) => {
        const kept = table.clone();
        emulator().writeRows(table, 1, Float32Array.of(-1, -2, -3, -4, -5, -6));
        expect(numbersOf(kept)).toEqual([...START]);
        expect(numbersOf(table)).toEqual([0, 1, 2, -1, -2, -3, -4, -5, -6, 9, 10, 11]);
      });
    });

    it('keep the counts of tfjs', () => {
      tf.tidy(() => {
        const before = tf.memory();
        const table = startTable('range');
        const { numTensors, numDataBuffers, numBytes } = tf.memory();
        expect([numTensors - before.numTensors, numDataBuffers - before.numDataBuffers]).toEqual([1, 1]);
        expect(numBytes - before.numBytes).toBe(BYTES);
        const kept = table.clone();
        stepSgd(table, IDS);
        expect(tf.memory().numTensors - numTensors).toBe(1);
        expect(tf.memory().numDataBuffers - numDataBuffers).toBe(1);
        tf.dispose([kept, table]);
        const after = tf.memory();
        expect([after.numTensors, after.numDataBuffers, after.numBytes]).toEqual([
          before.numTensors,
          before.numDataBuffers,
          before.numBytes,
        ]);
      });
    });

    it('tell of the memory of the devices through tf.memory()', () => {
      const table = startTable('replicated');
      const { devices } = tf.memory() as unknown as { devices: { tables: number; capacity: number | null }[] };
      expect(devices.map(({ tables, capacity }) => [tables, capacity])).toEqual([
        [BYTES, null],
        [BYTES, null],
        [BYTES, null],
      ]);
      table.dispose();
    });

    it('are freed at the end of a tidy', () => {
      tf.tidy(() => {
        const request = { name: 'passing', layout: layoutOf('columns', SIZE, 3, new Random(1)) };
        emulator().create({ ...request, fill: { kind: 'constant', value: 1 } });
        expect(tableBytes()).toBe(BYTES);
      });
      expect(tableBytes()).toBe(0);
    });

    it('are freed with the last of several tensors', () => {
      const table = startTable('modulo');
      const [a, b] = [table.clone(), tf.variable(table as unknown as tf.Tensor)];
      table.dispose();
      expect(numbersOf(a)).toEqual([...START]);
      a.dispose();
      stepSgd(b as unknown as tf.Variable, IDS);
      expect(numbersOf(b as unknown as tf.Variable)[0]).toBe(-2);
      expect(tableBytes()).toBe(BYTES);
      b.dispose();
      expect(tableBytes()).toBe(0);
    });

    it('are freed when nobody can reach them any more', async () => {
      setFlagsFromString('--expose-gc');
      const gc = runInNewContext('gc') as () => void;
      const { numTensors } = tf.memory();
      const make = (): void => {
        emulator().create({
          name: 'lost',
          layout: layoutOf('range', SIZE, 3, new Random(1)),
          fill: { kind: 'constant', value: 1 },
        });
      };
      for (let i = 0; i < 20; i++) make();
      for (let i = 0; i < 50 && tableBytes() > 0; i++) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        gc();
      }
      expect(tableBytes()).toBe(0);
      // tfjs itself counts what was never disposed.
      tf.engine().state.numTensors -= tf.memory().numTensors - numTensors;
    });

    it('keep their values while another backend is set', async () => {
      for (const layout of LAYOUT_NAMES) {
        const table = startTable(layout);
        stepSgd(table, IDS);
        const expected = numbersOf(table);
        const where = emulator().layoutOf(table);
        await tf.setBackend('cpu');
        expect(numbersOf(table)).toEqual(expected);
        expect(tf.tidy(() => numbersOf(table.add(1)))).toEqual(expected.map((value) => value + 1));
        expect(tableBytes()).withContext('tables that another backend uses move there').toBe(0);
        lookUp(table, IDS).dispose();
        stepSgd(table, IDS);
        await tf.setBackend('tpu-emulator');
        stepSgd(table, IDS);
        const lost = [6, 3, 0, 3];
        expect(numbersOf(table)).toEqual(Array.from(START, (value, i) => value - lost[Math.floor(i / 3)]!));
        expect(emulator().layoutOf(table)).withContext('it lies where it lay').toEqual(where);
        expect(tf.tidy(() => numbersOf(table.add(1)))[6]).toBe(7);
        table.dispose();
      }
    });

    it('give what a layer and its model give', async () => {
      const layer = emb.layers.embedding({ inputDim: 4, outputDim: 3, inputLength: 2 });
      const model = tf.sequential({ layers: [layer as never] });
      const start = tf.tensor2d(START, [4, 3]);
      layer.setWeights([start]);
      const optimizer = emb.train.sgd({ learningRate: 1 });
      const kept = layer.getWeights()[0]!.clone();
      model.compile({ optimizer, loss: (_: tf.Tensor, output: tf.Tensor) => output.sum() as never });
      const ids = tf.tensor2d(
        [
          [0, 0],
          [1, 3],
        ],
        [2, 2],
        'int32',
      );
      const zeros = tf.zeros([2, 2, 3]);
      for (let i = 0; i < 10; i++) await model.trainOnBatch(ids, zeros);
      expect(numbersOf(kept)).toEqual([...START]);
      expect(numbersOf(layer.getWeights()[0]!)).toEqual(AFTER_TEN_STEPS);
      tf.dispose([kept, start, ids, zeros]);
      expect(tableBytes()).toBe(BYTES);
      model.dispose();
      optimizer.dispose();
      expect(tableBytes()).toBe(0);
    });

    it('say where they lie', () => {
      const { devices } = currentBackend().store;
      expect(devices!.count).toBe(3);
      withTable('columns', (table) => {
        expect(devices!.layoutOf(table as unknown as tf.Tensor)!.kind).toBe('columns');
        expect(devices!.layoutOf(table.add(1))).toBeNull();
      });
    });
  },
  HOSTS,
);
