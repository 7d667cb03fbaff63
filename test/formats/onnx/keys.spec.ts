/** Open tables in files of ONNX: the graph takes keys, or the rows that they have. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { largestDifference, type PlainTensor } from '../saved_model/exports.js';
import { temporaryFolder, TOLERANCE } from './model_suite.js';
import { nodeRuntime, runOnce, wasmRuntime } from './runtimes.js';

type Key = string | bigint;

const DIM = 4;
const TEXTS = ['tea', '', 'é', 'e\u0301', '日本', '🙂', 'a'.repeat(40), 'b'.repeat(70), 'c'.repeat(300), 'x y'];
const NUMBERS = [0n, -1n, 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n), 123456789012345678n, 7n, -7n];
/** A key without a row, as `keys: 'rows'` has it. */
const NONE = 2 ** 31 - 1;

interface Case {
  readonly args: Partial<emb.OpenTableArgs>;
  readonly layer?: Partial<emb.EmbeddingArgs>;
  readonly known?: number;
  readonly ragged?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  'texts, of which unknown ones are zeros': { args: { keys: 'string', keepTexts: true } },
  'texts that are summed, of which unknown ones are none': {
    args: { keys: 'string', keepTexts: true, unknown: 'drop', paddingKey: 'x y' },
    layer: { combiner: 'mean' },
  },
  'texts, of which one is padding and unknown ones are zeros': {
    args: { keys: 'string', keepTexts: true, paddingKey: 'x y' },
    layer: { combiner: 'mean' },
  },
  'numbers of 64 bits, of which unknown ones share rows': {
    args: { unknown: { shared: 5, hashes: 2 } },
    layer: { combiner: 'sum' },
  },
  'numbers in 256 shards': { args: { capacity: 70_000, unknown: { shared: 9, hashes: 3 } } },
  'numbers, of which 0 is padding': { args: { paddingKey: -7 }, layer: { maskZero: true, combiner: 'sqrtn' } },
  'a mask of padding': { args: { paddingKey: 7 }, layer: { maskZero: true, combiner: null } },
  'rows of float16': { args: { keys: 'string', keepTexts: true, storage: 'float16' } },
  'a table without keys': { args: {}, known: 0 },
  'a table without texts': { args: { keys: 'string', keepTexts: true }, known: 0 },
  'the longest row of each': { args: { unknown: 'drop' }, layer: { combiner: 'max' } },
  'ragged texts': { args: { keys: 'string', keepTexts: true }, ragged: true },
  'ragged numbers apart': { args: { unknown: 'drop' }, ragged: true, layer: { combiner: null } },
};

interface Made {
  readonly model: tf.LayersModel;
  readonly table: emb.OpenTable;
  readonly keys: readonly Key[];
  readonly here: unknown;
  readonly rowSplits: number[];
}

function modelOf({ args, layer = {}, known = 6, ragged = false }: Case): Made {
  const table = emb.openTable({ outputDim: DIM, capacity: 20, seed: 3, ...args });
  const keys: readonly Key[] = args.keys === 'string' ? TEXTS : NUMBERS;
  tf.tidy(() => {
    const rows = tf.randomNormal([known + 1, DIM], 0, 1, 'float32', 5);
    table.upsert([keys[known]!, ...keys.slice(0, known)], rows);
  });
  table.remove([keys[known]!]);
  const input = emb.input({ shape: [ragged ? null : 5], dtype: table.keyKind, name: 'keys', ragged });
  const combiner = layer.combiner === undefined ? 'mean' : layer.combiner;
  const own = { table, combiner, ...layer } as never;
  const made = ragged ? emb.layers.raggedEmbedding(own) : emb.layers.embedding(own);
  const rows = made.apply(input) as tf.SymbolicTensor;
  const pooled = combiner === null ? emb.layers.globalAveragePooling1d({}).apply(rows) : rows;
  const kernelInitializer = tf.initializers.glorotUniform({ seed: 1 });
  const head = tf.layers.dense({ units: 2, name: 'head', kernelInitializer });
  const outputs = head.apply(pooled as tf.SymbolicTensor) as tf.SymbolicTensor;
  // Of no rows there is no mean.
  const rowSplits = combiner === null ? [0, 3, 4, 9, 10] : [0, 3, 3, 9, 10];
  const here = ragged ? { values: [...keys], rowSplits } : [keys.slice(0, 5), keys.slice(5)];
  return { model: tf.model({ inputs: input, outputs }), table, keys, here, rowSplits };
}

