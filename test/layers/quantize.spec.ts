import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { cloneOf, expectClose, ids, leakFree, take, useCpu } from './setup.js';

/** Values of a table: small ones, one far row, one constant row. */
function tableValues(rows: number, dim: number): Float32Array {
  const values = new Random(rows + dim).floats(rows * dim, -1, 1);
  values.fill(0.3, dim, 2 * dim);
  for (let c = 0; c < dim; c++) values[2 * dim + c]! += 100;
  return values;
}

interface Towers {
  readonly model: tf.LayersModel;
  readonly tables: readonly Float32Array[];
}

const DIM = 5;

/** Every kind of layer with tables, a shared table, weights per id, and a nested model. */
function everyLayer(): Towers {
  const [own, shared, many, one] = [tableValues(9, DIM), tableValues(7, DIM), tableValues(6, DIM), tableValues(8, DIM)];
  const table = emb.embeddingTable({ name: 'items', inputDim: 7, outputDim: DIM, weights: [tensor(shared, 7)] });
  const a = tf.input({ shape: [3], dtype: 'int32', name: 'a' });
  const b = tf.input({ shape: [3], dtype: 'int32', name: 'b' });
  const w = tf.input({ shape: [3], name: 'w' });
  const first = emb.layers.embedding({
    ...{ name: 'own', inputDim: 9, outputDim: DIM, combiner: 'mean', weights: [tensor(own, 9)] },
    embeddingsRegularizer: 'l2',
  });
  const second = emb.layers.embedding({ table, combiner: 'sum' });
  const third = emb.layers.embedding({ table, combiner: 'sqrtn', maxNorm: 1 });
  const all = emb.layers.distributedEmbedding({
    name: 'all',
    embeddings: [{ name: 'rest', inputDim: 6, outputDim: DIM, combiner: 'sum', weights: [tensor(many, 6)] }],
  });
  const hot = emb.layers.concatOneHotEmbedding({
    ...{ featureSizes: [3, 3, 2], embeddingWidth: DIM, weights: [tensor(one, 8)] },
  });
  const inner = tf.sequential({ layers: [hot, tf.layers.flatten()] });
  const [rest] = all.apply([b] as never) as unknown as tf.SymbolicTensor[];
  const parts = [
    first.apply([a, w] as never) as tf.SymbolicTensor,
    second.apply(a) as tf.SymbolicTensor,
    third.apply(b) as tf.SymbolicTensor,
    rest!,
    inner.apply(b) as tf.SymbolicTensor,
  ];
  const out = tf.layers.dense({ units: 2 }).apply(tf.layers.concatenate().apply(parts)) as tf.SymbolicTensor;
  return { model: tf.model({ inputs: [a, b, w], outputs: out }), tables: [own, shared, many, one] };
}

function tensor(values: Float32Array, rows: number): number[][] {
  return Array.from({ length: rows }, (_, row) => [...values.subarray(row * DIM, (row + 1) * DIM)]);
}

const A = [[1, 2, 0], [6, 6, 3]]; // prettier-ignore
const B = [[1, 2, 0], [0, 1, 1]]; // prettier-ignore
const W = [[0.5, 2, 1], [1, 3, 0.25]]; // prettier-ignore

function inputs(): tf.Tensor[] {
  return [ids(A), ids(B), tf.tensor2d(W)];
}

type Packed = 'int8' | 'float16';

/** How far the numbers of a row may be from what they were: half a scale, or half the distance of two halves. */
function rowErrors(values: Float32Array, row: number, dtype: Packed): number[] {
  const numbers = [...values.subarray(row * DIM, (row + 1) * DIM)];
  const half = (Math.max(...numbers) - Math.min(...numbers)) / 255 / 2;
  return numbers.map((x) => (dtype === 'int8' ? half : Math.max(Math.abs(x) * 2 ** -11, 2 ** -25)));
}

