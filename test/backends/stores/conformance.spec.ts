/** What every store of rows does alike: those in the memory of each backend, that of stock ops, and devices. */
import * as tf from '@tensorflow/tfjs';
import { genericTables, registerGenericBackend } from '../../../src/backends/generic/register.js';
import { KERNEL_NAMES } from '../../../src/backends/bag_tensors.js';
import { currentBackend, devicesInUse, kernelSet } from '../../../src/backends/registry.js';
import { makeSlot } from '../../../src/backends/stores/slots.js';
import { readRows, rowsRead, writtenTable } from '../../../src/backends/stores/table_rows.js';
import { piecesOf } from '../../../src/io/models/tensor_pieces.js';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const STOCK = 'stock-ops-test';

/** A second cpu backend with all stock kernels and none of ours. */
async function useStockOps(): Promise<void> {
  if ((tf.findBackend(STOCK) ?? null) === null) {
    const Cpu = tf.findBackend('cpu').constructor as new () => tf.KernelBackend;
    tf.registerBackend(STOCK, () => new Cpu());
    for (const kernel of tf.getKernelsForBackend('cpu')) {
      if (!KERNEL_NAMES.includes(kernel.kernelName)) tf.registerKernel({ ...kernel, backendName: STOCK });
    }
    registerGenericBackend(STOCK);
  }
  await tf.setBackend(STOCK);
}

async function useDevices(chips: number): Promise<void> {
  emb.configureTpuEmulator({ chips, coresPerChip: 1, devices: 'inline', host: 'cpu' });
  await tf.setBackend('tpu-emulator');
}

/** Stores that no backend has by itself. */
const OTHERS: readonly { name: string; use(): Promise<void>; leave(): void }[] = [
  { name: 'stock ops', use: useStockOps, leave: () => undefined },
  ...[1, 3].map((chips) => ({
    name: `placed on ${chips} devices`,
    use: () => useDevices(chips),
    leave() {
      tf.removeBackend('tpu-emulator');
      emb.configureTpuEmulator({});
    },
  })),
];

/** Defines specs for every store. */
function describeForStores(title: string, define: () => void): void {
  describeForBackends(title, define);
  for (const { name, use, leave } of OTHERS) {
    describe(`${title} [${name}]`, () => {
      let before: string;
      beforeAll(async () => {
        await tf.ready();
        await emb.ready();
        before = tf.getBackend();
        await use();
      });
      afterAll(async () => {
        await tf.setBackend(before);
        leave();
      });
      define();
    });
  }
}

const SHAPES = [[5], [7, 3], [1, 1], [4, 2, 3], [300, 17]];

function counting(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => i + 1);
}

describeForStores('a table that is written a few rows at a time', () => {
  it('holds what was written, in any order, and zeros elsewhere', () => {
    for (const shape of SHAPES) {
      const [rows, ...rest] = shape as [number, ...number[]];
      const width = rest.reduce((product, size) => product * size, 1);
      const numbers = counting(rows * width);
      const skipped = Math.min(rows - 1, 2);
      expectNoLeak(() => {
        const table = writtenTable(shape, (write) => {
          for (let row = rows - 1; row >= 0; row--) {
            if (row !== skipped) write(row, numbers.subarray(row * width, (row + 1) * width));
          }
        });
        const expected = numbers.slice().fill(0, skipped * width, (skipped + 1) * width);
        expect(table.shape).toEqual(shape);
        expect(table.dtype).toBe('float32');
        expect(Array.from(table.dataSync())).withContext(String(shape)).toEqual(Array.from(expected));
        table.dispose();
      });
    }
  });

  it('takes nothing from memory that held other numbers', () => {
    tf.dispose(writtenTable([64, 64], (write) => write(0, counting(64 * 64))));
    const table = writtenTable([64, 64], () => {});
    expect(Array.from(table.dataSync()).some((value) => value !== 0)).toBeFalse();
    table.dispose();
  });

  it('is gone where filling fails', () => {
    const failing = (): tf.Tensor =>
      writtenTable([3, 2], (write) => {
        write(0, counting(2));
        throw new RangeError('no more');
      });
    expectNoLeak(() => expect(failing).toThrowError(RangeError, 'no more'));
  });

  it('is read a few rows at a time, and takes no rows once others see it', () => {
    const { store } = currentBackend();
    const writer = store.begin([6, 4]);
    writer.write(1, counting(20));
    const table = writer.finish();
    for (const [first, rows] of [
      [0, 1],
      [0, 6],
      [2, 3],
      [5, 1],
    ] as const) {
      const room = new Float32Array(rows * 4).fill(NaN);
      if (!store.read(table, first, room)) {
        expect(Array.from(room)).toEqual(new Array(rows * 4).fill(NaN));
        continue;
      }
      const whole = table.dataSync<'float32'>();
      expect(Array.from(room)).toEqual(Array.from(whole.subarray(first * 4, (first + rows) * 4)));
    }
    const variable = tf.tidy(() => tf.variable(table.as2D(6, 4)));
    expect(store.rewrite(variable)).toBeNull();
    expect(Array.from(table.dataSync()).slice(0, 5)).toEqual([0, 0, 0, 0, 1]);
    tf.dispose([table, variable]);
  });

  it('becomes a variable that is written where it lies', () => {
    const { store } = currentBackend();
    const values = store.begin([4, 3]).finish();
    const variable = tf.variable(values);
    values.dispose();
    store.place(variable);
    const write = store.rewrite(variable);
    write?.(2, counting(6));
    const written = write === null ? [0, 0, 0, 0, 0, 0] : [1, 2, 3, 4, 5, 6];
    expect(Array.from(variable.dataSync())).toEqual([0, 0, 0, 0, 0, 0, ...written]);
    expect(write === null).toBe(store === genericTables.store);
    variable.dispose();
  });

  it('is freed where its making ends early', () => {
    expectNoLeak(() => currentBackend().store.begin([4, 3]).cancel());
  });
});