function plainKeys(shape: number[], keys: readonly Key[]): PlainTensor {
  return { dtype: typeof keys[0] === 'string' ? 'string' : 'int64', shape, values: keys as unknown as number[] };
}

describe('open tables in files of ONNX', () => {
  const folder = temporaryFolder('keys');

  for (const [title, each] of Object.entries(CASES)) {
    it(`predict what they predict here, from the keys themselves: ${title}`, async () => {
      const { ragged = false } = each;
      const { model, keys, here, rowSplits } = modelOf(each);
      const result = model.predict(here as never) as tf.Tensor;
      const expected = Array.from(result.dataSync());
      const file = join(folder(), 'keys.onnx');
      await emb.onnx.export(model, file, { ragged: ragged ? 'components' : null });
      const splits = { dtype: 'int32', shape: [rowSplits.length], values: rowSplits };
      const given: Record<string, PlainTensor> = ragged
        ? { keys_values: plainKeys([10], keys), keys_row_splits: splits }
        : { keys: plainKeys([2, 5], keys) };
      for (const runtime of [await nodeRuntime(), await wasmRuntime()]) {
        const session = await runtime.InferenceSession.create(await readFile(file), { logSeverityLevel: 3 });
        const { head } = await runOnce(runtime, session, given);
        expect(largestDifference(head!, expected)).toBeLessThanOrEqual(TOLERANCE);
        await session.release();
      }
      expect(await emb.onnx.check(file, model, here)).toBeLessThan(1e-5);
      const loaded = await emb.onnx.load(file);
      const again = loaded.predict(here as never) as tf.Tensor;
      expect(Array.from(again.dataSync())).toEqual(expected);
      tf.dispose([result, again]);
      model.dispose();
      loaded.dispose();
    });
  }

  it('take the rows of keys in place of keys', async () => {
    const { model, table, keys, here } = modelOf({ args: { paddingKey: -7 }, layer: { combiner: 'sum' } });
    const result = model.predict(here as never) as tf.Tensor;
    const file = join(folder(), 'rows.onnx');
    await emb.onnx.export(model, file, { keys: 'rows' });
    const rowOf = new Map<Key, number>();
    for await (const chunk of table.export()) {
      Array.from(chunk.keys as BigInt64Array).forEach((key) => rowOf.set(key, -1));
      chunk.rows.dispose();
    }
    for (let row = 0; row < 20; row++) {
      try {
        rowOf.set((table.keysOf([row]) as BigInt64Array)[0]!, row);
      } catch {
        // A row without a key.
      }
    }
    const rows = keys.map((key) => (key === -7n ? -1 : (rowOf.get(key) ?? NONE)));
    const runtime = await nodeRuntime();
    const session = await runtime.InferenceSession.create(file, { logSeverityLevel: 3 });
    const { head } = await runOnce(runtime, session, { keys: { dtype: 'int32', shape: [2, 5], values: rows } });
    expect(largestDifference(head!, Array.from(result.dataSync()))).toBeLessThanOrEqual(TOLERANCE);
    await session.release();
    await expectAsync(emb.onnx.check(file, model, here)).toBeRejectedWithError(/file that takes keys/);
    result.dispose();
    model.dispose();
  });

  for (const [what, args, options] of [
    ['keepTexts: false', { keys: 'string' }, {}],
    ['hash of their texts', { keys: 'string', keepTexts: true, unknown: { shared: 3 } }, {}],
    ["sums of 2 rows, with keys 'rows'", { unknown: { shared: 5, hashes: 2 } }, { keys: 'rows' }],
  ] as const) {
    it(`are refused: ${what}`, async () => {
      const { model } = modelOf({ args });
      const run = emb.onnx.export(model, join(folder(), 'refused.onnx'), options);
      await expectAsync(run).toBeRejectedWithError(new RegExp(`layer embedding.*${what}`));
      model.dispose();
    });
  }
});
