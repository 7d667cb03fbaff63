/** TPUEmbeddingV2 beside serving: lookups, steps and first values by the number of features, tables and stacks. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { expectClose } from '../../helpers/tensors.js';
import { Random } from '../../helpers/random.js';
import type { AnyV2 } from './batches.js';
import { FOUR, onCores } from './v2_on_cores.js';

const SAMPLES = 8;
const RATE = 0.5;

interface Setting {
  readonly what: string;
  /** Rows and columns of each table. */
  readonly tables: readonly (readonly [rows: number, dim: number])[];
  /** The table of each feature. */
  readonly features: readonly number[];
  readonly stacks: readonly string[];
}

const SETTINGS: readonly Setting[] = [
  { what: 'one feature', tables: [[32, 8]], features: [0], stacks: ['t0'] },
  { what: 'two features of one table', tables: [[40, 6]], features: [0, 0], stacks: ['t0'] },
  {
    what: 'two tables in one stack',
    tables: [
      [32, 8],
      [64, 8],
    ],
    features: [0, 1],
    stacks: ['t0_t1'],
  },
  {
    what: 'three features, two widths, two stacks',
    tables: [
      [9, 3],
      [30, 12],
      [17, 5],
    ],
    features: [2, 0, 1, 0],
    stacks: ['t0_t2', 't1'],
  },
];

type Configs = Record<string, tpu.FeatureConfig>;

function configsOf({ tables, features }: Setting): Configs {
  const made = tables.map(([vocabularySize, dim], i) => {
    const initializer = new tpu.RowIdInitializer({ offset: 100 * i });
    return new tpu.TableConfig({ vocabularySize, dim, name: `t${i}`, combiner: 'mean', initializer });
  });
  const outputShape = [SAMPLES];
  return Object.fromEntries(
    features.map((table, i) => [`f${i}`, new tpu.FeatureConfig({ table: made[table]!, outputShape })]),
  );
}

function idsOf({ tables, features }: Setting): number[][][] {
  const random = new Random(6);
  return features.map((table) =>
    Array.from({ length: SAMPLES }, () =>
      Array.from({ length: random.whole(1, 5) }, () => random.whole(0, tables[table]![0])),
    ),
  );
}

const ragged = (ids: number[][][]): Record<string, emb.RaggedTensor> =>
  Object.fromEntries(ids.map((lists, i) => [`f${i}`, emb.RaggedTensor.fromRows(lists, { dtype: 'int32' })]));

const make = (setting: Setting, change: object = {}): AnyV2 =>
  new tpu.TPUEmbeddingV2({
    featureConfig: configsOf(setting),
    optimizer: new tpu.SGD({ learningRate: RATE }),
    ...change,
  });

