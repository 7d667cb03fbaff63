import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../helpers/backends.js';
import { artifactsOf, cloneOf, expectError, ids, leakFree, reload, take, useCpu } from './setup.js';

function fromConfig(config: object): emb.IntegerLookupLayer {
  return emb.IntegerLookupLayer.fromConfig(emb.IntegerLookupLayer as never, config as never) as emb.IntegerLookupLayer;
}

/** Raw keys, their ids, an embedding of them, a number. */
function rankingModel(optimizer: tf.Optimizer): tf.Sequential {
  const model = tf.sequential({
    layers: [
      emb.layers.integerLookup({ maxTokens: 6, inputShape: [3], name: 'Keys_of-user' }),
      emb.layers.embedding({ inputDim: 7, outputDim: 4, combiner: 'mean' }),
      tf.layers.dense({ units: 1 }),
    ],
  });
  model.compile({ optimizer, loss: 'meanSquaredError' });
  return model;
}

describe('IntegerLookupLayer', () => {
  beforeAll(useCpu);

  it(
    'learns keys as they come, as NVIDIA distributed-embeddings does',
    leakFree(() => {
      const layer = emb.layers.integerLookup({ maxTokens: 4 });
      expect(layer.getVocabulary()).toEqual([-1]);
      expect(layer.apply([12, 36, 1138, 42])).toEqual([1, 2, 3, 4]);
      const second = layer.apply([
        [12, 1138, 42],
        [42, 1000, 36],
      ]) as number[][];
      expect(second).toEqual([
        [1, 3, 4],
        [4, 0, 2],
      ]);
      expect(layer.getVocabulary()).toEqual([-1, 12, 36, 1138, 42]);
      expect(layer.getFrequencies()).toEqual([1, 2, 2, 2, 3]);
      const small = emb.layers.integerLookup({ maxTokens: 3 });
      expect(
        small.apply([
          [7, 7],
          [9, 7],
        ]),
      ).toEqual([
        [1, 1],
        [2, 1],
      ]);
      expect(small.apply([5, 9, 8, 1])).toEqual([3, 2, 0, 0]);
      layer.dispose();
      small.dispose();
    }),
  );

  it(
    'takes -1 for the unknown, and -2 and -3 for keys',
    leakFree(() => {
      const layer = emb.layers.integerLookup({ maxTokens: 4 });
      expect(layer.apply([-1, 5, -1, -2, -3])).toEqual([0, 1, 0, 2, 3]);
      expect(layer.apply([-1])).toEqual([0]);
      expect(layer.getVocabulary()).toEqual([-1, 5, -2, -3]);
      layer.dispose();
    }),
  );

  it(
    'gives ids in the container of the data',
    leakFree(() => {
      const layer = emb.layers.integerLookup({ maxTokens: 9 });
      expect(layer.apply(BigInt64Array.of(10n ** 12n, -5n, 10n ** 12n))).toEqual(Int32Array.of(1, 2, 1));
      expect(layer.apply([[7]])).toEqual([[3]]);
      expect(layer.apply([[]] as number[][])).toEqual([[]]);
      expect(layer.apply(7)).toBe(3);
      const ragged = layer.apply(emb.RaggedTensor.fromRows([[7, 8], [], [-5]]));
      expect(ragged.toRows()).toEqual([[3, 4], [], [2]]);
      const float = tf.tensor3d([[[8], [9]]]);
      const result = layer.apply(float) as tf.Tensor;
      expect([result.dtype, result.shape]).toEqual(['int32', [1, 2, 1]]);
      expect(take(result)).toEqual([4, 5]);
      float.dispose();
      layer.dispose();
    }),
  );

  describeForBackends('in a model', () => {
    it(
      'trains, is saved with its vocabulary, and learns on as if it had not stopped',
      leakFree(async () => {
        const optimizer = emb.train.adagrad({ learningRate: 0.2 });
        const model = rankingModel(optimizer);
        expect(model.inputs[0]!.dtype).toBe('int32');
        const x = ids([
          [900, -17, 900],
          [31, 31, 2147483647],
          [-1, -17, 31],
        ]);
        const y = tf.tensor2d([[1], [-1], [0]]);
        const { history } = await model.fit(x, y, { epochs: 10, verbose: 0, shuffle: false });
        const losses = history['loss'] as number[];
        expect(losses.at(-1)).toBeLessThan(losses[0]!);
        const layer = model.layers[0] as emb.IntegerLookupLayer;
        expect(layer.getVocabulary()).toEqual([-1, 900, -17, 31, 2147483647]);
        expect(layer.getFrequencies()).toEqual([10, 20, 20, 30, 10]);

        const artifacts = await artifactsOf(model);
        expect(artifacts.weightSpecs!.map(({ name, dtype }) => [name, dtype]).slice(-2)).toEqual([
          ['Keys_of-user/keys', 'int32'],
          ['Keys_of-user/counts', 'int32'],
        ]);
        const again = await reload(artifacts);
        const loaded = again.layers[0] as emb.IntegerLookupLayer;
        expect(loaded.getVocabulary()).toEqual(layer.getVocabulary());
        expect(loaded.getFrequencies()).toEqual(layer.getFrequencies());
        const bytes = (each: tf.io.ModelArtifacts): Uint8Array => new Uint8Array(each.weightData as ArrayBuffer);
        expect(bytes(await artifactsOf(again))).toEqual(bytes(artifacts));
        const next = ids([
          [5, 6, 7],
          [31, 6, 8],
        ]);
        expect(take(again.predict(next))).toEqual(take(model.predict(next)));
        expect(loaded.getVocabulary()).toEqual([-1, 900, -17, 31, 2147483647, 5, 6]);
        expect(layer.getVocabulary()).toEqual(loaded.getVocabulary());
        tf.dispose([x, y, next]);
        optimizer.dispose();
        again.dispose();
        model.dispose();
      }),
    );
  });

  it(
    'is left alone by optimizers, whose state is saved beside it',
    leakFree(async () => {
      spyOn(console, 'warn');
      for (const isStock of [false, true]) {
        const optimizer = isStock ? tf.train.adam(0.1) : emb.train.adam({ learningRate: 0.1 });
        const model = rankingModel(optimizer);
        const [x, y] = [ids([[3, 4, 5]]), tf.tensor2d([[1]])];
        await model.fit(x, y, { epochs: 3, verbose: 0 });
        // Stock optimizers of tfjs leave a tensor behind when they are saved.
        const again = await cloneOf(model, { includeOptimizer: !isStock });
        expect((again.layers[0] as emb.IntegerLookupLayer).getFrequencies()).toEqual([0, 3, 3, 3]);
        expect(again.trainableWeights.map(({ dtype }) => dtype as string)).not.toContain('int32');
        tf.dispose([x, y]);
        again.optimizer?.dispose();
        again.dispose();
        optimizer.dispose();
        model.dispose();
      }
    }),
  );

  it(
    'learns nothing while it is frozen',
    leakFree(() => {
      const layer = emb.layers.integerLookup({ maxTokens: 5 });
      expect(layer.apply([3, 4])).toEqual([1, 2]);
      layer.trainable = false;
      expect(layer.apply([4, 6, 3])).toEqual([2, 0, 1]);
      expect(layer.getFrequencies()).toEqual([0, 1, 1]);
      layer.trainable = true;
      expect(layer.apply([6])).toEqual([3]);
      layer.dispose();
    }),
  );

  it(
    'weights that were set are those that are got, and saved, before and after more is learned',
    leakFree(() => {
      const layer = emb.layers.integerLookup({ maxTokens: 4 });
      layer.apply([3, 3, 9]);
      const values = (): number[][] =>
        layer.getWeights().map((weight) => {
          const all = Array.from(weight.dataSync());
          return all;
        });
      const [keys, counts] = [
        tf.tensor2d([0, 0, 8, 0, -5, -1, 0, 0, 0, 0], [5, 2], 'int32'),
        tf.tensor1d([2, 6, 1, 0, 0], 'int32'),
      ];
      layer.setWeights([keys, counts]);
      expect(values()).toEqual([Array.from(keys.dataSync()), Array.from(counts.dataSync())]);
      expect(layer.getVocabulary()).toEqual([-1, 8, -5]);
      expect(values()).toEqual([Array.from(keys.dataSync()), Array.from(counts.dataSync())]);
      expect(layer.apply([-5, 7])).toEqual([2, 3]);
      expect(values()[1]).toEqual([2, 6, 2, 1, 0]);
      expect(values()[0]!.slice(0, 8)).toEqual([0, 0, 8, 0, -5, -1, 7, 0]);
      layer.setWeights([keys, counts]);
      expect(values()).toEqual([Array.from(keys.dataSync()), Array.from(counts.dataSync())]);
      tf.dispose([keys, counts]);
      layer.dispose();
    }),
  );

  it(
    'weights go from layer to layer, one by one too',
    leakFree(() => {
      const [a, b] = [emb.layers.integerLookup({ maxTokens: 3 }), emb.layers.integerLookup({ maxTokens: 3 })];
      expectError(() => b.setWeights([]), 'RuntimeError', 'setWeights');
      a.apply([2 ** 40, -8, -8]);
      b.apply([1, 2, 3, 4]);
      b.setWeights(a.getWeights());
      expect(b.getVocabulary()).toEqual([-1, 2 ** 40, -8]);
      expect(b.apply([-8, 2 ** 40, 6])).toEqual([2, 1, 3]);
      // As tf.LayersModel.loadWeights does.
      const [keys, counts] = [
        tf.tensor2d([0, 0, 5, 0, 6, 0, 7, 0], [4, 2], 'int32'),
        tf.tensor1d([9, 1, 1, 1], 'int32'),
      ];
      a.weights[0]!.write(keys);
      a.weights[1]!.write(counts);
      expect(a.getVocabulary()).toEqual([-1, 5, 6, 7]);
      expect(a.getFrequencies()).toEqual([9, 1, 1, 1]);
      const [short, float, doubled] = [
        tf.zeros([3, 2], 'int32'),
        tf.zeros([4, 2]),
        tf.tensor2d([0, 0, 5, 0, 5, 0, 7, 0], [4, 2], 'int32'),
      ];
      expectError(() => a.setWeights([short, counts]), 'ValueError', 'weights', /\[3, 2\]/);
      expectError(() => a.setWeights([keys]), 'ValueError', 'weights');
      expectError(() => a.setWeights([float, counts]), 'TypeError', 'weights');
      expectError(() => a.setWeights(7 as never), 'TypeError', 'weights');
      expectError(() => a.setWeights([doubled, counts]), 'ValueError', 'weights', /5 in row 2/);
      expect(a.getVocabulary()).toEqual([-1, 5, 6, 7]);
      tf.dispose([keys, counts, short, float, doubled]);
      a.dispose();
      b.dispose();
    }),
  );

  it('has a config, and reads that of NVIDIA', () => {
    const layer = emb.layers.integerLookup({ maxTokens: 12, name: 'a_B', trainable: false, inputShape: [2, null] });
    const config = layer.getConfig();
    expect(config as unknown).toEqual({
      name: 'a_B',
      trainable: false,
      maxTokens: 12,
      batchInputShape: [null, 2, null],
    });
    expect(fromConfig(JSON.parse(JSON.stringify(config)) as object).getConfig()).toEqual(config);
    expect(fromConfig({ name: 'keys', dtype: 'int64', max_tokens: 8, use_gpu: false }).maxTokens).toBe(8);
    expect(emb.layers.integerLookup({ maxTokens: 1 }).name).toMatch(/^integer_lookup_\d+$/);
    expect(layer.getClassName()).toBe('TfjsEmbeddings>IntegerLookup');
    expect(layer.computeOutputShape([null, 4, 2])).toEqual([null, 4, 2]);
  });

  it(
    'wrong arguments and inputs are named, and leave no trace',
    leakFree(async () => {
      const make = emb.layers.integerLookup as (args: unknown) => emb.IntegerLookupLayer;
      for (const args of [undefined, null, 5, [1]]) expectError(() => make(args), 'TypeError', 'args');
      for (const maxTokens of [undefined, null, '7', [3]])
        expectError(() => make({ maxTokens }), 'TypeError', 'maxTokens');
      for (const maxTokens of [0, -1, 1.5, NaN, 2 ** 31 - 1, 2 ** 31]) {
        expectError(() => make({ maxTokens }), 'ValueError', 'maxTokens');
      }
      expectError(() => make({ maxTokens: 3, vocabulary: [1] }), 'ValueError', 'vocabulary');
      expectError(() => make({ maxTokens: 3, trainable: 1 }), 'TypeError', 'trainable');
      expectError(() => make({ maxTokens: 3, dtype: 'string' }), 'TypeError', 'dtype');
      expectError(() => make({ maxTokens: 3, inputShape: [-1] }), 'ValueError', 'inputShape');
      const layer = emb.layers.integerLookup({ maxTokens: 3 });
      const apply = layer.apply.bind(layer) as (data: unknown) => unknown;
      const [text, half, big] = [tf.tensor1d(['a']), tf.tensor1d([3, 0.5]), tf.tensor1d([2 ** 25])];
      expectError(() => apply(undefined), 'TypeError', 'inputs');
      expectError(() => apply({}), 'TypeError', 'inputs');
      expectError(() => apply(text), 'TypeError', 'inputs', /string at position 0/);
      expectError(() => apply(half), 'ValueError', 'inputs', /0\.5 at position 1/);
      expectError(() => apply(big), 'ValueError', 'inputs', /33554432/);
      expectError(() => apply([4, NaN]), 'ValueError', 'inputs', /NaN at position 1/);
      expectError(() => apply([4, 2 ** 53]), 'ValueError', 'inputs');
      expectError(() => apply([4, [5]]), 'ValueError', 'inputs');
      expectError(() => apply([4, null]), 'TypeError', 'inputs');
      expect(layer.getVocabulary()).toEqual([-1]);
      expect(layer.getFrequencies()).toEqual([0]);
      const input = tf.input({ shape: [2], dtype: 'int32' });
      const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
      const pair = tf.tensor2d([[1.5, 2]]);
      expectError(() => model.predict(pair), 'ValueError', 'inputs', /1\.5/);
      tf.dispose([text, half, big, pair]);
      model.dispose();
      layer.dispose();
    }),
  );
});
