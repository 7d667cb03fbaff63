/** Tables that get rows while they are in use. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEmulator } from '../backends/emulator/describe_emulator.js';
import { describeForBackends } from '../helpers/backends.js';
import { artifactsOf, expectError, ids, leakFree, reload, take } from '../layers/setup.js';

const [BEFORE, MORE, DIM] = [10, 5, 3];
const AFTER = BEFORE + MORE;

type Storage = 'float32' | 'float16' | 'int8';

function modelOf(inputDim: number, args: Partial<emb.EmbeddingArgs> = {}): tf.LayersModel {
  const input = tf.input({ shape: [2], dtype: 'int32' });
  const given = { inputDim, outputDim: DIM, combiner: 'sum', seed: 3, name: 'items', ...args } as emb.EmbeddingArgs;
  const rows = emb.layers.embedding(given).apply(input);
  const head = tf.layers.dense({ units: 1, kernelInitializer: 'ones', name: 'head' }).apply(rows) as tf.SymbolicTensor;
  return tf.model({ inputs: input, outputs: head });
}

const layerOf = (model: tf.LayersModel): emb.Embedding => model.getLayer('items') as unknown as emb.Embedding;
const tableOf = (model: tf.LayersModel): number[] => Array.from(layerOf(model).table.variable!.dataSync());

function predicted(model: tf.LayersModel, row: number[]): number {
  return tf.tidy(() => (model.predict(ids([row])) as tf.Tensor).dataSync()[0]!);
}

/** One step on ids below `rows`, others in each step; the loss. */
async function train(model: tf.LayersModel, step: number, rows: number): Promise<number> {
  const x = ids(Array.from({ length: 4 }, (_, i) => [(3 * step + 5 * i) % rows, (rows - 1 + step * i) % rows]));
  const y = tf.tidy(() => x.sum(1, true).toFloat().div(AFTER) as tf.Tensor);
  const loss = (await model.trainOnBatch(x, y)) as number;
  tf.dispose([x, y]);
  return loss;
}

async function steps(model: tf.LayersModel, from: number, rows: number, count = 6): Promise<number[]> {
  const losses: number[] = [];
  for (let step = from; step < from + count; step++) losses.push(await train(model, step, rows));
  return losses;
}

async function stateOf({ optimizer }: tf.LayersModel): Promise<[string, number[]][]> {
  if (optimizer.getClassName() === 'Adamax') return [];
  const state = await optimizer.getWeights();
  const values = state.map(({ name, tensor }): [string, number[]] => {
    return [name.replace(/_\d+/, ''), Array.from(tensor.dataSync())];
  });
  // The number of steps is a tensor of the caller of stock optimizers.
  if (!(optimizer instanceof emb.SparseOptimizer)) state[0]!.tensor.dispose();
  return values;
}

/** A model whose table grows, and one that has had its rows from the start, which are other ones until then. */
async function twins(args: Partial<emb.EmbeddingArgs>, optimizer: () => tf.Optimizer): Promise<tf.LayersModel[]> {
  const [grown, whole] = [modelOf(BEFORE, args), modelOf(AFTER, args)];
  const [small, head] = [tableOf(grown), tableOf(whole)];
  expect(head.slice(0, small.length)).toEqual(small);
  for (const model of [grown, whole]) model.compile({ optimizer: optimizer(), loss: 'meanSquaredError' });
  expect(await steps(grown, 0, BEFORE)).toEqual(await steps(whole, 0, BEFORE));
  layerOf(grown).extend({ rows: MORE });
  return [grown, whole];
}

async function expectSame([grown, whole]: tf.LayersModel[]): Promise<void> {
  expect(tableOf(grown!)).toEqual(tableOf(whole!));
  expect(await stateOf(grown!)).toEqual(await stateOf(whole!));
}

function disposeAll(models: tf.LayersModel[]): void {
  for (const model of models) {
    model.optimizer.dispose();
    model.dispose();
  }
}

