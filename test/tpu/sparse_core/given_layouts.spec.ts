/** Layouts that come with tables: TPUEmbeddingV2 lays tables out as they say, and refuses what cannot be. */
import * as tf from '@tensorflow/tfjs';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { expectClose } from '../../helpers/tensors.js';
import { RaggedTensor } from 'tfjs-embeddings';
import type { AnyV2 } from './batches.js';
import { FOUR, onCores } from './v2_on_cores.js';

type Layout = tpu.SparseCoreLayout;

const ROWS = { a: 40, b: 20, c: 8 };

/** Two tables of one stack, the second one first, both rotated, with a gap between them. */
const layoutOf = (name: 'a' | 'b', change: Partial<Layout> = {}): Layout => ({
  tableName: name,
  stackedTableName: 'mine',
  numSparseCores: 4,
  numPartitions: 2,
  totalRowsPerSparseCoreShard: 24,
  sparseCoreShardRowOffset: name === 'a' ? 10 : 0,
  sparseCoreShardRotation: name === 'a' ? 3 : 1,
  unshardedShape: [ROWS[name], 3],
  unshardedPaddedShape: [name === 'a' ? 48 : 32, 8],
  ...change,
});

function make(layouts: { a?: unknown; b?: unknown }, changes: { a?: object; b?: object; c?: object } = {}): AnyV2 {
  const featureConfig = (['a', 'b', 'c'] as const).map((name, i) => {
    const initializer = new tpu.RowIdInitializer({ offset: 100 * i });
    const layout = name === 'c' ? null : ((layouts[name] ?? null) as object | null);
    const change = changes[name] ?? {};
    const given = {
      vocabularySize: ROWS[name],
      dim: 3,
      name,
      combiner: 'sum' as const,
      initializer,
      layout,
      ...change,
    };
    return new tpu.FeatureConfig({ table: new tpu.TableConfig(given), outputShape: [4] });
  });
  return new tpu.TPUEmbeddingV2({ featureConfig, optimizer: new tpu.SGD({ learningRate: 1 }) }) as unknown as AnyV2;
}

const IDS = [
  [[39, 0, 7], [1], [], [38, 38]],
  [[19], [0, 3], [3], []],
  [[7], [], [0], [1]],
];

