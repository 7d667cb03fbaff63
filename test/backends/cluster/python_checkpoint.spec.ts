// runner: python
// runner: servers
/** Checkpoints as Python reads them, and those of servers that have TensorFlow's ops alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { skipOrFail } from '../../helpers/backends.js';
import { withCluster } from '../../helpers/servers/cluster.js';
import { freePort, ServerProcess } from '../../helpers/servers/server_process.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../tensorflow/python_tensorflow.js';
import { CheckpointModel, CUTS, SIZES, type Cut } from './checkpoint_model.js';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const STOCK_SERVER = path('../../helpers/servers/stock_server.py');
const READ = path('read_checkpoint.py');
const ALL_CUTS = Object.keys(CUTS) as Cut[];
const NAMES = SIZES.map((_, i) => `tables/t${i}/embeddings`);

interface Found {
  readonly shape: readonly number[];
  readonly values: readonly number[] | string;
}

describe('A checkpoint of a cluster in Python', () => {
  let python: Python | string;
  let folder = '';
  let servers: Record<'ours' | 'stock', ServerProcess[]> = { ours: [], stock: [] };

  const startStock = async (): Promise<ServerProcess> => {
    return ServerProcess.start(await freePort(), (port) => {
      const cluster = { ps: [`127.0.0.1:${port}`] };
      const TF_CONFIG = JSON.stringify({ cluster, task: { type: 'ps', index: 0 } });
      return { command: 'python3', args: [STOCK_SERVER], env: { ...(python as Python).env, TF_CONFIG } };
    });
  };

  beforeAll(async () => {
    python = pythonWithTensorFlow();
    if (typeof python === 'string') return;
    folder = mkdtempSync(join(tmpdir(), 'python-checkpoint-'));
    const [stock, ours] = await Promise.all([startStock(), ServerProcess.start()]);
    servers = { ours: [ours, await ServerProcess.start()], stock: [stock] };
  }, PYTHON_TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all([...servers.ours, ...servers.stock].map((server) => server.end()));
    if (folder !== '') rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  const on = <T>(kind: 'ours' | 'stock', body: () => Promise<T>): Promise<T> =>
    withCluster(servers[kind], {}, () => expectNoLeakAsync(body));

  /** The numbers of a table whose rows may lie in several tensors. */
  function tableOf(found: Readonly<Record<string, Found>>, name: string, [rows, columns]: readonly number[]): number[] {
    const whole = found[name];
    if (whole !== undefined) {
      expect(whole.shape).toEqual([rows!, columns!]);
      return [...(whole.values as number[])];
    }
    const table = new Array<number>(rows! * columns!);
    for (const piece of [0, 1]) {
      const { values } = found[`${name}/modulo${piece}of2`]!;
      (values as number[]).forEach((value, i) => {
        const row = piece + 2 * Math.floor(i / columns!);
        table[row * columns! + (i % columns!)] = value;
      });
    }
    return table;
  }

  it('has all tables and slots', async () => {
    for (const cut of ALL_CUTS) {
      const prefix = join(folder, cut);
      const { state, saved } = await on('ours', async () => {
        const model = new CheckpointModel(cut, 'adagrad');
        await model.train(1, 2);
        const saved = await emb.cluster().save(prefix);
        const state = await model.state();
        model.dispose();
        return { state, saved };
      });
      const printed = (python as Python).run(READ, prefix).trim().split('\n').at(-1)!;
      const found = JSON.parse(printed) as Record<string, Found>;
      NAMES.forEach((name, i) => {
        expect(tableOf(found, name, SIZES[i]!))
          .withContext(`${cut}: ${name}`)
          .toEqual(state[i]!);
        const slot = tableOf(
          found,
          saved.find((each) => each.startsWith(`${name}/`))!,
          SIZES[i]!,
        );
        expect(slot)
          .withContext(`${cut}: slot of ${name}`)
          .toEqual(state[SIZES.length + i]!);
      });
      const manifest = JSON.parse(found['tfjs_embeddings/tables']!.values as string) as { tables: unknown[] };
      expect(manifest.tables[0]).toEqual({
        name: NAMES[0]!,
        rows: SIZES[0][0],
        columns: SIZES[0][1],
        slotOf: null,
        modulo: cut === 'modulo' ? 2 : 1,
      });
    }
  }, 300_000);

  it('goes between servers with our ops and with those of TensorFlow, and deltas of them', async () => {
    for (const [from, to] of [
      ['ours', 'stock'],
      ['stock', 'ours'],
      ['stock', 'stock'],
    ] as const) {
      for (const cut of ['modulo', 'columns'] as const) {
        const prefix = join(folder, `${from}-${to}-${cut}`);
        const delta = `${prefix}.safetensors`;
        const [saved, later] = await on(from, async () => {
          const model = new CheckpointModel(cut, 'adagrad');
          await model.train(1, 2);
          await emb.cluster().save(prefix);
          const before = await model.state();
          await model.train(3);
          const { tables } = await emb.cluster().deltas({ since: prefix, file: delta });
          expect(Object.values(tables)).toEqual([2, 2, 2]);
          const after = model.tables();
          model.dispose();
          return [before, after];
        });
        await on(to, async () => {
          const model = new CheckpointModel('ranges', 'adagrad');
          await model.train(5);
          await emb.cluster().restore(prefix);
          expect(await model.state())
            .withContext(prefix)
            .toEqual(saved);
          const { tables } = await emb.cluster().deltas({ since: prefix, file: `${delta}.none` });
          expect(Object.values(tables)).toEqual([0, 0, 0]);
          await emb.weights.applyDelta(model.model, delta);
          expect(model.tables()).withContext(prefix).toEqual(later);
          model.dispose();
        });
      }
    }
    expect(tf.getBackend()).not.toBe('tf-cluster');
  }, 120_000);
});