const OPTIMIZERS: readonly (readonly [string, () => tf.Optimizer])[] = [
  ['adagrad', () => emb.train.adagrad({ learningRate: 0.3, initialAccumulatorValue: 0.25 })],
  ['rows of adagrad', () => emb.train.rowWiseAdagrad({ learningRate: 0.3 })],
  ['adam', () => emb.train.adam({ learningRate: 0.1 })],
  ['adam of all rows', () => emb.train.adam({ learningRate: 0.1, lazy: false })],
  ['ftrl', () => emb.train.ftrl({ learningRate: 0.1 })],
  ['momentum', () => emb.train.sgd({ learningRate: 0.1, momentum: 0.9 })],
];

describeForBackends('A table that gets rows', ({ name, backend }) => {
  for (const [optimizer, make] of OPTIMIZERS) {
    it(
      `trains as one that had them from the start: ${optimizer}`,
      leakFree(async () => {
        const models = await twins({}, make);
        await expectSame(models);
        const [a, b] = [await steps(models[0]!, 6, AFTER), await steps(models[1]!, 6, AFTER)];
        expect(a).toEqual(b);
        await expectSame(models);
        disposeAll(models);
      }),
    );
  }

  // How rows of float16 are rounded depends on the size of the table.
  it(
    'trains as one that was loaded with them: float16',
    leakFree(async () => {
      const grown = modelOf(BEFORE, { storage: 'float16' });
      grown.compile({ optimizer: OPTIMIZERS[0]![1](), loss: 'meanSquaredError' });
      await steps(grown, 0, BEFORE);
      layerOf(grown).extend({ rows: MORE });
      const models = [grown, await reload(await artifactsOf(grown, { includeOptimizer: true }))];
      await expectSame(models);
      expect(await steps(models[0]!, 6, AFTER)).toEqual(await steps(models[1]!, 6, AFTER));
      await expectSame(models);
      // The weight still takes numbers.
      tf.tidy(() => {
        grown.setWeights([tf.ones([AFTER, DIM]), tf.ones([DIM, 1]), tf.zeros([1])]);
      });
      expect(predicted(grown, [AFTER - 1, 0])).toBe(2 * DIM);
      disposeAll(models);
    }),
  );

  for (const [optimizer, make] of [
    ['adam', () => tf.train.adam(0.1)],
    ['adagrad', () => tf.train.adagrad(0.1, 0.2)],
    ['momentum', () => tf.train.momentum(0.1, 0.9)],
    ['rmsprop', () => tf.train.rmsprop(0.1, 0.9, 0.1, 1e-7, true)],
    ['adadelta', () => tf.train.adadelta(0.1)],
    ['adamax', () => tf.train.adamax(0.1)],
  ] as const) {
    it(`under an optimizer of tfjs: ${optimizer}`, async () => {
      const models = await twins({}, make);
      expect(await steps(models[0]!, 6, AFTER)).toEqual(await steps(models[1]!, 6, AFTER));
      await expectSame(models);
      disposeAll(models);
    });
  }

  it(
    'gives its rows to lookups, configs, counts and files',
    leakFree(async () => {
      const model = modelOf(BEFORE);
      const layer = layerOf(model);
      const bytes = tf.memory().numBytes;
      layer.extend({ rows: 2, initializer: 'ones' });
      if (backend !== 'wasm') expect(tf.memory().numBytes - bytes).toBe(2 * DIM * 4);
      layer.extend({ rows: 3, initializer: tf.initializers.constant({ value: 2 }) });
      expect(layer.inputDim).toBe(AFTER);
      expect(layer.getConfig()['inputDim']).toBe(AFTER);
      expect(layer.embeddings!.shape).toEqual([AFTER, DIM]);
      expect(layer.table.variable!.strides).toEqual([DIM]);
      expect(model.countParams()).toBe(AFTER * DIM + DIM + 1);
      expect(predicted(model, [BEFORE, AFTER - 1])).toBe(3 * DIM);
      expectError(() => predicted(model, [0, AFTER]), 'ValueError', 'ids', `${AFTER}`);
      const again = await reload(await artifactsOf(model));
      expect(layerOf(again).inputDim).toBe(AFTER);
      expect(tableOf(again)).toEqual(tableOf(model));
      model.dispose();
      again.dispose();
    }),
  );

  it(
    'begins with those of a table of the new size, where a seed draws them, or with those that are given',
    leakFree(() => {
      const whole = modelOf(AFTER);
      const model = modelOf(BEFORE);
      for (const rows of [1, 4]) layerOf(model).extend({ rows });
      expect(tableOf(model)).toEqual(tableOf(whole));
      const named = modelOf(BEFORE);
      layerOf(named).extend({ rows: MORE, initializer: 'randomUniform' });
      expect(tableOf(named)).toEqual(tableOf(whole));
      const given = tf.tensor2d([[0.5, 1.5, 2.5]]);
      layerOf(model).extend({ rows: 1, initializer: given });
      given.dispose();
      expect(tableOf(model).slice(-DIM)).toEqual([0.5, 1.5, 2.5]);
      for (const each of [whole, model, named]) each.dispose();
    }),
  );

  it('leaves copies as they were', () => {
    const model = modelOf(BEFORE);
    const { variable } = layerOf(model).table;
    const copy = variable!.clone();
    const values = tableOf(model);
    layerOf(model).extend({ rows: 1 });
    expect(copy.shape).toEqual([BEFORE, DIM]);
    expect(take(copy)).toEqual(values);
    expect(tableOf(model).slice(0, values.length)).toEqual(values);
    model.dispose();
  });

  for (const beside of ['alone', 'beside models that were there']) {
    it(
      `keeps slots that were loaded and wait for it, ${beside}`,
      leakFree(async () => {
        // Of the same name, and found first.
        const others = beside === 'alone' ? [] : [modelOf(BEFORE + 3), modelOf(AFTER)];
        const make = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.3, initialAccumulatorValue: 0.25 });
        const models = await twins({}, make);
        const artifacts = await artifactsOf(models[0]!, { includeOptimizer: true });
        const later = await reload(artifacts);
        const sooner = modelOf(BEFORE);
        sooner.compile({ optimizer: make(), loss: 'meanSquaredError' });
        await steps(sooner, 0, BEFORE);
        const loaded = await reload(await artifactsOf(sooner, { includeOptimizer: true }));
        layerOf(loaded).extend({ rows: MORE });
        // Saved between, and once more where a step took them.
        const twice = await reload(await artifactsOf(loaded, { includeOptimizer: true }));
        const losses = await steps(models[1]!, 6, AFTER);
        for (const each of [later, loaded, twice]) {
          expect(await steps(each, 6, AFTER)).toEqual(losses);
          expect(tableOf(each)).toEqual(tableOf(models[1]!));
        }
        disposeAll([...models, later, sooner, loaded, twice]);
        for (const each of others) each.dispose();
      }),
    );
  }

  it('is shared by all its layers', () => {
    const table = emb.embeddingTable({ inputDim: BEFORE, outputDim: DIM, embeddingsInitializer: 'zeros' });
    const [first, second] = [emb.layers.embedding({ table }), emb.layers.raggedEmbedding({ table, combiner: 'sum' })];
    expect(take(first.apply([[0]]))).toEqual([0, 0, 0]);
    expect(take(second.apply(emb.RaggedTensor.fromRows([[0]])))).toEqual([0, 0, 0]);
    second.extend({ rows: 1, initializer: 'ones' });
    expect([first.inputDim, second.inputDim, table.inputDim]).toEqual([BEFORE + 1, BEFORE + 1, BEFORE + 1]);
    expect(take(first.apply([[BEFORE]]))).toEqual([1, 1, 1]);
    first.dispose();
    second.dispose();
  });

  it('of quantized rows', () => {
    for (const storage of ['float16', 'int8'] as Storage[]) {
      const layer = emb.layers.embedding({ inputDim: BEFORE, outputDim: DIM, storage, trainable: false });
      take(layer.apply([[0]]));
      const before = Array.from(layer.table.variable!.dataSync());
      layer.extend({ rows: 2, initializer: 'ones' });
      expect(Array.from(layer.table.variable!.dataSync()).slice(0, before.length)).toEqual(before);
      expect(take(layer.apply([[BEFORE + 1]]))).toEqual([1, 1, 1]);
      layer.dispose();
    }
  });

  it(
    `refuses what makes no rows (${name})`,
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: BEFORE, outputDim: DIM, name: 'own' });
      expectError(() => layer.extend({ rows: 1 }), 'RuntimeError', 'extend', 'own');
      take(layer.apply([[0]]));
      const extend = (args: unknown) => () => layer.extend(args as never);
      for (const rows of [0, -1, 1.5, NaN, Infinity, 2 ** 31]) expectError(extend({ rows }), 'ValueError', 'rows');
      expectError(extend({ rows: 2 ** 31 - BEFORE }), 'ValueError', 'rows', `${2 ** 31 - BEFORE}`);
      for (const rows of [undefined, null, '1', [1]]) expectError(extend({ rows }), 'TypeError', 'rows');
      expectError(extend(undefined), 'TypeError', 'args');
      expectError(extend({ rows: 1, initialiser: 'ones' }), 'ValueError', 'initialiser');
      expectError(extend({ rows: 1, initializer: 'halves' }), 'ValueError', 'initializer');
      tf.tidy(() => {
        expectError(extend({ rows: 2, initializer: tf.ones([1, DIM]) }), 'ValueError', 'initializer');
        expectError(extend({ rows: 1, initializer: tf.ones([1, DIM], 'int32') }), 'TypeError', 'initializer');
        const inLoss = (): tf.Scalar => {
          layer.extend({ rows: 1 });
          return (layer.apply([[1]]) as tf.Tensor).sum();
        };
        expectError(() => tf.variableGrads(inLoss), 'RuntimeError', 'extend', 'within a step');
        const optimizer = emb.train.adagrad({ learningRate: 0.1 });
        expectError(() => optimizer.minimize(inLoss), 'RuntimeError', 'extend', 'within a step');
        optimizer.dispose();
      });
      expect(layer.inputDim).toBe(BEFORE);
      layer.dispose();
      expectError(() => layer.extend({ rows: 1 }), 'RuntimeError', 'extend', 'own');
    }),
  );

  it('is none of several tables', () => {
    const crossed = emb.layers.concatOneHotEmbedding({ featureSizes: [2, 3], embeddingWidth: 2 });
    expectError(() => crossed.extend({ rows: 1 }), 'RuntimeError', 'extend', 'ConcatOneHotEmbedding');
    const shared = emb.embeddingTable({ inputDim: 4, outputDim: 2 });
    const layer = emb.layers.embedding({ table: shared });
    const several = emb.layers.distributedEmbedding({ embeddings: [layer] } as never);
    expectError(() => several.extend({ rows: 1 }), 'RuntimeError', 'extend', 'DistributedEmbedding');
    tf.dispose(several.apply([ids([[1]])]));
    take(layer.apply([[1]]));
    expectError(() => layer.extend({ rows: 1 }), 'RuntimeError', 'extend', several.name);
    layer.dispose();
    several.dispose();
  });
});

