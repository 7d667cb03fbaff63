/** Bags of ids, as values and row splits and as padded rows: all combiners, weights, empty rows, threads. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { largestDifference, namesOf, plain, type PlainTensor } from '../saved_model/exports.js';
import { TOLERANCE, temporaryFolder } from './model_suite.js';
import { nodeRuntime, runOnce, wasmRuntime, type Runtime } from './runtimes.js';

const DIM = 5;
const ROWS = 40;
const COMBINERS = ['sum', 'mean', 'sqrtn', 'max'] as const;
type Combiner = (typeof COMBINERS)[number];

interface Bags {
  readonly values: number[];
  readonly splits: number[];
  readonly weights: number[];
}

function drawnBags(r: Random, bags: number, most: number): Bags {
  const splits = [0];
  for (let i = 0; i < bags; i++) splits.push(splits.at(-1)! + (r.chance(0.3) ? 0 : r.whole(0, most + 1)));
  const count = splits.at(-1)!;
  // Some are padding.
  const values = Array.from({ length: count }, () => (r.chance(0.1) ? -1 - r.whole(0, 3) : r.whole(0, ROWS)));
  return { values, splits, weights: Array.from({ length: count }, () => r.whole(-8, 9) / 4) };
}

/** The plain reference, in double. */
function pooled(table: number[][], { values, splits, weights }: Bags, combiner: Combiner, weighted: boolean): number[] {
  return splits.slice(1).flatMap((end, bag) => {
    const present: number[] = [];
    for (let i = splits[bag]!; i < end; i++) if (values[i]! >= 0) present.push(i);
    const weightOf = (i: number): number => (weighted ? weights[i]! : 1);
    const total =
      combiner === 'mean'
        ? present.reduce((sum, i) => sum + weightOf(i), 0)
        : Math.sqrt(present.reduce((sum, i) => sum + weightOf(i) ** 2, 0));
    return Array.from({ length: DIM }, (_, c) => {
      const column = present.map((i) => table[values[i]!]![c]!);
      if (combiner === 'max') return column.length === 0 ? 0 : Math.max(...column);
      const sum = column.reduce((all, value, k) => all + value * weightOf(present[k]!), 0);
      return combiner === 'sum' ? sum : total === 0 ? 0 : sum / total;
    });
  });
}

function pairModel(combiner: Combiner, weighted: boolean, table: tf.Tensor2D): tf.LayersModel {
  const values = tf.input({ batchShape: [null], dtype: 'int32', name: 'values' });
  const splits = tf.input({ batchShape: [null], dtype: 'int32', name: 'splits' });
  const weights = tf.input({ batchShape: [null], name: 'weights' });
  const layer = emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: DIM, combiner, name: 'pooled' });
  const inputs = weighted ? [values, splits, weights] : [values, splits];
  const model = tf.model({ inputs, outputs: layer.apply(inputs) as tf.SymbolicTensor });
  layer.setWeights([table]);
  return model;
}

const int = (values: number[]): PlainTensor => ({ dtype: 'int32', shape: [values.length], values });

