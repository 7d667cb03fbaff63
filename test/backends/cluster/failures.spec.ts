// runner: servers
/** What a cluster does when servers die, hang, come back empty, or were never there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { newClusterName, withCluster } from '../../helpers/servers/cluster.js';
import { freePort, ServerProcess } from '../../helpers/servers/server_process.js';

const [ROWS, DIM] = [40, 4];

/** A model of two tables, one on each of two servers. */
function makeModel(): tf.LayersModel {
  const embeddings = [1, 2].map((seed) => {
    const embeddingsInitializer = tf.initializers.randomUniform({ minval: -1, maxval: 1, seed });
    return { inputDim: ROWS, outputDim: DIM, combiner: 'sum' as const, embeddingsInitializer };
  });
  const inputs = embeddings.map(() => tf.input({ shape: [2], dtype: 'int32' }));
  const layer = emb.layers.distributedEmbedding({ embeddings, name: 'tables' });
  const joined = tf.layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]);
  const dense = tf.layers.dense({ units: 1, kernelInitializer: 'ones', trainable: false });
  const model = tf.model({ inputs, outputs: dense.apply(joined) as tf.SymbolicTensor });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

async function step(model: tf.LayersModel, first: number): Promise<void> {
  const ids = (): tf.Tensor =>
    tf.tensor2d(
      Array.from({ length: 8 }, (_, i) => [(first + i) % ROWS, (3 * i) % ROWS]),
      [8, 2],
      'int32',
    );
  const [inputs, labels] = [[ids(), ids()], tf.ones([8, 1])];
  try {
    await model.trainOnBatch(inputs, labels);
  } finally {
    tf.dispose([inputs, labels]);
  }
}

/** The error that steps end with, and after how many milliseconds. */
async function failedSteps(model: tf.LayersModel, firsts: readonly number[]): Promise<{ error: Error; took: number }> {
  const start = performance.now();
  try {
    for (const first of firsts) await step(model, first);
  } catch (error) {
    return { error: error as Error, took: performance.now() - start };
  }
  throw new Error('no step failed');
}

describe('A cluster', () => {
  let servers: ServerProcess[] = [];
  const start = async (port?: number): Promise<ServerProcess> => {
    const server = await ServerProcess.start(port);
    servers.push(server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.end()));
    servers = [];
  });

  it('names a server that was killed within two seconds, and answers nothing afterwards', async () => {
    const two = [await start(), await start()];
    await withCluster(two, { timeoutMs: 20_000 }, async () => {
      const model = makeModel();
      await step(model, 0);
      two[1]!.signal('SIGKILL');
      await two[1]!.ended;
      const { error, took } = await failedSteps(model, [1, 2]);
      expect(took).toBeLessThan(2000);
      expect(error).toBeInstanceOf(emb.RuntimeError);
      expect(error.message).toContain(`server 127.0.0.1:${two[1]!.port}`);
      await expectAsync(step(model, 3)).toBeRejectedWithError(/server 127.0.0.1/);
      expect(() => model.getLayer('tables').getWeights()[0]!.dataSync()).toThrowError(/server 127.0.0.1/);
      model.dispose();
    });
  }, 60_000);

  it('gives up a server that hangs at its deadline', async () => {
    const two = [await start(), await start()];
    await withCluster(two, { timeoutMs: 1500 }, async () => {
      const model = makeModel();
      await step(model, 0);
      await model.getLayer('tables').getWeights()[0]!.data();
      two[0]!.signal('SIGSTOP');
      const { error, took } = await failedSteps(model, [1]);
      expect(took).toBeGreaterThan(1350);
      expect(took).toBeLessThan(1650);
      expect(error.message).toMatch(/no answer within 1500 ms; whether it did the work is unknown/);
      two[0]!.signal('SIGCONT');
      model.dispose();
    });
  }, 60_000);

  it('refuses tables that a server lost, until they were restored', async () => {
    const two = [await start(), await start()];
    await withCluster(two, { timeoutMs: 10_000 }, async () => {
      const model = makeModel();
      await step(model, 0);
      two[1]!.signal('SIGKILL');
      await two[1]!.ended;
      expect((await failedSteps(model, [1, 2])).error).toBeInstanceOf(emb.RuntimeError);
      await expectAsync(emb.cluster().reconnect()).toBeRejectedWithError(
        emb.RuntimeError,
        new RegExp(`server 127.0.0.1:${two[1]!.port}`),
      );
      await start(two[1]!.port);
      const lost = await emb.cluster().reconnect();
      expect(lost.length).toBe(2); // a table and its accumulators
      await expectAsync(step(model, 3)).toBeRejectedWithError(/2 parts of tables that a server lost.*restore/);
      model.dispose();
    });
  }, 60_000);

  it('ends a run that was broken off like one that was not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    const train = async (model: tf.LayersModel, from: number, to: number): Promise<void> => {
      for (let first = from; first < to; first++) await step(model, first);
    };
    const tablesOf = (model: tf.LayersModel): number[][] =>
      model
        .getLayer('tables')
        .getWeights()
        .map((table) => Array.from(table.dataSync()));
    const two = [await start(), await start()];
    try {
      const undisturbed = await withCluster(two, {}, async () => {
        const model = makeModel();
        await train(model, 0, 8);
        const tables = tablesOf(model);
        model.dispose();
        return tables;
      });
      await withCluster(two, { timeoutMs: 10_000 }, async () => {
        const model = makeModel();
        await train(model, 0, 3);
        await emb.cluster().save(join(folder, 'three'));
        await train(model, 3, 5);
        two[1]!.signal('SIGKILL');
        await two[1]!.ended;
        expect((await failedSteps(model, [5, 6])).error).toBeInstanceOf(emb.RuntimeError);
        await start(two[1]!.port);
        await emb.cluster().reconnect();
        await emb.cluster().restore(join(folder, 'three'));
        await train(model, 3, 8);
        expect(tablesOf(model)).toEqual(undisturbed);
        model.dispose();
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);

  it('says which server is not there', async () => {
    const [one, port] = [await start(), await freePort()];
    const ps = [`127.0.0.1:${one.port}`, `127.0.0.1:${port}`];
    const connecting = emb.connectCluster({ ps, name: newClusterName(), timeoutMs: 5000 });
    await expectAsync(connecting).toBeRejectedWithError(emb.RuntimeError, new RegExp(`server 127.0.0.1:${port}`));
    await expectAsync(tf.setBackend('tf-cluster')).toBeResolvedTo(false);
  }, 60_000);
});
