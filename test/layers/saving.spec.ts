import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { artifactsOf, cloneOf, ids, leakFree, reload, take, useCpu } from './setup.js';

interface LayerEntry {
  readonly class_name: string;
  readonly config: Record<string, unknown>;
}

function layersOf(artifacts: tf.io.ModelArtifacts): LayerEntry[] {
  return (artifacts.modelTopology as { config: { layers: LayerEntry[] } }).config.layers;
}

const everything = (): emb.EmbeddingArgs => ({
  name: 'user_Id-2.x',
  inputDim: 9,
  outputDim: 3,
  embeddingsInitializer: tf.initializers.varianceScaling({
    scale: 0.5,
    mode: 'fanAvg',
    distribution: 'truncatedNormal',
    seed: 3,
  }),
  embeddingsRegularizer: tf.regularizers.l1l2({ l1: 0.1, l2: 0.2 }),
  embeddingsConstraint: tf.constraints.minMaxNorm({ minValue: 0.1, maxValue: 0.9, rate: 0.5, axis: 1 }),
  optimizer: emb.train.adam({ learningRate: 0.02, lazy: false }),
  maskZero: true,
  inputLength: 4,
  combiner: 'sqrtn',
  maxNorm: 2,
  outOfRange: 'zero',
  trainable: false,
});

describe('saving of layers', () => {
  beforeAll(useCpu);

  it(
    'gives the same predictions, bit for bit',
    leakFree(async () => {
      for (const combiner of ['sum', 'mean', 'sqrtn', null] as const) {
        for (const make of [emb.layers.embedding, emb.layers.raggedEmbedding]) {
          const layer = make({ inputDim: 9, outputDim: 3, combiner, inputLength: 4 });
          const top = combiner === null ? [tf.layers.flatten()] : [];
          const model = tf.sequential({ layers: [layer, ...top, tf.layers.dense({ units: 2 })] });
          const clone = await cloneOf(model);
          const input = ids([
            [1, 8, 8, 0],
            [2, 3, 4, 5],
          ]);
          expect(clone.inputs[0]!.dtype).toBe('int32');
          expect(take(clone.predict(input))).toEqual(take(model.predict(input)));
          input.dispose();
          clone.dispose();
          model.dispose();
        }
      }
    }),
  );

  it(
    'keeps every argument and name',
    leakFree(async () => {
      const args = everything();
      const model = tf.sequential({ layers: [emb.layers.embedding(args)] });
      const artifacts = await artifactsOf(model);
      const [entry] = layersOf(artifacts);
      expect(entry!.class_name).toBe('TfjsEmbeddings>Embedding');
      expect(entry!.config).toEqual(
        jasmine.objectContaining({
          name: 'user_Id-2.x',
          trainable: false,
          input_dim: 9,
          output_dim: 3,
          combiner: 'sqrtn',
          mask_zero: true,
          input_length: 4,
          max_norm: 2,
          out_of_range: 'zero',
          activity_regularizer: null,
          batch_input_shape: [null, 4],
        }),
      );
      expect(artifacts.weightSpecs!.map(({ name }) => name)).toEqual(['user_Id-2.x/embeddings']);
      const loaded = await reload(artifacts);
      const [before, after] = [model, loaded].map((each) => each.layers[0]!.getConfig());
      expect(after).toEqual(before!);
      expect(layersOf(await artifactsOf(loaded))).toEqual(layersOf(artifacts));
      const table = (loaded.layers[0] as emb.Embedding).table;
      expect(table.optimizer!.optimizerName).toBe('adam');
      expect(table.optimizer!.settings.lazy).toBeFalse();
      (args.optimizer as tf.Optimizer).dispose();
      loaded.dispose();
      model.dispose();
    }),
  );

  it('getConfig makes an equal layer', () => {
    for (const [cls, args] of [
      [emb.Embedding, everything()],
      [emb.RaggedEmbedding, { inputDim: 4, outputDim: 2 }],
    ] as const) {
      const layer = new cls(args);
      const config = layer.getConfig();
      const again = cls.fromConfig(cls as never, JSON.parse(JSON.stringify(config)) as never) as emb.Embedding;
      expect(again).toBeInstanceOf(cls);
      expect(JSON.stringify(again.getConfig())).toBe(JSON.stringify(config));
    }
  });

  it(
    'trains on as if it had not stopped',
    leakFree(async () => {
      const makers = [
        () => emb.train.sgd({ learningRate: 0.05 }),
        () => emb.train.adagrad({ learningRate: 0.05 }),
        () => emb.train.adam({ learningRate: 0.05 }),
      ];
      for (const make of makers) {
        const table = emb.embeddingTable({ name: 'a_B', inputDim: 9, outputDim: 3 });
        const inputs = [1, 2].map((n) => tf.input({ shape: [2], dtype: 'int32', name: `input_${n}_${tf.util.now()}` }));
        const outputs = inputs.map(
          (input) => emb.layers.embedding({ table, combiner: 'mean' }).apply(input) as tf.SymbolicTensor,
        );
        const joined = tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor;
        const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor });
        const optimizer = make();
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const x = [
          ids([
            [1, 2],
            [3, 3],
          ]),
          ids([
            [2, 2],
            [8, 0],
          ]),
        ];
        const y = tf.tensor2d([[1], [-1]]);
        const fit = async (each: tf.LayersModel): Promise<unknown> =>
          (await each.fit(x, y, { epochs: 4, shuffle: false, verbose: 0 })).history['loss'];
        await fit(model);
        const resumed = await cloneOf(model, { includeOptimizer: true });
        const losses = [await fit(model), await fit(resumed)];
        expect(losses[1]).toEqual(losses[0]!);
        tf.dispose([...x, y]);
        resumed.optimizer.dispose();
        resumed.dispose();
        optimizer.dispose();
        model.dispose();
      }
    }),
  );

  it('saves and loads custom initializers that are registered', async () => {
    class Countdown extends tf.serialization.Serializable {
      static readonly className = 'Countdown';
      constructor(readonly args: { start: number }) {
        super();
      }
      apply(shape: [number, number]): tf.Tensor {
        return tf.tidy(() => tf.range(this.args.start, this.args.start - shape[0] * shape[1], -1).reshape(shape));
      }
      override getConfig(): tf.serialization.ConfigDict {
        return this.args;
      }
    }
    tf.serialization.registerClass(Countdown as never);
    const layer = emb.layers.embedding({
      inputDim: 2,
      outputDim: 2,
      embeddingsInitializer: new Countdown({ start: 8 }) as never,
    });
    const again = emb.Embedding.fromConfig(emb.Embedding as never, layer.getConfig()) as emb.Embedding;
    const input = ids([[0, 1]]);
    expect(take(again.apply(input))).toEqual([8, 7, 6, 5]);
    input.dispose();
    again.dispose();
  });
});
