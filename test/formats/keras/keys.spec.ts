// runner: python
/** Models that look rows up by keys as files of Keras: a lookup and an embedding. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { PYTHON_TIMEOUT_MS, pythonWithKeras } from '../../backends/tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';
import { useCpu } from '../../layers/setup.js';

const SCRIPT = fileURLToPath(new URL('predict_keras.py', import.meta.url));
const DIM = 3;
const TEXTS = ['tea', '', '[UNK]', 'é', '日本', '🙂', 'unknown', 'new', 'x y', 'tea'];
const NUMBERS = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 7n, 99n, -98n, 5n, 0n];

interface Case {
  readonly args?: Partial<emb.OpenTableArgs>;
  readonly layer?: Record<string, unknown>;
  /** Weights of keys. */
  readonly weighs?: boolean;
  readonly sequential?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  'texts, of which unknown ones count': {},
  'texts in a Sequential': { sequential: true },
  'texts, of which unknown ones and padding do not count': { args: { unknown: 'drop', paddingKey: 'x y' } },
  'numbers of 64 bits with weights': { args: { keys: 'int64' }, layer: { combiner: 'sum' }, weighs: true },
  'numbers that do not count where they are unknown, with weights': {
    args: { keys: 'int64', unknown: 'drop' },
    layer: { combiner: 'sqrtn' },
    weighs: true,
  },
  'numbers with padding': { args: { keys: 'int64', paddingKey: 5 } },
  'numbers of which 0 is masked': { args: { keys: 'int64' }, layer: { maskZero: true, combiner: null } },
  'rows of float16': { args: { keys: 'int64', storage: 'float16' } },
  'rows that stay apart': { layer: { combiner: null } },
};

function make({ args = {}, layer = {}, weighs = false, sequential = false }: Case): {
  model: tf.LayersModel;
  keys: readonly (string | bigint)[];
} {
  const table = emb.openTable({
    outputDim: DIM,
    capacity: 20,
    keys: 'string',
    keepTexts: args.keys !== 'int64',
    ...args,
  });
  const keys = table.keyKind === 'string' ? TEXTS : NUMBERS;
  tf.tidy(() => table.upsert(keys.slice(0, 6).reverse(), tf.randomNormal([6, DIM], 0, 1, 'float32', 5)));
  table.remove([keys[3]!]);
  const own = { table, combiner: 'mean', ...layer };
  const head = tf.layers.dense({ units: 2, kernelInitializer: tf.initializers.glorotUniform({ seed: 1 }) });
  if (sequential) {
    const embedding = emb.layers.embedding({ ...own, inputShape: [5] } as never);
    return { model: tf.sequential({ layers: [embedding, head] }), keys };
  }
  const input = emb.input({ shape: [5], dtype: table.keyKind, name: 'keys' });
  const weights = tf.input({ shape: [5], name: 'weights' });
  const embedding = emb.layers.embedding(own as never);
  const rows = (weighs ? embedding.apply([input, weights]) : embedding.apply(input)) as tf.SymbolicTensor;
  const pooled = own.combiner === null ? emb.layers.globalAveragePooling1d({}).apply(rows) : rows;
  const outputs = head.apply(pooled as tf.SymbolicTensor) as tf.SymbolicTensor;
  return { model: tf.model({ inputs: weighs ? [input, weights] : input, outputs }), keys };
}

describe('exportKeras of open tables', () => {
  let folder: string;
  beforeAll(async () => {
    await useCpu();
    folder = mkdtempSync(join(tmpdir(), 'keyed keras '));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'predicts in Keras what the model predicts here, from the keys themselves',
    async () => {
      const python = pythonWithKeras();
      if (typeof python === 'string') return skipOrFail(python);
      const weights = Array.from({ length: 10 }, (_, i) => 0.25 * i + 0.5);
      const expected: number[][] = [];
      const cases: object[] = [];
      for (const [name, given] of Object.entries(CASES)) {
        const { model, keys } = make(given);
        const file = join(folder, `${name}.keras`);
        await emb.exportKeras(model, file);
        const rows = [keys.slice(0, 5), keys.slice(5)];
        const tensor = tf.tensor2d(weights, [2, 5]);
        const result = model.predict((given.weighs === true ? [rows, tensor] : rows) as never) as tf.Tensor;
        expected.push(Array.from(result.dataSync()));
        const dtype = typeof keys[0] === 'string' ? 'str' : 'int64';
        const inputs = [{ name: 'keys', shape: [2, 5], dtype, values: keys.map(String) }];
        const weighed = { name: 'weights', shape: [2, 5], dtype: 'float32', values: weights };
        cases.push({
          file,
          needs_keras_rs: given.layer?.['combiner'] !== null,
          inputs: given.weighs === true ? [...inputs, weighed] : inputs,
        });
        tf.dispose([result, tensor]);
        model.dispose();
      }
      writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
      const printed = python.run(SCRIPT, join(folder, 'cases.json')).trim().split('\n').at(-1)!;
      const results = JSON.parse(printed) as { file: string; error?: string; outputs?: { values: number[] }[] }[];
      Object.keys(CASES).forEach((name, i) => {
        const result = results.find(({ file }) => file === join(folder, `${name}.keras`))!;
        if (result.error !== undefined) return fail(`${name}: ${result.error}`);
        expectClose(result.outputs![0]!.values, expected[i]!, 1e-5);
      });
    },
    PYTHON_TIMEOUT_MS,
  );

  it('refuses by name what lookups of Keras cannot do', async () => {
    const refused: readonly [Case, RegExp][] = [
      [{ args: { keepTexts: false } }, /keepTexts/],
      [{ args: { unknown: { shared: 4 } } }, /table\.unknown/],
      [{ args: { keys: 'int64', paddingKey: 3 }, layer: { maskZero: true } }, /paddingKey/],
      [{ layer: { combiner: 'max' } }, /combiner/],
      [{ layer: { maxNorm: 1 } }, /maxNorm/],
    ];
    for (const [given, text] of refused) {
      const { model } = make(given);
      await expectAsync(emb.exportKeras(model, join(folder, 'refused.keras'))).toBeRejectedWithError(text);
      model.dispose();
    }
    const table = emb.openTable({ outputDim: DIM, capacity: 5 });
    const input = emb.input({ shape: [null], dtype: 'int64', ragged: true });
    const rows = emb.layers.raggedEmbedding({ table, combiner: 'mean' }).apply(input) as tf.SymbolicTensor;
    const ragged = tf.model({ inputs: input, outputs: rows });
    await expectAsync(emb.exportKeras(ragged, join(folder, 'refused.keras'))).toBeRejectedWithError(/paddingKey/);
    ragged.dispose();
  });
});
