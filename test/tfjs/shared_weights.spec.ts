import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { artifactsOf, expectClose, expectError, ids, leakFree, reload, useCpu } from '../layers/setup.js';

const TABLE = { inputDim: 6, outputDim: 2, combiner: 'sum' } as const;
const input = (): tf.SymbolicTensor => tf.input({ shape: [3], dtype: 'int32' });

function tableOf(name: string): emb.EmbeddingTable {
  return emb.embeddingTable({ name, inputDim: 6, outputDim: 2 });
}

/** The pooled rows that a layer makes of an input, [batch, columns]. */
function pooled(layer: tf.layers.Layer, x: tf.SymbolicTensor): tf.SymbolicTensor {
  const output = layer.apply(layer instanceof emb.DistributedEmbedding ? [x] : x) as tf.SymbolicTensor;
  const [only] = [output].flat() as [tf.SymbolicTensor];
  return only.shape.length === 2 ? only : (tf.layers.flatten().apply(only) as tf.SymbolicTensor);
}

function modelOf(towers: readonly ((x: tf.SymbolicTensor) => tf.SymbolicTensor)[]): tf.LayersModel {
  const inputs = towers.map(input);
  const outputs = towers.map((tower, i) => tower(inputs[i]!));
  return tf.model({ inputs, outputs: tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor });
}

const tower = (layer: tf.layers.Layer) => (x: tf.SymbolicTensor) => pooled(layer, x);
/** The layer within a model of its own. */
const nested = (layer: tf.layers.Layer) => (x: tf.SymbolicTensor) => {
  const inner = input();
  return tf.model({ inputs: inner, outputs: pooled(layer, inner) }).apply(x) as tf.SymbolicTensor;
};

