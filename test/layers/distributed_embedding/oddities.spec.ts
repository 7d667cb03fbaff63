/** What `DistributedEmbedding` says and gives for odd ids, weights and tables: on many devices what it does on none. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectError, useCpu } from '../setup.js';

type Call = (layer: emb.DistributedEmbedding) => unknown;

const ints = (rows: number[][]): tf.Tensor2D => tf.tensor2d(rows, [rows.length, rows[0]?.length ?? 2], 'int32');
const floats = (rows: number[][]): tf.Tensor2D => tf.tensor2d(rows, [rows.length, rows[0]!.length], 'float32');
const good = (): tf.Tensor2D => ints([[1, 2], [3, 4]]); // prettier-ignore
/** The second input, beside good ids of the first. */
const second =
  (make: () => unknown): Call =>
  (layer) =>
    layer.apply([good(), make()]);
const weighted =
  (make: () => unknown): Call =>
  (layer) =>
    layer.apply([good(), good()], { weights: [null, make()] });

/** One step; returns copies of the tables. */
function step(layer: emb.DistributedEmbedding, ids: () => unknown, factor: number): tf.Tensor[] {
  const optimizer = emb.train.adam({ learningRate: 0.1, lazy: false });
  try {
    optimizer.minimize(() => {
      const [a, b] = layer.apply([ids(), ids()]) as [tf.Tensor, tf.Tensor];
      return tf.add(a.mul(factor).sum(), b.sum()) as tf.Scalar;
    });
  } finally {
    optimizer.dispose();
  }
  return Object.values(layer.getTables());
}

const CALLS: Readonly<Record<string, Call>> = {
  'ids at both ends': second(() => ints([[0, 9], [9, 0]])), // prettier-ignore
  'an id after the last': second(() => ints([[1, 10], [0, 0]])), // prettier-ignore
  'a negative id': second(() => ints([[1, -1], [0, 0]])), // prettier-ignore
  'the largest id': second(() => ints([[1, 2147483647], [0, 0]])), // prettier-ignore
  'the smallest id': second(() => ints([[-2147483648, 1], [0, 0]])), // prettier-ignore
  'strays in both inputs': (layer) => layer.apply([ints([[1, 10]]), ints([[-3, 0]])]),
  'float ids out of range': second(() => floats([[1, 3e9], [0, 0]])), // prettier-ignore
  'fractions': second(() => floats([[1, 1.5], [0, 0]])), // prettier-ignore
  'ids that are no numbers': second(() => floats([[1, NaN], [0, 0]])), // prettier-ignore
  'bool ids': second(() => tf.tensor2d([[1, 0]], [1, 2], 'bool')),
  texts: second(() => tf.tensor2d([['a', 'b']], [1, 2], 'string')),
  'arrays beyond int32': second(() => [[1, 2 ** 40], [0, 0]]), // prettier-ignore
  'rank 1': second(() => tf.tensor1d([1, 2], 'int32')),
  'another batch size': second(() => ints([[1, 2]])),
  'no ids': second(() => null),
  'too few inputs': (layer) => layer.apply([good()]),
  'weights that are no numbers': weighted(() => floats([[1, NaN], [0, 0]])), // prettier-ignore
  'infinite weights': weighted(() => floats([[1, Infinity], [0, 0]])), // prettier-ignore
  'int32 weights': weighted(good),
  'weights of another shape': weighted(() => floats([[1, 1, 1]])),
  'an empty batch': (layer) => layer.apply([ints([]), ints([])]),
  'bags without ids': (layer) => layer.apply([tf.zeros([3, 0], 'int32'), tf.zeros([3, 0], 'int32')]),
  'tables with NaN and infinities': (layer) => {
    layer.setTables({ a: Float32Array.from({ length: 80 }, (_, i) => [i, NaN, Infinity, -0][i % 4]!) });
    return [...(layer.apply([ints([[0], [9]]), ints([[0], [9]])]) as tf.Tensor[]), ...Object.values(layer.getTables())]; // prettier-ignore
  },
  'a step with gradients that are no numbers': (layer) => step(layer, good, NaN),
  'a step of an empty batch': (layer) => step(layer, () => ints([]), 1),
  'a step with an id after the last': (layer) => step(layer, () => ints([[10, 1]]), 1),
  'tables of another size': (layer) => layer.setTables({ a: new Float32Array(79) }),
};

