// runner: python
/** Models that look rows up by keys as SavedModels: Python feeds the keys themselves. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { useCpu } from '../../layers/setup.js';
import { Exports, expectSameOutputs, type PlainInput, type PlainTensor } from './exports.js';

type Key = string | bigint;

const DIM = 4;
const TEXTS = ['tea', '', 'é', 'e\u0301', '日本', '🙂', 'a'.repeat(40), 'b'.repeat(70), 'c'.repeat(300), 'x y'];
const NUMBERS = [0n, -1n, 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n), 123456789012345678n, 7n, -7n];

/** A table with the first `known` of some keys, one of which had another row and lost it. */
function tableOf(args: Partial<emb.OpenTableArgs>, known: number): { table: emb.OpenTable; keys: readonly Key[] } {
  const table = emb.openTable({ outputDim: DIM, capacity: 20, seed: 3, ...args });
  const keys = args.keys === 'string' ? TEXTS : NUMBERS;
  tf.tidy(() => {
    table.upsert([keys[known]!, ...keys.slice(0, known)], tf.randomNormal([known + 1, DIM], 0, 1, 'float32', 5));
  });
  table.remove([keys[known]!]);
  return { table, keys };
}

function keysOf(shape: number[], keys: readonly Key[]): PlainTensor {
  const isText = typeof keys[0] === 'string';
  return { dtype: isText ? 'str' : 'int64', shape, values: keys.map(String) as unknown as number[] };
}

function splitsOf(values: number[]): PlainTensor {
  return { dtype: 'int64', shape: [values.length], values };
}

interface Case {
  readonly args: Partial<emb.OpenTableArgs>;
  readonly layer?: Partial<emb.EmbeddingArgs>;
  readonly known?: number;
  /** Rows of different lengths. */
  readonly ragged?: boolean;
  readonly options?: emb.SavedModelOptions;
}

const CASES: Readonly<Record<string, Case>> = {
  'texts, of which unknown ones are zeros': { args: { keys: 'string' } },
  'texts that are summed, of which unknown ones are none': {
    args: { keys: 'string', unknown: 'drop', paddingKey: 'x y' },
    layer: { combiner: 'mean' },
  },
  'numbers of 64 bits, of which unknown ones share rows': {
    args: { unknown: { shared: 5, hashes: 2 } },
    layer: { combiner: 'sum' },
  },
  'texts that share one row each, in rows that stay apart': {
    args: { keys: 'string', unknown: { shared: 1000, hashes: 1 } },
    layer: { combiner: null },
  },
  'numbers in 256 shards': { args: { capacity: 70_000, unknown: { shared: 9, hashes: 3 } } },
  'numbers, of which 0 is padding': { args: { paddingKey: -7 }, layer: { maskZero: true, combiner: 'sqrtn' } },
  'a mask of padding': { args: { paddingKey: 7 }, layer: { maskZero: true, combiner: null } },
  'rows of float16': { args: { keys: 'string', storage: 'float16' } },
  'a table without keys': { args: {}, known: 0 },
  'the longest row of each': { args: { keys: 'string', unknown: 'drop' }, layer: { combiner: 'max' } },
  'ragged texts': { args: { keys: 'string' }, ragged: true, options: { ragged: 'composite' } },
  'ragged numbers apart': {
    args: { unknown: 'drop' },
    ragged: true,
    layer: { combiner: null },
    options: { ragged: 'components' },
  },
};

