import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';
import { expectClose, expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { data, fit, layerOf, modelOf, plainModel, sgdModel, tablesOf } from './models.js';

const { tpu } = emb;

describe('tpuEmbedding', () => {
  let expected: { loss: number; tables: number[][] };

  beforeAll(async () => {
    await tf.setBackend('cpu');
    const model = plainModel();
    const optimizer = emb.train.sgd({ learningRate: 0.5 });
    const loss = await fit(model, optimizer);
    const tables = model.layers.flatMap((layer) => {
      return layer instanceof emb.RaggedEmbedding ? [[...layer.getWeights()[0]!.dataSync()]] : [];
    });
    expected = { loss, tables };
    model.dispose();
    optimizer.dispose();
  });

  for (const version of [1, 2] as const) {
    for (const cores of [1, 8]) {
      it(`of version ${version} trains in fit on ${cores} cores as plain layers do, the last batch being smaller`, async () => {
        await withTpuEmulator({ chips: cores }, () =>
          expectNoLeakAsync(async () => {
            const layer = layerOf(sgdModel(), { version });
            const model = modelOf(layer);
            const optimizer = tf.train.sgd(0.5);
            const loss = await fit(model, optimizer);
            expect(Math.abs(loss - expected.loss)).toBeLessThan(1e-5);
            tablesOf(layer).forEach((values, i) =>
              expectClose(values, expected.tables[i]!, values, `table ${i}`, 1e-5),
            );
            model.dispose();
            optimizer.dispose();
          }),
        );
      });
    }

    it(`of version ${version} trains under any optimizer of compile, which steps the dense part alone`, async () => {
      const optimizers = [
        tf.train.adam(0.01),
        tf.train.momentum(0.01, 0.5),
        tf.train.rmsprop(0.01),
        emb.train.adagrad(),
      ];
      for (const optimizer of optimizers) {
        await withTpuEmulator({ chips: 2 }, async () => {
          const layer = layerOf(new tpu.SGD({ learningRate: 0.05 }), { version });
          const model = modelOf(layer);
          const before = tablesOf(layer);
          const first = await fit(model, optimizer);
          const last = await fit(model, optimizer);
          expect(last).toBeLessThan(first);
          expect(tablesOf(layer)).not.toEqual(before);
          expect([...layer.getWeights().at(-1)!.dataSync()]).toEqual([0]);
          model.dispose();
          optimizer.dispose();
        });
      }
    });

    it(`of version ${version} saves with the model, and goes on to the bit on other cores, slots included`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'layer-'));
      try {
        let saved: number[][] = [];
        let predicted: number[] = [];
        const { x, y } = data();
        const predict = (model: tf.LayersModel): number[] =>
          tf.tidy(() => [...(model.predict(x) as tf.Tensor).dataSync()]);
        await withTpuEmulator({ chips: 8 }, async () => {
          const layer = layerOf(new tpu.Adagrad({ learningRate: 0.5 }), { version });
          const model = modelOf(layer);
          const optimizer = tf.train.sgd(0.1);
          await fit(model, optimizer);
          await model.save(`file://${folder}`);
          saved = layer.getWeights().map((weight) => [...weight.dataSync()]);
          predicted = predict(model);
          model.dispose();
          optimizer.dispose();
        });
        expect(saved.length).toBe(5);
        const check = async (): Promise<tf.LayersModel> => {
          const model = await tf.loadLayersModel(`file://${folder}/model.json`);
          const layer = model.layers.find((each) => each instanceof tpu.TPUEmbeddingLayer)!;
          expect(layer.getWeights().map((weight) => [...weight.dataSync()])).toEqual(saved);
          expectClose(predict(model), predicted, 1);
          return model;
        };
        await withTpuEmulator({ chips: version === 1 ? 3 : 2 }, async () => {
          const model = await check();
          const optimizer = tf.train.sgd(0.1);
          await fit(model, optimizer);
          model.dispose();
          optimizer.dispose();
        });
        (await check()).dispose();
        tf.dispose([x, y]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it(`of version ${version} predicts on any backend and refuses to train there, unless it is frozen`, async () => {
      const refused = modelOf(layerOf(sgdModel(), { version }));
      // tfjs itself leaves behind what it has cut out of the data where fit fails.
      await expectAsync(fit(refused, tf.train.sgd(0.5))).toBeRejectedWithError(/tpu-emulator/);
      refused.dispose();
      await expectNoLeakAsync(async () => {
        const layer = layerOf(sgdModel(), { version });
        const model = modelOf(layer);
        const optimizer = tf.train.sgd(0.5);
        layer.trainable = false;
        await fit(model, optimizer);
        model.dispose();
        optimizer.dispose();
      });
    });
  }

  it('gives shapes of sequences and of more axes, and takes ragged ids in apply', () => {
    const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, combiner: 'sum', initializer: 'ones' });
    const layer = emb.layers.tpuEmbedding({
      featureConfig: [
        new tpu.FeatureConfig({ table, maxSequenceLength: 2 }),
        new tpu.FeatureConfig({ table }),
        new tpu.FeatureConfig({ table }),
      ],
    });
    const shapes = [[3], [2, 3], [1]];
    const found = layer.apply(shapes.map((shape) => tf.input({ shape, dtype: 'int32' }))) as tf.SymbolicTensor[];
    expect(found.map(({ shape }) => shape)).toEqual([
      [null, 2, 4],
      [null, 2, 4],
      [null, 4],
    ]);
    tf.tidy(() => {
      const ragged = emb.RaggedTensor.fromRows([[1, 2, 3], [4]]);
      const deep = tf.tensor3d(
        [
          [
            [1, 2],
            [3, -1],
          ],
          [
            [-1, -1],
            [5, 5],
          ],
        ],
        undefined,
        'int32',
      );
      const ids = [ragged, deep, tf.tensor1d([1, 2], 'int32')];
      const [sequence, nested, single] = layer.apply(ids) as unknown as tf.Tensor[];
      expect(sequence!.shape).toEqual([2, 2, 4]);
      expect((nested as tf.Tensor3D).arraySync().map((rows) => rows.map((row) => row[0]))).toEqual([
        [2, 1],
        [0, 2],
      ]);
      expect(single!.shape).toEqual([2, 4]);
    });
    layer.dispose();
  });

  it('comes back from its config, with shared tables and structures', () => {
    const layer = layerOf(new tpu.FTRL({ learningRate: 0.25 }), { name: 'tables_of_mine' });
    const config = JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict;
    const again = tpu.TPUEmbeddingLayer.fromConfig(tpu.TPUEmbeddingLayer as never, config) as emb.tpu.TPUEmbeddingLayer;
    expect(again.getConfig()).toEqual(layer.getConfig());
    expect(again.name).toBe('tables_of_mine');
    const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4 });
    const featureConfig = [new tpu.FeatureConfig({ table }), new tpu.FeatureConfig({ table })];
    const shared = emb.layers.tpuEmbedding({ featureConfig, optimizer: sgdModel() });
    const copy = tpu.TPUEmbeddingLayer.fromConfig(tpu.TPUEmbeddingLayer as never, shared.getConfig());
    expect((copy as emb.tpu.TPUEmbeddingLayer).embeddingTables.size).toBe(1);
    (copy as emb.tpu.TPUEmbeddingLayer).dispose();
  });

  it('refuses other versions, settings of the other one, custom optimizers and ids outside their table', () => {
    expectError(() => layerOf(sgdModel(), { version: 3 }), 'ValueError', 'version', '3');
    expectError(() => layerOf(sgdModel(), { version: '2' }), 'TypeError', 'version', '2');
    const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig();
    expectError(() => layerOf(sgdModel(), { sparseCoreEmbeddingConfig }), 'ValueError', 'sparseCoreEmbeddingConfig');
    const wrong = { version: 2, sparseCoreEmbeddingConfig: {} };
    expectError(() => layerOf(sgdModel(), wrong), 'TypeError', 'sparseCoreEmbeddingConfig');
    const custom = new tpu.CustomOptimizer({ customComputation: ({ parameters }) => ({ parameters }) });
    expectError(() => layerOf(custom), 'RuntimeError', 'optimizer');
    const layer = layerOf(sgdModel());
    const ids = { seen: tf.tensor2d([[1, 8]], undefined, 'int32'), user: tf.tensor2d([[1]], undefined, 'int32') };
    expectError(() => layer.apply(ids), 'ValueError', 'inputs.seen', '8 at [0, 1] (table movies: 8 rows)');
    expectError(() => layer.apply({ seen: ids.seen }), 'ValueError', 'inputs.user');
    tf.dispose(ids);
    layer.dispose();
  });
});
