/** Forms in which ragged rows reach a model, and what is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError, expectRejection } from '../../helpers/errors.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const ROWS = [[1, 2, 3], [4], [], [5, 6]];
const ragged = (): emb.RaggedTensor => emb.RaggedTensor.fromRows(ROWS, { dtype: 'int32' });
const targets = (): tf.Tensor2D => tf.tensor2d([[1], [0], [-1], [2]]);
const constant = (value: number): ReturnType<typeof tf.initializers.constant> => tf.initializers.constant({ value });

/** The sum of the numbers of the rows' ids, times a factor that is trained. */
function sums(): tf.LayersModel {
  const visits = emb.input({ shape: [null], ragged: true, name: 'visits' });
  const weights = [Array.from({ length: 10 }, (_, id) => [id])];
  const pooled = emb.layers.raggedEmbedding({ inputDim: 10, outputDim: 1, combiner: 'sum', weights }).apply(visits);
  const outputs = tf.layers.dense({ units: 1, kernelInitializer: constant(1) }).apply(pooled) as tf.SymbolicTensor;
  const model = tf.model({ inputs: visits, outputs });
  model.compile({ optimizer: emb.train.sgd({ learningRate: 1e-3 }), loss: 'meanSquaredError' });
  return model;
}

function freed(model: tf.LayersModel): void {
  model.optimizer?.dispose();
  model.dispose();
}

const FORMS: Record<string, () => unknown> = {
  'a RaggedTensor': ragged,
  'a list': () => [ragged()],
  'an object by input name': () => ({ visits: ragged() }),
  'values and row splits': () => ({ values: ragged().values, rowSplits: ragged().rowSplits }),
  'two tensors': () => ({
    values: tf.tensor1d(ragged().values, 'int32'),
    rowSplits: tf.tensor1d(ragged().rowSplits, 'int32'),
  }),
  'sparse ids': () => {
    const { indices, values } = ragged().toSparse();
    return { indices, values, denseShape: [4, 3] };
  },
  'a tensor by input name': () => ({ visits: ragged().toPadded() }),
};

function disposeOf(x: unknown): void {
  for (const each of Object.values(x as object)) if (each instanceof tf.Tensor) each.dispose();
}

describeForBackends('Ragged data of models', () => {
  for (const [what, make] of Object.entries(FORMS)) {
    it(`are predicted: ${what}`, () =>
      expectNoLeakAsync(async () => {
        const model = sums();
        const x = make() as emb.ModelInputs;
        const found = [model.predict(x), model.predictOnBatch(x)] as tf.Tensor[];
        for (const each of found) expect([...(await each.data())]).toEqual([6, 4, 0, 11]);
        disposeOf(x);
        tf.dispose(found);
        freed(model);
      }));
  }

  it('come from data sets, by name and in pairs of tensors, to train on, to validate on and to evaluate', () =>
    expectNoLeakAsync(async () => {
      const losses: number[][] = [];
      for (const make of [
        ragged,
        FORMS['two tensors']!,
        FORMS['an object by input name']!,
        () => ragged().toPadded(),
      ]) {
        const model = sums();
        const set = tf.data.generator(function* () {
          for (let i = 0; i < 5; i++) yield { xs: make(), ys: targets() } as never;
        }) as tf.data.Dataset<tf.TensorContainer>;
        const fitted = await model.fitDataset(set as never, { epochs: 2, verbose: 0, validationData: set as never });
        const evaluated = (await model.evaluateDataset(set as never, { batches: 2 })) as tf.Scalar;
        losses.push([...(Object.values(fitted.history).flat() as number[]), ...evaluated.dataSync()]);
        evaluated.dispose();
        freed(model);
      }
      for (const each of losses) each.forEach((loss, i) => expect(loss).toBeCloseTo(losses.at(-1)![i]!, 4));
    }));

  it('come from data sets of uneven arrays, batch by batch', () =>
    expectNoLeakAsync(async () => {
      const set = tf.data.array(ROWS.map((xs, i) => ({ xs, ys: [i] })) as never).batch(3);
      const batches = (await set.toArray()) as unknown as { xs: unknown; ys: tf.Tensor }[];
      expect((batches[0]!.xs as emb.RaggedTensor).toRows()).toEqual(ROWS.slice(0, 3));
      expect((batches[1]!.xs as tf.Tensor).shape).toEqual([1, 2]);
      expect(batches.map(({ ys }) => ys.shape)).toEqual([
        [3, 1],
        [1, 1],
      ]);
      tf.dispose([batches[1]!.xs as tf.Tensor, ...batches.map(({ ys }) => ys)]);
      const model = sums();
      const { history } = await model.fitDataset(set as never, { epochs: 1, verbose: 0 });
      // The last batch is [5, 6], wanted 3, after one step on the first three.
      expect(history['loss']![0]).toBeGreaterThan(0);
      freed(model);
    }));

  it('may have no ids, or no rows', () =>
    expectNoLeakAsync(async () => {
      const model = sums();
      const y = tf.ones([2, 1]);
      const none = emb.RaggedTensor.fromRows([[], []], { dtype: 'int32' });
      const { history } = await model.fit(none, y, { epochs: 4, verbose: 0 });
      expect(history['loss']![3]).toBeLessThan(history['loss']![0] as number);
      const empty = model.predict(emb.RaggedTensor.fromRowSplits(new Int32Array(0), [0])) as tf.Tensor;
      expect(empty.shape).toEqual([0, 1]);
      tf.dispose([y, empty]);
      freed(model);
    }));

  it('name an id outside the table by its row', () => {
    const model = sums();
    const x = emb.RaggedTensor.fromRows([[1], [2, 77], []]);
    expectError(() => model.predict(x), 'ValueError', 'ids', 'row 1, position 1 of the batch');
    freed(model);
  });
});

