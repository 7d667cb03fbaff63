/** The limits of a table of DistributedEmbedding go into a .keras file and come back, each as itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

/** All values of a field, anywhere in a config. */
function valuesOf(config: unknown, field: string): unknown[] {
  if (typeof config !== 'object' || config === null) return [];
  return Object.entries(config).flatMap(([key, value]) => (key === field ? [value] : valuesOf(value, field)));
}

describe('exportKeras of tables with limits', () => {
  for (const [ids, unique] of [
    [12, 7],
    [9, 31],
  ] as const) {
    it(`keeps ${ids} ids and ${unique} different ones per partition`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-limits-'));
      try {
        const table = new emb.TableConfig({
          name: 't',
          vocabularySize: 6,
          embeddingDim: 2,
          maxIdsPerPartition: ids,
          maxUniqueIdsPerPartition: unique,
        });
        const feature = new emb.FeatureConfig({ name: 'f', table, inputShape: [null, 3], outputShape: [null, 2] });
        const input = tf.input({ shape: [3], dtype: 'int32', name: 'f' });
        const layer = emb.layers.distributedEmbedding({ features: { f: feature } });
        const { f } = layer.apply({ f: input } as never) as unknown as { f: tf.SymbolicTensor };
        const model = tf.model({ inputs: input, outputs: f });
        await emb.exportKeras(model, join(folder, 'm.keras'));
        const loaded = await emb.loadKerasModel(join(folder, 'm.keras'));
        for (const each of [model, loaded]) {
          const config: unknown = each.getConfig();
          expect(new Set(valuesOf(config, 'maxIdsPerPartition'))).toEqual(new Set([ids]));
          expect(new Set(valuesOf(config, 'maxUniqueIdsPerPartition'))).toEqual(new Set([unique]));
          each.dispose();
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
