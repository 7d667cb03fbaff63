/** Sums of rows by segment by an op of ours, which must be those of TensorFlow's op to the bit. */
import { SEGMENT_SUMS } from '../../../src/capture/overrides/segment_sums.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { Random } from '../../helpers/random.js';
import { describeTensorFlow } from '../../backends/tensorflow/tensorflow_backend.js';
import { opsRun } from './ops_run.js';

const SUMS = /SegmentSum$/;

interface Case {
  readonly segments: number;
  readonly dim: number;
  readonly ids: readonly number[];
}

/** `count` ids from -1 on, most of them few where `isSkewed`. */
function draw(random: Random, count: number, segments: number, dim: number, isSkewed: boolean): Case {
  const most = isSkewed ? Math.min(segments, 3) : segments;
  return { segments, dim, ids: Array.from({ length: count }, () => random.whole(random.chance(0.05) ? -1 : 0, most)) };
}

const cases = (random: Random): Case[] => [
  { segments: 3, dim: 2, ids: [] },
  { segments: 1, dim: 1, ids: [0] },
  { segments: 5, dim: 3, ids: [-1, -7, -(2 ** 31)] },
  draw(random, 5000, 4, 37, false),
  draw(random, 3000, 20_000, 16, false),
  draw(random, 9000, 901, 33, true),
  ...Array.from({ length: 30 }, () =>
    draw(random, random.whole(0, 200), random.whole(1, 60), random.whole(1, 20), random.chance(0.5)),
  ),
];

describeTensorFlow('Sums of rows by segment', () => {
  const sum = (terms: tf.Tensor2D, ids: tf.Tensor1D, segments: number): tf.Tensor => {
    return withOverrides([SEGMENT_SUMS], () => tf.unsortedSegmentSum(terms, ids, segments));
  };
  let threads: number;
  beforeEach(() => (threads = loadAddon().getThreads()));
  afterEach(() => void emb.setThreads(threads));

  it("are those of TensorFlow's op to the bit, on any number of threads", async () => {
    const random = new Random(71);
    const all = cases(random);
    const ops = await opsRun(SUMS, () => {
      for (const { segments, dim, ids } of all) {
        tf.tidy(() => {
          const terms = tf.tensor2d(random.floats(ids.length * dim), [ids.length, dim]);
          const given = tf.tensor1d([...ids], 'int32');
          const stock = tf.unsortedSegmentSum(terms, given, segments).dataSync();
          for (const count of [1, 2, 5]) {
            emb.setThreads(count);
            const found = sum(terms, given, segments);
            expect(found.shape).toEqual([segments, dim]);
            expect(found.dataSync()).withContext(`${ids.length} of ${segments} x ${dim}`).toEqual(stock);
          }
        });
      }
    });
    const [stock, own] = ['UnsortedSegmentSum', 'EmbeddingSegmentSum'];
    expect(ops).toEqual(all.flatMap(() => [stock!, own!, own!, own!]));
  });

  it('of other tensors, and with an id beyond the last segment, are what TensorFlow makes of them', async () => {
    const ops = await opsRun(SUMS, () => {
      tf.tidy(() => {
        const ids = tf.tensor1d([1, 0, 1], 'int32');
        for (const terms of [tf.ones([3]), tf.ones([3, 2, 2]), tf.ones([3, 2], 'int32')]) {
          const found = withOverrides([SEGMENT_SUMS], () => tf.unsortedSegmentSum(terms as tf.Tensor1D, ids, 2));
          expect([...found.dataSync()].reduce((a, b) => a + b)).toBe(terms.size);
        }
        expect(() => sum(tf.ones([3, 2]), ids, 1)).toThrowError(/segment_ids\[0\] = 1 is out of range \[0, 1\)/);
      });
    });
    expect(ops.filter((name) => name === 'UnsortedSegmentSum').length).toBe(4);
  });
});
