import { HYPER_FIELDS } from '../../../src/rules/hyper.js';
import * as tf from '@tensorflow/tfjs';
import { type CpuBackend, OwnedTables } from '../../../src/backends/cpu/owned_tables.js';
import type { KernelSet } from '../../../src/backends/kernel_set.js';
import { namedKernelSet, setKernels } from '../../../src/backends/registry.js';
import type { WasmKernelSet } from '../../../src/backends/wasm/wasm_kernel_set.js';
import { RuntimeError } from '../../../src/base/errors.js';
import { describeImplementations } from './implementations.js';
import { AFTER_TEN_STEPS, SNAPSHOTS, START, valuesOf } from './snapshots.js';
import { lookUp, stepSgd, SUM } from './steps.js';

const IDS = [0, 0, 1, 3];

function variableOf(values: Float32Array, rows = 4): tf.Variable {
  return tf.tidy(() => tf.variable(tf.tensor2d(values, [rows, values.length / rows]))) as tf.Variable;
}

/** Runs with a fresh table and disposes it, whatever was kept, and every other variable made meanwhile. */
function withTable(run: (table: tf.Variable) => void, values = START.slice()): void {
  const known = new Set(Object.keys(tf.engine().state.registeredVariables));
  tf.engine().startScope();
  try {
    run(variableOf(values));
  } finally {
    tf.engine().endScope();
    for (const [name, variable] of Object.entries(tf.engine().state.registeredVariables)) {
      if (!known.has(name)) variable.dispose();
    }
  }
}

const ownedTables = (): OwnedTables => OwnedTables.of(tf.backend() as unknown as CpuBackend);