const ROWS = 23;
const DIM = 5;

/** A model of one table, trained for some steps from the same rows on. */
function trained(steps: number): tf.Sequential {
  const values = tf.tensor2d(
    Float32Array.from({ length: ROWS * DIM }, (_, i) => Math.fround(Math.sin(i))),
    [ROWS, DIM],
  );
  const layer = emb.layers.embedding({
    inputDim: ROWS,
    outputDim: DIM,
    combiner: 'sum',
    inputShape: [3],
    weights: [values],
    name: 'stored',
  });
  const model = tf.sequential({ layers: [layer] });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  values.dispose();
  for (let step = 0; step < steps; step++) stepOf(model, step);
  return model;
}

function stepOf(model: tf.LayersModel, step: number): void {
  const ids = tf.tensor2d(
    Array.from({ length: 12 }, (_, i) => (i * 7 + step * 3) % ROWS),
    [4, 3],
    'int32',
  );
  const target = tf.ones([4, DIM]);
  const optimizer = model.optimizer as ReturnType<typeof emb.train.adagrad>;
  optimizer.minimize(() => tf.losses.meanSquaredError(target, model.apply(ids, { training: true }) as tf.Tensor));
  tf.dispose([ids, target]);
}

const tableOfModel = (model: tf.LayersModel): tf.Variable => model.weights[0]!.read() as tf.Variable;
const bitsOf = (values: Float32Array): number[] => Array.from(new Int32Array(values.slice().buffer));

function dispose(model: tf.LayersModel): void {
  const { optimizer } = model;
  model.dispose();
  optimizer.dispose();
}

