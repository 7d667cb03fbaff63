// runner: servers
/** What clients of one name own, share and hear of each other; the other client is a process of its own. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { newClusterName, withCluster } from '../../../helpers/servers/cluster.js';
import { ServerProcess } from '../../../helpers/servers/server_process.js';
import { commonTable, stepBy, stepUp } from '../common_table.js';
import { CheckpointModel } from '../checkpoint_model.js';

const all = (layer: emb.DistributedEmbedding): number[] => [...new Set(layer.getWeights()[0]!.dataSync())];
const SHAPE: [number, number] = [commonTable.rows, commonTable.dim];
const adagrad = (): tf.Optimizer => emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.25 });

/** Ways in which the values of a table are assigned. */
const ASSIGNMENTS: Readonly<Record<string, (layer: emb.DistributedEmbedding, values: tf.Tensor) => void>> = {
  setWeights: (layer, values) => layer.setWeights([values]),
  'write of its weight': (layer, values) => void layer.weights[0]!.write(values),
  'assign of its variable': (layer, values) => (layer.weights[0]!.read() as tf.Variable).assign(values as tf.Tensor2D),
};

describe('Clients of a name', () => {
  let servers: ServerProcess[] = [];
  let folder = '';
  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
    folder = mkdtempSync(join(tmpdir(), 'sharing-'));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  /** A name with a table that counts the steps of its client, who has gone. */
  async function made(steps: number): Promise<string> {
    const name = newClusterName();
    await withCluster(servers, { name }, () => stepUp(commonTable(), steps));
    return name;
  }

  for (const [how, assign] of Object.entries(ASSIGNMENTS)) {
    it(`that attach write what they assign, by ${how}; joining writes nothing, and readers are refused`, async () => {
      const name = await made(2);
      await withCluster(servers, { name, tables: 'attach' }, () => {
        const layer = commonTable();
        expect(all(layer)).toEqual([2]);
        const values = tf.fill(SHAPE, 7);
        assign(layer, values);
        expect(all(layer)).toEqual([7]);
        stepUp(layer, 1);
        values.dispose();
      });
      await withCluster(servers, { name, tables: 'readOnly' }, () => {
        const layer = commonTable();
        const values = tf.fill(SHAPE, 9);
        expect(() => assign(layer, values)).toThrowError(emb.RuntimeError, /readOnly/);
        expect(all(layer)).toEqual([8]);
        values.dispose();
      });
    }, 60_000);
  }

  it('that attach train with a stock optimizer as one process does', async () => {
    const steps = (layer: emb.DistributedEmbedding): number[] => {
      const optimizer = tf.train.sgd(0.5);
      const found = Array.from({ length: 4 }, () => {
        const ids = tf.tidy(() => tf.range(0, commonTable.rows, 1, 'int32').reshape([1, commonTable.rows]));
        const loss = optimizer.minimize(() => (layer.apply([ids]) as tf.Tensor[])[0]!.sub(3).square().mean(), true)!;
        const value = loss.dataSync()[0]!;
        tf.dispose([ids, loss]);
        return value;
      });
      optimizer.dispose();
      return found;
    };
    const alone = await withCluster(servers, {}, () => steps(commonTable()));
    const name = newClusterName();
    await withCluster(servers, { name }, () => void commonTable());
    const attached = await withCluster(servers, { name, tables: 'attach' }, () => steps(commonTable()));
    expect(attached).toEqual(alone);
    expect(new Set(attached).size).toBe(4);
  }, 60_000);

  it("own it: 'create' under a name in use is refused, 'replace' makes its tables anew", async () => {
    const name = await made(3);
    await expectAsync(withCluster(servers, { name }, () => undefined)).toBeRejectedWithError(
      emb.ValueError,
      /`name`.*'create'.*common\/common\/embeddings.*'attach'.*'replace'/,
    );
    await withCluster(servers, { name, tables: 'attach' }, () => expect(all(commonTable())).toEqual([3]));
    await withCluster(servers, { name, tables: 'replace' }, () => {
      const layer = commonTable();
      expect(all(layer)).toEqual([0]);
      layer.dispose();
    });
    // What was disposed by the last who used it leaves the name free.
    await withCluster(servers, { name }, () => commonTable().dispose());
  }, 60_000);

  it('look up tables that are ready, not first values that nobody has trained, restored or written', async () => {
    const name = newClusterName();
    const prefix = join(folder, 'ready');
    await withCluster(servers, { name }, async () => {
      stepUp(commonTable(), 4);
      await emb.cluster().save(prefix);
    });
    await withCluster(servers, { name, tables: 'replace' }, () => void commonTable());
    await withCluster(servers, { name, tables: 'readOnly' }, () => {
      const layer = commonTable();
      expect(() => all(layer)).toThrowError(emb.RuntimeError, /ready.*first values/);
    });
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      commonTable();
      await emb.cluster().restore(prefix);
    });
    await withCluster(servers, { name, tables: 'readOnly' }, () => expect(all(commonTable())).toEqual([4]));
  }, 60_000);

  it('have one table for two models of one name, where they did not make it', async () => {
    const name = await made(5);
    for (const tables of ['attach', 'readOnly'] as const) {
      await withCluster(servers, { name, tables }, () => {
        const [one, two] = [commonTable(), commonTable()];
        expect([all(one), all(two)]).toEqual([[5], [5]]);
        one.dispose();
        expect(all(two)).toEqual([5]);
      });
    }
  }, 60_000);

  it('save and restore slots, whoever made them', async () => {
    const [name, prefix] = [newClusterName(), join(folder, 'slots')];
    const numbers = (layer: emb.DistributedEmbedding): number[] => Array.from(layer.getWeights()[0]!.dataSync());
    await withCluster(servers, { name }, () => stepBy(adagrad(), commonTable(), 2));
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      commonTable();
      const saved = await emb.cluster().save(prefix);
      expect(saved).toContain('common/common/embeddings/accumulators');
    });
    let wanted: number[] = [];
    await withCluster(servers, { name, tables: 'attach' }, () => {
      const layer = commonTable();
      stepBy(adagrad(), layer, 1);
      wanted = numbers(layer);
      stepBy(adagrad(), layer, 3);
    });
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      const layer = commonTable();
      await emb.cluster().restore(prefix);
      stepBy(adagrad(), layer, 1);
      expect(numbers(layer)).toEqual(wanted);
    });
  }, 60_000);

  it('that attach give tables the slots that are set', async () => {
    const name = newClusterName();
    type Saved = { name: string; tensor: tf.Tensor }[];
    await withCluster(servers, { name }, () => stepBy(adagrad(), commonTable(), 1));
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      const layer = commonTable();
      const [first] = layer.getWeights()[0]!.dataSync();
      const optimizer = emb.train.adagrad({ learningRate: 0.5, initialAccumulatorValue: 0.25 });
      const iterations = { name: 'iter', tensor: tf.scalar(1, 'int32') };
      const slot = { name: 'common/common/embeddings/accumulators', tensor: tf.fill(SHAPE, 8) };
      await optimizer.setWeights([iterations, slot] as Saved as never);
      stepBy(optimizer, layer, 1);
      expect(all(layer)[0]! - first!).toBeCloseTo(0.5 / 3, 5);
    });
  }, 60_000);

  it('that only look up make no slots with a step that is refused', async () => {
    const name = await made(1);
    await withCluster(servers, { name, tables: 'readOnly' }, () => {
      const layer = commonTable();
      expect(() => stepBy(emb.train.adagrad({ learningRate: 1, initialAccumulatorValue: 99 }), layer, 1)).toThrowError(
        emb.RuntimeError,
        /readOnly/,
      );
      expect(all(layer)).toEqual([1]);
    });
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      const layer = commonTable();
      stepBy(adagrad(), layer, 1);
      expect(all(layer)[0]).toBeCloseTo(1 + 0.5 / Math.sqrt(1.25), 5);
    });
  }, 60_000);

  it('are told of one server under two names', async () => {
    const [{ port }] = servers as [ServerProcess];
    const connecting = emb.connectCluster({ ps: [`127.0.0.1:${port}`, `localhost:${port}`], name: newClusterName() });
    await expectAsync(connecting).toBeRejectedWithError(emb.ValueError, /ps\[1\].*the server of ps\[0\]/);
  });

  it('are told of a host that is not known, before the deadline', async () => {
    const connecting = emb.connectCluster({ ps: ['no-such-host.invalid:2222'], name: newClusterName() });
    await expectAsync(connecting).toBeRejectedWithError(emb.RuntimeError, /server no-such-host.invalid:2222/);
  }, 60_000);

  it('change copied tables one at a time', async () => {
    const name = newClusterName();
    await withCluster(servers, { name }, async () => {
      await new CheckpointModel('copies', 'sgd').train(1);
    });
    await withCluster(servers, { name, tables: 'attach' }, async () => {
      const model = new CheckpointModel('copies', 'sgd');
      await model.train(2); // who changed them has gone
      const { runningCluster } = await import('../../../../src/backends/cluster/register.js');
      const { membership } = runningCluster()!.settings;
      // As another client would.
      membership.stores.forEach((store) =>
        store.update((record) => ({
          ...record!,
          tables: Object.fromEntries(
            Object.entries(record!.tables).map(([table, entry]) => [table, { ...entry, changedBy: 'another' }]),
          ),
        })),
      );
      const before = model.tables();
      await expectAsync(model.train(3)).toBeRejectedWithError(
        emb.RuntimeError,
        /copies.*another.*dataParallelThreshold/,
      );
      expect(model.tables()).toEqual(before);
      model.dispose();
    });
  }, 60_000);

  it('go on after a call that was not answered: readers by themselves, trainers after reconnect', async () => {
    const name = await made(6);
    const [server] = servers as [ServerProcess];
    for (const tables of ['readOnly', 'attach'] as const) {
      await withCluster(servers, { name, tables, timeoutMs: 1000 }, async () => {
        const layer = commonTable();
        expect(all(layer)).toEqual([6]);
        server.signal('SIGSTOP');
        expect(() => all(layer)).toThrowError(emb.RuntimeError, /no answer within 1000 ms/);
        server.signal('SIGCONT');
        if (tables === 'attach') {
          expect(() => all(layer)).toThrowError(emb.RuntimeError, /reconnect/);
          expect(await emb.cluster().reconnect()).toEqual([]);
        }
        expect(all(layer)).toEqual([6]);
      });
    }
  }, 60_000);

  it('are refused while another one restores, and after it where they train', async () => {
    const [name, prefix] = [newClusterName(), join(folder, 'told')];
    await withCluster(servers, { name }, async () => {
      stepUp(commonTable(), 2);
      await emb.cluster().save(prefix);
    });
    for (const tables of ['attach', 'readOnly'] as const) {
      await withCluster(servers, { name, tables }, async () => {
        const layer = commonTable();
        expect(all(layer)).toEqual([2]);
        const { runningCluster } = await import('../../../../src/backends/cluster/register.js');
        const { membership } = runningCluster()!.settings;
        // As another client does it.
        const { Membership } = await import('../../../../src/backends/cluster/record/membership.js');
        const sessions = membership.stores.map(({ session }) => session);
        const other = new Membership(sessions, name, 'attach', 'another');
        for (const store of other.stores) store.read();
        expect(other.refresh()).toBeNull();
        const token = other.close([{}, {}]);
        expect(() => all(layer)).toThrowError(emb.RuntimeError, /restoring/);
        other.open(token, new Set());
        if (tables === 'attach') {
          expect(() => stepUp(layer, 1)).toThrowError(emb.RuntimeError, /reconnect/);
          expect(await emb.cluster().reconnect()).toEqual([]);
        }
        expect(all(layer)).toEqual([2]);
      });
    }
  }, 60_000);

  it('save under prefixes that are found again, and are told of others', async () => {
    await withCluster(servers, {}, async () => {
      const layer = commonTable();
      for (const prefix of ['a[b', 'a\\b']) {
        await expectAsync(emb.cluster().save(join(folder, prefix))).toBeRejectedWithError(emb.ValueError, /prefix/);
      }
      for (const prefix of ['a b', 'a*b', 'ä?{}~']) {
        await emb.cluster().save(join(folder, prefix));
        await emb.cluster().restore(join(folder, prefix));
      }
      layer.dispose();
    });
    expect(readdirSync(folder).filter((file) => file.includes('_temp'))).toEqual([]);
  }, 60_000);
});
