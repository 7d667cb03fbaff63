/** Runs in a page: what tables on the GPU promise beyond right numbers. Adds to gpu_program.ts. */
import * as tf from '@tensorflow/tfjs';
import { currentBackend } from '../../../src/backends/registry.js';
import { copyOfRows } from '../../../src/backends/webgpu/gpu_tables.js';
import { setBindingLimit } from '../../../src/backends/webgpu/parts.js';
import * as emb from '../../../src/index.js';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import type { WebgpuBackend } from '../../../src/tfjs/webgpu/webgpu_backend.js';
import { on, PROGRAM, withoutSyncReads } from '../../browser/gpu_program.js';
import { Random } from '../../helpers/random.js';
import { tableOf } from '../../../src/backends/table.js';

const backend = (): WebgpuBackend => tf.backend() as unknown as WebgpuBackend;

const START = [1, 2, 3, 4, 5, 6];

function madeTable(): tf.Variable {
  return tf.tidy(() => tf.variable(tf.tensor2d(START.slice(), [3, 2])));
}

/** A step of all rows by 1. */
function step(table: tf.Variable): void {
  tf.tidy(() => {
    const gradient = tf.ones<tf.Rank.R2>([3, 2]);
    const args = { table, gradient, values: [0, 1, 2], rowSplits: [0, 1, 2, 3] };
    emb.ops.sparseApply('sgd', { ...args, combiner: 'sum', learningRate: 1 });
  });
}

const STEPPED = START.map((value) => value - 1);

/** Whoever shares a table's buffer, and how; each gives what it held before the step, and what it holds afterwards. */
const SHARERS: Readonly<Record<string, (table: tf.Variable) => tf.Tensor>> = {
  clone: (table) => table.clone(),
  reshape: (table) => table.reshape([6]),
  slice: (table) => table.slice([0, 0], [3, 2]),
  'another variable': (table) => tf.variable(table),
  'a clone that was read': (table) => {
    const clone = table.clone();
    void clone.data();
    return clone;
  },
};

async function numbersOf(tensor: tf.Tensor): Promise<string> {
  return Array.from(await tensor.data()).join();
}

async function sharedBuffers(): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, share] of Object.entries(SHARERS)) {
    const table = madeTable();
    // It has been stepped before, or never.
    for (let steps = 0; steps < 2; steps++) {
      const before = await numbersOf(table);
      const shared = share(table);
      step(table);
      if ((await numbersOf(shared)) !== before)
        wrong.push(`${name}: ${await numbersOf(shared)} after step ${steps + 1}`);
      const expected = before.split(',').map((value) => Number(value) - 1);
      if ((await numbersOf(table)) !== expected.join()) wrong.push(`table of ${name}: ${await numbersOf(table)}`);
      shared.dispose();
    }
    table.dispose();
  }
  return wrong;
}

/** Reads that end after a step give what was there before it, and leave nothing behind. */
async function pendingReads(): Promise<string[]> {
  const wrong: string[] = [];
  const table = madeTable();
  const first = table.data();
  step(table);
  const second = table.data();
  step(table);
  const now = await table.data();
  const expect = (what: string, values: ArrayLike<number>, wanted: readonly number[]): void => {
    if (Array.from(values).join() !== wanted.join()) wrong.push(`${what}: ${Array.from(values).join()}`);
  };
  expect('before', await first, START);
  expect('between', await second, STEPPED);
  expect(
    'after',
    now,
    STEPPED.map((value) => value - 1),
  );
  expect(
    'later',
    await table.data(),
    STEPPED.map((value) => value - 1),
  );
  table.dispose();
  return wrong;
}

/** A buffer of the caller's own is not written. */
async function externalBuffer(): Promise<string[]> {
  const source = tf.tidy(() => tf.tensor2d(START.slice(), [3, 2]).add(0));
  const { buffer } = source.dataToGPU();
  const outside = tf.tensor({ buffer, zeroCopy: true } as never, [3, 2], 'float32');
  const table = tf.variable(outside);
  step(table);
  const [theirs, ours] = [await numbersOf(outside), await numbersOf(table)];
  tf.dispose([source, outside, table]);
  return theirs === START.join() && ours === STEPPED.join() ? [] : [`${theirs} and ${ours}`];
}