describe('Ragged data of models', () => {
  const weighted = (): tf.LayersModel => {
    const [x, w] = ['x', 'w'].map((name, i) => {
      return emb.input({ shape: [null], ragged: true, name, dtype: i === 0 ? 'int32' : 'float32' });
    }) as [tf.SymbolicTensor, tf.SymbolicTensor];
    const outputs = emb.layers.embedding({ inputDim: 10, outputDim: 2, combiner: 'sum' }).apply([x, w]);
    return tf.model({ inputs: [x, w], outputs: outputs as tf.SymbolicTensor });
  };
  const stock = (): tf.LayersModel => {
    const layer = tf.layers.embedding({ inputDim: 10, outputDim: 2, batchInputShape: [null, null] });
    return tf.sequential({ layers: [layer, tf.layers.globalAveragePooling1d({})] });
  };
  const dense = (): tf.LayersModel => tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [3] })] });
  const deep = (): tf.LayersModel =>
    tf.sequential({
      layers: [emb.layers.raggedEmbedding({ inputDim: 9, outputDim: 2, inputShape: [2, 3], combiner: 'sum' })],
    });
  const short = (): tf.LayersModel =>
    tf.sequential({
      layers: [emb.layers.raggedEmbedding({ inputDim: 9, outputDim: 2, inputShape: [2], combiner: 'sum' })],
    });

  it('take whole numbers for weights', () => {
    const [x, w] = ['x', 'w'].map((name) => emb.input({ shape: [null], ragged: true, name }));
    const weights = [[[1], [2], [3]]];
    const layer = emb.layers.raggedEmbedding({
      inputDim: 3,
      outputDim: 1,
      combiner: 'sum',
      weights,
    });
    const model = tf.model({ inputs: [x!, w!], outputs: layer.apply([x!, w!]) as tf.SymbolicTensor });
    const rows = emb.RaggedTensor.fromRows([[0, 2], [], [1]]);
    const factors = emb.RaggedTensor.fromRows([[2, 3], [], [5]]);
    tf.tidy(() => expect([...(model.predict([rows, factors]) as tf.Tensor).dataSync()]).toEqual([11, 0, 10]));
    model.dispose();
  });

  const REFUSED: Record<
    string,
    [() => tf.LayersModel, x: () => unknown, argument: string, received?: string | RegExp]
  > = {
    'a stock embedding': [stock, ragged, 'x', 'ragged rows'],
    'a dense layer': [dense, ragged, 'x', 'ragged rows'],
    'an input of more axes': [deep, ragged, 'x', '[null, 2, 3]'],
    'rows that are too long': [short, ragged, 'x', 'one of 3'],
    'two ragged axes': [sums, () => emb.RaggedTensor.fromRows([[[1], [2]], []]), 'x', '[2, null, null]'],
    fractions: [sums, () => emb.RaggedTensor.fromRows([[1.5]]), 'x', '1.5'],
    'another name': [sums, () => ({ visit: ragged() }), 'x.visit'],
    'a name that is missing': [weighted, () => ({ x: ragged() }), 'x.w'],
    'too few inputs': [weighted, () => [ragged()], 'x', '1'],
    'arrays beside ragged rows': [weighted, () => [ragged(), ROWS], 'x[1]', /./],
    'dense weights of ragged ids': [weighted, () => [ragged(), tf.ones([4, 3])], 'weights'],
    'weights of other rows': [
      weighted,
      () => [ragged(), emb.RaggedTensor.fromRows([[1], [1], [], []], { dtype: 'float32' })],
      'weights',
      '4 rows of 2 values',
    ],
    'splits that fall': [sums, () => ({ values: [1, 2], rowSplits: [0, 2, 1] }), 'rowSplits'],
  };
  for (const [what, [build, make, argument, received]] of Object.entries(REFUSED)) {
    it(`are refused: ${what}`, () =>
      expectNoLeakAsync(async () => {
        const model = build();
        const x = make();
        const name = what === 'arrays beside ragged rows' ? 'TypeError' : 'ValueError';
        expectError(() => model.predict(x as never), name, argument, received);
        disposeOf(Array.isArray(x) ? { ...x } : x);
        model.dispose();
        await Promise.resolve();
      }));
  }

  it('say what to write where another layer reads them, in fit as well', () =>
    expectNoLeakAsync(async () => {
      const model = stock();
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      const y = tf.ones([4, 2]);
      await expectRejection(() => model.fit(ragged(), y, { verbose: 0 }), 'ValueError', 'x', 'ragged rows');
      await expectAsync(model.fit(ragged(), y, { verbose: 0 })).toBeRejectedWithError(
        /x\.toPadded\(\{defaultValue: 0\}\)/,
      );
      y.dispose();
      freed(model);
    }));

  it('keep the mark of their input when a model is saved', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ragged-input-'));
    const model = sums();
    await model.save(`file://${folder}`);
    const again = await tf.loadLayersModel(`file://${folder}/model.json`);
    expect(again.inputs[0]!.sourceLayer as unknown as { ragged?: boolean }).toEqual(
      jasmine.objectContaining({ ragged: true }),
    );
    expect(again.inputs[0]!.dtype).toBe('int32');
    tf.tidy(() => expect([...(again.predict({ visits: ragged() }) as tf.Tensor).dataSync()]).toEqual([6, 4, 0, 11]));
    freed(model);
    again.dispose();
    rmSync(folder, { recursive: true });
    const plain = tf.input({ shape: [2] });
    expect('ragged' in plain.sourceLayer.getConfig()).toBeFalse();
  });

  it('enter a layer for the TPU', () =>
    withTpuEmulator({ chips: 2 }, () =>
      expectNoLeakAsync(async () => {
        const initializer = (shape: number[]): tf.Tensor => tf.range(0, shape[0]!).expandDims(1);
        const table = new emb.tpu.TableConfig({ vocabularySize: 10, dim: 1, combiner: 'sum', initializer });
        const featureConfig = { visits: new emb.tpu.FeatureConfig({ table }) };
        const visits = emb.input({ shape: [null], ragged: true, name: 'visits' });
        const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer: new emb.tpu.SGD({ learningRate: 1e-3 }) });
        const rows = (layer.apply({ visits }) as unknown as { visits: tf.SymbolicTensor }).visits;
        const model = tf.model({ inputs: visits, outputs: rows });
        model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
        const found = model.predict(ragged()) as tf.Tensor;
        expect([...found.dataSync()]).toEqual([6, 4, 0, 11]);
        const y = targets();
        const { history } = await model.fit(ragged(), y, { epochs: 3, verbose: 0 });
        expect(history['loss']![2]).toBeLessThan(history['loss']![0] as number);
        tf.dispose([found, y]);
        freed(model);
      }),
    ));

  for (const [what, args, name, argument] of [
    ['no shape', {}, 'TypeError', 'shape'],
    ['two ragged axes', { shape: [null, null], ragged: true }, 'ValueError', 'shape'],
    ['a size of 0', { shape: [0] }, 'ValueError', 'shape'],
    ['a size of text', { shape: ['2'] }, 'TypeError', 'shape'],
    ['truth values', { shape: [null], dtype: 'bool' }, 'TypeError', 'dtype'],
    ['a mark that is no flag', { shape: [null], ragged: 1 }, 'TypeError', 'ragged'],
    ['an unknown field', { shape: [null], raged: true }, 'ValueError', 'raged'],
  ] as const) {
    it(`have no input of ${what}`, () => {
      expectError(() => emb.input(args as never), name, argument);
    });
  }
});