describeImplementations('tables of the cpu backend, stepped in place', (implementation) => {
  for (const [name, take] of Object.entries(SNAPSHOTS)) {
    it(`leave alone: ${name}, taken before the first step, between steps and after a lookup`, () => {
      for (const when of ['fresh', 'after lookup', 'after a step'] as const) {
        withTable((table) => {
          if (when === 'after lookup') lookUp(table, IDS);
          if (when === 'after a step') {
            stepSgd(table, IDS);
            table.assign(tf.tensor2d(START.slice(), [4, 3]) as tf.Tensor);
            stepSgd(table, []);
          }
          const kept = take(table);
          const expected = kept.map(valuesOf);
          const again = take(table);
          for (let i = 0; i < 10; i++) stepSgd(table, IDS);
          expect(kept.map(valuesOf)).withContext(when).toEqual(expected);
          expect(again.map(valuesOf)).withContext(when).toEqual(expected);
          expect(valuesOf(table as unknown as tf.Tensor))
            .withContext(when)
            .toEqual(AFTER_TEN_STEPS);
          expect(valuesOf(lookUp(table, [0])))
            .withContext(when)
            .toEqual(AFTER_TEN_STEPS.slice(0, 3));
        });
      }
    });
  }

  it('leave alone what the user made them from', () => {
    const mine = START.slice();
    withTable(() => {
      const tensor = tf.tensor2d(mine, [4, 3]);
      const slice = tensor.slice([0, 0], [2, 3]);
      const table = tf.variable(tensor) as unknown as tf.Variable;
      for (let i = 0; i < 10; i++) stepSgd(table, IDS);
      expect([...mine]).toEqual([...START]);
      expect(valuesOf(tensor)).toEqual([...START]);
      expect(valuesOf(slice)).toEqual([...START.slice(0, 6)]);
      expect(valuesOf(table as unknown as tf.Tensor)).toEqual(AFTER_TEN_STEPS);
    }, mine);
  });

  it('leave alone what data() gave', async () => {
    const table = variableOf(START.slice());
    stepSgd(table, []);
    const kept = await table.data();
    stepSgd(table, IDS);
    expect([...kept]).toEqual([...START]);
    table.dispose();
  });

  it('are not reached by writes into what was read', () => {
    withTable((table) => {
      stepSgd(table, []);
      (table.dataSync() as Float32Array).fill(99);
      (table.bufferSync().values as Float32Array).fill(99);
      expect(valuesOf(table as unknown as tf.Tensor)).toEqual([...START]);
      expect(valuesOf(lookUp(table, [3]))).toEqual([9, 10, 11]);
      expect(valuesOf(table.clone())).toEqual([...START]);
    });
  });

  it('are copied once by a loop that reads nothing else', () => {
    withTable((table) => {
      lookUp(table, IDS);
      stepSgd(table, IDS);
      const { copies } = ownedTables().counts;
      const { dataId } = table;
      for (let i = 0; i < 50; i++) {
        tf.dispose(lookUp(table, IDS));
        stepSgd(table, IDS);
      }
      expect(ownedTables().counts.copies).toBe(copies);
      expect(table.dataId).toBe(dataId);
    });
  });

  it('are copied once for each snapshot that is alive, and not for those that are gone', () => {
    withTable((table) => {
      stepSgd(table, IDS);
      const { copies } = ownedTables().counts;
      const kept = table.clone();
      stepSgd(table, IDS);
      stepSgd(table, IDS);
      expect(ownedTables().counts.copies).toBe(copies + 1);
      kept.dispose();
      table.clone().dispose();
      stepSgd(table, IDS);
      expect(ownedTables().counts.copies).toBe(copies + 1);
    });
  });

  it('keep the counts of tensors and bytes', () => {
    withTable((table) => {
      const before = tf.memory();
      const kept = table.clone();
      stepSgd(table, IDS);
      kept.dispose();
      stepSgd(table, IDS);
      const after = tf.memory();
      expect([after.numTensors, after.numBytes, after.numDataBuffers]).toEqual([
        before.numTensors,
        before.numBytes,
        before.numDataBuffers,
      ]);
    });
  });

  it('step with a gradient that is the table itself', () => {
    withTable((table) => {
      const bags = { values: tf.tensor1d([0, 1, 2, 3], 'int32'), rowSplits: tf.range(0, 5, 1, 'int32'), weights: null };
      const attrs = { ...SUM, hyper: [1, ...new Array<number>(HYPER_FIELDS.length - 1).fill(0)] };
      const { values, rowSplits } = bags;
      stepSgd(table, []);
      ownedTables().own(table, namedKernelSet(implementation)!);
      const hyper = attrs.hyper;
      hyper[10] = 1; // lazy
      hyper[16] = hyper[19] = -Infinity; // clips are off
      hyper[17] = hyper[20] = Infinity;
      tf.engine().runKernel('SparseApplySgd', { table, gradient: table, values, rowSplits } as never, attrs);
      expect(valuesOf(table as unknown as tf.Tensor)).toEqual(new Array(12).fill(0));
    });
  });

  it('refuse the bare kernel where somebody else can see the table', () => {
    withTable((table) => {
      stepSgd(table, IDS);
      table.clone();
      const inputs = {
        table,
        gradient: tf.ones([1, 3]),
        values: tf.tensor1d([0], 'int32'),
        rowSplits: tf.tensor1d([0, 1], 'int32'),
      };
      const attrs = { ...SUM, hyper: new Array<number>(HYPER_FIELDS.length).fill(0) };
      expect(() => tf.engine().runKernel('SparseApplySgd', inputs as never, attrs)).toThrowError(RuntimeError);
    });
  });

  it('work with stock ops between steps', () => {
    withTable((table) => {
      stepSgd(table, IDS);
      const dense = tf.matMul(tf.eye(4), table as unknown as tf.Tensor2D);
      expect(valuesOf(dense)).toEqual(valuesOf(table as unknown as tf.Tensor));
      table.assign(table.add(1) as tf.Tensor);
      stepSgd(table, IDS);
      expect(valuesOf(table as unknown as tf.Tensor).slice(6, 9)).toEqual([7, 8, 9]);
      expect(valuesOf(tf.gather(table, tf.tensor1d([2], 'int32')))).toEqual([7, 8, 9]);
    });
  });

  it('change implementation between steps', () => {
    withTable((table) => {
      const order = ['reference', 'wasm', 'native'].filter((name) => namedKernelSet(name as never) !== undefined);
      for (const name of [...order, ...order]) {
        setKernels(name as never);
        stepSgd(table, IDS);
        lookUp(table, IDS);
      }
      const lost = 2 * order.length;
      expect(valuesOf(table as unknown as tf.Tensor).slice(9)).toEqual([9 - lost, 10 - lost, 11 - lost]);
      setKernels(implementation);
    });
  });

  it('name an id out of range, its position and the rows, and stay as they are', () => {
    withTable((table) => {
      expect(() => stepSgd(table, [0, 4])).toThrowError(/values\[1\] = 4 is not in \[0, 4\)/);
      expect(() => lookUp(table, [0, 1, -7])).toThrowError(/values\[2\] = -7 is not in \[0, 4\)/);
      expect(valuesOf(table as unknown as tf.Tensor)).toEqual([...START]);
    });
  });
});

describe('memory of tables in WebAssembly on the cpu backend', () => {
  const heap = () => (namedKernelSet('wasm') as KernelSet as WasmKernelSet).heap;
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });
  beforeEach(() => setKernels('wasm'));
  afterEach(() => setKernels('auto'));

  it('is taken at the first lookup and given back with the last tensor', () => {
    const start = heap().statistics().bytesInUse;
    const table = variableOf(new Float32Array(4000), 1000);
    lookUp(table, [1]).dispose();
    const resident = heap().statistics().bytesInUse;
    expect(resident - start).toBe(16000);
    lookUp(table, [1]).dispose();
    stepSgd(table, [1]);
    expect(heap().statistics().bytesInUse).toBe(resident);
    const kept = table.clone();
    stepSgd(table, [1]);
    expect(heap().statistics().bytesInUse - start).toBe(32000);
    kept.dispose();
    expect(heap().statistics().bytesInUse).toBe(resident);
    table.dispose();
    expect(heap().statistics().bytesInUse).toBe(start);
  });

  it('is given back when another implementation takes the table over', () => {
    const start = heap().statistics().bytesInUse;
    const table = variableOf(new Float32Array(4000), 1000);
    stepSgd(table, [1]);
    setKernels('reference');
    stepSgd(table, [1]);
    expect(heap().statistics().bytesInUse).toBe(start);
    table.dispose();
  });
});