describe('bags of ONNX', () => {
  const folder = temporaryFolder('bags');
  let runtimes: { readonly runtime: Runtime; readonly threads: number }[];

  beforeAll(async () => {
    const node = await nodeRuntime();
    runtimes = [
      { runtime: node, threads: 1 },
      { runtime: node, threads: 2 },
      { runtime: await wasmRuntime(), threads: 1 },
    ];
  });

  async function exported(model: tf.LayersModel, options: emb.OnnxOptions = {}): Promise<Uint8Array> {
    const file = join(folder(), 'bags.onnx');
    await emb.onnx.export(model, file, options);
    return readFile(file);
  }

  /** What all runtimes give of these inputs, by input, each the same in ten runs. */
  async function resultsOf(bytes: Uint8Array, all: readonly Record<string, PlainTensor>[]): Promise<number[][][]> {
    const found: number[][][] = all.map(() => []);
    for (const { runtime, threads } of runtimes) {
      const options = { logSeverityLevel: 3, intraOpNumThreads: threads } as const;
      const session = await runtime.InferenceSession.create(bytes, options);
      for (const [at, inputs] of all.entries()) {
        const runs: number[][] = [];
        for (let i = 0; i < 10; i++) runs.push(Object.values(await runOnce(runtime, session, inputs))[0]!);
        const told = runs.map((run) => Float32Array.from(run).join());
        expect(new Set(told).size).toBe(1);
        found[at]!.push(runs[0]!);
      }
      await session.release();
    }
    return found;
  }

  async function results(bytes: Uint8Array, inputs: Record<string, PlainTensor>): Promise<number[][]> {
    const [found] = await resultsOf(bytes, [inputs]);
    return found!;
  }

  function drawnTable(seed: number, scale = 1): { table: tf.Tensor2D; rows: number[][] } {
    const table = tf.randomUniform<tf.Rank.R2>([ROWS, DIM], -scale, scale, 'float32', seed);
    return { table, rows: table.arraySync() };
  }

  for (const combiner of COMBINERS) {
    for (const weighted of [false, true]) {
      if (combiner === 'max' && weighted) continue;
      it(`of values and row splits are pooled, ${combiner}${weighted ? ', weights' : ''}`, async () => {
        const r = new Random(combiner.length + Number(weighted) * 100);
        const { table, rows } = drawnTable(3);
        const model = pairModel(combiner, weighted, table);
        const bytes = await exported(model);
        const sizes = [[7, 5], [300, 40], [1, 0], [0, 0]] as const; // prettier-ignore
        const all = sizes.map(([count, most]) => drawnBags(r, count, most));
        const inputs = all.map((bags) => {
          const given = { values: int(bags.values), splits: int(bags.splits) };
          return weighted ? { ...given, weights: { ...int(bags.weights), dtype: 'float32' } } : given;
        });
        for (const [i, found] of (await resultsOf(bytes, inputs)).entries()) {
          const expected = pooled(rows, all[i]!, combiner, weighted);
          for (const each of found) expect(largestDifference(each, expected)).toBeLessThanOrEqual(TOLERANCE);
        }
        model.dispose();
        table.dispose();
      });
    }
  }

  it('sum up rows without one another where numbers differ much, are NaN or infinite', async () => {
    for (const value of [NaN, Infinity, 1e30]) {
      const { table, rows } = drawnTable(5);
      rows[7]![2] = value;
      const changed = tf.tensor2d(rows);
      const model = pairModel('sum', false, changed);
      const bytes = await exported(model);
      const bags = { values: [7, 1, 2, 3, 2], splits: [0, 1, 3, 5], weights: [] };
      const expected = pooled(rows, bags, 'sum', false);
      for (const found of await results(bytes, { values: int(bags.values), splits: int(bags.splits) })) {
        found.forEach((each, i) => {
          if (Number.isFinite(expected[i]))
            expect(Math.abs(each - expected[i]!)).toBeLessThan(1e-5 * (1 + Math.abs(expected[i]!)));
          else expect(each).toEqual(expected[i]!);
        });
      }
      model.dispose();
      tf.dispose([table, changed]);
    }
  });

  it('of many ids in few rows are the same on several threads', async () => {
    const r = new Random(9);
    const { table, rows } = drawnTable(11);
    const model = pairModel('mean', false, table);
    const splits = Array.from({ length: 65 }, (_, i) => i * 500);
    const bags = { values: Array.from({ length: 32_000 }, () => r.whole(0, 3)), splits, weights: [] };
    const expected = pooled(rows, bags, 'mean', false);
    for (const found of await results(await exported(model), { values: int(bags.values), splits: int(splits) })) {
      expect(largestDifference(found, expected)).toBeLessThanOrEqual(TOLERANCE);
    }
    model.dispose();
    table.dispose();
  });

  it('take no id that has no row: neither beyond the table nor, without padding, below 0', async () => {
    const { table } = drawnTable(2);
    const pair = pairModel('sum', false, table);
    const single = tf.sequential({ layers: [tf.layers.embedding({ inputDim: ROWS, outputDim: DIM, inputLength: 2 })] });
    const cases: [tf.LayersModel, Record<string, PlainTensor>, emb.OnnxOptions][] = [
      [pair, { values: int([ROWS]), splits: int([0, 1]) }, {}],
      [
        pair,
        { values: { ...int([2 ** 32]), dtype: 'int64' }, splits: { ...int([0, 1]), dtype: 'int64' } },
        { ids: 'int64' },
      ],
      [single, { [namesOf(single.inputs)[0]!]: { ...plain(tf.tensor2d([[1, -1]], [1, 2])) } }, {}],
      [single, { [namesOf(single.inputs)[0]!]: { ...plain(tf.tensor2d([[1, ROWS]], [1, 2])) } }, {}],
    ];
    for (const [model, inputs, options] of cases) {
      const bytes = await exported(model, options);
      const session = await runtimes[0]!.runtime.InferenceSession.create(bytes, { logSeverityLevel: 4 });
      await expectAsync(runOnce(runtimes[0]!.runtime, session, inputs)).toBeRejectedWithError(/indices|out of/i);
      await session.release();
    }
    pair.dispose();
    single.dispose();
    table.dispose();
  });

  it('use no op that adds to rows in place', async () => {
    const { Model } = await import('../../../src/base/protobuf/onnx_messages.js');
    const { table } = drawnTable(2);
    for (const combiner of COMBINERS) {
      const model = pairModel(combiner, false, table);
      const ops = Model.decode(await exported(model)).graph!.node!.map(({ opType }) => opType);
      expect(ops.some((op) => op.startsWith('Scatter'))).toBeFalse();
      expect(ops.includes('CumSum')).toBe(combiner !== 'max');
      model.dispose();
    }
    table.dispose();
  });
});
