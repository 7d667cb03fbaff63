/** Optimizer state of tables on devices that lack room for it. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeEmulator, emulator } from '../backends/tpu-emulator/describe_emulator.js';
import { numbersOf } from '../backends/tpu-emulator/tables.js';
import { expectError } from '../helpers/errors.js';

type RowOptimizer = ReturnType<typeof emb.train.adam>;

// [16, 4] floats are 256 bytes.
function tableOnDevice(name?: string): tf.Variable {
  const table = tf.tidy(() => tf.variable(tf.ones([16, 4]), true, name)) as unknown as tf.Variable;
  emulator().settle(table);
  return table;
}

function step(optimizer: RowOptimizer, table: tf.Variable): void {
  const rows = (): tf.Tensor => emb.ops.embeddingBag(table, [0, 1], [0, 1, 2], { combiner: 'sum' });
  optimizer.minimize(() => rows().mul(2).sum() as tf.Scalar);
}

async function stateOf(optimizer: RowOptimizer): Promise<Record<string, number[]>> {
  const weights = await optimizer.getWeights();
  return Object.fromEntries(weights.slice(1).map(({ name, tensor }) => [name, numbersOf(tensor)]));
}

const slotBytes = (): number => emulator().machine.counters.counters().devices[0]!.memory.slots;

describeEmulator('slots on a device without room', { chips: 1, coresPerChip: 1, hbmBytesPerChip: 900 }, () => {
  it('are all freed where one does not fit', () => {
    const [table, filler] = [tableOnDevice(), tableOnDevice()];
    const optimizer = emb.train.adam({ learningRate: 0.1 });
    expectError(() => step(optimizer, table), 'ValueError', `${table.name}/velocities`, '256 bytes');
    expect(slotBytes()).toBe(0);
    expect(numbersOf(table)).toEqual(new Array<number>(64).fill(1));
    filler.dispose();
    step(optimizer, table);
    expect(slotBytes()).toBe(512);
    optimizer.dispose();
    table.dispose();
  });

  for (const [name, make] of [
    ['adagrad', () => emb.train.adagrad({ learningRate: 0.1 })],
    ['adam', () => emb.train.adam({ learningRate: 0.1 })],
  ] as const) {
    it(`that were loaded wait until there is room: ${name}`, async () => {
      const count = name === 'adam' ? 2 : 1;
      const first = tableOnDevice(`table of ${name}`);
      const trained = make();
      step(trained, first);
      // A clone would hold memory of the device.
      const saved = (await trained.getWeights()).map(({ name, tensor }) => {
        return { name, tensor: tf.tensor(tensor.dataSync(), tensor.shape, tensor.dtype) };
      });
      const state = await stateOf(trained);
      expect(Object.keys(state).length).toBe(count);
      step(trained, first);
      const after = await stateOf(trained);
      trained.dispose();
      first.dispose();

      const table = tableOnDevice(`table of ${name}`);
      const loaded = make();
      await loaded.setWeights(saved);
      const fillers = Array.from({ length: 3 - count }, () => tableOnDevice());
      expectError(() => step(loaded, table), 'ValueError', Object.keys(state).at(-1)!, '256 bytes');
      expect(slotBytes()).toBe(0);
      expect(await stateOf(loaded)).toEqual(state);
      tf.dispose(fillers);
      step(loaded, table);
      expect(slotBytes()).toBe(256 * count);
      expect(await stateOf(loaded)).toEqual(after);
      loaded.dispose();
      tf.dispose([...saved.map(({ tensor }) => tensor), table]);
    });
  }
});