/** Calls that are refused: class, argument, and what the message says of what came. Those of strays only where they are errors. */
const REFUSED: Readonly<Record<string, readonly [cls: string, argument: string, received: string]>> = {
  'float ids out of range': ['ValueError', 'inputs[1]', '3000000000 at position 1'],
  fractions: ['ValueError', 'inputs[1]', '1.5 at position 1'],
  'ids that are no numbers': ['ValueError', 'inputs[1]', 'NaN at position 1'],
  'bool ids': ['TypeError', 'inputs[1]', 'a bool tensor of shape [1, 2]'],
  texts: ['TypeError', 'inputs[1]', 'a string tensor of shape [1, 2]'],
  'arrays beyond int32': ['ValueError', 'inputs[1]', '1099511627776 at position 1'],
  'rank 1': ['ValueError', 'inputs[1]', 'rank 1'],
  'no ids': ['TypeError', 'inputs[1]', 'null'],
  'too few inputs': ['ValueError', 'inputs', 'a list of 1'],
  'weights that are no numbers': ['ValueError', 'weights[1]', 'NaN at [0, 1]'],
  'int32 weights': ['TypeError', 'weights[1]', 'a int32 tensor of shape [2, 2]'],
  'weights of another shape': ['ValueError', 'weights[1]', 'a float32 tensor of shape [1, 3]'],
  'tables of another size': ['ValueError', 'tables["a"]', '79'],
};
const STRAYS: typeof REFUSED = {
  'an id after the last': ['ValueError', 'inputs[1]', '10 at [0, 1]'],
  'the largest id': ['ValueError', 'inputs[1]', '2147483647 at [0, 1]'],
  'strays in both inputs': ['ValueError', 'inputs[0]', '10 at [0, 1]'],
  'a step with an id after the last': ['ValueError', 'inputs[0]', '10 at [0, 0]'],
};

/** Rows pooled one by one in double: negative ids are absent, those after the last row count as zeros. */
function pooled(table: Float32Array, combiner: 'mean' | 'sum', bags: number[][], weights?: number[][]): number[] {
  const dim = table.length / 10;
  return bags.flatMap((bag, b) => {
    const present = bag.map((id, i) => ({ id, weight: weights?.[b]![i] ?? 1 })).filter(({ id }) => id >= 0);
    const total = combiner === 'sum' ? 1 : present.reduce((sum, { weight }) => sum + weight, 0);
    return Array.from({ length: dim }, (_, c) => {
      const sum = present.reduce((all, { id, weight }) => all + (id < 10 ? weight * table[id * dim + c]! : 0), 0);
      return total === 0 ? 0 : sum / total;
    });
  });
}

const GOOD = [[1, 2], [3, 4]]; // prettier-ignore
/** Calls that give pooled rows: the ids of both inputs, and the weights of the second. */
const POOLED: Readonly<Record<string, readonly [number[][], number[][], number[][]?]>> = {
  'ids at both ends': [GOOD, [[0, 9], [9, 0]]], // prettier-ignore
  'an id after the last': [GOOD, [[1, 10], [0, 0]]], // prettier-ignore
  'a negative id': [GOOD, [[1, -1], [0, 0]]], // prettier-ignore
  'the largest id': [GOOD, [[1, 2147483647], [0, 0]]], // prettier-ignore
  'the smallest id': [GOOD, [[-2147483648, 1], [0, 0]]], // prettier-ignore
  'strays in both inputs': [[[1, 10]], [[-3, 0]]],
  'infinite weights': [GOOD, GOOD, [[1, Infinity], [0, 0]]], // prettier-ignore
  'an empty batch': [[], []],
  'bags without ids': [[[], [], []], [[], [], []]], // prettier-ignore
};

/** What comes of each call: bits, or the error in full. */
function told(wishes: emb.DistributedPlacementArgs): Map<string, string> {
  const texts = new Map<string, string>();
  for (const outOfRange of ['error', 'zero'] as const) {
    for (const [name, call] of Object.entries(CALLS)) {
      const before = tf.memory().numTensors;
      const embeddings: emb.DistributedItemArgs[] = [
        { name: 'a', inputDim: 10, outputDim: 8, combiner: 'mean', outOfRange },
        { name: 'b', inputDim: 10, outputDim: 5, combiner: 'sum', outOfRange },
      ];
      const layer = emb.layers.distributedEmbedding({ name: 'layer', seed: 3, embeddings, ...wishes });
      layer.build();
      tf.tidy(() => {
        let text: string;
        try {
          const results = (call(layer) ?? []) as tf.Tensor[];
          const bits = results.map((each) => Array.from(each.dataSync(), (x) => (Object.is(x, -0) ? '-0' : x)).join());
          text = JSON.stringify([results.map(({ shape }) => shape), bits]);
        } catch (error) {
          text = String(error);
        }
        texts.set(`${name} (${outOfRange})`, text);
      });
      layer.dispose();
      expect(tf.memory().numTensors).withContext(`tensors after ${name}`).toBe(before);
    }
  }
  return texts;
}

