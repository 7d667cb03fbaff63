// runner: python
// runner: servers
/** Servers that Python started, with the op library of this package and without it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addonPath, loadAddon } from '../../../src/backends/native/addon.js';
import { TableClient } from '../../backends/tensorflow/table_server.js';
import { PYTHON_TIMEOUT_MS, pythonWithTensorFlow, type Python } from '../../backends/tensorflow/python_tensorflow.js';
import { describeTensorFlow } from '../../backends/tensorflow/tensorflow_backend.js';
import { skipOrFail } from '../../helpers/backends.js';
import { ROOT } from '../../helpers/project.js';
import { ServerProcess, freePort } from '../../helpers/servers/server_process.js';

const SCRIPT = fileURLToPath(new URL('../../helpers/servers/stock_server.py', import.meta.url));

describeTensorFlow('a server in Python', () => {
  let python: Python | string;
  let absent: number;
  beforeAll(async () => {
    python = pythonWithTensorFlow();
    absent = await freePort();
  }, PYTHON_TIMEOUT_MS);
  beforeEach(() => {
    if (typeof python === 'string') skipOrFail(python);
  });

  /** Task 0 of two, the other of which is not there. */
  const start = (...args: string[]): Promise<ServerProcess> =>
    ServerProcess.start(undefined, (port) => {
      const cluster = { ps: [`127.0.0.1:${port}`, `127.0.0.1:${absent}`] };
      const TF_CONFIG = JSON.stringify({ cluster, task: { type: 'ps', index: 0 } });
      return { command: 'python3', args: [SCRIPT, ...args], env: { ...(python as Python).env, TF_CONFIG } };
    });

  const checked = async ({ port }: ServerProcess): Promise<unknown> => {
    const args = [join(ROOT, 'custom-ops', 'cli.mjs'), 'server', '--check', `127.0.0.1:${port}`, '--json'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    return JSON.parse(output);
  };

  it('has the ops of this package where their library was loaded', async () => {
    loadAddon().registerTensorFlow();
    const server = await start(addonPath());
    expect(await checked(server)).toEqual(jasmine.objectContaining({ ops: 'tfjs-embeddings', processId: server.pid }));
    const client = new TableClient(server);
    client.assign('table', Float32Array.of(1, 2, 3, 4), [2, 2]);
    expect(
      client.fetch(
        {
          values: [Int32Array.of(1, 0, 1), [3]],
          splits: [Int32Array.of(0, 1, 3), [3]],
          weights: [new Float32Array(0), [0]],
        },
        ['bag'],
      ),
    ).toEqual([Float32Array.of(3, 4, 4, 6)]);
    client.close();
    await server.end();
  }, 120_000);

  it('has stock ops without it', async () => {
    const server = await start();
    expect(await checked(server)).toEqual({ address: `127.0.0.1:${server.port}`, ops: 'stock' });
    await server.end();
  }, 120_000);
});
