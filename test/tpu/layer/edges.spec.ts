/** The layer at the edges of what it takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError, expectRejection } from '../../helpers/errors.js';
import { expectClose, expectNoLeak, expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { data, fit, layerOf, modelOf, predictions, sequenceModel, sgdModel, tablesOf, weightsOf } from './models.js';

const { tpu } = emb;

type Args = Partial<emb.tpu.TPUEmbeddingLayerArgs>;

/** A layer of one feature over a table whose rows are their numbers. */
function single(args: Args = {}, feature: Partial<emb.tpu.FeatureConfigArgs> = {}): emb.tpu.TPUEmbeddingLayer {
  const initializer = new tpu.RowIdInitializer();
  const table = new tpu.TableConfig({ vocabularySize: 20, dim: 2, combiner: 'sum', name: 'rows', initializer });
  const featureConfig = new tpu.FeatureConfig({ table, ...feature });
  return emb.layers.tpuEmbedding({ featureConfig, optimizer: sgdModel(), ...args });
}

const ints = (rows: number[][], width: number): tf.Tensor => tf.tensor2d(rows.flat(), [rows.length, width], 'int32');

/** What the layer gives for these ids, first columns only. */
function firstColumn(layer: emb.tpu.TPUEmbeddingLayer, ids: unknown): number[] {
  return tf.tidy(() => {
    const rows = layer.apply(ids) as unknown as tf.Tensor;
    return [...rows.dataSync()].filter((_, i) => i % 2 === 0);
  });
}