/** How far each prediction of `everyLayer` for `inputs` may be from that of float32 tables; rounding comes on top. */
function predictionErrors({ model, tables }: Towers, dtype: Packed): number[] {
  const [own, shared, many, one] = tables as [Float32Array, Float32Array, Float32Array, Float32Array];
  const kernel = model.weights.find(({ shape }) => shape[1] === 2)!.read();
  const weights = Array.from(kernel.dataSync(), Math.abs);
  const added = (table: Float32Array, row: readonly number[], each: readonly number[]): number[] =>
    row.reduce(
      (sum, id, i) => rowErrors(table, id, dtype).map((error, c) => sum[c]! + error * each[i]!),
      new Array<number>(DIM).fill(0),
    );
  return A.flatMap((a, i) => {
    const [b, w] = [B[i]!, W[i]!];
    const total = w.reduce((sum, x) => sum + x, 0);
    // Rows that are scaled to a norm move no further apart than they were.
    const clipped = b.reduce((sum, id) => sum + Math.hypot(...rowErrors(shared, id, dtype)), 0) / Math.sqrt(3);
    const parts = [
      ...added(
        own,
        a,
        w.map((x) => x / total),
      ),
      ...added(shared, a, [1, 1, 1]),
      ...new Array<number>(DIM).fill(clipped),
      ...added(many, b, [1, 1, 1]),
      ...b.flatMap((id, f) => rowErrors(one, id + 3 * f, dtype)),
    ];
    return [0, 1].map((unit) => parts.reduce((sum, error, p) => sum + error * weights[2 * p + unit]!, 0));
  });
}

/** Sums of some hundred float32 numbers, of which some rows are 100 away from 0. */
const ROUNDING = 2e-4;

/** Each prediction is as near as the numbers of its tables, and no nearer than it has to be. */
function expectWithin(actual: readonly number[], expected: readonly number[], errors: readonly number[]): void {
  expect(actual.length).toBe(errors.length);
  errors.forEach((error, i) => {
    expect(Math.abs(actual[i]! - expected[i]!))
      .withContext(`prediction ${i}`)
      .toBeLessThanOrEqual(error + ROUNDING);
  });
}

/** Of its one weight, which stays. */
function valuesOf(layer: tf.layers.Layer): number[] {
  return Array.from(layer.getWeights()[0]!.dataSync());
}

function packedWeights(model: tf.LayersModel): tf.LayerVariable[] {
  return model.weights.filter(({ dtype }) => dtype === 'int32');
}

for (const dtype of ['int8', 'float16'] as const) {
  describeForBackends(`quantized models: ${dtype}`, () => {
    it(
      'predict nearly what the float32 model predicts',
      leakFree(() => {
        const towers = everyLayer();
        const { model } = towers;
        const small = emb.quantize(model, { dtype });
        const read = emb.quantize(small, { dtype: 'float32' });
        expect(packedWeights(small).length).toBe(4);
        const given = inputs();
        const [expected, actual] = [take(model.predict(given)), take(small.predict(given))];
        expectWithin(actual, expected, predictionErrors(towers, dtype));
        expect(actual).not.toEqual(expected);
        // Tables of the numbers as they are read predict the same.
        expectWithin(actual, take(read.predict(given)), [0, 0, 0, 0]);
        for (const each of given) each.dispose();
        read.dispose();
        small.dispose();
        model.dispose();
      }),
    );
  });
}

