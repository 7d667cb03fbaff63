import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectError, leakFree, useCpu } from '../setup.js';
import { SIZES, idTensors, items, losses, tablesOf, valuesOf } from './layers.js';

const WIDTH = SIZES.reduce((sum, [, dim]) => sum + dim, 0);
const Y = [[1], [2], [3], [4], [5]];

/** A dense layer on all results, which lie side by side in one way or the other. */
function modelOver(output: 'structure' | 'concat'): tf.LayersModel {
  const layer = emb.layers.distributedEmbedding({ embeddings: items(), output, name: `side_by_side_${output}` });
  const inputs = SIZES.map(() => tf.input({ shape: [2], dtype: 'int32' }));
  const results = layer.apply(inputs) as tf.SymbolicTensor | tf.SymbolicTensor[];
  const wide = Array.isArray(results) ? tf.layers.concatenate().apply(results) : results;
  const kernelInitializer = tf.initializers.constant({ value: 0.01 });
  const top = tf.layers.dense({ units: 1, kernelInitializer });
  const model = tf.model({ inputs, outputs: top.apply(wide) as tf.SymbolicTensor });
  layer.setWeights(tablesOf());
  return model;
}

async function expectSameTraining(): Promise<void> {
  const x = idTensors();
  const y = tf.tensor2d(Y);
  const trained: ReturnType<typeof valuesOf>[] = [];
  const all: number[][] = [];
  for (const output of ['structure', 'concat'] as const) {
    const model = modelOver(output);
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    all.push(await losses(model, x, y));
    trained.push(valuesOf(model.getWeights()));
    model.dispose();
    optimizer.dispose();
  }
  expect(all[1]).toEqual(all[0]!);
  expect(trained[1]).toEqual(trained[0]!);
  tf.dispose([...x, y]);
}

describeForBackends("DistributedEmbedding with output: 'concat'", () => {
  it('gives the results of the list side by side, and trains to the same bits', leakFree(expectSameTraining));

  it(
    'gives a tensor for concrete ids',
    leakFree(() => {
      const x = idTensors();
      const wide = emb.layers.distributedEmbedding({ embeddings: items(), output: 'concat' });
      const list = emb.layers.distributedEmbedding({ embeddings: items() });
      const narrow = list.apply(x) as tf.Tensor[];
      const result: tf.Tensor = wide.apply(x);
      for (const layer of [wide, list]) layer.setWeights(tablesOf());
      result.dispose();
      tf.dispose(narrow);
      const again: tf.Tensor = wide.apply(x);
      expect(again.shape).toEqual([5, WIDTH]);
      const parts = list.apply(x) as tf.Tensor[];
      const expected = tf.concat(parts, -1);
      expect(again.dataSync()).toEqual(expected.dataSync());
      tf.dispose([...x, again, expected, ...parts]);
      for (const layer of [wide, list]) layer.dispose();
    }),
  );
});

describe("DistributedEmbedding with output: 'concat'", () => {
  useCpu();

  it(
    'takes features in an object, in the order of the structure',
    leakFree(() => {
      const table = (name: string, dim: number): emb.TableConfig<'sum'> => {
        const initializer = tf.initializers.constant({ value: dim });
        return new emb.TableConfig({
          name,
          vocabularySize: 4,
          embeddingDim: dim,
          combiner: 'sum',
          initializer,
        });
      };
      const feature = (name: string, dim: number): emb.FeatureConfig<'sum'> => {
        return new emb.FeatureConfig({ name, table: table(name, dim), inputShape: [2, 1], outputShape: [2, dim] });
      };
      const layer = emb.layers.distributedEmbedding({
        features: { user: feature('user', 1), seen: [feature('seen', 2)] },
        output: 'concat',
      });
      const result: tf.Tensor = layer.apply({ user: [[0], [1]], seen: [[[2, 3], [1]]] });
      expect(result.arraySync()).toEqual([
        [1, 4, 4],
        [1, 2, 2],
      ]);
      result.dispose();
      layer.dispose();
    }),
  );

  it(
    'is saved with the layer',
    leakFree(async () => {
      const model = modelOver('concat');
      const x = idTensors();
      let saved: tf.io.ModelArtifacts | undefined;
      await model.save(
        tf.io.withSaveHandler((artifacts) => {
          saved = artifacts;
          return Promise.resolve({ modelArtifactsInfo: tf.io.getModelArtifactsInfoForJSON(artifacts) });
        }),
      );
      const again = await tf.loadLayersModel(tf.io.fromMemory(saved!));
      const [expected, got] = [model, again].map((each) => each.predict(x) as tf.Tensor);
      expect(got!.dataSync()).toEqual(expected!.dataSync());
      tf.dispose([...x, expected!, got!]);
      for (const each of [model, again]) each.dispose();
    }),
  );

  it(
    'gives the result of a single feature as it is',
    leakFree(() => {
      const layer = emb.layers.distributedEmbedding({
        embeddings: [{ inputDim: 3, outputDim: 2, embeddingsInitializer: 'ones' }],
        output: 'concat',
      });
      const result: tf.Tensor = layer.apply([[0, 1]]);
      expect(result.shape).toEqual([2, 2]);
      result.dispose();
      layer.dispose();
    }),
  );

  it(
    'refuses results that do not lie side by side, by their feature',
    leakFree(() => {
      const make = (combiner: 'sum' | null): emb.DistributedEmbedding => {
        return emb.layers.distributedEmbedding({
          embeddings: [
            { inputDim: 3, outputDim: 2, combiner: 'sum' },
            { inputDim: 3, outputDim: 2, combiner },
          ],
          output: 'concat',
        });
      };
      const layer = make(null);
      const ids = () => tf.input({ shape: [2], dtype: 'int32' });
      expectError(() => layer.apply([ids(), ids()]), 'ValueError', 'inputs[1]', '[null, 2, 2]');
      const rows = emb.RaggedTensor.fromRows([[1], [2, 0]]);
      expectError(() => layer.apply([rows, rows]), 'ValueError', 'inputs[1]', 'RaggedTensor');
      layer.dispose();
    }),
  );

  it('refuses other forms', () => {
    const embeddings = items();
    expectError(
      () => emb.layers.distributedEmbedding({ embeddings, output: 'concatt' as never }),
      'ValueError',
      'output',
      'concatt',
    );
    expectError(() => emb.layers.distributedEmbedding({ embeddings, output: 1 as never }), 'TypeError', 'output');
  });
});

describe("DistributedEmbedding with output: 'concat' on devices", () => {
  it('gives the results of the list side by side, and trains to the same bits', async () => {
    await withTpuEmulator({ chips: 3 }, leakFree(expectSameTraining));
  });
});