describeForStores('a store of tables', () => {
  it('reads rows alike at once, by waiting and in pieces of a file: the bits of the whole', async () => {
    const model = trained(3);
    const table = tableOfModel(model);
    const whole = bitsOf(table.dataSync<'float32'>());
    for (const [first, rows] of [
      [0, ROWS],
      [2, 4],
      [ROWS - 1, 1],
    ] as const) {
      const expected = whole.slice(first * DIM, (first + rows) * DIM);
      expect(bitsOf(readRows(table, first, rows) as Float32Array)).toEqual(expected);
      const room = new Float32Array(rows * DIM);
      expect(bitsOf((await rowsRead(table, first, rows, room)) as Float32Array)).toEqual(expected);
    }
    const bytes: number[] = [];
    for await (const piece of piecesOf(table)) bytes.push(...piece);
    expect(bitsOf(new Float32Array(Uint8Array.from(bytes).buffer))).toEqual(whole);
    dispose(model);
  });

  it('leaves what was read of a table as it was when the table is stepped or written', () => {
    const model = trained(1);
    const table = tableOfModel(model);
    const copy = table.clone();
    const read = table.dataSync<'float32'>();
    const before = bitsOf(read);
    stepOf(model, 1);
    const after = bitsOf(table.dataSync<'float32'>());
    expect(after).not.toEqual(before);
    expect([bitsOf(read), bitsOf(copy.dataSync<'float32'>())]).toEqual([before, before]);
    currentBackend().store.rewrite(table)?.(1, new Float32Array(DIM).fill(9));
    expect([bitsOf(read), bitsOf(copy.dataSync<'float32'>())]).toEqual([before, before]);
    copy.dispose();
    dispose(model);
  });

  it('gives a table more rows, which its slots have too; those that were there keep their bits', () => {
    const model = trained(2);
    const before = bitsOf(tableOfModel(model).dataSync<'float32'>());
    (model.layers[0] as ReturnType<typeof emb.layers.embedding>).extend({ rows: 4, initializer: 'ones' });
    const grown = tableOfModel(model);
    expect(grown.shape).toEqual([ROWS + 4, DIM]);
    expect(bitsOf(grown.dataSync<'float32'>())).toEqual([...before, ...bitsOf(new Float32Array(4 * DIM).fill(1))]);
    const twin = trained(2);
    for (const each of [model, twin]) stepOf(each, 2);
    expect(bitsOf(readRows(tableOfModel(model), 0, ROWS) as Float32Array)).toEqual(
      bitsOf(tableOfModel(twin).dataSync<'float32'>()),
    );
    for (const each of [model, twin]) dispose(each);
  });

  it('steps nothing where an id names no row, and goes on afterwards', () => {
    const [model, twin] = [trained(1), trained(1)];
    const ids = tf.tensor2d([0, 1, ROWS], [1, 3], 'int32');
    const optimizer = model.optimizer as ReturnType<typeof emb.train.adagrad>;
    expect(() =>
      optimizer.minimize(() => (model.apply(ids, { training: true }) as tf.Tensor).sum().asScalar()),
    ).toThrowError(new RegExp(`ids in \\[0, ${ROWS}\\).*${ROWS}`));
    for (const each of [model, twin]) stepOf(each, 1);
    const [found, expected] = [model, twin].map((each) => bitsOf(tableOfModel(each).dataSync<'float32'>()));
    expect(found).toEqual(expected!);
    ids.dispose();
    for (const each of [model, twin]) dispose(each);
  });

  it('makes slots full of a number and of values, beside their table, and frees all', () => {
    const before = tf.memory().numTensors;
    const model = trained(1);
    const table = tableOfModel(model);
    const slots = [
      makeSlot(table, 'stored/zeros', [ROWS, DIM], 0),
      makeSlot(table, 'stored/rows', [ROWS], 0.25),
      makeSlot(table, 'stored/given', [ROWS, DIM], () => tf.tidy(() => tf.range(0, ROWS * DIM).reshape([ROWS, DIM]))),
    ];
    const firstOf = slots.map((slot) => Array.from(slot.dataSync()).slice(0, 2));
    expect(firstOf).toEqual([
      [0, 0],
      [0.25, 0.25],
      [0, 1],
    ]);
    const devices = devicesInUse();
    if (devices !== null) for (const slot of slots) expect(devices.layoutOf(slot)).not.toBeNull();
    expect(() =>
      makeSlot(table, 'stored/none', [ROWS, DIM], () => {
        throw new RangeError('no values');
      }),
    ).toThrowError(RangeError);
    tf.dispose(slots);
    dispose(model);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('comes to the same bits on any number of threads', () => {
    const [threads, found] = [kernelSet().info().threads, [] as number[][]];
    for (const count of [1, 2]) {
      emb.setThreads(count);
      const model = trained(4);
      found.push(bitsOf(tableOfModel(model).dataSync<'float32'>()));
      dispose(model);
    }
    emb.setThreads(threads);
    expect(found[1]).toEqual(found[0]!);
  });

  it('is saved and loaded with the same bits, slots too', async () => {
    const model = trained(2);
    let saved: tf.io.ModelArtifacts | null = null;
    const keep = async (artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult> => {
      saved = artifacts;
      return { modelArtifactsInfo: tf.io.getModelArtifactsInfoForJSON(artifacts) };
    };
    await model.save(tf.io.withSaveHandler(keep), { includeOptimizer: true });
    const loaded = await tf.loadLayersModel(tf.io.fromMemory(saved!));
    const bits = (): number[][] => [model, loaded].map((each) => bitsOf(tableOfModel(each).dataSync<'float32'>()));
    expect(bits()[1]).toEqual(bits()[0]!);
    for (const each of [model, loaded]) stepOf(each, 2);
    expect(bits()[1]).toEqual(bits()[0]!);
    for (const each of [model, loaded]) dispose(each);
  });
});