describe('DistributedEmbedding with odd ids, weights and tables', () => {
  beforeAll(useCpu);

  it('says and gives on devices what it does without', async () => {
    const here = told({});
    const wishes: emb.DistributedPlacementArgs[] = [
      { columnSliceThreshold: 30 },
      { rowSliceThreshold: 1 },
      { rowSliceThreshold: 1, rowSharding: 'modulo' },
      { dataParallelThreshold: 100000 },
    ];
    for (const wish of wishes) {
      for (const chips of [3, 16]) {
        await withTpuEmulator({ chips }, () => {
          for (const [name, text] of told(wish)) {
            const what = `${name}, ${JSON.stringify(wish)}, ${chips} devices`;
            expect(text).withContext(what).toBe(here.get(name)!);
          }
        });
      }
    }
  });

  it('refuses what is wrong by name, and gives what a sum over rows one by one gives', () => {
    const here = told({});
    const layer = emb.layers.distributedEmbedding({
      seed: 3,
      embeddings: [
        { name: 'a', inputDim: 10, outputDim: 8, combiner: 'mean' },
        { name: 'b', inputDim: 10, outputDim: 5, combiner: 'sum' },
      ],
    });
    layer.build();
    const [a, b] = Object.values(layer.getTables()).map((table) => {
      const values = table.dataSync() as Float32Array;
      table.dispose();
      return values;
    });
    layer.dispose();
    for (const outOfRange of ['error', 'zero'] as const) {
      const refused = outOfRange === 'error' ? { ...REFUSED, ...STRAYS } : REFUSED;
      for (const [name, [cls, argument, received]] of Object.entries(refused)) {
        const text = here.get(`${name} (${outOfRange})`)!;
        expect(text.startsWith(`${cls}: \`${argument}\``))
          .withContext(`${name}: ${text}`)
          .toBeTrue();
        expect(text).withContext(name).toContain(received);
      }
      for (const [name, [first, second, weights]] of Object.entries(POOLED)) {
        if (Object.hasOwn(refused, name)) continue;
        const [shapes, texts] = JSON.parse(here.get(`${name} (${outOfRange})`)!) as [number[][], string[]];
        expect(shapes).withContext(name).toEqual([[first.length, 8], [second.length, 5]]); // prettier-ignore
        const found = texts.flatMap((text) => (text === '' ? [] : text.split(',').map(Number)));
        const wanted = [...pooled(a!, 'mean', first), ...pooled(b!, 'sum', second, weights)];
        expect(found.length).withContext(name).toBe(wanted.length);
        wanted.forEach((value, i) => {
          if (Number.isFinite(value))
            expect(Math.abs(found[i]! - value))
              .withContext(`${name} ${i}`)
              .toBeLessThan(1e-6);
          else expect(found[i]).withContext(`${name} ${i}`).toBe(value);
        });
      }
    }
    const others = Object.keys(CALLS).filter((name) => !(name in REFUSED) && !(name in POOLED) && !(name in STRAYS));
    for (const name of others)
      expect(here.get(`${name} (zero)`))
        .withContext(name)
        .toMatch(/^\[\[\[/);
  });

  it('names the input whose ids lie outside their table', () => {
    const layer = emb.layers.distributedEmbedding({
      features: {
        user: new emb.FeatureConfig({
          name: 'user',
          table: new emb.TableConfig({ name: 'users', vocabularySize: 4, embeddingDim: 2 }),
          inputShape: [null, 1],
          outputShape: [null, 2],
        }),
        seen: new emb.FeatureConfig({
          name: 'seen',
          table: new emb.TableConfig({ name: 'items', vocabularySize: 6, embeddingDim: 2 }),
          inputShape: [null, 2],
          outputShape: [null, 2],
        }),
      },
    });
    const inputs = { user: [[3]], seen: [[5, 6]] };
    const error = expectError(() => layer.apply(inputs), 'ValueError', 'inputs.seen');
    expect(error?.received).toBe(`6 at [0, 1] (layer ${layer.name}, feature seen, table items: 6 rows)`);
    // FeatureConfigs have no outOfRange.
    expect(error?.message).toMatch(/raise vocabularySize/);
    expect(error?.message).not.toMatch(/outOfRange/);
    layer.dispose();
  });
});