describe('SavedModels of open tables', () => {
  beforeAll(useCpu);

  it(
    'predict in Python what they predict here, from the keys themselves',
    async () => {
      const python = pythonWithTensorFlow();
      if (typeof python === 'string') return skipOrFail(python);
      const exports = new Exports();
      try {
        const expected = new Map<string, Record<string, number[]>>();
        for (const [name, { args, layer = {}, known = 6, ragged = false, options = {} }] of Object.entries(CASES)) {
          const { table, keys } = tableOf(args, known);
          const input = emb.input({ shape: [ragged ? null : 5], dtype: table.keyKind, name: 'keys', ragged });
          const combiner = layer.combiner === undefined ? 'mean' : layer.combiner;
          const own = { table, combiner, ...layer } as never;
          const made = ragged ? emb.layers.raggedEmbedding(own) : emb.layers.embedding(own);
          const rows = made.apply(input) as tf.SymbolicTensor;
          const pooled = combiner === null ? emb.layers.globalAveragePooling1d({}).apply(rows) : rows;
          const head = tf.layers.dense({
            units: 2,
            name: 'head',
            kernelInitializer: tf.initializers.glorotUniform({ seed: 1 }),
          });
          const model = tf.model({
            inputs: input,
            outputs: head.apply(pooled as tf.SymbolicTensor) as tf.SymbolicTensor,
          });
          // Of no rows there is no mean.
          const rowSplits = combiner === null ? [0, 3, 4, 9, 10] : [0, 3, 3, 9, 10];
          const here = ragged ? { values: [...keys], rowSplits } : [keys.slice(0, 5), keys.slice(5)];
          const result = model.predict(here as never) as tf.Tensor;
          expected.set(name, { head: Array.from(result.dataSync()) });
          const values = keysOf(ragged ? [10] : [2, 5], keys);
          const isComposite = options.ragged === 'composite';
          const given: Record<string, PlainInput> = !ragged
            ? { keys: values }
            : isComposite
              ? { keys: { values, rowSplits: splitsOf(rowSplits) } }
              : { keys_values: values, keys_row_splits: { ...splitsOf(rowSplits), dtype: 'int32' } };
          await exports.add(name, model, given, options, { call: isComposite });
          const again = (await emb.savedModel.load(exports.directory(name))) as tf.LayersModel;
          const loaded = again.predict(here as never) as tf.Tensor;
          expect(Array.from(loaded.dataSync())).toEqual(Array.from(result.dataSync()));
          tf.dispose([result, loaded]);
          model.dispose();
          again.dispose();
        }
        exports.run(python);
        for (const [name, values] of expected) {
          if (exports.result(name).error !== undefined) fail(`${name}: ${exports.result(name).error}`);
          else expectSameOutputs(exports.result(name), values, 1e-5);
        }
        const { inputSpecs, variables } = exports.result('texts, of which unknown ones are zeros');
        expect(inputSpecs).toEqual({ keys: { dtype: 'string', shape: [null, 5] } });
        expect(variables.filter(([name]) => name.includes('frozen')).map(([, shape, dtype]) => [shape, dtype])).toEqual(
          [
            [[6], 'int64'],
            [[6], 'int32'],
          ],
        );
      } finally {
        exports.remove();
      }
    },
    PYTHON_TIMEOUT_MS,
  );

  it('go on training where they are loaded, with the state of their optimizer', async () => {
    const exports = new Exports();
    const table = emb.openTable({
      outputDim: DIM,
      capacity: 8,
      keys: 'string',
      seed: 3,
      evict: { policy: 'lru', after: 4 },
    });
    const layer = emb.layers.embedding({ table, combiner: 'mean', inputShape: [2] });
    const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1 })] });
    const optimizer = emb.train.adagrad({ learningRate: 0.1 });
    model.compile({ optimizer, loss: 'meanSquaredError' });
    const y = tf.tensor2d([[1], [0]]);
    const step = async (of: tf.LayersModel, n: number): Promise<number> => {
      return (await of.trainOnBatch(
        [
          [`k${n}`, 'a'],
          [`k${n + 1}`, `k${n - 3}`],
        ] as never,
        y,
      )) as number;
    };
    for (let n = 0; n < 12; n++) await step(model, n);
    await emb.savedModel.export(model, exports.directory('trained'), { includeOptimizer: true });
    const again = (await emb.savedModel.load(exports.directory('trained'))) as tf.LayersModel;
    for (let n = 12; n < 20; n++) expect(await step(again, n)).toBe(await step(model, n));
    expect(Object.values(emb.openTables(again))[0]!.stats()).toEqual(table.stats());
    for (const each of [model, again]) each.dispose();
    optimizer.dispose();
    y.dispose();
    exports.remove();
  });
});