/** A table whose values come in blocks of rows, and is written again while a clone is held, and while none is. */
async function writtenRows(): Promise<string[]> {
  const wrong: string[] = [];
  const shape: [number, number] = [700_000, 3];
  const layer = emb.layers.embedding({ inputDim: shape[0], outputDim: shape[1], embeddingsInitializer: 'ones' });
  layer.apply(tf.input({ shape: [1] }));
  const expectAll = async (what: string, tensor: tf.Tensor, wanted: number): Promise<void> => {
    const values = await tensor.data();
    const at = values.findIndex((value) => value !== wanted);
    if (at >= 0) wrong.push(`${what}: [${at}] is ${values[at]}, not ${wanted}`);
  };
  const write = (value: number): void => {
    const values = tf.fill(shape, value);
    layer.setWeights([values]);
    values.dispose();
  };
  const [table] = layer.getWeights() as [tf.Tensor];
  await expectAll('new', table, 1);
  const clone = table.clone();
  write(2);
  await expectAll('clone', clone, 1);
  clone.dispose();
  await expectAll('written', layer.getWeights()[0]!, 2);
  write(3);
  await expectAll('written again', layer.getWeights()[0]!, 3);
  layer.dispose();
  return wrong;
}

/** Trains a model of float16 rows on `cpu` and here; how many words differ, and of how many. */
async function float16Words(): Promise<{ different: number; trained: number }> {
  const random = new Random(21);
  const start = random.floats(40 * 7, -1, 1);
  const wordsAfter = async (steps: number): Promise<Int32Array> => {
    const model = tf.sequential({
      layers: [
        emb.layers.embedding({
          ...{ inputDim: 40, outputDim: 7, inputShape: [3], name: 'table', storage: 'float16', seed: 3 },
          combiner: 'sum',
        }) as tf.layers.Layer,
        tf.layers.dense({ units: 1, kernelInitializer: 'ones', name: 'head' }),
      ],
    });
    const values = tf.tensor2d(start, [40, 7]);
    model.layers[0]!.setWeights([values]);
    model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }) as never, loss: 'meanSquaredError' });
    const [ids, wanted] = [
      tf.tensor2d(
        [
          [3, 7, 3],
          [1, 2, 39],
        ],
        undefined,
        'int32',
      ),
      tf.tensor2d([[1], [-1]]),
    ];
    for (let step = 0; step < steps; step++) await model.trainOnBatch(ids, wanted);
    const words = (await (model.layers[0]!.weights[0]!.read() as tf.Variable).data()) as Int32Array;
    tf.dispose([values, ids, wanted]);
    model.dispose();
    (model.optimizer as unknown as emb.SparseOptimizer).dispose();
    return words.slice();
  };
  const [untrained, ours] = [await wordsAfter(0), await wordsAfter(4)];
  const theirs = await on('cpu', () => wordsAfter(4));
  return {
    different: ours.filter((word, i) => word !== theirs[i]).length,
    trained: ours.filter((word, i) => word !== untrained[i]).length,
  };
}

/** A model whose tables were made int8 on `cpu`: how far predictions here are from those there. */
async function int8Predictions(): Promise<number> {
  const ids = [
    [3, 7, 3],
    [1, 2, 39],
  ];
  const predicted = async (model: tf.LayersModel): Promise<Float32Array> => {
    const given = tf.tidy(() => model.predict(tf.tensor2d(ids, undefined, 'int32')) as tf.Tensor);
    const values = (await given.data()) as Float32Array;
    given.dispose();
    return values.slice();
  };
  let theirs = new Float32Array(0);
  const model = await on('cpu', async () => {
    const layer = emb.layers.embedding({ inputDim: 40, outputDim: 7, inputShape: [3], combiner: 'mean' });
    const floats = tf.sequential({ layers: [layer as tf.layers.Layer, tf.layers.dense({ units: 4 })] });
    const made = (await emb.quantize(floats, { dtype: 'int8' })) as tf.LayersModel;
    theirs = (await predicted(made)) as Float32Array<ArrayBuffer>;
    floats.dispose();
    return made;
  });
  const ours = await predicted(model);
  model.dispose();
  return Math.max(...ours.map((value, i) => Math.abs(value - theirs[i]!)));
}