describe('tpuEmbedding at the edges', () => {
  it('takes symbolic ids for all features, or for none', () => {
    const table = new tpu.TableConfig({ vocabularySize: 20, dim: 2, combiner: 'sum' });
    const featureConfig = ['a', 'b'].map((name) => new tpu.FeatureConfig({ table, name }));
    const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer: sgdModel() });
    const [symbolic, ids] = [tf.input({ shape: [1], dtype: 'int32' }), tf.zeros([2, 1], 'int32')];
    expectError(() => layer.apply([symbolic, ids]), 'TypeError', 'inputs[1]');
    expectError(() => layer.apply([ids, symbolic]), 'TypeError', 'inputs[0]');
    ids.dispose();
  });

  it('is disposed of once it is built, and not before, as layers of tfjs are', () =>
    expectNoLeak(() => {
      const layer = single();
      expect(() => layer.dispose()).toThrowError(/has not been built yet/);
      layer.build();
      layer.dispose();
      expect(() => layer.dispose()).toThrowError(/already disposed/);
    }));

  for (const version of [1, 2] as const) {
    it(`takes batches of any size, empty ones too: version ${version}`, () =>
      withTpuEmulator({ chips: 8 }, () =>
        expectNoLeak(() => {
          const layer = single({ version });
          for (const size of [5, 0, 1, 8, 13, 5, 64]) {
            const rows = Array.from({ length: size }, (_, i) => (i % 3 === 0 ? [-1, -1] : [i % 20, (7 * i) % 20]));
            const ids = ints(rows, 2);
            const expected = rows.map(([a, b]) => (a! < 0 ? 0 : a! + b!));
            expect(firstColumn(layer, ids)).withContext(`${size} rows`).toEqual(expected);
            ids.dispose();
          }
          const none = tf.zeros([3, 0], 'int32');
          expect(firstColumn(layer, none)).toEqual([0, 0, 0]);
          none.dispose();
          layer.dispose();
        }),
      ));

    it(`steps on empty batches, and batches smaller than the cores: version ${version}`, () =>
      withTpuEmulator({ chips: 8 }, () =>
        expectNoLeak(() => {
          const layer = single({ version });
          layer.build();
          for (const rows of [[], [[0, 19]], [[-1, -1]]]) {
            const ids = ints(rows, 2);
            const { value, grads } = tf.variableGrads(() => {
              return (layer.apply(ids, { training: true }) as unknown as tf.Tensor).sum() as tf.Scalar;
            });
            tf.dispose([ids, value, grads] as never);
          }
          // One step of 0.5 on both ends of the table.
          const expected = Array.from({ length: 20 }, (_, row) => (row === 0 || row === 19 ? row - 0.5 : row));
          expect(tablesOf(layer)[0]!.filter((_, i) => i % 2 === 0)).toEqual(expected);
          layer.dispose();
        }),
      ));

    it(`tells ids outside the table by where the caller wrote them: version ${version}`, () =>
      withTpuEmulator({ chips: 4 }, async () => {
        const ids = tf.input({ shape: [2], dtype: 'int32' });
        const layer = single({ version });
        const model = tf.model({ inputs: ids, outputs: layer.apply(ids) as tf.SymbolicTensor });
        const rows = Array.from({ length: 40 }, (_, i) => (i === 37 ? [3, 20] : [3, 19]));
        const x = ints(rows, 2);
        expectError(
          () => model.predict(x, { batchSize: 8 }),
          'ValueError',
          'inputs',
          '20 at [37, 1] (table rows: 20 rows)',
        );
        const optimizer = tf.train.sgd(0.1);
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const y = tf.zeros([40, 2]);
        await expectRejection(() => model.fit(x, y, { verbose: 0 }), 'ValueError', 'inputs', '20 at [37, 1]');
        const fractions = tf.tensor2d([[0.5, 1]]);
        expectError(() => layer.apply(fractions), 'ValueError', 'inputs');
        tf.dispose([x, y, fractions]);
        model.dispose();
      }));

    it(`has one model beside another on the same devices: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, () =>
        expectNoLeakAsync(async () => {
          const trained = async (together: boolean): Promise<number[][][]> => {
            const layers = [0, 1].map(() => layerOf(new tpu.Adagrad({ learningRate: 0.5 }), { version }));
            const models = layers.map(modelOf);
            const optimizer = tf.train.sgd(0.1);
            if (together) await Promise.all(models.map((model) => fit(model, optimizer)));
            else for (const model of models) await fit(model, optimizer);
            const found = layers.map(weightsOf);
            for (const model of models) model.dispose();
            optimizer.dispose();
            return found;
          };
          const apart = await trained(false);
          expect(apart[0]).toEqual(apart[1]!);
          expect(await trained(true)).toEqual(apart);
        }),
      ));

    it(`is saved in the middle of fit as it is then: version ${version}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'edges-'));
      try {
        await withTpuEmulator({ chips: 4 }, async () => {
          const { layer, model } = sequenceModel({ version });
          const optimizer = tf.train.sgd(0.1);
          model.compile({ optimizer, loss: 'meanSquaredError' });
          const { x, y } = data();
          const seen: number[][][] = [];
          const onBatchEnd = async (batch: number): Promise<void> => {
            if (batch === 1) await model.save(`file://${folder}`);
            seen.push(weightsOf(layer));
          };
          await model.fit(x, y, { epochs: 1, batchSize: 2, shuffle: false, verbose: 0, callbacks: { onBatchEnd } });
          expect(seen.length).toBe(3);
          expect(seen[2]).not.toEqual(seen[1]!);
          const again = await tf.loadLayersModel(`file://${folder}/model.json`);
          const other = again.layers.find((each) => each instanceof tpu.TPUEmbeddingLayer)!;
          expect(weightsOf(other)).toEqual(seen[1]!);
          tf.dispose([x, y]);
          for (const each of [model, again]) each.dispose();
          optimizer.dispose();
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it(`sees what is assigned to its tables between steps: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, async () => {
        const { layer, model } = sequenceModel({ version });
        const optimizer = tf.train.sgd(0.1);
        await fit(model, optimizer);
        const before = weightsOf(layer);
        const [table] = [...layer.embeddingTables.values()];
        tf.tidy(() => table!.assign(tf.ones(table!.shape)));
        const ids = [ints([[0, 1, 7]], 3), ints([[3]], 1)];
        const [seen] = tf.tidy(() => (layer.apply(ids) as unknown as tf.Tensor[]).map((rows) => [...rows.dataSync()]));
        expect(seen).toEqual(new Array<number>(12).fill(1));
        expect(weightsOf(layer).slice(1)).toEqual(before.slice(1));
        tf.dispose(ids);
        model.dispose();
        optimizer.dispose();
      }));

    it(`is part of a Sequential, and of a model within a model: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, () =>
        expectNoLeakAsync(async () => {
          const layer = single({ version });
          const inner = tf.sequential({
            layers: [tf.layers.inputLayer({ inputShape: [2], dtype: 'int32' }), layer, tf.layers.dense({ units: 1 })],
          });
          const outer = tf.sequential({ layers: [inner, tf.layers.activation({ activation: 'linear' })] });
          const optimizer = tf.train.sgd(0.001);
          outer.compile({ optimizer, loss: 'meanSquaredError' });
          const before = tablesOf(layer);
          const [x, y] = [
            ints(
              [
                [1, 2],
                [3, -1],
                [5, 5],
              ],
              2,
            ),
            tf.ones([3, 1]),
          ];
          await outer.fit(x, y, { epochs: 2, verbose: 0 });
          expect(tablesOf(layer)).not.toEqual(before);
          tf.dispose([x, y]);
          outer.dispose();
          optimizer.dispose();
        }),
      ));

    it(`comes back from its config, and is refused after dispose: version ${version}`, () =>
      withTpuEmulator({ chips: 2 }, () => {
        const settings = new tpu.SparseCoreEmbeddingConfig({ maxIdsPerTable: { rows: 8 }, disableTableStacking: true });
        const layer = single(version === 1 ? { version } : { version, sparseCoreEmbeddingConfig: settings });
        const config = JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict;
        const cls = tpu.TPUEmbeddingLayer as never;
        const again = tpu.TPUEmbeddingLayer.fromConfig(cls, config) as emb.tpu.TPUEmbeddingLayer;
        expect([again.version, again.getConfig()]).toEqual([version, layer.getConfig()]);
        const ids = ints([[1, 2]], 2);
        expect(firstColumn(again, ids)).toEqual([3]);
        again.dispose();
        expect(() => again.apply(ids)).toThrowError(/disposed/);
        ids.dispose();
      }));
  }

  it('of version 2 keeps to the limits that are set, and has none else', () =>
    withTpuEmulator({ chips: 2 }, () => {
      const many = Array.from({ length: 600 }, (_, i) => [2 * (i % 10), 2 * ((i + 1) % 10)]);
      const ids = ints(many, 2);
      const free = single({ version: 2 });
      expect(firstColumn(free, ids)).toEqual(many.map(([a, b]) => a! + b!));
      const settings = (args: emb.tpu.SparseCoreEmbeddingConfigArgs): Args => {
        return { version: 2, sparseCoreEmbeddingConfig: new tpu.SparseCoreEmbeddingConfig(args) };
      };
      const strict = single(settings({ maxIdsPerTable: { rows: 599 } }));
      expectError(() => strict.apply(ids), 'ValueError', 'maxIdsPerTable', '600, which core 0 asks SparseCore 0 for');
      const fewer = tf.slice(ids, [0, 0], [200, 2]);
      expect(firstColumn(strict, fewer)).toEqual(many.slice(0, 200).map(([a, b]) => a! + b!));
      const unique = single(settings({ maxUniqueIdsPerTable: { rows: 9 } }));
      expectError(() => unique.apply(ids), 'ValueError', 'maxUniqueIdsPerTable', '10, which');
      const full = single(settings({ maxIdsPerChipPerSample: 1 }));
      expectError(() => full.apply(ids), 'ValueError', 'maxIdsPerChipPerSample', 'ids more');
      const dropping = single(settings({ maxIdsPerChipPerSample: 1, allowIdDropping: true }));
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      expect(sum(firstColumn(dropping, ids))).toBeLessThan(sum(many.flat()));
      tf.dispose([ids, fewer]);
      for (const layer of [free, strict, unique, full, dropping]) layer.dispose();
    }));

  it('of version 2 keeps tables in the stacks of the first batch, whatever the next ones would fit in', () =>
    withTpuEmulator({ chips: 1 }, () => {
      // 600 activations of 512 columns for two tables are more than a stack may have; four are not.
      const initializer = new tpu.RowIdInitializer();
      const features = ['a', 'b'].map((name) => {
        const table = new tpu.TableConfig({ vocabularySize: 4, dim: 512, combiner: 'sum', name, initializer });
        return new tpu.FeatureConfig({ table });
      });
      const layer = emb.layers.tpuEmbedding({ featureConfig: features, version: 2 });
      for (const rows of [600, 4, 600]) {
        tf.tidy(() => {
          const ids = tf.range(0, rows, 1, 'int32').mod(tf.scalar(4, 'int32')) as tf.Tensor1D;
          const [a, b] = layer.apply([ids, ids]) as unknown as tf.Tensor2D[];
          for (const found of [a!, b!]) {
            const first = [...found.slice([0, 0], [rows, 1]).dataSync()];
            expect(first).toEqual(Array.from({ length: rows }, (_, i) => i % 4));
          }
        });
      }
      expect(
        emb
          .tpuEmulator()
          .report()
          .sparseCores!.stacks.map(({ name }) => name),
      ).toEqual(['a', 'b']);
      layer.dispose();
    }));

  it('of version 2 has tables with equal optimizers in one stack, and apart where that is asked', () =>
    withTpuEmulator({ chips: 2 }, () => {
      const stacks = (): number => emb.tpuEmulator().report().sparseCores!.stacks.length;
      const apart = layerOf(sgdModel(), {
        version: 2,
        sparseCoreEmbeddingConfig: new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true }),
      });
      const { x, y } = data();
      const ids = { seen: x[0]!, user: x[1]! };
      tf.dispose(apart.apply(ids) as never);
      expect(stacks()).toBe(2);
      const together = layerOf(sgdModel(), { version: 2 });
      tf.dispose(together.apply(ids) as never);
      expect(stacks()).toBe(3);
      tf.dispose([x, y]);
      for (const layer of [apart, together]) layer.dispose();
    }));

  it('with a CustomOptimizer is not loaded, and the error tells the field and what to do', () =>
    withTpuEmulator({ chips: 2 }, async () => {
      const custom = (): emb.tpu.CustomOptimizer =>
        new tpu.CustomOptimizer({ customComputation: ({ parameters }) => ({ parameters }) });
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 't', optimizer: custom() });
      const featureConfig = [new tpu.FeatureConfig({ table })];
      const argument = 'featureConfig.tables[0].optimizer.config.customComputation';
      const layer = layerOf(custom(), { version: 2 });
      for (const each of [layer, emb.layers.tpuEmbedding({ featureConfig, version: 2 })]) {
        const config = JSON.parse(JSON.stringify(each.getConfig())) as tf.serialization.ConfigDict;
        const load = (): unknown => tpu.TPUEmbeddingLayer.fromConfig(tpu.TPUEmbeddingLayer as never, config);
        expectError(load, 'TypeError', argument, 'null');
        expect(load).toThrowError(/make the model again, with its CustomOptimizer.*loadWeights or setWeights/);
      }
      const model = modelOf(layer);
      const saved: tf.io.ModelArtifacts[] = [];
      await model.save(
        tf.io.withSaveHandler((artifacts) => {
          saved.push(artifacts);
          return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } });
        }),
      );
      await expectAsync(tf.loadLayersModel(tf.io.fromMemory(saved[0]!))).toBeRejectedWithError(
        /customComputation.*a function.*null/,
      );
      // What the error advises.
      const again = modelOf(layerOf(custom(), { version: 2 }));
      again.setWeights(model.getWeights());
      expect(weightsOf(again)).toEqual(weightsOf(model));
      model.dispose();
      again.dispose();
    }));

  it('of version 2 steps tables by a function of the user', () =>
    withTpuEmulator({ chips: 2 }, async () => {
      const optimizer = new tpu.CustomOptimizer({
        customComputation: ({ gradient, parameters, learningRate }) => {
          return { parameters: parameters.sub(gradient.mul(learningRate)) };
        },
        learningRate: 0.5,
      });
      const found = [];
      for (const each of [optimizer, sgdModel()]) {
        const layer = layerOf(each, { version: 2 });
        const model = modelOf(layer);
        const dense = tf.train.sgd(0.1);
        await fit(model, dense);
        found.push({ tables: tablesOf(layer), predicted: predictions(model) });
        model.dispose();
        dense.dispose();
      }
      const [custom, sgd] = found as [(typeof found)[number], (typeof found)[number]];
      custom.tables.forEach((values, i) => expectClose(values, sgd.tables[i]!, values, `table ${i}`, 1e-5));
      expectClose(custom.predicted, sgd.predicted, 1, 'predictions', 1e-5);
    }));
});
