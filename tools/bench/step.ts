/**
 * Training steps in model.fit over tables of different heights, beside the stock optimizer: one JSON line per case.
 *   node --import tsx tools/bench/step.ts [--rows 10000,1000000] [--dim 32] [--batch 256] [--repeats 9]
 * A stock step is measured where it ends within reason: on the tensorflow backend.
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
    rows: { type: 'string', default: '10000,1000000' },
    dim: { type: 'string', default: '32' },
    batch: { type: 'string', default: '256' },
    repeats: { type: 'string', default: '9' },
  },
});
const [dim, batch, repeats] = [given.dim, given.batch, given.repeats].map(Number) as [number, number, number];
/** Steps of one `fit`. */
const STEPS = 20;

function modelOf(rows: number, optimizer: tf.Optimizer): tf.LayersModel {
  const model = tf.sequential({
    layers: [
      emb.layers.embedding({ inputDim: rows, outputDim: dim, combiner: 'sum', inputShape: [1] }),
      tf.layers.dense({ units: 1, activation: 'sigmoid' }),
    ],
  });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  return model;
}

const OPTIMIZERS: Record<string, () => tf.Optimizer> = {
  'emb.train.adagrad': () => emb.train.adagrad({ learningRate: 0.1 }),
  'tf.train.adagrad': () => tf.train.adagrad(0.1),
};

await emb.ready();
for (const backend of ['cpu', 'wasm', 'tensorflow']) {
  await tf.setBackend(backend);
  for (const [peer, make] of Object.entries(OPTIMIZERS)) {
    if (peer === 'tf.train.adagrad' && backend !== 'tensorflow') continue;
    for (const rows of given.rows.split(',').map(Number)) {
      const random = new Random(rows);
      const optimizer = make();
      const model = modelOf(rows, optimizer);
      const ids = Int32Array.from({ length: batch * STEPS }, () => random.whole(0, rows));
      const x = tf.tensor2d(ids, [ids.length, 1], 'int32');
      const y = tf.tidy(() => tf.range(0, ids.length).mod(2).expandDims(1));
      const fit = (): Promise<unknown> => model.fit(x, y, { batchSize: batch, epochs: 1, shuffle: false, verbose: 0 });
      const { msMedian, msMin, otherCpu } = await time(fit, repeats, 2);
      const perStep = { msMedian: msMedian / STEPS, msMin: msMin / STEPS, otherCpu };
      printLine({ peer, case: `step ${backend} rows ${rows} d${dim} b${batch}`, ...perStep });
      tf.dispose([x, y]);
      model.dispose();
      optimizer.dispose();
    }
  }
}
