/** The memory of CSRs, which those who dispose them give to the batches that follow. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { partitionStack } from '../../../src/tpu/sparse_core/csr/partition_stack.js';
import type { PartitionedCsrFormatTensor } from '../../../src/tpu/sparse_core/csr/partitioned_csr.js';
import { expectError } from '../../helpers/errors.js';
import { skipOrFail } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { offers } from '../../../src/backends/model_kernels.js';
import { kernelSet } from '../../../src/backends/registry.js';
import 'tfjs-embeddings/node';

const SAMPLES = 8192;
const LIMITS = {
  ...{ idsFullSize: 2 ** 20, maxMinibatchesPerSc: 1, allowIdDropping: false },
  ...{ maxIds: Infinity, maxUniqueIds: Infinity },
};

/** One feature of one id for each sample; `first` is the id of the first one. */
function made(first: number): PartitionedCsrFormatTensor {
  const values = Int32Array.from({ length: SAMPLES }, (_, i) => (first + i) % 64);
  const rowSplits = Int32Array.from({ length: SAMPLES + 1 }, (_, i) => i);
  const table = { rows: 64, columnOffset: 0, rotation: 0, sampleOffset: 0, combiner: 'sum', argument: 'a' } as const;
  const features = [{ ...table, values, rowSplits, weights: null }];
  return partitionStack({ name: 'a', features, cores: 4, shards: 4, samples: SAMPLES }, LIMITS);
}

const numbers = ({ sortedTokenIds, sortedSampleIds, sortedGains }: PartitionedCsrFormatTensor): number[][] => {
  return [[...sortedTokenIds], [...sortedSampleIds], [...sortedGains]];
};

describe('PartitionedCsrFormatTensor.dispose', () => {
  beforeAll(() => emb.ready());

  it('empties the arrays of slots, and is harmless twice', () => {
    if (!offers(kernelSet(), 'partitionCsr')) return skipOrFail('no kernel for CSR');
    const csr = made(0);
    expect(csr.isDisposed).toBeFalse();
    csr.dispose();
    csr.dispose();
    expect(csr.isDisposed).toBeTrue();
    expect([csr.sortedTokenIds.length, csr.sortedSampleIds.length, csr.sortedGains.length]).toEqual([0, 0, 0]);
    expect(csr.rowPointers.length).toBe(32);
  });

  it('gives memory to the next batch, which never shows what was in it', () => {
    const [one, other] = [numbers(made(0)), numbers(made(5))];
    expect(one).not.toEqual(other);
    for (let round = 0; round < 3; round++) {
      const csr = made(0);
      expect(numbers(csr)).toEqual(one);
      csr.dispose();
      const next = made(5);
      expect(numbers(next)).toEqual(other);
      next.dispose();
    }
  });

  it('leaves batches alone that others still have', () => {
    const kept = made(0);
    const before = numbers(kept);
    made(1).dispose();
    made(2).dispose();
    expect(numbers(kept)).toEqual(before);
  });

  it('waits for those who hold the arrays', () => {
    if (!offers(kernelSet(), 'partitionCsr')) return skipOrFail('no kernel for CSR');
    const csr = made(0);
    const before = numbers(csr);
    const [letGo, letGoToo] = [csr.hold(), csr.hold()];
    csr.dispose();
    letGo();
    made(3);
    expect(numbers(csr)).toEqual(before);
    letGoToo();
    expect(csr.sortedTokenIds.length).toBe(0);
  });

  for (const isPipelined of [false, true]) {
    it(`leaves steps as they are${isPipelined ? ', those that wait too' : ''}, and lookups refuse what was disposed`, async () => {
      const trained = (disposes: boolean): Promise<number[][]> => {
        let weights: number[][] = [];
        return withTpuEmulator({ chips: 1, coresPerChip: 4 }, () => {
          const initializer = new emb.tpu.RowIdInitializer();
          const table = new emb.tpu.TableConfig({
            vocabularySize: 64,
            dim: 8,
            name: 't',
            combiner: 'sum',
            initializer,
          });
          const embedding = new emb.tpu.TPUEmbeddingV2({
            featureConfig: { a: new emb.tpu.FeatureConfig({ table, outputShape: [SAMPLES] }) },
            optimizer: new emb.tpu.SGD({ learningRate: 1e-4 }),
            pipelineExecutionWithTensorCore: isPipelined,
            sparseCoreEmbeddingConfig: new emb.tpu.SparseCoreEmbeddingConfig({
              maxIdsPerTable: { t: SAMPLES },
              maxUniqueIdsPerTable: { t: SAMPLES },
            }),
          });
          const disposed: PartitionedCsrFormatTensor[] = [];
          for (let step = 0; step < 3; step++) {
            const ids = Int32Array.from({ length: SAMPLES }, (_, i) => (i * 7 + step) % 64);
            const [activations, preserved] = embedding.embeddingLookup({ a: ids });
            embedding.applyGradients({ a: activations.a as tf.Tensor }, preserved);
            tf.dispose(activations);
            if (!disposes) continue;
            preserved['t']!.dispose();
            disposed.push(preserved['t']!);
            expectError(() => embedding.dequeue(preserved), 'ValueError', 'partitioned.t', 'disposed');
            expectError(
              () => embedding.applyGradients({ a: null }, preserved),
              'ValueError',
              'preserved.t',
              'disposed',
            );
          }
          expectError(() => embedding.dequeue('text' as never), 'ValueError', 'partitioned', 'text');
          expectError(() => embedding.dequeue(null as never), 'ValueError', 'partitioned', 'null');
          const [values] = embedding.getWeights();
          if (offers(kernelSet(), 'partitionCsr')) {
            expect(disposed.map(({ sortedTokenIds }) => sortedTokenIds.length)).toEqual(disposed.map(() => 0));
          }
          weights = values!.arraySync();
          values!.dispose();
          embedding.dispose();
        }).then(() => weights);
      };
      expect(await trained(true)).toEqual(await trained(false));
    });
  }
});
