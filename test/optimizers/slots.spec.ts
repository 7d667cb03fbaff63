/** Optimizer state of tables on devices that lack room for it. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeEmulator, emulator } from '../backends/emulator/describe_emulator.js';
import { numbersOf } from '../backends/emulator/tables.js';
import { expectError } from '../helpers/errors.js';

type RowOptimizer = ReturnType<typeof emb.train.adam>;

// [16, 4] floats are 256 bytes.
function tableOnDevice(name?: string): tf.Variable {
  const table = tf.tidy(() => tf.variable(tf.ones([16, 4]), true, name)) as unknown as tf.Variable;
  emulator().place(table);
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

describe('loaded slots', () => {
  let tensors: number;
  beforeAll(() => tf.setBackend('cpu'));
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  /** State as a file brings it: tensors of the caller's. */
  function savedAs(entries: Readonly<Record<string, number>>): { name: string; tensor: tf.Tensor }[] {
    const slots = Object.entries(entries).map(([name, value]) => ({ name, tensor: tf.fill([3, 2], value) }));
    return [{ name: 'iter', tensor: tf.scalar(4, 'int32') }, ...slots];
  }

  async function load(optimizer: RowOptimizer, entries: Readonly<Record<string, number>>): Promise<void> {
    const saved = savedAs(entries);
    await optimizer.setWeights(saved);
    tf.dispose(saved.map(({ tensor }) => tensor));
  }

  const variable = (name?: string): tf.Variable => tf.tidy(() => tf.variable(tf.zeros([3, 2]), true, name));

  function step(optimizer: RowOptimizer, ...tables: tf.Variable[]): void {
    const rows = (table: tf.Variable): tf.Scalar => emb.ops.embeddingBag(table, [0], [0, 1], { combiner: 'sum' }).sum();
    optimizer.minimize(() => tf.addN(tables.map(rows)));
  }

  it('take the place of those that were loaded before, stepped or waiting', async () => {
    const [first, second] = [variable('first'), variable('second')];
    const optimizer = emb.train.adagrad({ learningRate: 1 });
    await load(optimizer, { 'first/accumulators': 3, 'second/accumulators': 5, 'gone/accumulators': 7 });
    step(optimizer, first);
    await load(optimizer, { 'second/accumulators': 8 });
    expect(Object.keys(await stateOf(optimizer))).toEqual(['second/accumulators']);
    step(optimizer, first, second);
    const state = await stateOf(optimizer);
    expect(Object.keys(state).sort()).toEqual(['first/accumulators', 'second/accumulators']);
    expect(state['first/accumulators']!.slice(0, 2)).toEqual([Math.fround(1.1), Math.fround(1.1)]);
    expect(state['second/accumulators']).toEqual([9, 9, 8, 8, 8, 8]);
    optimizer.dispose();
    tf.dispose([first, second]);
  });

  it('of a variable without a name are found under the number that it had', async () => {
    for (const name of ['123456', 'variable', 'variable_7']) {
      const [table, other] = [variable(), variable('with a name')];
      expect(table.name).toMatch(/^\d+$/);
      const optimizer = emb.train.adagrad({ learningRate: 1 });
      await load(optimizer, { [`${name}/accumulators`]: 8 });
      // A table that has a name has state under it, or none.
      step(optimizer, other);
      step(optimizer, table);
      const state = await stateOf(optimizer);
      expect(state[`${table.name}/accumulators`]).toEqual([9, 9, 8, 8, 8, 8]);
      expect(state['with a name/accumulators']![2]).toBe(Math.fround(0.1));
      optimizer.dispose();
      tf.dispose([table, other]);
    }
  });

  it('of another shape are refused by name, and wait on', async () => {
    const table = tf.tidy(() => tf.variable(tf.zeros([2, 2]), true, 'short'));
    const optimizer = emb.train.adagrad();
    await load(optimizer, { 'short/accumulators': 8 });
    expectError(() => step(optimizer, table), 'ValueError', 'optimizer state short/accumulators', '[3, 2]');
    expect(await stateOf(optimizer)).toEqual({ 'short/accumulators': [8, 8, 8, 8, 8, 8] });
    optimizer.dispose();
    table.dispose();
  });

  it('are copies: whoever loads them disposes the tensors', async () => {
    const table = variable('copied');
    const optimizer = emb.train.adam();
    const saved = savedAs({ 'copied/momenta': 1, 'copied/velocities': 2 });
    await optimizer.setWeights(saved);
    step(optimizer, table);
    expect(Array.from(saved[1]!.tensor.dataSync())).toEqual([1, 1, 1, 1, 1, 1]);
    tf.dispose(saved.map(({ tensor }) => tensor));
    optimizer.dispose();
    table.dispose();
  });

  it('go when the optimizer goes, and when a table does', async () => {
    const [first, second] = [variable('first'), variable('second')];
    const optimizer = emb.train.adam();
    step(optimizer, first, second);
    first.dispose();
    expect(Object.keys(await stateOf(optimizer)).sort()).toEqual(['second/momenta', 'second/velocities']);
    const held = tf.memory().numTensors;
    optimizer.dispose();
    // Two slots, the anchor of steps and the saved count.
    expect(held - tf.memory().numTensors).toBe(4);
    second.dispose();
  });
});
