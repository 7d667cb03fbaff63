/** Statistics of batches, and limits that are made from them. */
import * as tf from '@tensorflow/tfjs';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { featureConfig, ragged, randomStep } from './batches.js';
import { preprocessGoldens } from './goldens.js';
import { RaggedTensor } from 'tfjs-embeddings';

const batches = (count: number): object[] => {
  const random = new Random(9);
  return Array.from({ length: count }, () => ragged(randomStep(random).ids));
};

describe('computeSparseCoreStats', () => {
  const { rows, max_ids: maxIds, max_unique_ids: maxUniqueIds } = preprocessGoldens.stats;

  it("gives TensorFlow's numbers, and leaves the config as it is", () => {
    const table = new tpu.TableConfig({ vocabularySize: 50, dim: 6, combiner: 'mean' });
    const config = new tpu.FeatureConfig({ table, outputShape: [8] });
    const stats = tpu.TPUEmbeddingV2.computeSparseCoreStats({
      features: RaggedTensor.fromRows(rows, { dtype: 'int32' }),
      featureConfig: config,
      numTpuChips: 1,
      numScPerChip: 4,
      optimizer: new tpu.SGD(),
    });
    expect(stats).toEqual({ maxIds: { table_0: maxIds.a }, maxUniqueIds: { table_0: maxUniqueIds.a } });
    expect(table.name).toBeNull();
    expect(table.optimizer).toBeNull();
  });

  it('counts by stack, or by table where stacking is disabled', () => {
    const [features] = batches(1);
    const given = { features, featureConfig: featureConfig(), numTpuChips: 2, numScPerChip: 2 };
    const apart = new tpu.SparseCoreEmbeddingConfig({ disableTableStacking: true });
    const { computeSparseCoreStats: compute } = tpu.TPUEmbeddingV2;
    expect(Object.keys(compute(given).maxIds)).toEqual(['a_b']);
    expect(Object.keys(compute({ ...given, sparseCoreEmbeddingConfig: apart }).maxIds)).toEqual(['a', 'b']);
  });
});

