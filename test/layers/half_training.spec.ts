/** Tables of float16 that are trained, end to end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { halfValue, nearestHalf } from '../../src/codecs/half.js';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { OPTIMIZER_NAMES } from '../../src/rules/rules.js';
import { describeForBackends } from '../helpers/backends.js';
import { DIM, LENGTH, ROWS, compile, dispose, towers, trained, wordsOf } from './half_towers.js';
import { cloneOf, expectClose, ids, leakFree, useCpu } from './setup.js';

const found = new Map<string, Int32Array>();

describeForBackends('tables of float16', ({ backend }) => {
  for (const name of OPTIMIZER_NAMES) {
    it(
      `train nearly as float32 does, and alike on every backend: ${name}`,
      leakFree(async () => {
        const [half, plain] = [compile(towers('float16'), name), compile(towers('float32'), name)];
        const before = wordsOf(half);
        const [losses, expected] = [await trained(half), await trained(plain)];
        expect(losses.at(-1)).toBeLessThan(losses[0]!);
        losses.forEach((loss, i) => expect(Math.abs(loss - expected[i]!)).toBeLessThan(1e-3));
        const words = wordsOf(half);
        const known = found.get(name) ?? words;
        found.set(name, words);
        // Dense layers of other backends round otherwise in the last bits, which decides over a few roundings.
        const differing = words.filter((word, i) => word !== known[i]).length;
        expect(differing).toBeLessThan(words.length / 20);
        const [first, after] = [before, words].map((each) => each.subarray(0, DIM / 2));
        expect(after).withContext('the row that nobody looked up').toEqual(first!);
        expect(words).not.toEqual(before);
        if (backend === 'tensorflow') expect(emb.stepInfo(half)).toEqual(jasmine.objectContaining({ captured: true }));
        dispose(half, plain);
      }),
    );
  }
});

describe('captured steps of float16 tables', () => {
  it(
    'round as those that run op by op, step after step',
    leakFree(async () => {
      await emb.ready();
      const before = tf.getBackend();
      await tf.setBackend('tensorflow');
      try {
        const [captured, eager] = [compile(towers('float16'), 'adam'), compile(towers('float16'), 'adam')];
        emb.setCapture(false, eager);
        for (const model of [captured, eager]) await trained(model, 15);
        expect(emb.stepInfo(captured).captured).toBeTrue();
        expect(emb.stepInfo(eager).captured).toBeFalse();
        expect(wordsOf(captured)).toEqual(wordsOf(eager));
        dispose(captured, eager);
      } finally {
        await tf.setBackend(before);
      }
    }),
  );
});

describe('training of float16 tables', () => {
  beforeAll(useCpu);

  it(
    'of a DistributedEmbedding goes on after it was saved and loaded, by a seed for each table',
    leakFree(async () => {
      const make = (): tf.LayersModel => {
        const x = tf.input({ shape: [LENGTH], dtype: 'int32' });
        const item = (name: string, inputDim: number) => {
          return { name, inputDim, outputDim: DIM, combiner: 'sum', storage: 'float16' } as const;
        };
        const all = emb.layers.distributedEmbedding({
          ...{ name: 'all', embeddings: [item('a', ROWS), item('b', ROWS)], seed: 4, output: 'concat' },
        });
        const kernelInitializer = tf.initializers.glorotUniform({ seed: 3 });
        const joined = all.apply([x, x] as never) as unknown as tf.SymbolicTensor;
        const out = tf.layers.dense({ units: 1, kernelInitializer }).apply(joined) as tf.SymbolicTensor;
        return compile(tf.model({ inputs: x, outputs: out }));
      };
      const tablesOf = (model: tf.LayersModel): Int32Array[] => {
        return model.weights
          .filter(({ dtype }) => dtype === 'int32')
          .map((each) => each.read().dataSync<'int32'>().slice());
      };
      const whole = make();
      const before = tablesOf(whole);
      await trained(whole, 2);
      const second = await cloneOf(whole, { includeOptimizer: true });
      await trained(whole, 2);
      await trained(second, 2);
      expect(tablesOf(second)).toEqual(tablesOf(whole));
      tablesOf(whole).forEach((words, i) => expect(words).not.toEqual(before[i]!));
      dispose(whole, second);
    }),
  );

  it(
    'goes on to the same bits after the model was saved and loaded with its optimizer',
    leakFree(async () => {
      for (const name of ['sgd', 'adam', 'rowWiseAdagrad'] as const) {
        const whole = compile(towers('float16'), name);
        await trained(whole, 2);
        await trained(whole, 2);
        const first = compile(towers('float16'), name);
        await trained(first, 2);
        const second = await cloneOf(first, { includeOptimizer: true });
        expect(wordsOf(second)).toEqual(wordsOf(first));
        await trained(second, 2);
        expect(wordsOf(second)).withContext(name).toEqual(wordsOf(whole));
        dispose(whole, first, second);
      }
    }),
  );

  it(
    'goes on to the same bits from a SavedModel with its optimizer, whose graph holds the numbers as float32',
    leakFree(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'half-'));
      try {
        const whole = compile(towers('float16'), 'adam');
        await trained(whole, 2);
        await emb.savedModel.export(whole, join(folder, 'saved'), { includeOptimizer: true });
        const second = (await emb.savedModel.load(join(folder, 'saved'))) as tf.LayersModel;
        expect(wordsOf(second)).toEqual(wordsOf(whole));
        await trained(whole, 2);
        await trained(second, 2);
        expect(wordsOf(second)).toEqual(wordsOf(whole));
        await emb.savedModel.export(whole, join(folder, 'plain'));
        const plain = (await emb.savedModel.load(join(folder, 'plain'))) as tf.LayersModel;
        const numbers = FLOAT16.unpack(wordsOf(whole), DIM);
        expect(plain.layers[0]!.getWeights()[0]!.dataSync()).toEqual(numbers);
        await emb.exportKeras(whole, join(folder, 'model.keras'));
        const keras = (await emb.loadKerasModel(join(folder, 'model.keras'))) as unknown as tf.LayersModel;
        expect(
          keras.weights
            .find(({ shape }) => shape[1] === DIM)!
            .read()
            .dataSync(),
        ).toEqual(numbers);
        dispose(whole, second, plain, keras);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
  );

  it(
    'depends on the seed of the table, and on nothing else that is drawn',
    leakFree(async () => {
      const values = tf.randomUniform([ROWS, DIM], -0.05, 0.05, 'float32', 9) as tf.Tensor2D;
      const run = async (seed: number | null): Promise<Int32Array> => {
        const model = compile(towers('float16', { seed }));
        model.layers[0]!.setWeights([values]);
        await trained(model);
        const words = wordsOf(model);
        dispose(model);
        return words;
      };
      const [a, again, b, byDefault, zero] = [await run(1), await run(1), await run(2), await run(null), await run(0)];
      expect(again).toEqual(a);
      expect(b).not.toEqual(a);
      expect(byDefault).toEqual(zero);
      values.dispose();
    }),
  );

  it(
    'moves by steps far below half a unit, where rounding to the nearest stands still',
    leakFree(async () => {
      // 1e-5 of the weight in each of 300 steps; the distance of halves below 1 is 2^-11, so that the nearest is 1 again.
      const [steps, dim, step] = [300, 64, 1e-5];
      const start = tf.fill([2, dim], 0.75) as tf.Tensor2D;
      const layer = emb.layers.embedding({
        inputDim: 2,
        outputDim: dim,
        storage: 'float16',
        seed: 1,
        weights: [start],
      });
      const optimizer = emb.train.sgd({ learningRate: step * 0.75 });
      const row = ids([[0]]);
      layer.apply(row).dispose();
      for (let i = 0; i < steps; i++)
        tf.tidy(() => void optimizer.minimize(() => tf.sum(layer.apply(row) as tf.Tensor) as tf.Scalar));
      const values = FLOAT16.unpack(layer.getWeights()[0]!.dataSync<'int32'>(), dim);
      const mean = values.subarray(0, dim).reduce((sum, value) => sum + value, 0) / dim;
      // Each column takes a walk of 300 steps; the mean of 64 of them has a standard deviation of 2.2e-4 of 2.25e-3.
      expect(Math.abs(mean - 0.75 * (1 - steps * step))).toBeLessThan(8e-4);
      expect([...values.subarray(dim)]).toEqual(new Array(dim).fill(0.75));
      let nearest = 0.75;
      for (let i = 0; i < steps; i++) nearest = halfValue(nearestHalf(Math.fround(nearest - step * 0.75)));
      expect(nearest).toBe(0.75);
      tf.dispose([start, row]);
      layer.dispose();
      optimizer.dispose();
    }),
  );

  it(
    'counts several uses of a table, penalties, constraints and limits as that of float32 tables does',
    leakFree(async () => {
      for (const options of [
        { embeddingsRegularizer: tf.regularizers.l2({ l2: 0.05 }) },
        { embeddingsConstraint: 'nonNeg' },
        { maxNorm: 0.05 },
        { embeddingsConstraint: tf.constraints.maxNorm({ maxValue: 0.08, axis: 1 }) },
      ]) {
        for (const config of [{}, { clipNorm: 0.01 }, { globalClipNorm: 0.05 }, { weightDecay: 0.01 }]) {
          const models = (['float16', 'float32'] as const).map((storage) => {
            const { maxNorm = null, ...ofTable } = options as { maxNorm?: number };
            const table = emb.embeddingTable({
              ...{ name: `shared_${storage}`, inputDim: ROWS, outputDim: DIM, storage, seed: 5, ...ofTable },
            });
            const a = tf.input({ shape: [LENGTH], dtype: 'int32' });
            const parts = (['sum', 'mean'] as const).map((combiner) => {
              return emb.layers.embedding({ table, combiner, maxNorm }).apply(a) as tf.SymbolicTensor;
            });
            const kernelInitializer = tf.initializers.glorotUniform({ seed: 3 });
            const joined = tf.layers.concatenate().apply(parts) as tf.SymbolicTensor;
            const out = tf.layers.dense({ units: 1, kernelInitializer }).apply(joined) as tf.SymbolicTensor;
            return compile(tf.model({ inputs: a, outputs: out }), 'sgd', { learningRate: 0.3, ...config });
          });
          const [half, plain] = models as [tf.LayersModel, tf.LayersModel];
          const [losses, expected] = [await trained(half, 2), await trained(plain, 2)];
          losses.forEach((loss, i) => expect(Math.abs(loss - expected[i]!)).toBeLessThan(1e-3));
          const table = half.weights.find(({ dtype }) => dtype === 'int32')!;
          const numbers = plain.weights
            .find(({ shape }) => shape[0] === ROWS)!
            .read()
            .dataSync();
          const values = FLOAT16.unpack(table.read().dataSync<'int32'>(), DIM);
          values.forEach((value, i) => expect(Math.abs(value - numbers[i]!)).toBeLessThan(2e-3));
          dispose(half, plain);
        }
      }
    }),
  );

  it(
    'gives gradients by rows, of the shape of the numbers',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 9, outputDim: 5, storage: 'float16', combiner: 'sum', seed: 1 });
      const rows = ids([[1, 2, 1]]);
      layer.apply(rows).dispose();
      const optimizer = emb.train.sgd({ learningRate: 1 });
      const table = layer.embeddings!.read() as tf.Variable;
      const { value, grads } = optimizer.computeGradients(() => tf.sum(layer.apply(rows) as tf.Tensor) as tf.Scalar);
      const slices = (grads as Record<string, emb.IndexedSlices>)[table.name]!;
      expect([...slices.denseShape]).toEqual([9, 5]);
      expect(Array.from(slices.indices.dataSync())).toEqual([1, 2]);
      const before = FLOAT16.unpack(table.dataSync<'int32'>(), 5);
      optimizer.applyGradients(grads);
      const after = FLOAT16.unpack(table.dataSync<'int32'>(), 5);
      const moved = Array.from(after, (each, i) => before[i]! - each);
      expectClose(moved.slice(5, 15), [...new Array<number>(5).fill(2), ...new Array<number>(5).fill(1)], 2e-3);
      slices.dispose();
      tf.dispose([value, rows]);
      layer.dispose();
      optimizer.dispose();
    }),
  );
});