for (const setting of SETTINGS) {
  describe(`TPUEmbeddingV2, ${setting.what}`, () => {
    const ids = idsOf(setting);

    it('looks up what serving looks up', async () => {
      await onCores(FOUR, () => {
        const featureConfig = configsOf(setting);
        const serving = new tpu.TPUEmbeddingForServing({ featureConfig });
        const expected = serving.call(ragged(ids)) as Record<string, tf.Tensor>;
        const embedding = make(setting);
        const [activations] = embedding.embeddingLookup(ragged(ids));
        for (const [name, tensor] of Object.entries(activations as Record<string, tf.Tensor>)) {
          expect(tensor.shape).toEqual(expected[name]!.shape);
          expectClose(tensor.dataSync(), expected[name]!.dataSync(), 200, name);
        }
        tf.dispose([expected, activations as tf.TensorContainer]);
        serving.dispose();
        embedding.dispose();
      });
    });

    it('steps each row by the learning rate times its share of the gradients', async () => {
      await onCores(FOUR, () => {
        const embedding = make(setting);
        const [activations, preserved] = embedding.embeddingLookup(ragged(ids));
        const gradients = Object.fromEntries(
          Object.entries(activations as Record<string, tf.Tensor>).map(([name, each]) => [name, tf.onesLike(each)]),
        );
        embedding.applyGradients(gradients, preserved);
        const order = [...new Set(setting.features)];
        const weights = embedding.getWeights();
        order.forEach((table, place) => {
          const [rows, dim] = setting.tables[table]!;
          const shares = new Array<number>(rows).fill(0);
          setting.features.forEach((of, feature) => {
            if (of !== table) return;
            for (const list of ids[feature]!) for (const id of list) shares[id]! += 1 / list.length;
          });
          const expected = shares.flatMap((share, row) =>
            new Array<number>(dim).fill(row + 100 * table - RATE * share),
          );
          expectClose(weights[place]!.dataSync(), expected, 200, `table ${table}`);
        });
        tf.dispose([activations as tf.TensorContainer, gradients, weights]);
        embedding.dispose();
      });
    });

    it('has its stacks, and their first values where the layouts say', async () => {
      await onCores(FOUR, () => {
        const embedding = make(setting);
        expect([...embedding.embeddingTables.keys()]).toEqual([...setting.stacks]);
        for (const [stack, shards] of embedding.embeddingTableShards) {
          const layouts = [...embedding.embeddingLayouts.values()].filter((each) => each.stackedTableName === stack);
          const whole = tf.tidy(() => tf.concat(shards.map(([, shard]) => shard)));
          for (const layout of layouts) {
            const table = tpu.unshuffle({
              t: whole,
              numSparseCores: 4,
              offsetInShard: layout.sparseCoreShardRowOffset,
              sizeInShard: layout.unshardedPaddedShape[0] / 4,
              shardRotation: layout.sparseCoreShardRotation,
            });
            const own = tpu.removePadding(table, [...layout.unshardedShape]);
            const [rows, dim] = layout.unshardedShape;
            const offset = 100 * Number(layout.tableName.slice(1));
            const expected = Array.from({ length: rows }, (_, row) => new Array<number>(dim).fill(row + offset));
            expect(own.arraySync()).toEqual(expected);
            tf.dispose([table, own]);
          }
          tf.dispose([whole, ...shards.map(([, shard]) => shard)]);
        }
        embedding.dispose();
        const apart = new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true });
        const alone = make(setting, { sparseCoreEmbeddingConfig: apart });
        expect([...alone.embeddingTables.keys()]).toEqual(setting.tables.map((_, i) => `t${i}`));
        alone.dispose();
      });
    });

    it('keeps to the limits of its statistics, and leaves the config of the user as it is', async () => {
      await onCores(FOUR, () => {
        const featureConfig = configsOf(setting);
        const before = JSON.stringify(Object.values(featureConfig).map((each) => each.getConfig()));
        const { maxIds, maxUniqueIds } = tpu.TPUEmbeddingV2.computeSparseCoreStats({
          ...{ features: ragged(ids), featureConfig, numTpuChips: 2, numScPerChip: 2, optimizer: new tpu.SGD() },
        });
        expect(Object.keys(maxIds)).toEqual([...setting.stacks]);
        const enqueue = (change: object): void => {
          const limits = { maxIdsPerTable: maxIds, maxUniqueIdsPerTable: maxUniqueIds, ...change };
          const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig(limits);
          make(setting, { featureConfig, sparseCoreEmbeddingConfig }).enqueue(ragged(ids));
        };
        expect(() => enqueue({})).not.toThrow();
        for (const stack of setting.stacks) {
          const [ids1, unique1] = [maxIds[stack]! - 1, maxUniqueIds[stack]! - 1];
          expect(() => enqueue({ maxIdsPerTable: { ...maxIds, [stack]: ids1 } })).toThrowError(/maxIdsPerTable/);
          const few = { maxUniqueIdsPerTable: { ...maxUniqueIds, [stack]: unique1 } };
          expect(() => enqueue(few)).toThrowError(/maxUniqueIdsPerTable/);
        }
        expect(JSON.stringify(Object.values(featureConfig).map((each) => each.getConfig()))).toBe(before);
      });
    });
  });
}

