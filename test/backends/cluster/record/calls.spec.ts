// runner: servers
/** How many calls steps make, what reconnecting leaves, and tables that have to move whole. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadAddon } from '../../../../src/backends/native/addon.js';
import { newClusterName, withCluster } from '../../../helpers/servers/cluster.js';
import { ServerProcess } from '../../../helpers/servers/server_process.js';

type Args = Partial<emb.DistributedEmbeddingArgs>;

/** Some tables of 8 rows, and a step of all of them. */
function tables(count: number, optimizer: tf.Optimizer, args: Args, outputDim = 4) {
  const embeddings = Array.from({ length: count }, (_, i) => ({
    name: `t${i}`,
    inputDim: 8,
    outputDim,
    combiner: 'sum' as const,
  }));
  const layer = emb.layers.distributedEmbedding({ name: 'calls', embeddings, ...args } as emb.DistributedEmbeddingArgs);
  layer.build(embeddings.map(() => [null, 1]));
  const step = (): void =>
    tf.tidy(() => {
      const ids = embeddings.map(() => tf.tensor2d([[1], [3]], [2, 1], 'int32'));
      void optimizer.minimize(() => tf.addN((layer.apply(ids) as tf.Tensor[]).map((each) => each.sum())).asScalar());
    });
  const dispose = (): void => {
    layer.dispose();
    optimizer.dispose();
  };
  return { layer, step, dispose };
}

describe('Calls of a client', () => {
  let servers: ServerProcess[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 60_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  const adagrad = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.1 });

  it('are as many for 26 copied tables as for 2: one for each part of a step', async () => {
    const counted: number[][] = [];
    for (const count of [2, 26]) {
      await withCluster(servers, {}, () => {
        const before = tf.memory().numTensors;
        const made = tables(count, adagrad(), { dataParallelThreshold: 1e6 });
        for (let i = 0; i < 2; i++) made.step();
        const calls = (): number[] =>
          emb
            .cluster()
            .counters()
            .servers.map((server) => server.calls);
        void made.layer.getWeights()[0]!.dataSync();
        const start = calls();
        for (let i = 0; i < 5; i++) made.step();
        counted.push(calls().map((each, i) => (each - start[i]!) / 5));
        made.dispose();
        expect(tf.memory().numTensors).toBe(before);
      });
    }
    expect(counted[1]).toEqual(counted[0]);
    // A lookup, the gradients by row, and the update.
    for (const calls of counted[1]!) expect(calls).toBeLessThanOrEqual(3);
  }, 60_000);

  it('leave nothing of a session behind when it is opened anew', async () => {
    await withCluster(servers, {}, async () => {
      const made = tables(2, adagrad(), {});
      const before = loadAddon().sessionInfo();
      for (let i = 0; i < 5; i++) {
        made.step(); // which nobody waits for
        await emb.cluster().reconnect();
      }
      made.step();
      void made.layer.getWeights()[0]!.dataSync();
      const { sessions, groups } = loadAddon().sessionInfo();
      expect(sessions).toBe(before.sessions);
      expect(groups).toBeLessThanOrEqual(before.groups);
      made.dispose();
    });
  }, 60_000);

  it('make slots of more than a block in several, once for all clients, where steps change them', async () => {
    await withCluster(servers.slice(0, 1), {}, () => {
      const [rows, width] = [300_000, 64]; // 77 MB
      const fresh = emb.train.adagrad({ learningRate: 1, initialAccumulatorValue: 0.25 });
      const embeddings = [{ name: 'large', inputDim: rows, outputDim: width, combiner: 'sum' as const }];
      const embeddingsInitializer = tf.initializers.zeros();
      const layer = emb.layers.distributedEmbedding({
        name: 'large',
        embeddings: [{ ...embeddings[0]!, embeddingsInitializer }],
      });
      layer.build([[null, 1]]);
      const look = (): tf.Tensor => (layer.apply([tf.tensor2d([[0], [rows - 1]], [2, 1], 'int32')]) as tf.Tensor[])[0]!;
      const step = (): void => tf.tidy(() => void fresh.minimize(() => look().sum().neg().asScalar()));
      const calls = (): number => emb.cluster().counters().servers[0]!.calls;
      step();
      const made = calls();
      step();
      const both = 1 / Math.sqrt(1.25) + 1 / Math.sqrt(2.25);
      const found = tf.tidy(() => look().dataSync<'float32'>());
      expect(found.every((value) => Math.abs(value - both) < 1e-6)).toBeTrue();
      // Zeros, two blocks and the end of it, beside those of a step.
      expect(made).toBeGreaterThanOrEqual(4 + calls() - made);
      layer.dispose();
      fresh.dispose();
    });
  }, 60_000);

  it('find tables that were assigned to, whatever was collected since', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await withCluster(servers, {}, async () => {
      const made = tables(1, adagrad(), { rowSliceThreshold: 1 });
      const { numTensors, numDataBuffers } = tf.memory();
      for (let value = 1; value <= 4; value++) {
        tf.tidy(() => (made.layer.weights[0]!.read() as tf.Variable).assign(tf.fill([8, 4], value)));
        const read = (): Float32Array => tf.tidy(() => made.layer.getWeights()[0]!.dataSync<'float32'>());
        const look = (): Float32Array => {
          return tf.tidy(() =>
            (made.layer.apply([tf.tensor2d([[1]], [1, 1], 'int32')]) as tf.Tensor[])[0]!.dataSync<'float32'>(),
          );
        };
        expect(new Set(look())).toEqual(new Set([value]));
        // What a task has seen is not collected within it, and finalizers run between tasks.
        for (let i = 0; i < 3; i++) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          collect();
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(new Set(look())).toEqual(new Set([value]));
        expect(new Set(read())).toEqual(new Set([value]));
      }
      expect(tf.memory().numTensors).toBe(numTensors);
      expect(tf.memory().numDataBuffers).toBe(numDataBuffers);
      made.dispose();
    });
  }, 60_000);

  for (const [name, make, args] of [
    [
      'row-wise Adagrad on slices of columns',
      () => emb.train.rowWiseAdagrad({ learningRate: 0.1 }),
      { columnSliceThreshold: 8 },
    ],
    [
      'clipNorm on slices of rows',
      () => emb.train.adagrad({ learningRate: 0.1, clipNorm: 1 }),
      { rowSliceThreshold: 1 },
    ],
  ] as [string, () => tf.Optimizer, Args][]) {
    it(`are told that a table moves whole: ${name}`, async () => {
      const warn = spyOn(console, 'warn');
      await withCluster(servers, { name: newClusterName() }, () => {
        const made = tables(1, make(), args, 8);
        made.step();
        void made.layer.getWeights()[0]!.dataSync();
        made.dispose();
      });
      const said = warn.calls.allArgs().flat().join('\n');
      expect(said).toMatch(
        /moves whole to server 127\.0\.0\.1:\d+, as (rowWiseAdagrad|clipNorm) needs .* Plan it whole/,
      );
    }, 60_000);
  }
});
