/** Threads of a process differ in what they do with denormal numbers; results do not show which thread did what. */
import * as tf from '@tensorflow/tfjs';
import { backendInfo, setThreads } from '../../src/backends/registry.js';
import { embeddingLookup } from '../../src/index.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';

const [ROWS, DIM, BATCH, HOTNESS] = [5000, 32, 4096, 16];

describeForBackends(
  'Denormal numbers',
  () => {
    let usual: number;
    beforeEach(() => (usual = backendInfo().kernels['EmbeddingBag']!.threads));
    afterEach(() => setThreads(usual));

    it('are kept or flushed alike with any number of threads', () => {
      tf.tidy(() => {
        const random = new Random(61);
        const table = tf.tensor2d(
          random.floats(ROWS * DIM).map((x) => x * 1e-38),
          [ROWS, DIM],
        );
        const ids = tf.tensor2d(
          Int32Array.from({ length: BATCH * HOTNESS }, () => random.whole(0, ROWS)),
          [BATCH, HOTNESS],
          'int32',
        );
        const pooled = (): Float32Array => embeddingLookup(table, ids, { combiner: 'sum' }).dataSync<'float32'>();
        setThreads(1);
        const alone = pooled();
        for (const threads of [2, 4, 8]) {
          setThreads(threads);
          for (let round = 0; round < 5; round++) {
            const same = Buffer.compare(Buffer.from(pooled().buffer), Buffer.from(alone.buffer)) === 0;
            expect(same).withContext(`${threads} threads, round ${round}`).toBeTrue();
          }
        }
      });
    });
  },
  ['cpu native', 'tensorflow'],
);
