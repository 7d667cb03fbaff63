import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import {
  artifactsOf,
  cloneOf,
  expectClose,
  expectError,
  ids,
  leakFree,
  ramp,
  reload,
  take,
  useCpu,
} from '../layers/setup.js';
import { withTpuEmulator } from '../helpers/tpu_emulator.js';

/** Two layers on one table: a mean over three ids beside a single id. */
function twoUses(table: emb.EmbeddingTable): tf.LayersModel {
  const [seen, next] = [3, 1].map((length) => tf.input({ shape: [length], dtype: 'int32' }));
  const pooled = emb.layers.embedding({ table, combiner: 'mean', name: 'seen_items' }).apply(seen!);
  const single = emb.layers.embedding({ table, combiner: 'sum', name: 'nextItem' }).apply(next!);
  const joined = tf.layers.concatenate().apply([pooled, single] as tf.SymbolicTensor[]) as tf.SymbolicTensor;
  const outputs = tf.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(joined) as tf.SymbolicTensor;
  return tf.model({ inputs: [seen!, next!], outputs });
}

const tableOf = (args: Partial<emb.EmbeddingTableArgs> = {}): emb.EmbeddingTable =>
  emb.embeddingTable({ name: 'user_Items', inputDim: 8, outputDim: 2, weights: [ramp(8, 2)], ...args });

/** An initializer of the user's own. */
function custom(apply: (shape: number[]) => unknown): emb.EmbeddingTableArgs['embeddingsInitializer'] {
  return { apply, getClassName: () => 'Own', getConfig: () => ({}) } as never;
}

function feeds(): tf.Tensor[] {
  return [
    ids([
      [1, 2, 2],
      [3, 1, 0],
    ]),
    ids([[2], [5]]),
  ];
}