describe('Layouts given with tables', () => {
  it('say where tables lie; others make stacks of their own', async () => {
    await onCores(FOUR, () => {
      const layouts = { a: layoutOf('a'), b: layoutOf('b') };
      const embedding = make(layouts);
      expect(embedding.embeddingLayouts.get('a')).toEqual(layouts.a);
      expect(embedding.embeddingLayouts.get('b')).toEqual(layouts.b);
      expect([...embedding.embeddingTables].map(([name, { shape }]) => [name, shape])).toEqual([
        ['mine', [96, 8]],
        ['c', [32, 8]],
      ]);
      const all = embedding.embeddingTableShards;
      const shards = all.get('mine')!;
      // Row 7 of a lies on shard (7 + 3) mod 4, at 10 + 1; row 6 of b on shard (6 + 1) mod 4, at 1.
      expect(shards[2]![1].arraySync()[11]!.slice(0, 4)).toEqual([7, 7, 7, 0]);
      expect(shards[3]![1].arraySync()[1]!.slice(0, 4)).toEqual([106, 106, 106, 0]);
      for (const each of all.values()) tf.dispose(each.map(([, shard]) => shard));

      const inputs = IDS.map((rows) => RaggedTensor.fromRows(rows, { dtype: 'int32' }));
      const [activations, preserved] = embedding.embeddingLookup(inputs);
      const found = activations as unknown as tf.Tensor[];
      found.forEach((each, i) => {
        const sums = IDS[i]!.map((ids) => ids.reduce((sum, id) => sum + id + 100 * i, 0));
        expect([...each.dataSync()]).toEqual(sums.flatMap((sum) => [sum, sum, sum]));
      });
      const gradients = found.map((each) => tf.onesLike(each));
      embedding.applyGradients(gradients, preserved);
      const weights = embedding.getWeights();
      weights.forEach((each, i) => {
        const rows = Array.from({ length: each.shape[0] }, (_, row) => {
          return row + 100 * i - IDS[i]!.flat().filter((id) => id === row).length;
        });
        expectClose(
          each.dataSync(),
          rows.flatMap((row) => [row, row, row]),
          10,
          `table ${i}`,
        );
      });
      tf.dispose([found, gradients, weights]);
      embedding.dispose();
    });
  });

  it('are what embeddingLayouts tells, in the words of Python too, and count in statistics', async () => {
    await onCores(FOUR, () => {
      const known = make({});
      const [a, b] = ['a', 'b'].map((name) => known.embeddingLayouts.get(name)!);
      const snake = Object.fromEntries(
        Object.entries(b!).map(([key, value]) => [
          key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
          value,
        ]),
      );
      const named = { a: { ...a, stackedTableName: 'c' }, b: { ...b, stackedTableName: 'c' } };
      expectError(() => make(named), 'ValueError', 'layout of a.stackedTableName', 'without layouts');
      const renamed = { stackedTableName: 'both' };
      const again = make({ a: { ...a, ...renamed }, b: { ...snake, stacked_table_name: 'both' } });
      expect([...again.embeddingTables.keys()]).toEqual(['both', 'c']);
      expect(again.embeddingLayouts.get('b')).toEqual({ ...b!, ...renamed });
      for (const each of [known, again]) each.dispose();
      const table = new tpu.TableConfig({ vocabularySize: 40, dim: 3, name: 'a', layout: layoutOf('a') });
      const featureConfig = new tpu.FeatureConfig({ table, outputShape: [4] });
      const stats = tpu.TPUEmbeddingV2.computeSparseCoreStats({
        ...{ features: [1, 5, 9, 13], featureConfig, numTpuChips: 2, numScPerChip: 2 },
      });
      expect(Object.keys(stats.maxIds)).toEqual(['mine']);
    });
  });

  it('are refused where they are those of other tables, other cores, or do not fit together', async () => {
    await onCores(FOUR, () => {
      const wrong: [change: Partial<Record<keyof Layout, unknown>>, argument: string][] = [
        [{ tableName: 'c' }, 'tableName'],
        [{ numSparseCores: 8 }, 'numSparseCores'],
        [{ numPartitions: 1 }, 'numPartitions'],
        [{ unshardedShape: [40, 4] }, 'unshardedShape'],
        [{ unshardedPaddedShape: [36, 8] }, 'unshardedPaddedShape'],
        [{ unshardedPaddedShape: [46, 8] }, 'unshardedPaddedShape'],
        [{ unshardedPaddedShape: [48, 2] }, 'unshardedPaddedShape'],
        [{ unshardedPaddedShape: [48, 16] }, 'unshardedPaddedShape[1]'],
        [{ totalRowsPerSparseCoreShard: 21 }, 'totalRowsPerSparseCoreShard'],
        [{ totalRowsPerSparseCoreShard: 25 }, 'totalRowsPerSparseCoreShard'],
        [{ totalRowsPerSparseCoreShard: 2 ** 30 }, 'totalRowsPerSparseCoreShard'],
        [{ sparseCoreShardRowOffset: 7 }, 'sparseCoreShardRowOffset'],
        [{ sparseCoreShardRotation: 4 }, 'sparseCoreShardRotation'],
        [{ sparseCoreShardRotation: -1 }, 'sparseCoreShardRotation'],
        [{ stackedTableName: '' }, 'stackedTableName'],
      ];
      for (const [change, argument] of wrong) {
        const layouts = { a: layoutOf('a', change as Partial<Layout>), b: layoutOf('b') };
        expectError(() => make(layouts), 'ValueError', `layout of a.${argument}`);
      }
      expectError(() => make({ a: 3, b: layoutOf('b') }), 'TypeError', 'layout of a');
      const { numPartitions: _none, ...less } = layoutOf('a');
      expectError(() => make({ a: less, b: layoutOf('b') }), 'TypeError', 'layout of a.numPartitions');
      const layouts = { a: layoutOf('a'), b: layoutOf('b') };
      const changes = { a: { optimizer: new tpu.Adagrad() } };
      expectError(() => make(layouts, changes), 'ValueError', 'layout of a.stackedTableName', 'that of b');
    });
  });
});

describe('Tables of int32', () => {
  it('are refused by TPUEmbeddingV2 and its statistics, as by TPUEmbedding', async () => {
    await onCores(FOUR, () => {
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 4, dtype: 'int32', name: 'a' });
      const featureConfig = new tpu.FeatureConfig({ table, outputShape: [4] });
      const optimizer = new tpu.SGD();
      expectError(() => new tpu.TPUEmbedding({ featureConfig, optimizer }), 'ValueError', 'dtype', 'int32');
      expectError(() => new tpu.TPUEmbeddingV2({ featureConfig, optimizer }), 'ValueError', 'dtype', 'int32');
      const given = { features: [1, 2, 3, 4], featureConfig, numTpuChips: 1 };
      expectError(() => tpu.TPUEmbeddingV2.computeSparseCoreStats(given), 'ValueError', 'dtype', 'int32');
    });
  });
});