/** Rows that are copied out of a table, and out of one whose values the host knows. */
async function copiedRows(): Promise<string[]> {
  const table = madeTable();
  step(table);
  const copy = copyOfRows(backend(), table, 1, 2);
  const copied = Array.from((await backend().read(copy.dataId)) as Float32Array).join();
  backend().disposeData(copy.dataId);
  const known = madeTable();
  const into = new Float32Array(4);
  currentBackend().store.read(known, 1, into);
  tf.dispose([table, known]);
  return [copied, into.join()];
}

/** Has shaders of this package fail, by a call that is no WGSL, while `run` lasts. */
async function withBrokenShaders(run: () => Promise<void>): Promise<void> {
  const device = backend().device as unknown as { createShaderModule(of: { code: string }): object };
  const { createShaderModule } = device;
  device.createShaderModule = (of) =>
    createShaderModule.call(device, { ...of, code: of.code.replace('run(index);', 'noSuchFunction(index);') });
  try {
    await run();
  } finally {
    device.createShaderModule = createShaderModule;
  }
}

async function errorOf(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    return String(error);
  }
  return '';
}

/** What is said of a lookup whose shader is broken: where it is read, at the call after it, and by another shader at last. */
async function brokenShader(): Promise<string[]> {
  const table = madeTable();
  const ids = emb.RaggedTensor.fromRows([[0, 1], [2]]);
  const weights = { values: tf.tensor1d([1, 2, 3]), rowSplits: ids.rowSplits };
  const lookUp = (): tf.Tensor => emb.embeddingLookup(table, ids, { combiner: 'sqrtn', weights } as never) as never;
  const other = (): Promise<string> =>
    errorOf(() => numbersOf(tf.tidy(() => emb.embeddingLookup(table, [[0, 1]], { combiner: 'sum' }))));
  const said: string[] = [];
  await withBrokenShaders(async () => {
    const pooled = lookUp();
    said.push(await errorOf(() => pooled.data()));
    pooled.dispose();
  });
  lookUp().dispose();
  said.push(await other());
  // The same call may be told of more than once, a call that is right of none in the end.
  for (let calls = 0; calls < 10; calls++) if ((await other()) === '') break;
  said.push(await other());
  tf.dispose([table, weights.values]);
  return said;
}

/** What is said once the device is lost: by a step, by a lookup, by a read that was on its way and by a later one. */
async function lostDevice(): Promise<string[]> {
  const table = madeTable();
  step(table);
  const pending = errorOf(() => table.data());
  const { device } = backend();
  (device as unknown as { destroy(): void }).destroy();
  await device.lost;
  const said = [await errorOf(() => step(table)), await errorOf(() => emb.embeddingLookup(table, [1]))];
  return [...said, await pending, await errorOf(() => table.data())];
}

/** What is said of a table that fits into no buffer. */
async function hugeTable(): Promise<string> {
  return errorOf(() => {
    const layer = emb.layers.embedding({ inputDim: 100_000_000, outputDim: 32 });
    layer.apply(tf.tensor2d([[1]], [1, 1], 'int32'));
  });
}

