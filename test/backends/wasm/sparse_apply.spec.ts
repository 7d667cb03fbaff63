import * as tf from '@tensorflow/tfjs';
import '../cpu/implementations.js';
import { SNAPSHOTS, AFTER_TEN_STEPS, START, valuesOf } from '../cpu/snapshots.js';
import { lookUp, stepSgd } from '../cpu/steps.js';
import { describeWasm, wasmBackend } from './wasm_backend.js';

const IDS = [0, 0, 1, 3];

function withTable(run: (table: tf.Variable) => void): void {
  const known = new Set(Object.keys(tf.engine().state.registeredVariables));
  tf.engine().startScope();
  try {
    run(tf.tidy(() => tf.variable(tf.tensor2d(START.slice(), [4, 3]))) as unknown as tf.Variable);
  } finally {
    tf.engine().endScope();
    for (const [name, variable] of Object.entries(tf.engine().state.registeredVariables)) {
      if (!known.has(name)) variable.dispose();
    }
  }
}

const addressOf = ({ dataId }: tf.Tensor | tf.Variable): number => wasmBackend().dataIdMap.get(dataId).memoryOffset;

describeWasm('tables of the wasm backend, stepped in place', () => {
  for (const [name, take] of Object.entries(SNAPSHOTS)) {
    it(`leave alone: ${name}`, () => {
      withTable((table) => {
        const kept = take(table);
        for (let i = 0; i < 5; i++) stepSgd(table, IDS);
        const later = take(table);
        const expected = later.map(valuesOf);
        for (let i = 0; i < 5; i++) stepSgd(table, IDS);
        expect(later.map(valuesOf)).toEqual(expected);
        expect(valuesOf(table as unknown as tf.Tensor)).toEqual(AFTER_TEN_STEPS);
        tf.dispose([table]);
        withTable((untouched) => expect(kept.map(valuesOf)).toEqual(take(untouched).map(valuesOf)));
      });
    });
  }

  it('leave alone what the user made them from', () => {
    const mine = START.slice();
    withTable(() => {
      const tensor = tf.tensor2d(mine, [4, 3]);
      const table = tf.variable(tensor) as unknown as tf.Variable;
      for (let i = 0; i < 10; i++) stepSgd(table, IDS);
      expect([...mine]).toEqual([...START]);
      expect(valuesOf(tensor)).toEqual([...START]);
      expect(valuesOf(table as unknown as tf.Tensor)).toEqual(AFTER_TEN_STEPS);
    });
  });

  it('are never copied by a loop that reads nothing else', () => {
    withTable((table) => {
      const address = addressOf(table);
      for (let i = 0; i < 20; i++) {
        tf.dispose(lookUp(table, IDS));
        stepSgd(table, IDS);
      }
      expect(addressOf(table)).toBe(address);
    });
  });

  it('are copied once for a snapshot that is alive', () => {
    withTable((table) => {
      const kept = table.reshape([12]);
      const address = addressOf(table);
      stepSgd(table, IDS);
      const copied = addressOf(table);
      expect(copied).not.toBe(address);
      expect(addressOf(kept)).toBe(address);
      stepSgd(table, IDS);
      expect(addressOf(table)).toBe(copied);
    });
  });

  it('keep the counts of tensors and bytes', () => {
    withTable((table) => {
      const before = tf.memory();
      const kept = table.reshape([12]);
      stepSgd(table, IDS);
      kept.dispose();
      const after = tf.memory();
      expect([after.numTensors, after.numBytes, after.numDataBuffers]).toEqual([
        before.numTensors,
        before.numBytes,
        before.numDataBuffers,
      ]);
    });
  });

  it('are seen as they are by matrix products before and after', () => {
    for (const transposed of [false, true]) {
      withTable((table) => {
        const left = transposed ? tf.eye(3) : tf.eye(4);
        const product = () => tf.matMul(left, table as unknown as tf.Tensor2D, false, transposed);
        const fused = () =>
          tf.fused.matMul({
            a: left,
            b: table as unknown as tf.Tensor2D,
            transposeB: transposed,
            bias: tf.zeros([transposed ? 4 : 3]),
          });
        for (let i = 0; i < 3; i++) {
          const now = table as unknown as tf.Tensor2D;
          const expected = valuesOf(transposed ? tf.transpose(now) : now);
          expect(valuesOf(product())).withContext(`step ${i}`).toEqual(expected);
          expect(valuesOf(fused())).withContext(`fused, step ${i}`).toEqual(expected);
          stepSgd(table, IDS);
        }
      });
    }
  });

  it('go to another backend and come back, stepped on each', async () => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d(START.slice(), [4, 3]))) as unknown as tf.Variable;
    const kept = table.reshape([12]);
    for (const backend of ['wasm', 'cpu', 'wasm', 'cpu', 'wasm']) {
      await tf.setBackend(backend);
      stepSgd(table, IDS);
      stepSgd(table, IDS);
    }
    expect(valuesOf(table as unknown as tf.Tensor)).toEqual(AFTER_TEN_STEPS);
    expect(valuesOf(kept)).toEqual([...START]);
    table.dispose();
    kept.dispose();
  });

  it('come from another backend when they are used here first', async () => {
    await tf.setBackend('cpu');
    const table = tf.tidy(() => tf.variable(tf.tensor2d(START.slice(), [4, 3]))) as unknown as tf.Variable;
    const kept = table.clone();
    await tf.setBackend('wasm');
    for (let i = 0; i < 10; i++) stepSgd(table, IDS);
    expect(valuesOf(table as unknown as tf.Tensor)).toEqual(AFTER_TEN_STEPS);
    expect(valuesOf(kept)).toEqual([...START]);
    table.dispose();
    kept.dispose();
  });
});
