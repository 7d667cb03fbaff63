/**
 * A client of servers that the bench measures: asked in JSON lines, as `rivals/peer.ts` does.
 *   node --import tsx tools/bench/servers/cluster_client.ts
 */
import '@tensorflow/tfjs-node';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { runningCluster } from '../../../src/backends/cluster/register.js';
import { Random } from '../../../test/helpers/random.js';
import { serve } from '../rivals/serve.js';

export interface Open {
  readonly ps: readonly string[];
  readonly name: string;
  readonly exchange: 'float32' | 'float16';
  readonly prefetch: 0 | 1;
  readonly tables: number;
  readonly rows: number;
  readonly columns: number;
  readonly batch: number;
  readonly ids: number;
  /** Units of the two dense layers above the tables, for `fit`. */
  readonly units: number;
}

/** Batches that take turns, so that their rows are not in the caches. */
const BATCHES = 4;

let layer: emb.DistributedEmbedding;
let model: tf.LayersModel;
let batches: tf.Tensor[][] = [];
let labels: tf.Tensor;
let size = 0;
let next = 0;
const adagrad = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.1 });
let optimizer: tf.Optimizer;

async function open({ exchange, prefetch, ps, name, ...form }: Open): Promise<void> {
  await emb.connectCluster({ ps, name, exchange, prefetch, host: 'tensorflow', timeoutMs: 60_000 });
  await tf.setBackend('tf-cluster');
  const embeddings = Array.from({ length: form.tables }, (_, t) => ({
    name: `table${t}`,
    inputDim: form.rows,
    outputDim: form.columns,
    combiner: 'mean' as const,
  }));
  const inputs = embeddings.map(() => tf.input({ shape: [form.ids], dtype: 'int32' }));
  layer = emb.layers.distributedEmbedding({ embeddings, name: 'tables' });
  const found = layer.apply(inputs) as tf.SymbolicTensor[];
  const joined = tf.layers.concatenate().apply(found);
  const hidden = tf.layers.dense({ units: form.units, activation: 'relu' }).apply(joined);
  const outputs = tf.layers.dense({ units: 1 }).apply(hidden) as tf.SymbolicTensor;
  model = tf.model({ inputs, outputs });
  model.compile({ optimizer: adagrad(), loss: 'meanSquaredError' });
  optimizer = adagrad();
  const random = new Random(1);
  size = form.batch;
  batches = Array.from({ length: BATCHES }, () =>
    embeddings.map(() => {
      const ids = Int32Array.from({ length: size * form.ids }, () => random.whole(0, form.rows));
      return tf.tensor2d(ids, [size, form.ids], 'int32');
    }),
  );
  labels = tf.zeros([BATCHES * size, 1]);
}

const batch = (): tf.Tensor[] => batches[next++ % BATCHES]!;
const lookUp = (): tf.Tensor[] => layer.apply(batch()) as tf.Tensor[];
const settle = (): void => runningCluster()!.machine.finish();

/** Milliseconds of one of so many, the end of all of them included. */
async function each(steps: number, run: () => unknown): Promise<{ ms: number }> {
  settle();
  const start = performance.now();
  for (let n = 0; n < steps; n++) await run();
  settle();
  return { ms: (performance.now() - start) / steps };
}

await serve(`tfjs-embeddings on TensorFlow ${tf.version.tfjs}`, {
  open,
  lookUp: ({ steps }: { steps: number }) => each(steps, () => tf.dispose(lookUp())),
  /** A lookup, the gradient of the sum of all that was looked up, and Adagrad. */
  step: ({ steps }: { steps: number }) =>
    each(steps, () => optimizer.minimize(() => tf.tidy(() => tf.addN(lookUp().map((rows) => rows.sum())).asScalar()))),
  /** The dense part alone: layers above rows that are there. */
  dense: async ({ steps }: { steps: number }) => {
    const rows = lookUp();
    const start = performance.now();
    for (let n = 0; n < steps; n++) {
      const { value, grads } = tf.variableGrads(() => {
        let x: tf.Tensor | tf.Tensor[] = rows;
        for (const above of model.layers.slice(-3)) x = above.apply(x) as tf.Tensor;
        return (x as tf.Tensor).square().mean().asScalar();
      });
      await value.data();
      tf.dispose([value, grads]);
    }
    tf.dispose(rows);
    return { ms: (performance.now() - start) / steps };
  },
  /** `fit` over batches, in epochs of sixteen; the milliseconds of a step. */
  fit: async ({ steps }: { steps: number }) => {
    const inputs = batches[0]!.map((_, t) =>
      tf.concat(Array.from({ length: 4 }, () => batches.map((all) => all[t]!)).flat()),
    );
    const all = tf.concat(Array.from({ length: 4 }, () => labels));
    const epochs = Math.max(1, Math.round(steps / (4 * BATCHES)));
    const start = performance.now();
    await model.fit(inputs, all, { batchSize: size, epochs, verbose: 0, shuffle: false, yieldEvery: 'never' });
    settle();
    const ms = (performance.now() - start) / (epochs * 4 * BATCHES);
    tf.dispose([inputs, all]);
    return { ms };
  },
  counters: () => ({ servers: emb.cluster().counters().servers }),
});
process.exit(0);