/** The steps of a model make no synchronous read even where ids are made by ops that leave them on the GPU alone. */
async function idsOfOps(): Promise<number> {
  const outcome = async (): Promise<Float32Array> => {
    const table = tf.tidy(() => tf.variable(tf.tensor2d(new Random(4).floats(50 * 4), [50, 4])));
    const optimizer = emb.train.adagrad({ learningRate: 0.5 });
    const scores = tf.tensor2d(new Random(5).floats(30 * 50), [30, 50]);
    for (let step = 0; step < 3; step++) {
      optimizer.minimize(() => {
        const ids = tf.argMax(scores, 1) as tf.Tensor1D;
        return emb.embeddingLookup(table, ids).square().sum() as tf.Scalar;
      });
    }
    const values = (await table.data()).slice() as Float32Array;
    tf.dispose([table, scores]);
    optimizer.dispose();
    return values;
  };
  const theirs = await on('cpu', outcome);
  const ours = await withoutSyncReads(outcome);
  return Math.max(...ours.map((value, i) => Math.abs(value - theirs[i]!)));
}

/** Kernels by their names, as tfjs runs them: pooled rows, then a table after a step of Adagrad and its slot. */
async function namedKernels(): Promise<string[]> {
  const bags = {
    values: tf.tensor1d([0, 2, 2], 'int32'),
    rowSplits: tf.tensor1d([0, 2, 3], 'int32'),
    weights: tf.tensor1d([1, 2, 3]),
  };
  const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
  const run = (name: string, inputs: object, attrs: object = {}): tf.Tensor =>
    tf.engine().runKernel(name, { ...inputs, ...bags } as never, { ...options, ...attrs } as never) as tf.Tensor;
  const [table, slot0] = [madeTable(), tf.tidy(() => tf.variable(tf.zeros([3, 2])))];
  const gradient = tf.ones([2, 2]);
  const pooled = run('EmbeddingBag', { table });
  const ofWeights = run('EmbeddingBagWeightsGrad', { table, gradient });
  const hyper = Array.from(packHyper({ ...NEUTRAL_HYPER, learningRate: 1 }));
  run('SparseApplyAdagrad', { table, slot0, gradient }, { hyper });
  const found = [await numbersOf(pooled), await numbersOf(ofWeights), await numbersOf(table), await numbersOf(slot0)];
  tf.dispose([pooled, ofWeights, table, slot0, gradient, ...Object.values(bags)]);
  return found;
}

/** Ids outside the table: what is said of them, and the table afterwards. */
async function strayIds(): Promise<string[]> {
  const table = madeTable();
  const said = await errorOf(() => {
    tf.tidy(() => {
      const args = { table, gradient: tf.ones<tf.Rank.R2>([2, 2]), values: [0, 3], rowSplits: [0, 1, 2] };
      emb.ops.sparseApply('sgd', { ...args, combiner: 'sum', learningRate: 1 });
    });
  });
  const lookedUp = await errorOf(() => emb.embeddingLookup(table, [[1, -1]], { combiner: 'sum' }));
  const after = await numbersOf(table);
  // Ids that an op has made are not read: those outside count as zeros.
  const pooled = tf.tidy(() => {
    const ids = tf.tensor2d([[0, 4]], [1, 2], 'int32').add(tf.scalar(1, 'int32'));
    return emb.embeddingLookup(table, ids, { combiner: 'sum' }) as tf.Tensor;
  });
  const unread = await numbersOf(pooled);
  tf.dispose([table, pooled]);
  return [said, lookedUp, after, unread];
}

/** Rows are rewritten in place where nobody else holds the table, and not where somebody does. */
async function rewrittenRows(): Promise<unknown[]> {
  const table = madeTable();
  const clone = table.clone();
  const isRefused = currentBackend().store.rewrite(table) === null;
  const held = await numbersOf(clone);
  clone.dispose();
  currentBackend().store.rewrite(table)!(1, Float32Array.of(7, 8));
  const after = await numbersOf(table);
  table.dispose();
  return [isRefused, held, after];
}