describeEmulator('A table on a device that gets rows', { chips: 2, coresPerChip: 1, hbmBytesPerChip: 4096 }, () => {
  it('lies there with its slots', async () => {
    const models = await twins({}, OPTIMIZERS[0]![1]);
    await expectSame(models);
    expect(await steps(models[0]!, 6, AFTER)).toEqual(await steps(models[1]!, 6, AFTER));
    await expectSame(models);
    disposeAll(models);
  });

  it('stays as it was where it has no room', () => {
    const model = modelOf(BEFORE);
    const values = tableOf(model);
    const { name } = layerOf(model).table.variable!;
    expectError(() => layerOf(model).extend({ rows: 1000 }), 'ValueError', name, '12120 bytes');
    expect(layerOf(model).inputDim).toBe(BEFORE);
    expect(tableOf(model)).toEqual(values);
    model.dispose();
  });
});

describe('A model whose table got rows', () => {
  it('is exported with them', async () => {
    await tf.setBackend('cpu');
    const folder = mkdtempSync(join(tmpdir(), 'extended-'));
    const model = modelOf(BEFORE);
    layerOf(model).extend({ rows: MORE, initializer: 'ones' });
    const expected = predicted(model, [BEFORE, 2]);
    await emb.savedModel.export(model, join(folder, 'saved'));
    await emb.exportKeras(model, join(folder, 'model.keras'));
    for (const again of [
      (await emb.savedModel.load(join(folder, 'saved'))) as tf.LayersModel,
      await emb.loadKerasModel(join(folder, 'model.keras')),
    ]) {
      expect(layerOf(again).inputDim).toBe(AFTER);
      expect(predicted(again, [BEFORE, 2])).toBe(expected);
      again.dispose();
    }
    model.dispose();
    rmSync(folder, { recursive: true });
  });
});