describe('tuneLimits', () => {
  const machine = { numTpuChips: 1, numScPerChip: 4 };

  it('takes the batches of the layer: padded ids, sequences, and any number of samples', () => {
    const table = new tpu.TableConfig({ vocabularySize: 64, dim: 8, combiner: 'sum', name: 't' });
    const others = new tpu.TableConfig({ vocabularySize: 64, dim: 16, combiner: 'sum', name: 'u' });
    const config = {
      seen: new tpu.FeatureConfig({ table }),
      steps: new tpu.FeatureConfig({ table: others, maxSequenceLength: 2 }),
    };
    const batch = {
      // Core 0 has the first two samples: of shard 1 it asks five ids, of which three differ.
      seen: [
        [1, 5, 9, -1],
        [1, 5, -1, -1],
        [2, -1, -1, -1],
      ],
      // The third step of a sample is beyond the length; core 0 has three of the six steps.
      steps: tf.tensor2d([4, -1, 4, 8, 0, 4, -1, -1, -1], [3, 3], 'int32'),
    };
    const given = { features: [batch], featureConfig: config, ...machine, numScPerChip: 2, margin: 0 };
    const tuned = tpu.tuneLimits({ ...given, paddedIds: true });
    expect(tuned.seen).toEqual({ maxIds: { t: 5, u: 2 }, maxUniqueIds: { t: 3, u: 2 } });
    expect(tuned.maxIdsPerTable).toEqual({ t: 8, u: 8 });
    expectError(() => tpu.tuneLimits(given), 'ValueError', 'features.steps', 'maxSequenceLength');
    const wrong = { ...given, features: [{ ...batch, seen: [[64]] }] };
    expectError(() => tpu.tuneLimits({ ...wrong, paddedIds: true }), 'ValueError', 'features.seen', '64');
    expectError(() => tpu.tuneLimits({ ...given, paddedIds: 1 as never }), 'TypeError', 'paddedIds', '1');
    batch.steps.dispose();
  });

  it('proposes the largest numbers of all batches with the margin, in eights', () => {
    const features = batches(4);
    const { computeSparseCoreStats: compute } = tpu.TPUEmbeddingV2;
    const given = { featureConfig: featureConfig(), ...machine };
    const each = features.map((batch) => compute({ features: batch, ...given }));
    const most = (of: (stats: tpu.SparseCoreStats) => number): number => Math.max(...each.map(of));
    const seen = {
      maxIds: { a_b: most(({ maxIds }) => maxIds['a_b']!) },
      maxUniqueIds: { a_b: most(({ maxUniqueIds }) => maxUniqueIds['a_b']!) },
    };
    const tuned = tpu.tuneLimits({ features, ...given, margin: 0.5 });
    expect(tuned.seen).toEqual(seen);
    expect([tuned.margin, tuned.batches]).toEqual([0.5, 4]);
    const eights = (count: number): number => Math.ceil(Math.ceil(1.5 * count) / 8) * 8;
    expect(tuned.maxIdsPerTable).toEqual({ a_b: eights(seen.maxIds.a_b) });
    expect(tuned.maxUniqueIdsPerTable).toEqual({ a_b: eights(seen.maxUniqueIds.a_b) });
    expect(tpu.tuneLimits({ features, ...given }).margin).toBe(0.1);
  });

  it('is told of chips of another machine than the one that runs, or of other cores on its chips', async () => {
    const features = batches(2);
    const tune = (more: object): unknown => tpu.tuneLimits({ features, featureConfig: featureConfig(), ...more });
    const [chips, both, cores] = [
      { numTpuChips: 2 },
      { numTpuChips: 2, numScPerChip: 2 },
      { numTpuChips: 1, numScPerChip: 2 },
    ].map(tune);
    await withTpuEmulator({ chips: 1, coresPerChip: 1 }, () => {
      expect(tune({ numTpuChips: 2 })).toEqual(chips);
      expect(tune({ numTpuChips: 2, numScPerChip: 2 })).toEqual(both);
      expect(tune({ numScPerChip: 2 })).toEqual(cores);
      expect(tune({})).not.toEqual(cores);
    });
  });

  it('proposes what the same batches fit, on the running emulator by default', async () => {
    const features = batches(3);
    await withTpuEmulator({ chips: 1, coresPerChip: 4 }, () => {
      const tuned = tpu.tuneLimits({ features, featureConfig: featureConfig(), margin: 0 });
      expect(tuned).toEqual(tpu.tuneLimits({ features, featureConfig: featureConfig(), ...machine, margin: 0 }));
      const { maxIdsPerTable, maxUniqueIdsPerTable, maxIdsPerChipPerSample } = tuned;
      const limits = { maxIdsPerTable, maxUniqueIdsPerTable, maxIdsPerChipPerSample };
      const sparseCoreEmbeddingConfig = new tpu.SparseCoreEmbeddingConfig(limits);
      const config = { featureConfig: featureConfig(), optimizer: new tpu.SGD(), sparseCoreEmbeddingConfig };
      const embedding = new tpu.TPUEmbeddingV2(config);
      for (const batch of features) expect(embedding.enqueue(batch)['a_b']!.droppedIds).toBe(0);
      embedding.dispose();
    });
  });

  it('refuses no batches, bad margins and what is no list', () => {
    const given = { featureConfig: featureConfig(), ...machine };
    expectError(() => tpu.tuneLimits({ features: [], ...given }), 'ValueError', 'features');
    expectError(() => tpu.tuneLimits({ features: 3 as never, ...given }), 'TypeError', 'features');
    expectError(() => tpu.tuneLimits({ features: batches(1), ...given, margin: -1 }), 'ValueError', 'margin');
    expectError(() => tpu.tuneLimits({ features: batches(1), ...given, margins: 1 } as never), 'ValueError', 'margins');
  });
});