/** Layers whose table is saved as `<name>/embeddings` or `<name>/params`. */
const EMBEDDINGS: Record<string, (name: string) => tf.layers.Layer> = {
  embedding: (name) => emb.layers.embedding({ ...TABLE, name }),
  raggedEmbedding: (name) => emb.layers.raggedEmbedding({ ...TABLE, name }),
  distributedEmbedding: (name) => {
    const [, layer, table] = /^(.*)\/([^/]*)$/.exec(name)!;
    return emb.layers.distributedEmbedding({ name: layer!, embeddings: [{ ...TABLE, name: table! }] });
  },
  'a shared table of embedding': (name) =>
    emb.layers.embedding({ table: tableOf(name.replace(/^tables\//, '')), combiner: 'mean' }),
  'a shared table of raggedEmbedding': (name) =>
    emb.layers.raggedEmbedding({ table: tableOf(name.replace(/^tables\//, '')), combiner: 'mean' }),
  'a shared table of distributedEmbedding': (name) =>
    emb.layers.distributedEmbedding({
      embeddings: [{ name: 'other', table: tableOf(name.replace(/^tables\//, '')), combiner: 'sum' }],
    }),
};
const KINDS = Object.keys(EMBEDDINGS);

describe('tables of one model', () => {
  beforeAll(useCpu);

  for (const [i, first] of KINDS.entries()) {
    for (const second of KINDS.slice(i)) {
      const refused = leakFree(() => {
        const layers = [first, second].map((kind) => EMBEDDINGS[kind]!('tables/users'));
        // tfjs itself compares the names of layers that lie side by side.
        const [a, b] = layers as [tf.layers.Layer, tf.layers.Layer];
        const error = expectError(
          () => modelOf([tower(a), nested(b)]),
          'ValueError',
          'name',
          /tables\/users\/embeddings/,
        );
        expect(error?.received).toContain(`of the layers ${a.name} and ${b.name}`);
        expect(error?.message).toContain('another name');
        for (const layer of layers) layer.dispose();
      });
      it(`have names of their own: ${first} and ${second}`, refused);
    }
  }

  it(
    'have names of their own: two of concatOneHotEmbedding, one of them in a nested model',
    leakFree(() => {
      const args = { featureSizes: [2, 2, 2], embeddingWidth: 2, name: 'all' };
      const layers = [1, 2].map(() => emb.layers.concatOneHotEmbedding(args));
      expectError(() => modelOf([tower(layers[0]!), nested(layers[1]!)]), 'ValueError', 'name', /all\/params/);
      for (const layer of layers) layer.dispose();
    }),
  );

  it(
    'have names of their own within one distributedEmbedding too',
    leakFree(() => {
      const embeddings = ['a', 'b'].map((name) => ({ name, table: tableOf('items'), combiner: 'sum' as const }));
      const layer = emb.layers.distributedEmbedding({ name: 'all', embeddings });
      const inputs = [input(), input()];
      const outputs = layer.apply(inputs) as tf.SymbolicTensor[];
      const error = expectError(() => tf.model({ inputs, outputs }), 'ValueError', 'name', /tables\/items\/embeddings/);
      expect(error?.received).toContain('of the layers all and all');
      layer.dispose();
    }),
  );

  it(
    'have names of their own in a sequential model, when it is compiled at the latest',
    leakFree(() => {
      const layers = [1, 2].map(() => emb.layers.embedding({ table: tableOf('twice') }));
      const model = tf.sequential();
      model.add(tf.layers.inputLayer({ inputShape: [3], dtype: 'int32' }));
      model.add(layers[0]!);
      model.add(tf.layers.dense({ units: 1 }));
      model.add(tf.layers.flatten());
      model.add(tf.layers.activation({ activation: 'relu' }));
      model.add(layers[1]!);
      const compile = (): void => model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      expectError(compile, 'ValueError', 'name', /tables\/twice\/embeddings/);
      for (const layer of model.layers) if (layer.built) layer.dispose();
    }),
  );

  /** What is no clash, with the names that are saved. */
  const fine: [string, () => tf.LayersModel, string[]][] = [
    [
      'one table in several layers',
      () => {
        const table = tableOf('films');
        const layers = [
          emb.layers.embedding({ table, combiner: 'sum' }),
          emb.layers.raggedEmbedding({ table, combiner: 'mean' }),
          emb.layers.distributedEmbedding({ embeddings: [{ table, combiner: 'sum' }] }),
        ];
        return modelOf([...layers.map(tower), nested(emb.layers.embedding({ table, combiner: 'sum' }))]);
      },
      ['tables/films/embeddings'],
    ],
    [
      'a layer that is used twice',
      () => {
        const layer = emb.layers.embedding({ ...TABLE, name: 'used' });
        return modelOf([tower(layer), tower(layer)]);
      },
      ['used/embeddings'],
    ],
    [
      'layers in nested models',
      () => {
        const make = (name: string): tf.layers.Layer => emb.layers.embedding({ ...TABLE, name });
        return modelOf([nested(make('left')), nested(make('right')), tower(make('top'))]);
      },
      ['left/embeddings', 'right/embeddings', 'top/embeddings'],
    ],
    [
      'layers that were built by hand',
      () => {
        const plain = emb.layers.embedding({ ...TABLE, name: 'plain' });
        const ragged = emb.layers.raggedEmbedding({ ...TABLE, name: 'ragged' });
        const features = { featureSizes: [2, 2, 2], embeddingWidth: 2 };
        const concat = emb.layers.concatOneHotEmbedding({ ...features, name: 'concat' });
        const distributed = emb.layers.distributedEmbedding({ embeddings: [{ ...TABLE, name: 'own' }], name: 'many' });
        const layers = [plain, ragged, concat, distributed];
        for (const layer of layers) layer.build([null, 3]);
        return modelOf(layers.map(tower));
      },
      ['plain/embeddings', 'ragged/embeddings', 'concat/params', 'many/own/embeddings'],
    ],
  ];
  for (const [title, make, names] of fine) {
    it(`are saved and loaded: ${title}`, async () => {
      const model = make();
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const x = model.inputs.map(() => ids([[0, 1, 1], [1, 0, 0]])); // prettier-ignore
      const y = tf.ones([2, model.outputs[0]!.shape[1]!]);
      await model.fit(x, y, { verbose: 0 });
      const artifacts = await artifactsOf(model);
      expect(artifacts.weightSpecs!.map(({ name }) => name).sort()).toEqual([...names].sort());
      const again = await reload(artifacts);
      const [before, after] = [model, again].map((each) => each.predict(x) as tf.Tensor) as [tf.Tensor, tf.Tensor];
      expectClose(before.dataSync(), after.dataSync(), 0);
      expect(again.weights.length).toBe(model.weights.length);
      tf.dispose([x, y, before, after]);
      again.dispose();
      model.dispose();
      optimizer.dispose();
    });
  }
});