describe('quantize', () => {
  beforeAll(useCpu);

  it(
    'keeps the words and what is predicted when the model is saved and loaded',
    leakFree(async () => {
      for (const dtype of ['int8', 'float16'] as const) {
        const { model } = everyLayer();
        const small = emb.quantize(model, { dtype });
        const loaded = await cloneOf(small);
        const given = inputs();
        expect(take(loaded.predict(given))).toEqual(take(small.predict(given)));
        packedWeights(loaded).forEach((weight, i) => {
          expect(weight.read().dataSync()).toEqual(packedWeights(small)[i]!.read().dataSync());
        });
        expect(loaded.trainableWeights.length).toBe(2);
        for (const each of given) each.dispose();
        for (const each of [loaded, small, model]) each.dispose();
      }
    }),
  );

  it(
    'reads every number within half a scale of what it was',
    leakFree(() => {
      const rows = 9;
      for (const dim of [1, 2, 3, 4, 5, 8, 31]) {
        const values = tableValues(rows, dim);
        const layer = emb.layers.embedding({ inputDim: rows, outputDim: dim, inputLength: 1 });
        const model = tf.sequential({ layers: [layer] });
        layer.setWeights([values]);
        const small = emb.quantize(model, { dtype: 'int8' });
        const all = ids(Array.from({ length: rows }, (_, row) => [row]));
        const read = take(small.predict(all));
        for (let row = 0; row < rows; row++) {
          const columns = values.subarray(row * dim, (row + 1) * dim);
          const [least, most] = [Math.min(...columns), Math.max(...columns)];
          columns.forEach((value, c) => {
            const error = Math.abs(read[row * dim + c]! - value);
            if (least === most) expect(error).toBe(0);
            // Half a scale, and the rounding of a float32 of the row's size.
            else expect(error).toBeLessThanOrEqual((most - least) / 510 + Math.abs(most) * 2 ** -23);
          });
        }
        all.dispose();
        small.dispose();
        model.dispose();
      }
    }),
  );

  it(
    'is exported with the float32 numbers that it reads',
    leakFree(async () => {
      const folder = mkdtempSync(join(tmpdir(), 'quantized-'));
      try {
        const layer = emb.layers.embedding({ inputDim: 9, outputDim: DIM, combiner: 'mean', inputLength: 3 });
        const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 2 })] });
        const given = ids([[1, 2, 0], [6, 6, 3]]); // prettier-ignore
        for (const dtype of ['int8', 'float16'] as const) {
          const small = emb.quantize(model, { dtype });
          await emb.savedModel.export(small, join(folder, dtype));
          await emb.exportKeras(small, join(folder, `${dtype}.keras`));
          const saved = (await emb.savedModel.load(join(folder, dtype))) as tf.LayersModel;
          const keras = await emb.loadKerasModel(join(folder, `${dtype}.keras`));
          const expected = take(small.predict(given));
          expectClose(take(saved.predict(given)), expected);
          expectClose(take((keras as unknown as tf.LayersModel).predict(given)), expected);
          expect(packedWeights(saved)).toEqual([]);
          expect(packedWeights(small).length).toBe(1);
          for (const each of [saved, keras, small]) each.dispose();
        }
        given.dispose();
        model.dispose();
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
  );

  it(
    'converts a quantized model again',
    leakFree(() => {
      const towers = everyLayer();
      const { model } = towers;
      const half = emb.quantize(model, { dtype: 'float16' });
      const [direct, twice] = [emb.quantize(model, { dtype: 'int8' }), emb.quantize(half, { dtype: 'int8' })];
      const given = inputs();
      const [expected, actual] = [take(direct.predict(given)), take(twice.predict(given))];
      const [codes, halves] = [predictionErrors(towers, 'int8'), predictionErrors(towers, 'float16')];
      // The codes of the halves, which are a little wider apart than those of the numbers, beside the codes themselves.
      const apart = codes.map((error, i) => 2 * error + halves[i]! + (2 / 255) * halves[i]!);
      expectWithin(actual, expected, apart);
      for (const each of given) each.dispose();
      for (const each of [twice, direct, half, model]) each.dispose();
    }),
  );

  it(
    'leaves the given model as it was, and has weights of int32 that no step trains',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 4, outputDim: 6, combiner: 'sum', inputLength: 2, name: 'items' });
      const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
      const before = valuesOf(layer);
      const small = emb.quantize(model, { dtype: 'int8' });
      const [table] = small.layers[0]!.getWeights() as [tf.Tensor];
      expect([table.dtype, ...table.shape]).toEqual(['int32', 4, 4]);
      expect(small.getConfig()).toEqual(
        jasmine.objectContaining({
          layers: jasmine.arrayContaining([
            jasmine.objectContaining({ config: jasmine.objectContaining({ name: 'items', storage: 'int8' }) }),
          ]),
        }),
      );
      expect(JSON.stringify(model.getConfig())).not.toContain('storage');
      expect([small.trainableWeights.length, model.trainableWeights.length]).toEqual([2, 3]);
      expect(valuesOf(layer)).toEqual(before);
      small.dispose();
      model.dispose();
    }),
  );

  it(
    'trains the dense layers on quantized tables',
    leakFree(async () => {
      const layer = emb.layers.embedding({ inputDim: 4, outputDim: 6, combiner: 'sum', inputLength: 2 });
      const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
      for (const optimizer of [tf.train.sgd(0.1), emb.train.adagrad({ learningRate: 0.1 })]) {
        const small = emb.quantize(model, { dtype: 'int8' });
        const words = valuesOf(small.layers[0]!);
        small.compile({ optimizer, loss: 'meanSquaredError' });
        const [x, y] = [ids([[1, 2]]), tf.tensor2d([[3]])];
        const first = (await small.trainOnBatch(x, y)) as number;
        const second = (await small.trainOnBatch(x, y)) as number;
        expect(second).toBeLessThan(first);
        expect(valuesOf(small.layers[0]!)).toEqual(words);
        tf.dispose([x, y]);
        small.dispose();
        optimizer.dispose();
      }
      model.dispose();
    }),
  );

  it(
    'gives weights of ids their gradient',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 9, outputDim: DIM, combiner: 'mean' });
      const a = tf.input({ shape: [3], dtype: 'int32' });
      const w = tf.input({ shape: [3] });
      const model = tf.model({ inputs: [a, w], outputs: layer.apply([a, w] as never) as tf.SymbolicTensor });
      const small = emb.quantize(model, { dtype: 'int8' });
      const rows = ids([[1, 2, 8]]);
      const of = (each: tf.LayersModel): number[] =>
        tf.tidy(() => {
          const grad = tf.grad((weights) => (each.predict([rows, weights]) as tf.Tensor).square().sum());
          return take(grad(tf.tensor2d([[0.5, 2, 1]])));
        });
      const [expected, actual] = [of(model), of(small)];
      expected.forEach((value, i) => expect(Math.abs(actual[i]! - value)).toBeLessThan(1e-3));
      expect(actual.some((value) => value !== 0)).toBeTrue();
      rows.dispose();
      small.dispose();
      model.dispose();
    }),
  );

  it(
    'looks up ragged ids',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 9, outputDim: DIM, combiner: 'sum', storage: 'int8', seed: 3 });
      const ragged = emb.RaggedTensor.fromRowSplits([1, 2, 8, 3], [0, 3, 3, 4]);
      const pooled = layer.apply(ragged) as tf.Tensor;
      const single = layer.apply([[1, 2, 8], [3, 3, 3]]) as tf.Tensor; // prettier-ignore
      const [a, b] = [take(pooled), take(single)];
      expect(a.slice(0, DIM)).toEqual(b.slice(0, DIM));
      expect(a.slice(DIM, 2 * DIM)).toEqual(new Array(DIM).fill(0));
      layer.dispose();
    }),
  );

  it(
    'refuses what it cannot keep or does not know',
    leakFree(() => {
      const layer = emb.layers.embedding({ inputDim: 2, outputDim: 2, inputLength: 1, name: 'items' });
      const model = tf.sequential({ layers: [layer] });
      for (const [bad, dtype, place] of [
        [NaN, 'int8', /row 1, column 0 of table items\/embeddings/],
        [-Infinity, 'int8', /finite/],
        [70000, 'float16', /65504/],
        [3.4e38, 'int8', /range/],
      ] as const) {
        layer.setWeights([[[0, 1], [bad, -3.4e38]]]); // prettier-ignore
        if (dtype === 'float16') layer.setWeights([[[0, 1], [bad, 1]]]); // prettier-ignore
        expect(() => emb.quantize(model, { dtype })).toThrow(jasmine.objectContaining({ name: 'ValueError' }));
        expect(() => emb.quantize(model, { dtype })).toThrowError(place);
      }
      layer.setWeights([[[NaN, 1], [Infinity, 1]]]); // prettier-ignore
      emb.quantize(model, { dtype: 'float16' }).dispose();
      expect(() => emb.quantize(model, { dtype: 'int4' as never })).toThrowError(emb.ValueError);
      expect(() => emb.quantize(model, {} as never)).toThrowError(TypeError);
      expect(() => emb.quantize({} as never, { dtype: 'int8' })).toThrowError(TypeError);
      expect(() => emb.quantize(model, { dtyp: 'int8' } as never)).toThrowError(/dtype/);
      model.dispose();
      const plain = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
      expect(() => emb.quantize(plain, { dtype: 'int8' })).toThrowError(/useForKerasEmbedding/);
      plain.dispose();
      const unbuilt = tf.sequential();
      expect(() => emb.quantize(unbuilt, { dtype: 'int8' })).toThrowError(emb.RuntimeError);
      expect(() => emb.layers.embedding({ inputDim: 2, outputDim: 2, storage: 'int9' as never })).toThrowError(
        /float32, float16, int8/,
      );
    }),
  );
});
