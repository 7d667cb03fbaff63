/**
 * Pooled lookups through tfjs, beside what people compose of stock ops today: one JSON line per case.
 *   node --import tsx tools/bench/lookup.ts [--rows 1000000] [--batch 4096] [--hot 10] [--dims 32,64] [--repeats 15]
 */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import '@tensorflow/tfjs-node';
import { parseArgs } from 'node:util';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../test/helpers/random.js';
import { printLine, time } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    batch: { type: 'string', default: '4096' },
    hot: { type: 'string', default: '10' },
    dims: { type: 'string', default: '32,64' },
    repeats: { type: 'string', default: '15' },
  },
});
const [rows, batch, hot, repeats] = [given.rows, given.batch, given.hot, given.repeats].map(Number) as [
  number,
  number,
  number,
  number,
];

type Lookup = (table: tf.Variable, ids: tf.Tensor2D) => tf.Tensor;

const PEERS: Record<string, Lookup> = {
  'tfjs-embeddings': (table, ids) => emb.embeddingLookup(table, ids, { combiner: 'sum' }) as tf.Tensor,
  'tfjs gather + sum': (table, ids) => tf.tidy(() => tf.gather(table, ids).sum(1)),
};

await emb.ready();
for (const backend of ['cpu', 'wasm', 'tensorflow']) {
  await tf.setBackend(backend);
  for (const dim of given.dims.split(',').map(Number)) {
    const random = new Random(dim);
    const table = tf.tidy(() => tf.variable(tf.fill([rows, dim], 0.5), false));
    const batches = Array.from({ length: 16 }, () =>
      tf.tensor2d(
        Int32Array.from({ length: batch * hot }, () => random.whole(0, rows)),
        [batch, hot],
        'int32',
      ),
    );
    for (const [peer, lookUp] of Object.entries(PEERS)) {
      const timing = await time((n) => lookUp(table, batches[n % batches.length]!).dispose(), repeats);
      const { implementation, instructionSet, threads } = emb.backendInfo().kernels['EmbeddingBag']!;
      const how = peer === 'tfjs-embeddings' ? { implementation, instructionSet, threads } : {};
      printLine({ peer, case: `lookup ${backend} d${dim} h${hot}`, ...how, ...timing });
    }
    tf.dispose([table, ...batches]);
  }
}