describe('embeddingTable', () => {
  beforeAll(useCpu);

  it(
    'is one variable, counted and saved once',
    leakFree(async () => {
      const table = tableOf();
      expect(table.variable).toBeNull();
      const model = twoUses(table);
      expect(model.weights.map((weight) => weight.originalName)).toEqual([
        'tables/user_Items/embeddings',
        ...model.layers.at(-1)!.weights.map((weight) => weight.originalName),
      ]);
      expect(model.countParams()).toBe(8 * 2 + 4 + 1);
      for (const name of ['seen_items', 'nextItem']) {
        const weights = model.getLayer(name).getWeights();
        expect(weights.length).toBe(1);
        expect(weights[0] as tf.Tensor).toBe(table.variable!);
      }
      const lines: string[] = [];
      model.summary(undefined, undefined, (line: unknown) => lines.push(String(line)));
      expect(lines.join('\n')).toContain('Total params: 21');
      const { weightSpecs } = await artifactsOf(model);
      expect(weightSpecs!.filter(({ name }) => name.endsWith('/embeddings')).length).toBe(1);
      model.dispose();
      expect(table.variable).toBeNull();
    }),
  );

  it(
    'is stepped once per step with the sum over its uses, as densely trained, by stock and sparse optimizers alike',
    leakFree(async () => {
      const [x, y] = [feeds(), tf.tensor2d([[3], [-2]])];
      // The reference: one layer applied to both inputs, which tfjs shares natively.
      const oneLayer = (): tf.LayersModel => {
        const [seen, next] = [3, 1].map((length) => tf.input({ shape: [length], dtype: 'int32' }));
        const layer = tf.layers.embedding({ inputDim: 8, outputDim: 2 });
        const pooled = tf.layers.globalAveragePooling1d({}).apply(layer.apply(seen!));
        const single = tf.layers.flatten().apply(layer.apply(next!));
        const joined = tf.layers.concatenate().apply([pooled, single] as tf.SymbolicTensor[]) as tf.SymbolicTensor;
        const outputs = tf.layers.dense({ units: 1, kernelInitializer: 'ones' }).apply(joined) as tf.SymbolicTensor;
        const model = tf.model({ inputs: [seen!, next!], outputs });
        const values = tf.tensor2d(ramp(8, 2), [8, 2]);
        layer.setWeights([values]);
        values.dispose();
        return model;
      };
      const runs: [() => tf.LayersModel, tf.Optimizer][] = [
        [oneLayer, tf.train.sgd(0.1)],
        [() => twoUses(tableOf()), tf.train.sgd(0.1)],
        [() => twoUses(tableOf()), emb.train.sgd({ learningRate: 0.1 })],
      ];
      const results: [number[], ArrayLike<number>][] = [];
      for (const [make, optimizer] of runs) {
        const model = make();
        model.compile({ optimizer, loss: 'meanSquaredError' });
        const { history } = await model.fit(x, y, { epochs: 5, verbose: 0, shuffle: false });
        const table = model.getWeights().find(({ shape }) => shape[0] === 8)!;
        results.push([history['loss'] as number[], table.dataSync().slice()]);
        optimizer.dispose();
        model.dispose();
        // tfjs counts two uses of one layer, of which the model gives back one.
        for (const layer of model.layers) if (layer.inboundNodes.length === 2) layer.dispose();
      }
      for (const [losses, table] of results.slice(1)) {
        expectClose(losses, results[0]![0], 1e-5);
        expectClose(table, results[0]![1], 1e-5);
      }
      tf.dispose([...x, y]);
    }),
  );

  it(
    'is shared again by name in a loaded model, bit for bit, and by that model alone',
    leakFree(async () => {
      const model = twoUses(tableOf());
      const x = feeds();
      const artifacts = await artifactsOf(model);
      const [first, second] = await Promise.all([reload(artifacts), reload(artifacts)]);
      const wanted = take(model.predict(x));
      for (const loaded of [first, second]) {
        expect(take(loaded.predict(x))).toEqual(wanted);
        const [a, b] = ['seen_items', 'nextItem'].map((name) => loaded.getLayer(name) as emb.Embedding);
        expect(a!.table).toBe(b!.table);
        expect(a!.table.name).toBe('user_Items');
        expect(loaded.countParams()).toBe(21);
      }
      const tables = [model, first, second].map((each) => each.getLayer('nextItem').getWeights()[0]!);
      expect(new Set(tables).size).toBe(3);
      const zeros = tf.zeros([8, 2]);
      first.getLayer('seen_items').setWeights([zeros]);
      expect(take(second.predict(x))).toEqual(wanted);
      expect(Array.from(tables[1]!.dataSync()).every((value) => value === 0)).toBeTrue();
      tf.dispose([...x, zeros]);
      [model, first, second].forEach((each) => each.dispose());
    }),
  );

  it(
    'is a weight of each part of a model that holds it',
    leakFree(async () => {
      const table = tableOf();
      const towers = ['left', 'right'].map((name) =>
        tf.sequential({
          name,
          layers: [
            emb.layers.embedding({ table, inputLength: 2, combiner: 'sum', name: `${name}_ids` }),
            tf.layers.dense({ units: 2, name: `${name}_dense` }),
          ],
        }),
      );
      const inputs = towers.map(() => tf.input({ shape: [2], dtype: 'int32' }));
      const outputs = towers.map((tower, i) => tower.apply(inputs[i]!) as tf.SymbolicTensor);
      const product = tf.layers.dot({ axes: -1 }).apply(outputs) as tf.SymbolicTensor;
      const model = tf.model({ inputs, outputs: product });
      const x = [ids([[1, 2]]), ids([[3, 3]])];
      for (const tower of towers) expect(tower.weights.length).toBe(3);
      expect(model.weights.length).toBe(5);
      const loaded = await cloneOf(model);
      expect(take(loaded.predict(x))).toEqual(take(model.predict(x)));
      expect(loaded.weights.length).toBe(5);
      // The second tower alone trains, saves and loads the table too.
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      const [, right] = towers as [tf.Sequential, tf.Sequential];
      right.compile({ optimizer, loss: 'meanSquaredError' });
      const before = table.variable!.dataSync().slice();
      const y = tf.zeros([1, 2]);
      await right.fit(x[1]!, y, { epochs: 1, verbose: 0 });
      expect(Array.from(table.variable!.dataSync())).not.toEqual(Array.from(before));
      const alone = await cloneOf(right);
      expect(take(alone.predict(x[1]!))).toEqual(take(right.predict(x[1]!)));
      tf.dispose([...x, y]);
      optimizer.dispose();
      [model, loaded, alone].forEach((each) => each.dispose());
    }),
  );

  it(
    'is frozen for all by itself or by any of its layers',
    leakFree(async () => {
      const x = feeds();
      const y = tf.ones([2, 1]);
      const freeze: ((model: tf.LayersModel, table: emb.EmbeddingTable) => void)[] = [
        (model) => (model.getLayer('seen_items').trainable = false),
        (model) => (model.getLayer('nextItem').trainable = false),
        (_model, table) => (table.trainable = false),
      ];
      for (const each of freeze) {
        const table = tableOf();
        const model = twoUses(table);
        each(model, table);
        const optimizer = emb.train.sgd({ learningRate: 0.1 });
        model.compile({ optimizer, loss: 'meanSquaredError' });
        expect(model.trainableWeights.length).toBe(2);
        expect(model.nonTrainableWeights.length).toBe(1);
        await model.fit(x, y, { epochs: 1, verbose: 0 });
        expect(Array.from(table.variable!.dataSync())).toEqual(Array.from(ramp(8, 2)));
        optimizer.dispose();
        model.dispose();
      }
      tf.dispose([...x, y]);
    }),
  );

  it(
    'lives until its last layer is disposed',
    leakFree(() => {
      const table = tableOf();
      const layers = [1, 2].map(() => emb.layers.embedding({ table }));
      const input = ids([[1]]);
      layers.forEach((layer) => tf.dispose(layer.apply(input) as tf.Tensor));
      expect(layers[0]!.dispose().numDisposedVariables).toBe(0);
      expect(take(layers[1]!.apply(input))).toEqual([1, 1.25]);
      expect(layers[1]!.dispose().numDisposedVariables).toBe(1);
      input.dispose();
    }),
  );

  it('keeps its config', () => {
    const table = tableOf({
      embeddingsRegularizer: 'l2',
      embeddingsConstraint: tf.constraints.maxNorm({ axis: 1, maxValue: 3 }),
      optimizer: emb.train.adagrad({ learningRate: 0.3 }),
      trainable: false,
    });
    const config = table.getConfig() as Record<string, { className: string; config: object }>;
    expect(config['name'] as unknown).toBe('user_Items');
    expect(config['trainable'] as unknown).toBe(false);
    expect(config['embeddingsConstraint']).toEqual({ className: 'MaxNorm', config: { maxValue: 3, axis: 1 } });
    expect(config['optimizer']!.className).toBe('TfjsEmbeddings>Adagrad');
  });

  it('refuses wrong arguments', () => {
    const bad: [object | undefined, 'TypeError' | 'ValueError', string][] = [
      [undefined, 'TypeError', 'args'],
      [{ outputDim: 2 }, 'TypeError', 'inputDim'],
      [{ inputDim: 3 }, 'TypeError', 'outputDim'],
      [{ inputDim: 3, outputDim: 2, name: 5 }, 'TypeError', 'name'],
      [{ inputDim: 3, outputDim: 2, name: 'two words' }, 'ValueError', 'name'],
      [{ inputDim: 3, outputDim: 2, seed: 'one' }, 'TypeError', 'seed'],
      [{ inputDim: 3, outputDim: 2, seed: 0.5 }, 'ValueError', 'seed'],
      [{ inputDim: 3, outputDim: 2, trainable: 'yes' }, 'TypeError', 'trainable'],
      [{ inputDim: 3, outputDim: 2, optimizer: tf.train.sgd(0.1) }, 'TypeError', 'optimizer'],
    ];
    for (const [args, type, argument] of bad) {
      expectError(() => emb.embeddingTable(args as unknown as emb.EmbeddingTableArgs), type, argument);
    }
    const table = tableOf();
    expectError(() => emb.layers.embedding({ table, inputDim: 9 }), 'ValueError', 'inputDim', '9');
    expectError(
      () => emb.layers.embedding({ table, embeddingsInitializer: 'ones' as never }),
      'ValueError',
      'embeddingsInitializer',
    );
    expectError(() => emb.layers.embedding({ table: {} as emb.EmbeddingTable }), 'TypeError', 'table');
  });

  it(
    'says of which layer it is, and how large, where there is no memory for it',
    leakFree(async () => {
      const size = { inputDim: 2 ** 31 - 1, outputDim: 64 };
      const shared = emb.embeddingTable({ name: 'items', ...size });
      const bytes = `${size.inputDim * size.outputDim * 4} bytes`;
      const input = (): tf.SymbolicTensor => tf.input({ shape: [1], dtype: 'int32' });
      const oneHot = { featureSizes: [size.inputDim], embeddingWidth: 64, name: 'fourth' };
      const embeddings = [{ name: 'users', combiner: 'sum' as const, ...size }];
      const layers: [string, string, () => unknown][] = [
        ['first', 'first', () => emb.layers.embedding({ ...size, name: 'first' }).apply(input())],
        ['items', 'second', () => emb.layers.embedding({ table: shared, name: 'second' }).apply(input())],
        ['third', 'third', () => emb.layers.raggedEmbedding({ ...size, name: 'third' }).apply(input())],
        ['fourth', 'fourth', () => emb.layers.concatOneHotEmbedding(oneHot).apply(input())],
        ['users', 'fifth', () => emb.layers.distributedEmbedding({ embeddings, name: 'fifth' }).apply([input()])],
      ];
      for (const [table, layer, apply] of layers) {
        const received = `shape [2147483647, 64] of table ${table} in layer ${layer}, ${bytes}`;
        expectError(apply, 'ValueError', 'inputDim', received.replace(/[[\]]/g, '\\$&'));
      }
      const model = tf.sequential({ layers: [emb.layers.embedding({ inputDim: 3, outputDim: 64, inputLength: 1 })] });
      const artifacts = await artifactsOf(model);
      model.dispose();
      const text = JSON.stringify(artifacts.modelTopology).replace('"input_dim":3', `"input_dim":${size.inputDim}`);
      const loading = reload({ ...artifacts, modelTopology: JSON.parse(text) as object });
      await expectAsync(loading).toBeRejectedWithError(emb.ValueError, /layer embedding_\w+, 549755813632 bytes/);
    }),
  );

  it(
    'passes on the errors of initializers',
    leakFree(() => {
      const embeddingsInitializer = {
        apply(): never {
          throw new RangeError('Maximum call stack size exceeded');
        },
        getClassName: () => 'Zeros',
        getConfig: () => ({}),
      } as never;
      const layer = emb.layers.embedding({ inputDim: 3, outputDim: 2, embeddingsInitializer });
      expect(() => layer.apply(tf.input({ shape: [1], dtype: 'int32' }))).toThrowError(RangeError, /call stack/);
    }),
  );

  it(
    'names the table whose initializer does not fit',
    leakFree(() => {
      const initializers: [emb.EmbeddingTableArgs['embeddingsInitializer'], 'TypeError' | 'ValueError', string][] = [
        [custom(() => tf.ones([2, 2])), 'ValueError', '[2, 2]'],
        [custom((shape) => tf.ones(shape, 'int32')), 'TypeError', 'int32'],
        [custom(() => 5), 'TypeError', '5'],
        [tf.initializers.identity({}), 'ValueError', 'Identity'],
        [tf.initializers.randomNormal({ stddev: Infinity }), 'ValueError', 'Infinity'],
      ];
      for (const [embeddingsInitializer, type, received] of initializers) {
        const users = { name: 'users', inputDim: 5, outputDim: 3, embeddingsInitializer };
        const oneHot = { name: 'users', featureSizes: [2, 3], embeddingWidth: 3, embeddingsInitializer };
        const items = { name: 'items', inputDim: 4, outputDim: 2, combiner: 'sum' as const };
        const layers: (() => tf.layers.Layer)[] = [
          () => emb.layers.embedding(users),
          () => emb.layers.embedding({ ...users, storage: 'int8' }),
          () => emb.layers.embedding({ table: emb.embeddingTable(users) }),
          () => emb.layers.concatOneHotEmbedding(oneHot),
          () => emb.layers.distributedEmbedding({ embeddings: [items, { ...users, combiner: 'sum' }] }),
        ];
        for (const make of layers) {
          const build = (): void => make().build([null, 2]);
          expectError(build, type, 'embeddingsInitializer', received.replace(/[[\]]/g, '\\$&'));
          expect(build).toThrowError(/table users\b/);
        }
      }
    }),
  );

  it(
    'seeds an initializer given by name',
    leakFree(() => {
      const input = ids([[0, 1, 2]]);
      const [a, b, c] = [7, 7, 8].map((seed) => {
        const layer = emb.layers.embedding({ inputDim: 3, outputDim: 4, seed });
        const values = take(layer.apply(input));
        layer.dispose();
        return values;
      });
      expect(b).toEqual(a!);
      expect(c).not.toEqual(a!);
      input.dispose();
    }),
  );

  it(
    'tells how many rows it has now, how they are kept and where they lie',
    leakFree(async () => {
      const told = ({ rows, codec, store }: emb.EmbeddingTable): unknown => ({ rows, codec, store });
      const table = tableOf({ storage: 'float16', weights: null });
      expect(told(table)).toEqual({ rows: 8, codec: 'float16', store: 'memory' });
      const layer = emb.layers.embedding({ table, combiner: 'sum' });
      tf.tidy(() => void layer.apply(ids([[1, 2]])));
      layer.extend({ rows: 3 });
      expect(told(table)).toEqual({ rows: 11, codec: 'float16', store: 'memory' });
      layer.dispose();
      await withTpuEmulator({ chips: 2 }, () => {
        const placed = tableOf();
        const onDevices = emb.layers.embedding({ table: placed, combiner: 'sum' });
        tf.tidy(() => void onDevices.apply(ids([[1, 2]])));
        expect(told(placed)).toEqual({ rows: 8, codec: 'float32', store: 'placed' });
        onDevices.dispose();
      });
    }),
  );
});