/** What a row becomes whose gradients give something else in another order, with ids that the GPU has sorted. */
async function orderOfSums(): Promise<string> {
  const table = tf.tidy(() => tf.variable(tf.zeros<tf.Rank.R2>([3, 1])));
  tf.tidy(() => {
    const gradients = [1e8, 1, -1e8, 1, 1e8, 1, -1e8, 1, 1e8, -1e8, 1];
    const gradient = tf.tensor2d(gradients, [gradients.length, 1]);
    const values = tf.zeros([gradients.length], 'int32').add<tf.Tensor1D>(tf.scalar(1, 'int32'));
    const rowSplits = Array.from({ length: gradients.length + 1 }, (_, i) => i);
    emb.ops.sparseApply('sgd', { table, gradient, values, rowSplits, combiner: 'sum', learningRate: 1 });
  });
  const after = await numbersOf(table);
  table.dispose();
  return after;
}

/** Running sums and products of axes of several lengths that are not those of plain loops. */
async function runningSums(): Promise<string[]> {
  const wrong: string[] = [];
  for (const length of [2, 5, 3, 1, 4]) {
    for (const [op, plain] of [
      [tf.cumsum, (a: number, b: number) => a + b],
      [tf.cumprod, (a: number, b: number) => a * b],
    ] as const) {
      for (const isExclusive of [false, true]) {
        for (const isReversed of [false, true]) {
          const values = Array.from({ length }, (_, i) => i + 2);
          const first = op === tf.cumsum ? 0 : 1;
          const order = isReversed ? [...values].reverse() : values;
          const runs = order.map((_, i) => order.slice(0, isExclusive ? i : i + 1).reduce(plain, first));
          const wanted = isReversed ? runs.reverse() : runs;
          // Along the last axis, and one before it.
          const found = tf.tidy(() => [
            op(tf.tensor2d(values, [1, length]), 1, isExclusive, isReversed),
            op(tf.tensor3d(values, [1, length, 1]), 1, isExclusive, isReversed),
          ]);
          for (const each of found) {
            const numbers = await numbersOf(each as tf.Tensor);
            if (numbers !== wanted.join()) wrong.push(`${numbers}, not ${wanted.join()}`);
          }
          tf.dispose(found);
        }
      }
    }
  }
  return wrong;
}

/** A step of all rows of a table with more numbers than one axis of a dispatch reaches; the largest difference from cpu. */
async function wideStep(): Promise<number> {
  const shape: [number, number] = [140_000, 32];
  const outcome = async (): Promise<Float32Array> => {
    const [table, slot0] = tf.tidy(() => [tf.variable(tf.ones(shape)), tf.variable(tf.fill(shape, 0.5))] as const);
    tf.tidy(() => {
      const gradient = tf.ones<tf.Rank.R2>([2, 32]);
      const bags = {
        values: tf.tensor1d([7, 139_999], 'int32'),
        rowSplits: tf.tensor1d([0, 1, 2], 'int32'),
        weights: null,
      };
      const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, momentum: 0.9, lazy: 0, idleDecay: 0.01 });
      const entries = [{ gradient, bags, options }];
      currentBackend().step([
        { optimizer: 'momentum', table: tableOf(table), slots: [slot0], entries, dense: null, hyper },
      ]);
    });
    const values = (await table.data()).slice() as Float32Array;
    tf.dispose([table, slot0]);
    return values;
  };
  const theirs = await on('cpu', outcome);
  const ours = await outcome();
  return ours.reduce((most, value, i) => Math.max(most, Math.abs(value - theirs[i]!)), 0);
}

const WEBGPU = {
  sharedBuffers,
  pendingReads,
  externalBuffer,
  writtenRows,
  copiedRows,
  float16Words,
  int8Predictions,
  idsOfOps,
  namedKernels,
  strayIds,
  rewrittenRows,
  orderOfSums,
  runningSums,
  wideStep,
  brokenShader,
  lostDevice,
  hugeTable,
  bindingLimit: setBindingLimit,
};

export type WebgpuProgram = typeof WEBGPU;
Object.assign(globalThis, { gpu: PROGRAM, webgpu: WEBGPU });