describe('Stacks of TPUEmbeddingV2', () => {
  const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 4, lower: 0, upper: 1 });
  const groups: [what: string, changes: [object, object], stacks: string[]][] = [
    ['equal optimizers', [{ optimizer: new tpu.Adam() }, { optimizer: new tpu.Adam() }], ['a_b']],
    ['other optimizers', [{ optimizer: new tpu.Adam() }, { optimizer: new tpu.Adam({ beta1: 0.5 }) }], ['a', 'b']],
    ['one quantization', [{ quantizationConfig }, { quantizationConfig }], ['a_b']],
    ['a quantization of one', [{ quantizationConfig }, {}], ['a', 'b']],
    ['other widths', [{ dim: 8 }, { dim: 9 }], ['a', 'b']],
  ];
  for (const [what, changes, stacks] of groups) {
    it(`hold tables together or apart: ${what}`, async () => {
      await onCores(FOUR, () => {
        const featureConfig = changes.map((change, i) => {
          const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, name: 'ab'[i]!, ...change });
          return new tpu.FeatureConfig({ table, outputShape: [SAMPLES] });
        });
        const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD() });
        expect([...embedding.embeddingTables.keys()]).toEqual(stacks);
        embedding.dispose();
      });
    });
  }
});

describe('TPUEmbeddingV2 after dispose', () => {
  const table = (): tpu.TableConfig => {
    const initializer = new tpu.RowIdInitializer();
    return new tpu.TableConfig({ vocabularySize: 64, dim: 1, combiner: 'sum', initializer });
  };

  it('knows no part of a batch', async () => {
    await onCores(FOUR, () => {
      const featureConfig = new tpu.FeatureConfig({ table: table(), outputShape: [4] });
      const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD() });
      embedding.enqueue([50], null, { device: '/device:TPU:0' });
      embedding.dispose();
      const parts = [1, 2, 3, 0].map((core) => embedding.enqueue([core], null, { device: `/device:TPU:${core}` }));
      const [activations] = embedding.dequeue(parts.at(-1)!);
      expect([...activations.dataSync()]).toEqual([0, 1, 2, 3]);
      activations.dispose();
      embedding.dispose();
    });
  });

  it('takes shapes from the next batch where the config has none', async () => {
    await onCores(FOUR, () => {
      const featureConfig = new tpu.FeatureConfig({ table: table() });
      const embedding = new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD() });
      for (const samples of [4, 8]) {
        const [activations] = embedding.embeddingLookup(new Int32Array(samples));
        expect(activations.shape).toEqual([samples, 1]);
        activations.dispose();
        embedding.dispose();
      }
    });
  });
});

describe('TPUEmbeddingV2, made twice from one config', () => {
  it('has the same layouts', async () => {
    await onCores(FOUR, () => {
      const featureConfig = configsOf(SETTINGS[3]!);
      const [one, other] = [make(SETTINGS[3]!, { featureConfig }), make(SETTINGS[3]!, { featureConfig })];
      expect(other.embeddingLayouts).toEqual(one.embeddingLayouts);
    });
  });
});

