// runner: servers
/** Checkpoints that servers write and read. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { casesOf } from '../../forms/forms.js';
import { newClusterName, withCluster } from '../../helpers/servers/cluster.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { CheckpointModel, CUTS, type Cut } from './checkpoint_model.js';

const ALL_CUTS = Object.keys(CUTS) as Cut[];
/** Under which each checkpoint is restored on each number of servers. */
const PLANS = casesOf('CHECKPOINT_PLANS');

describe('A checkpoint of a cluster', () => {
  let servers: ServerProcess[] = [];
  let folder = '';

  beforeAll(async () => {
    servers = await Promise.all([ServerProcess.start(), ServerProcess.start(), ServerProcess.start()]);
    folder = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  const on = <T>(count: number, body: () => Promise<T>, args: emb.ConnectClusterArgs = {}): Promise<T> =>
    withCluster(servers.slice(0, count), args, async () => {
      const before = tf.memory().numTensors;
      const result = await body();
      expect(tf.memory().numTensors).toBe(before);
      return result;
    });

  for (const [optimizer, cuts] of [
    ['adagrad', ALL_CUTS],
    ['adam', ['modulo', 'columns']],
  ] as const) {
    for (const cut of cuts) {
      it(`of ${cut} on 2 servers brings back ${optimizer} on 1, 2 and 3, under any plan`, async () => {
        const prefix = join(folder, `${cut}-${optimizer}`);
        let after: number[][] = [];
        let saved: string[] = [];
        await on(2, async () => {
          const model = new CheckpointModel(cut, optimizer);
          await model.train(1, 2, 3);
          saved = await emb.cluster().save(prefix);
          await model.train(4, 5);
          after = await model.state();
          model.dispose();
        });
        const files = readdirSync(folder).filter((name) => name.startsWith(`${cut}-${optimizer}`));
        expect(files.some((name) => name.endsWith('_temp'))).toBeFalse();
        for (const count of [1, 2, 3]) {
          // Others with each cut and number of servers.
          const first = ALL_CUTS.indexOf(cut) + count;
          for (let i = 0; i < PLANS; i++) {
            const other = ALL_CUTS[(first + i) % ALL_CUTS.length]!;
            await on(count, async () => {
              const model = new CheckpointModel(other, optimizer);
              await model.train(7, 8, 9); // so many steps, of another kind
              expect((await emb.cluster().restore(prefix)).sort()).toEqual([...saved].sort());
              await model.train(4, 5);
              expect(await model.state())
                .withContext(`${other} on ${count}`)
                .toEqual(after);
              model.dispose();
            });
          }
        }
      }, 120_000);
    }
  }

  it('gives slots their values when an optimizer makes them', async () => {
    const prefix = join(folder, 'late');
    const after = await on(2, async () => {
      const model = new CheckpointModel('modulo', 'adagrad');
      await model.train(1, 2, 3);
      await emb.cluster().save(prefix);
      await model.train(4);
      const state = await model.state();
      model.dispose();
      return state;
    });
    for (const cut of ALL_CUTS) {
      await on(3, async () => {
        const model = new CheckpointModel(cut, 'adagrad');
        const restored = await emb.cluster().restore(prefix);
        expect(restored).toEqual(['t0', 't1', 't2'].map((name) => `tables/${name}/embeddings`));
        await model.train(4);
        expect(await model.state())
          .withContext(cut)
          .toEqual(after);
        // Once only: those of the next optimizer begin anew.
        model.renew('adagrad');
        await model.train(10);
        const slots = (await model.state())
          .slice(3)
          .map((slot) => new Set(slot.filter((value) => value === 0.25)).size);
        expect(slots.slice(0, 2)).toEqual([1, 1]);
        model.dispose();
      });
    }
  }, 60_000);

  it('begins slots anew that were not there when it was saved', async () => {
    const prefix = join(folder, 'early');
    await on(2, async () => {
      const model = new CheckpointModel('ranges', 'adagrad');
      await emb.cluster().save(prefix);
      await model.train(1, 2);
      const after = await model.state();
      await emb.cluster().restore(prefix);
      await model.train(1, 2);
      expect(await model.state()).toEqual(after);
      model.dispose();
    });
  });

  it('is written over and over without a larger graph', async () => {
    await on(2, async () => {
      const model = new CheckpointModel('modulo', 'adam');
      await model.train(1);
      const sizes: number[] = [];
      const { runningCluster } = await import('../../../src/backends/cluster/register.js');
      for (const number of [1, 2, 3]) {
        const prefix = join(folder, `again-${number}`);
        const done: number[] = [];
        await emb.cluster().save(prefix, { onProgress: (part) => done.push(part) });
        expect(done.at(-1)).toBe(1);
        await emb.cluster().restore(prefix, { onProgress: (part) => done.push(part) });
        expect(done.at(-1)).toBe(1);
        await model.train(number);
        sizes.push(runningCluster()!.settings.devices.reduce((sum, { session }) => sum + session.graph.size, 0));
      }
      expect(sizes[2]).toBe(sizes[1]!);
      model.dispose();
    });
  });

  it('of a table of several blocks is written and read while JavaScript goes on', async () => {
    const sizes = [[600_000, 32]] as const;
    const rows = (model: CheckpointModel): Float32Array => model.layer.getWeights()[0]!.dataSync<'float32'>().slice();
    /** Saves under one plan and restores under others; each model begins with numbers of its own. */
    const moved = async (count: number, cut: Cut, others: readonly (readonly [number, Cut])[]): Promise<void> => {
      const prefix = join(folder, `large-${cut}`);
      const before = await on(count, async () => {
        const model = new CheckpointModel(cut, 'sgd', sizes);
        let turns = 0;
        let isSaving = true;
        const saving = emb.cluster().save(prefix);
        void saving.finally(() => (isSaving = false));
        while (isSaving) {
          await new Promise((resolve) => setImmediate(resolve));
          turns++;
        }
        expect(turns).toBeGreaterThan(10);
        const values = rows(model);
        model.dispose();
        return values;
      });
      for (const [servers, other] of others) {
        await on(servers, async () => {
          const model = new CheckpointModel(other, 'sgd', sizes);
          const zeros = tf.zeros([600_000, 32]);
          model.layer.setWeights([zeros]);
          zeros.dispose();
          await emb.cluster().restore(prefix);
          const wrong = rows(model).findIndex((value, i) => value !== before[i]);
          expect(wrong).withContext(`${cut} to ${other}`).toBe(-1);
          model.dispose();
        });
      }
    };
    await moved(1, 'whole', [
      [2, 'modulo'],
      [2, 'columns'],
    ]);
    await moved(2, 'modulo', [
      [1, 'whole'],
      [2, 'modulo'],
      [2, 'columns'],
    ]);
  }, 120_000);

  it('is not needed for a model of its own, which loads without servers', async () => {
    const file = join(folder, 'model.tfjs');
    const tables = await on(2, async () => {
      const model = new CheckpointModel('modulo', 'sgd');
      await model.train(1, 2);
      await model.model.save(`file://${file}`);
      const found = model.tables();
      model.dispose();
      return found;
    });
    expect(tf.getBackend()).not.toBe('tf-cluster');
    const loaded = await tf.loadLayersModel(`file://${file}/model.json`);
    const layer = loaded.getLayer('tables');
    expect(layer.getWeights().map((table) => Array.from(table.dataSync()))).toEqual(tables);
    loaded.dispose();
  });

  it('is saved by clients that only look up, who cannot restore it', async () => {
    const name = newClusterName();
    const prefix = join(folder, 'read-only');
    await withCluster(servers, { name }, async () => {
      await new CheckpointModel('ranges', 'sgd').train(1);
    });
    await withCluster(servers, { name, tables: 'readOnly' }, async () => {
      const model = new CheckpointModel('ranges', 'sgd');
      const saved = await emb.cluster().save(prefix);
      expect(saved.length).toBe(3);
      await expectAsync(emb.cluster().restore(prefix)).toBeRejectedWithError(emb.RuntimeError, /readOnly/);
      model.dispose();
    });
  });

  it('is refused, and nothing is written, where it lacks a table or has another size of it', async () => {
    const prefix = join(folder, 'small');
    await on(1, async () => {
      const model = new CheckpointModel('whole', 'sgd', [[5, 2]]);
      await emb.cluster().save(prefix);
      model.dispose();
    });
    for (const [sizes, text] of [
      [[[6, 2]], /tables\/t0\/embeddings, \[6, 2\], received .*small, where it is \[5, 2\]/],
      [[[5, 3]], /\[5, 3\].*\[5, 2\]/],
      [
        [
          [5, 2],
          [4, 2],
        ],
        /tables\/t1\/embeddings, \[4, 2\], received .*small, which has tables\/t0\/embeddings/,
      ],
    ] as const) {
      await on(2, async () => {
        const model = new CheckpointModel('whole', 'sgd', sizes);
        const before = model.tables();
        await expectAsync(emb.cluster().restore(prefix)).toBeRejectedWithError(emb.ValueError, text);
        expect(model.tables()).toEqual(before);
        model.dispose();
      });
    }
  });

  it('is refused where there is none, and what cannot be written leaves the earlier one', async () => {
    await on(2, async () => {
      await expectAsync(emb.cluster().save(join(folder, 'none'))).toBeRejectedWithError(emb.RuntimeError, /tables/);
      const model = new CheckpointModel('ranges', 'adagrad');
      await model.train(1);
      const restore = (prefix: unknown): Promise<string[]> => emb.cluster().restore(prefix as string);
      await expectAsync(restore(join(folder, 'nothing'))).toBeRejectedWithError(
        emb.ValueError,
        /nothing, of which server 127.0.0.1:\d+ says: .*nothing/,
      );
      await expectAsync(emb.cluster().save(join(folder, 'no', 'such', 'folder'))).toBeRejectedWithError(
        emb.RuntimeError,
        /server 127.0.0.1:\d+.*no\/such\/folder/,
      );
      await expectAsync(restore(3)).toBeRejectedWithError(TypeError, /prefix/);
      for (const prefix of ['', ' ', '/a/', 'a\0b']) {
        await expectAsync(restore(prefix)).toBeRejectedWithError(emb.ValueError, /prefix/);
      }
      const bad = (options: object): Promise<unknown> => emb.cluster().save(join(folder, 'bad'), options);
      await expectAsync(bad({ timeoutMs: 0 })).toBeRejectedWithError(emb.ValueError, /timeoutMs/);
      await expectAsync(bad({ timeoutMs: '1' })).toBeRejectedWithError(TypeError, /timeoutMs/);
      await expectAsync(bad({ onProgress: 1 })).toBeRejectedWithError(TypeError, /onProgress/);
      await expectAsync(bad({ timeout: 1 })).toBeRejectedWithError(emb.ValueError, /timeoutMs/);
      await model.train(2); // tables still count
      model.dispose();
    });
  });
});
