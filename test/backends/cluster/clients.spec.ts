// runner: servers
/** Several clients of the same servers. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { newClusterName, withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { commonTable, stepBy, stepUp } from './common_table.js';

const PROGRAM = fileURLToPath(new URL('client_program.ts', import.meta.url));

/** Another process that attaches to the table and takes steps. */
function otherClient(ps: readonly string[], name: string, steps: number): Promise<void> {
  const args = [...WITH_SOURCES, PROGRAM, ps.join(), name, String(steps)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' },
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`a client ended with ${code}: ${said}`))));
  });
}

/** Whether all numbers of the table are this one. */
function isAll(layer: emb.DistributedEmbedding, value: number): boolean {
  return layer
    .getWeights()[0]!
    .dataSync()
    .every((each) => each === value);
}

describe('Clients of one cluster', () => {
  let servers: ServerProcess[] = [];
  const addresses = (): string[] => servers.map(({ port }) => `127.0.0.1:${port}`);

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
  }, 120_000);
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  it('train at the same time, and no step of theirs is lost', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, async () => {
      const layer = commonTable();
      await Promise.all([otherClient(addresses(), name, 1000), otherClient(addresses(), name, 1000)]);
      const [table] = layer.getWeights();
      // Each step adds 1 to each number of the rows that it looks up.
      expect(Array.from(new Set(table!.dataSync()))).toEqual([2000]);
      layer.dispose();
    });
  }, 120_000);

  it('find tables after who made them has gone', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, () => {
      const layer = commonTable();
      stepUp(layer, 3);
    });
    await withCluster(servers, { name, tables: 'attach' }, () => {
      const layer = commonTable();
      stepUp(layer, 2);
      expect(Array.from(new Set(layer.getWeights()[0]!.dataSync()))).toEqual([5]);
      layer.dispose();
    });
    await withCluster(servers, { name, tables: 'readOnly' }, () => {
      const layer = commonTable();
      expect(Array.from(new Set(layer.getWeights()[0]!.dataSync()))).toEqual([5]);
      expect(() => stepUp(layer, 1)).toThrowError(emb.RuntimeError, /readOnly/);
      expect(() => layer.setWeights([tf.zeros([commonTable.rows, commonTable.dim])])).toThrowError(/readOnly/);
      expect(Array.from(new Set(layer.getWeights()[0]!.dataSync()))).toEqual([5]);
    });
  }, 60_000);

  it('end when their last step has', async () => {
    const name = newClusterName();
    const [server] = servers as [ServerProcess];
    const folder = mkdtempSync(join(tmpdir(), 'last-step-'));
    await withCluster([server], { name }, async () => {
      const layer = commonTable();
      let saving: Promise<unknown> = Promise.resolve();
      const optimizer = emb.train.sgd({ learningRate: 1 });
      tf.tidy(() => {
        optimizer.minimize(() => {
          const ids = tf.range(0, commonTable.rows, 1, 'int32').reshape([1, commonTable.rows]);
          const sum = (layer.apply([ids]) as tf.Tensor[])[0]!.sum().neg().asScalar();
          // The step waits behind a call that the server does not end.
          server.signal('SIGSTOP');
          saving = emb.cluster().save(join(folder, 'never'));
          return sum;
        });
      });
      emb.cluster().close();
      server.signal('SIGCONT');
      await saving.catch(() => undefined);
    });
    await withCluster([server], { name, tables: 'readOnly' }, async () => {
      const layer = commonTable();
      for (let tries = 0; tries < 100 && !isAll(layer, 1); tries++) await new Promise((go) => setTimeout(go, 20));
      expect(isAll(layer, 1)).toBeTrue();
    });
    rmSync(folder, { recursive: true });
  }, 60_000);

  it('see steps that were taken while somebody held the values of before', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, () => {
      const layer = commonTable();
      stepUp(layer, 1);
      const held = layer.getWeights()[0]!.clone();
      stepUp(layer, 2);
      expect(Array.from(new Set(held.dataSync()))).toEqual([1]);
      held.dispose();
    });
    await withCluster(servers, { name, tables: 'attach' }, () => {
      expect(Array.from(new Set(commonTable().getWeights()[0]!.dataSync()))).toEqual([3]);
    });
  }, 60_000);

  it('go on with the slots of others', async () => {
    const adagrad = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.25 });
    const table = (layer: emb.DistributedEmbedding): number[] => Array.from(layer.getWeights()[0]!.dataSync());
    const alone = await withCluster(servers, {}, () => {
      const layer = commonTable();
      stepBy(adagrad(), layer, 4);
      return table(layer);
    });
    const name = newClusterName();
    await withCluster(servers, { name }, () => stepBy(adagrad(), commonTable(), 2));
    await withCluster(servers, { name, tables: 'attach' }, () => {
      const layer = commonTable();
      stepBy(adagrad(), layer, 2);
      expect(table(layer)).toEqual(alone);
    });
  }, 60_000);

  it('make slots that nobody has made yet, with the values that new ones have', async () => {
    const adagrad = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.25 });
    const table = (layer: emb.DistributedEmbedding): number[] => Array.from(layer.getWeights()[0]!.dataSync());
    const step = (): number[] => {
      const layer = commonTable();
      stepBy(adagrad(), layer, 1);
      return table(layer);
    };
    const alone = await withCluster(servers, {}, step);
    const name = newClusterName();
    await withCluster(servers, { name }, () => void commonTable());
    expect(await withCluster(servers, { name, tables: 'attach' }, step)).toEqual(alone);
  }, 60_000);

  it('are refused, and change nothing, where tables are cut otherwise', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, () => {
      stepUp(commonTable(), 1);
    });
    for (const other of [{ rows: 31 }, { dim: 8 }, { rowSliceThreshold: null }]) {
      await withCluster(servers, { name, tables: 'attach' }, () => {
        expect(() => commonTable(other))
          .withContext(JSON.stringify(other))
          .toThrowError(emb.RuntimeError, /common/);
      });
    }
    await withCluster(servers.slice(0, 1), { name, tables: 'attach' }, () => {
      expect(() => commonTable()).toThrowError(emb.RuntimeError, /common/);
    });
    await withCluster(servers, { name: newClusterName(), tables: 'attach' }, () => {
      expect(() => commonTable()).toThrowError(emb.RuntimeError, /common/);
    });
    await withCluster(servers, { name, tables: 'readOnly' }, () => {
      expect(Array.from(new Set(commonTable().getWeights()[0]!.dataSync()))).toEqual([1]);
    });
  }, 60_000);
});