describe('Sparse ids of three axes and more', () => {
  const rows = [[3, 1], [0], [], [4, 4, 2], [5], [6, 0]];
  const placeOf = (sample: number, lengths: readonly number[]): number[] => {
    let rest = sample;
    return lengths.reduceRight<number[]>((place, length) => {
      const index = rest % length;
      rest = (rest - index) / length;
      return [index, ...place];
    }, []);
  };
  const deep = (lengths: number[], all = rows): emb.SparseInput => ({
    indices: all.flatMap((ids, i) => {
      const place = placeOf(i, lengths);
      return ids.map((_, j) => [...place, j]);
    }),
    values: all.flat(),
    denseShape: [...lengths, 4],
  });
  const make6 = (outputShape: (number | null)[] | null): tpu.TPUEmbeddingV2<tpu.FeatureConfig> => {
    const initializer = new tpu.RowIdInitializer();
    const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2, combiner: 'sum', name: 't', initializer });
    const featureConfig = new tpu.FeatureConfig({ table, outputShape });
    return new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD({ learningRate: 1 }) });
  };
  const sums = rows.map((ids) => ids.reduce((sum, id) => sum + id, 0));
  const TWO = { chips: 1, coresPerChip: 2 };

  for (const [lengths, outputShape] of [
    [
      [2, 3],
      [2, 3],
    ],
    [[2, 3], null],
    [
      [3, 2],
      [null, 2],
    ],
    [
      [2, 1, 3],
      [2, 1, 3],
    ],
    [[6], [2, 3]],
    [
      [2, 3],
      [1, 2, 3],
    ],
  ] as const) {
    it(`[${lengths.join(', ')}, 4] for the output shape ${JSON.stringify(outputShape)}`, async () => {
      await onCores(TWO, () => {
        const embedding = make6(outputShape === null ? null : [...outputShape]);
        const [found, preserved] = embedding.embeddingLookup(deep([...lengths]));
        const shape = (outputShape ?? lengths).map((length, axis) => length ?? lengths[axis]!);
        expect(found.shape).toEqual([...shape, 2]);
        expect([...found.dataSync()]).toEqual(sums.flatMap((sum) => [sum, sum]));
        const gradient = tf.onesLike(found);
        embedding.applyGradients(gradient, preserved);
        const [weights] = embedding.getWeights();
        const counts = new Array<number>(8).fill(0);
        for (const id of rows.flat()) counts[id]!++;
        expectClose(
          weights!.dataSync(),
          [...counts.entries()].flatMap(([row, n]) => [row - n, row - n]),
          1,
        );
        tf.dispose([found, gradient, weights!]);
        embedding.dispose();
      });
    });
  }

  it('is enqueued by core too, and counted', async () => {
    await onCores(TWO, () => {
      const embedding = make6([2, 3]);
      const parts = [rows.slice(0, 3), rows.slice(3)].map((own, core) => {
        return embedding.enqueue(deep([1, 3], own), null, { device: `/device:TPU:${core}` });
      });
      const [found] = embedding.dequeue(parts[0]!);
      expect([...found.dataSync()]).toEqual(sums.flatMap((sum) => [sum, sum]));
      found.dispose();
      embedding.dispose();
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2, name: 't' });
      const featureConfig = new tpu.FeatureConfig({ table });
      const given = { featureConfig, numTpuChips: 1, numScPerChip: 2, optimizer: new tpu.SGD() };
      const stats = tpu.TPUEmbeddingV2.computeSparseCoreStats({ features: deep([2, 3]), ...given });
      expect(stats).toEqual({ maxIds: { t: 4 }, maxUniqueIds: { t: 4 } });
    });
  });

  it('is refused where its axes are not those of the samples, and where an index leaves its axis', async () => {
    await onCores(TWO, () => {
      const embedding = make6([2, 3]);
      for (const lengths of [
        [3, 2],
        [2, 4],
        [1, 2, 3],
      ]) {
        expectError(() => embedding.enqueue(deep(lengths)), 'ValueError', 'features.denseShape');
      }
      const outside = { ...deep([2, 3]), indices: deep([2, 3]).indices as number[][] };
      outside.indices = outside.indices.map(([a, b, c]) => (a === 1 && b === 0 ? [0, 3, c!] : [a!, b!, c!]));
      expectError(() => embedding.enqueue(outside), 'ValueError', 'features.indices', '3 at position 3');
      embedding.dispose();
    });
  });
});
