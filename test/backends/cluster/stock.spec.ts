// runner: python
// runner: servers
/** Servers that Python started: with our ops they give our bits, with TensorFlow's alone they agree to 1e-6. */
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { addonPath } from '../../../src/backends/native/addon.js';
import { distributedCase } from '../../layers/distributed_embedding/generated_case.js';
import { runCase } from '../../layers/distributed_embedding/run.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../tensorflow/python_tensorflow.js';
import { skipOrFail } from '../../helpers/backends.js';
import { casesOf } from '../../forms/forms.js';
import { newClusterName, withCluster } from '../../helpers/servers/cluster.js';
import { freePort, ServerProcess } from '../../helpers/servers/server_process.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { commonTable, stepUp } from './common_table.js';
import { differences } from './differences.js';

const SCRIPT = fileURLToPath(new URL('../../helpers/servers/stock_server.py', import.meta.url));

const SEEDS = casesOf('STOCK_CASES');

describe('A cluster of servers in Python', () => {
  let python: Python | string;
  let servers: Record<'ours' | 'stock', ServerProcess[]> = { ours: [], stock: [] };

  /** Two servers that know of each other, as TF_CONFIG says. */
  async function start(...args: string[]): Promise<ServerProcess[]> {
    const ports = [await freePort(), await freePort()];
    const cluster = { ps: ports.map((port) => `127.0.0.1:${port}`) };
    return Promise.all(
      ports.map((port, index) =>
        ServerProcess.start(port, () => {
          const TF_CONFIG = JSON.stringify({ cluster, task: { type: 'ps', index } });
          return { command: 'python3', args: [SCRIPT, ...args], env: { ...(python as Python).env, TF_CONFIG } };
        }),
      ),
    );
  }

  beforeAll(async () => {
    python = pythonWithTensorFlow();
    if (typeof python === 'string') return;
    const [ours, stock] = await Promise.all([start(addonPath()), start()]);
    servers = { ours, stock };
  }, PYTHON_TIMEOUT_MS);
  afterAll(() => Promise.all([...servers.ours, ...servers.stock].map((server) => server.end())));
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  for (const [kind, tolerance] of [
    ['ours', 0],
    ['stock', 1e-6],
  ] as const) {
    it(`trains what two virtual devices do: ${kind}`, async () => {
      spyOn(console, 'warn');
      for (let seed = 1; seed <= SEEDS; seed++) {
        const example = distributedCase(seed);
        const expected = await withTpuEmulator({ chips: 2 }, () => runCase(example));
        const actual = await withCluster(servers[kind], {}, () => expectNoLeakAsync(() => runCase(example)));
        expect(differences(actual, expected, tolerance).slice(0, 3))
          .withContext(`seed ${seed}`)
          .toEqual([]);
      }
    }, 300_000);
  }

  it('decays rows without ids, and moves them where the rule does', async () => {
    const optimizers = [
      () => emb.train.adamW({ learningRate: 0.1, weightDecay: 0.1, lazy: false }),
      () => emb.train.adamW({ learningRate: 0.1, weightDecay: 0.1, lazy: true }),
      () => emb.train.adam({ learningRate: 0.1, lazy: false }),
    ];
    for (const [place, make] of optimizers.entries()) {
      const steps = (): number[] => {
        const layer = commonTable();
        const [optimizer, values] = [make(), tf.range(1, 1 + commonTable.rows * commonTable.dim)];
        const table = values.reshape([commonTable.rows, commonTable.dim]);
        layer.setWeights([table]);
        for (const row of [0, 20, 5]) {
          tf.tidy(() => {
            const ids = tf.tensor2d([[row, row + 1]], [1, 2], 'int32');
            optimizer.minimize(() => (layer.apply([ids]) as tf.Tensor[])[0]!.sum().asScalar());
          });
        }
        const found = Array.from(layer.getWeights()[0]!.dataSync());
        layer.dispose();
        optimizer.dispose();
        tf.dispose([values, table]);
        return found;
      };
      const wanted = await withTpuEmulator({ chips: 2 }, steps);
      const found = await withCluster(servers.stock, {}, steps);
      found.forEach((value, i) => {
        expect(Math.abs(value - wanted[i]!))
          .withContext(`optimizer ${place}, number ${i}`)
          .toBeLessThan(1e-5 * (1 + value));
      });
      // Row 29 was in no step.
      if (place === 0) expect(found.at(-1)).not.toBe(commonTable.rows * commonTable.dim);
    }
  });

  it('says which ops it has', async () => {
    for (const [kind, ops, implementation] of [
      ['ours', 'tfjs-embeddings', 'tensorflow'],
      ['stock', 'stock', 'generic'],
    ] as const) {
      await withCluster(servers[kind], {}, () => {
        expect(emb.cluster().servers.map((server) => server.ops)).toEqual([ops, ops]);
        const { devices, kernels } = emb.backendInfo();
        expect(devices).toEqual(jasmine.objectContaining({ kind: 'server', count: 2 }));
        expect(kernels['EmbeddingBag']!.implementation).toBe(implementation);
      });
    }
  });

  it('is found by TF_CONFIG', async () => {
    const before = process.env['TF_CONFIG'];
    const ps = servers.ours.map(({ port }) => `127.0.0.1:${port}`);
    process.env['TF_CONFIG'] = JSON.stringify({ cluster: { ps }, task: { type: 'chief', index: 0 } });
    try {
      const found = await emb.connectCluster({ name: newClusterName() });
      expect(found.map(({ address }) => address)).toEqual(ps);
    } finally {
      if (before === undefined) delete process.env['TF_CONFIG'];
      else process.env['TF_CONFIG'] = before;
    }
  });

  it('shares tables of stock servers too', async () => {
    const name = newClusterName();
    await withCluster(servers.stock, { name }, () => stepUp(commonTable(), 3));
    await withCluster(servers.stock, { name, tables: 'attach' }, () => {
      const layer = commonTable();
      stepUp(layer, 1);
      expect(Array.from(new Set(layer.getWeights()[0]!.dataSync()))).toEqual([4]);
    });
    await withCluster(servers.stock, { name, tables: 'readOnly' }, () => {
      const layer = commonTable();
      expect(() => stepUp(layer, 1)).toThrowError(emb.RuntimeError, /readOnly/);
      expect(() => layer.setWeights([tf.zeros([commonTable.rows, commonTable.dim])])).toThrowError(/readOnly/);
    });
  });
});
