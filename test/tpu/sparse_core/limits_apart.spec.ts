/** Each limit of a stack limits its own number, and limits are proposed from the stack that needs most. */
import * as tpu from 'tfjs-embeddings/tpu';
import { RaggedTensor } from 'tfjs-embeddings';
import { expectError } from '../../helpers/errors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

/** Three samples that ask for the same two rows: six ids, two of them different. */
const IDS = RaggedTensor.fromRows(
  [
    [0, 1],
    [0, 1],
    [0, 1],
  ],
  { dtype: 'int32' },
);

function enqueue(maxIds: number, maxUniqueIds: number): void {
  const table = new tpu.TableConfig({ vocabularySize: 8, dim: 8, combiner: 'sum', name: 't' });
  const embedding = new tpu.TPUEmbeddingV2({
    featureConfig: new tpu.FeatureConfig({ table, outputShape: [3] }),
    optimizer: new tpu.SGD(),
    sparseCoreEmbeddingConfig: new tpu.SparseCoreEmbeddingConfig({
      maxIdsPerTable: { t: maxIds },
      maxUniqueIdsPerTable: { t: maxUniqueIds },
    }),
  });
  try {
    embedding.enqueue(IDS);
  } finally {
    embedding.dispose();
  }
}

describe('limits of ids and of different ids', () => {
  it('are apart: each is met by its own number', async () => {
    await withTpuEmulator({ chips: 1 }, () => {
      enqueue(6, 2);
      enqueue(6, 100);
      enqueue(100, 2);
      expectError(() => enqueue(5, 100), 'ValueError', 'maxIdsPerTable', '6');
      expectError(() => enqueue(5, 2), 'ValueError', 'maxIdsPerTable', '6');
      expectError(() => enqueue(6, 1), 'ValueError', 'maxUniqueIdsPerTable', '2');
      expectError(() => enqueue(100, 1), 'ValueError', 'maxUniqueIdsPerTable', '2');
    });
  });

  it('are proposed apart', () => {
    const table = new tpu.TableConfig({ vocabularySize: 64, dim: 8, combiner: 'sum', name: 't' });
    const featureConfig = new tpu.FeatureConfig({ table, outputShape: [12] });
    const rows = Array.from({ length: 12 }, () => [0, 1]);
    const features = [RaggedTensor.fromRows(rows, { dtype: 'int32' })];
    const tuned = tpu.tuneLimits({ features, featureConfig, numTpuChips: 1, numScPerChip: 1, margin: 0 });
    expect(tuned.maxIdsPerTable).toEqual({ t: 24 });
    expect(tuned.maxUniqueIdsPerTable).toEqual({ t: 8 });
    expect(tuned.seen).toEqual({ maxIds: { t: 24 }, maxUniqueIds: { t: 2 } });
  });
});

describe('tuneLimits of several stacks', () => {
  const ids = (perSample: number): RaggedTensor =>
    RaggedTensor.fromRows(
      Array.from({ length: 4 }, () => Array.from({ length: perSample }, (_, i) => i)),
      { dtype: 'int32' },
    );

  // Tables of different widths lie in different stacks; which one needs most must not matter, nor in which batch.
  for (const [narrow, wide, later] of [
    [40, 3, 1],
    [3, 40, 1],
    [1, 1, 40],
    [40, 1, 20],
  ] as const) {
    it(`gives slots to that with most ids: ${narrow} and ${wide}, then ${later}`, () => {
      const table = (name: string, dim: number): tpu.TableConfig =>
        new tpu.TableConfig({ vocabularySize: 64, dim, combiner: 'sum', name });
      const featureConfig = {
        x: new tpu.FeatureConfig({ table: table('n', 8), outputShape: [4] }),
        y: new tpu.FeatureConfig({ table: table('w', 16), outputShape: [4] }),
      };
      const features = [
        { x: ids(narrow), y: ids(wide) },
        { x: ids(1), y: ids(later) },
      ];
      const tuned = tpu.tuneLimits({ features, featureConfig, numTpuChips: 1, numScPerChip: 1, margin: 0 });
      expect(tuned.maxIdsPerChipPerSample).toBe(40);
      expect(tuned.seen.maxIds).toEqual({ n: 4 * narrow, w: 4 * Math.max(wide, later) });
      expect(tuned.seen.maxUniqueIds).toEqual({ n: narrow, w: Math.max(wide, later) });
    });
  }
});
