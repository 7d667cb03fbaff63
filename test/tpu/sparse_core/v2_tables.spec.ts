/** TPUEmbeddingV2 on emulated cores: its variables, weights and files, and what it refuses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { BATCH, featureConfig, ragged, trainV2, weightsOf, type AnyV2 } from './batches.js';

import { FOUR, make, onCores, rate, setStart, start, steps } from './v2_on_cores.js';

describe('tables of TPUEmbeddingV2', () => {
  it('has variables, shards and layouts by their names', async () => {
    await onCores(FOUR, () => {
      const embedding = make({ optimizer: new tpu.Adagrad(rate) });
      setStart(embedding);
      const layouts = embedding.embeddingLayouts;
      expect([...layouts.keys()]).toEqual(['a', 'b']);
      expect(layouts.get('b')!.sparseCoreShardRotation).toBe(2);
      expect([...embedding.embeddingTables].map(([name, { shape }]) => [name, shape])).toEqual([['a_b', [128, 8]]]);
      const stack = embedding.variables.get('a_b')!;
      expect([...stack.keys()]).toEqual(['parameters', 'accumulators']);
      const shards = embedding.embeddingTableShards.get('a_b')!;
      expect(shards.map(([device]) => device)).toEqual([0, 1, 2, 3].map((core) => `/device:TPU:${core}`));
      // Row 7 of b lies on shard (7 + 2) mod 4, behind the 16 rows of a there.
      const row = shards[1]![1].arraySync()[16 + 1]!;
      expect(Float32Array.from(row)).toEqual(start.b.slice(7 * 8, 8 * 8));
      const whole = tf.tidy(() => tf.concat(shards.map(([, shard]) => shard)).arraySync());
      expect(whole).toEqual(embedding.embeddingTables.get('a_b')!.arraySync() as number[][]);
      tf.dispose(shards.map(([, shard]) => shard));
      embedding.dispose();
    });
  });

  it('begins with the values of initializers, the same for any stacking and cores', async () => {
    const begun: Float32Array[] = [];
    for (const machine of [FOUR, { chips: 1, coresPerChip: 8 }]) {
      await onCores(machine, () => {
        const initializer = tf.initializers.randomNormal({ mean: 0, stddev: 1, seed: 5 });
        const embedding = make({ featureConfig: featureConfig({ initializer }) });
        begun.push(weightsOf(embedding).b);
        embedding.dispose();
      });
    }
    expect(begun[0]).toEqual(begun[1]!);
    expect(new Set(begun[0]).size).toBeGreaterThan(200);
  });

  it('makes slots by a function of the user', async () => {
    await onCores(FOUR, () => {
      const seen: unknown[] = [];
      const slotVariableCreationFn: tpu.SlotVariableCreationFn = (table, names, initializers) => {
        seen.push(table.shape, [...names], initializers.length);
        const filled = tf.fill(table.shape, 2);
        const accumulators = tf.variable(filled, false);
        filled.dispose();
        return { accumulators };
      };
      const embedding = make({ optimizer: new tpu.Adagrad({ ...rate, slotVariableCreationFn }) });
      embedding.build();
      expect(seen).toEqual([[128, 8], ['accumulators'], 1]);
      const weights = embedding.getWeights();
      expect(new Set(weights[2]!.dataSync())).toEqual(new Set([2]));
      tf.dispose(weights);
      embedding.dispose();
      const none = make({ optimizer: new tpu.Adagrad({ ...rate, slotVariableCreationFn: () => ({}) }) });
      expectError(() => none.build(), 'TypeError', 'slotVariableCreationFn');
    });
  });

  it('saves on 8 cores and loads on 4, stacked or not, with slots, in either format', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-'));
    const optimizer = new tpu.Adam({ ...rate, beta1: 0.5 });
    const saved: Float32Array[] = [];
    try {
      await onCores({ chips: 2, coresPerChip: 4 }, async () => {
        const embedding = make({ optimizer });
        trainV2(embedding, start, steps.slice(0, 2));
        const weights = embedding.getWeights();
        for (const weight of weights) saved.push(weight.dataSync() as Float32Array);
        tf.dispose(weights);
        await embedding.save(join(folder, 'npy'), { format: 'npy' });
        await embedding.save(join(folder, 'tfjs'));
        embedding.dispose();
      });
      expect(saved.length).toBe(6);
      for (const format of ['npy', 'tfjs']) {
        await onCores(FOUR, async () => {
          const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig({
            disableTableStacking: format === 'npy',
          });
          const embedding = make({ optimizer, sparseCoreEmbeddingConfig });
          await embedding.load(join(folder, format));
          const weights = embedding.getWeights();
          weights.forEach((weight, i) => expect(weight.dataSync() as Float32Array).toEqual(saved[i]!));
          tf.dispose(weights);
          embedding.dispose();
        });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('can be built again after dispose, and needs its own machine', async () => {
    let lost: AnyV2 | null = null;
    await onCores(FOUR, () => {
      const embedding = make();
      setStart(embedding);
      embedding.dispose();
      embedding.build();
      expect(weightsOf(embedding)).not.toEqual(start);
      embedding.dispose();
      lost = make();
    });
    expectError(() => make(), 'RuntimeError', 'TPUEmbeddingV2', 'cpu');
    await onCores(FOUR, () => {
      expectError(() => lost!.enqueue(ragged(steps[0]!.ids)), 'RuntimeError', 'enqueue', 'another');
    });
  });

  it('drops ids that do not fit where that is permitted, and says how many', async () => {
    await onCores(FOUR, () => {
      const table = new tpu.TableConfig({ vocabularySize: 64, dim: 2, combiner: 'sum' });
      const config = new tpu.FeatureConfig({ table, outputShape: [8] });
      const small = {
        maxIdsPerChipPerSample: 2,
        maxIdsPerTable: { table_0: 64 },
        maxUniqueIdsPerTable: { table_0: 64 },
      };
      const rows = emb.RaggedTensor.fromRows(Array.from({ length: 8 }, (_, i) => [i, i + 8, i + 17]));
      const of = (allowIdDropping: boolean): AnyV2 => {
        const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig({ ...small, allowIdDropping });
        return new tpu.TPUEmbeddingV2({
          featureConfig: config,
          optimizer: new tpu.SGD(rate),
          sparseCoreEmbeddingConfig,
        });
      };
      expectError(() => of(false).enqueue(rows), 'ValueError', 'maxIdsPerChipPerSample');
      const embedding = of(true);
      const [activations, preserved] = embedding.embeddingLookup(rows);
      expect(preserved['table_0']!.droppedIds).toBeGreaterThan(0);
      embedding.applyGradients(activations, preserved);
      tf.dispose(activations as tf.Tensor);
      embedding.dispose();
    });
  });

  it('refuses cores that are no power of two, and samples that they do not divide', async () => {
    await onCores({ chips: 3, coresPerChip: 1 }, () => {
      expectError(() => make(), 'ValueError', 'chips', '3');
    });
    await onCores({ chips: 1, coresPerChip: 4 }, () => {
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2 });
      const config = { seen: new tpu.FeatureConfig({ table, outputShape: [6] }) };
      expectError(() => make({ featureConfig: config }), 'ValueError', 'features.seen', '6');
    });
  });

  it('refuses wrong structures, types, shapes and states, and names the feature', async () => {
    await onCores(FOUR, () => {
      const embedding = make();
      const ids = ragged(steps[0]!.ids);
      const { preserved: _, ...unbuilt } = { preserved: null, embedding: make() };
      const csr = embedding.enqueue(ids);
      expectError(
        () => unbuilt.embedding.applyGradients({ x: null, y: null, z: null }, csr),
        'RuntimeError',
        'applyGradients',
      );
      const cases: [() => unknown, 'ValueError' | 'TypeError', string][] = [
        [() => embedding.enqueue({ x: ids.x, y: ids.y }), 'ValueError', 'features.z'],
        [() => embedding.enqueue([ids.x, ids.y, ids.z]), 'TypeError', 'features'],
        [() => embedding.enqueue({ ...ids, y: 'text' }), 'ValueError', 'features.y'],
        [
          () => embedding.enqueue({ ...ids, y: emb.RaggedTensor.fromRows([[1]]) }),
          'ValueError',
          'features.y.rowSplits',
        ],
        [() => embedding.enqueue({ ...ids, y: new Int32Array(BATCH).fill(33) }), 'ValueError', 'features.y'],
        [() => embedding.enqueue(ids, { x: null, y: [1], z: null }), 'ValueError', 'weights.y'],
        [() => embedding.dequeue({}), 'ValueError', 'partitioned.a_b'],
        [() => embedding.dequeue({ a_b: { ...csr['a_b']! } as never }), 'ValueError', 'partitioned.a_b'],
        [() => make({ optimizer: 'sgd' }), 'ValueError', 'optimizer'],
        [() => make({ optimizer: null }), 'ValueError', 'optimizer'],
        [() => make({ pipeline: true }), 'ValueError', 'pipeline'],
      ];
      for (const [run, name, argument] of cases) expectError(run, name, argument);
      embedding.build();
      const wrong = (x: unknown): unknown => embedding.applyGradients({ x, y: null, z: null }, csr);
      expectError(() => wrong(1), 'ValueError', 'gradients.x', 'non-tensor type');
      const small = tf.ones([BATCH, 5]);
      expectError(() => wrong(small), 'ValueError', 'gradients.x', '5');
      expectError(() => embedding.applyGradients([null, null, null], csr), 'TypeError', 'gradients');
      expectError(() => embedding.setWeights([small]), 'ValueError', 'weights');
      const other = csr['a_b']!;
      const stray = new tpu.PartitionedCsrFormatTensor({
        ...other,
        sortedTokenIds: other.sortedTokenIds.map(() => 1e6),
      });
      expectError(() => embedding.dequeue({ a_b: stray }), 'ValueError', 'partitioned.a_b');
      small.dispose();
      embedding.dispose();
    });
  });

  it('takes output shapes from the first batch where the config has none', async () => {
    await onCores(FOUR, () => {
      const table = new tpu.TableConfig({ vocabularySize: 8, dim: 2, combiner: 'sum' });
      const config = {
        seen: new tpu.FeatureConfig({ table }),
        pairs: new tpu.FeatureConfig({ table, outputShape: [null, 2] }),
      };
      const embedding: AnyV2 = new tpu.TPUEmbeddingV2({ featureConfig: config, optimizer: new tpu.SGD(rate) });
      expectError(() => embedding.build(), 'ValueError', 'build');
      // A batch that is refused tells no shapes.
      const refused = { seen: [1, 2, 3, 4, 5, 6, 7, 8], pairs: [8, 0, 1, 1].map((id) => [id, 1]) };
      expectError(() => embedding.enqueue(refused), 'ValueError', 'features.pairs');
      const features = {
        seen: [1, 2, 3, 4],
        pairs: [
          [1, 2],
          [3, 4],
          [5, 6],
          [7, 0],
        ],
      };
      const [activations] = embedding.embeddingLookup(features);
      const { seen, pairs } = activations as { seen: tf.Tensor; pairs: tf.Tensor };
      expect([seen.shape, pairs.shape]).toEqual([
        [4, 2],
        [4, 2, 2],
      ]);
      tf.dispose([seen, pairs]);
      embedding.dispose();
    });
  });
});
