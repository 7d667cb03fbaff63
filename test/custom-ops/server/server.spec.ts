// runner: servers
/** The command `tfjs-embeddings server`. */
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fillInputs } from '../../../src/backends/fill.js';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { TableClient } from '../../backends/tensorflow/table_server.js';
import { describeTensorFlow } from '../../backends/tensorflow/tensorflow_backend.js';
import { outcomeOf, ROOT, type Outcome } from '../../helpers/project.js';
import { ServerProcess, freePort } from '../../helpers/servers/server_process.js';

const CLI = join(ROOT, 'custom-ops', 'cli.mjs');
const PRIVATE = '--network-is-private';

/** Runs the command to its end. */
function command(...args: string[]): Promise<Outcome> {
  return outcomeOf(spawn(process.execPath, [CLI, 'server', ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

describe('the command server', () => {
  const right = ['--task', 'ps:0', '--listen', '127.0.0.1:2222'];

  it('tells what it can do', async () => {
    const { code, output } = await command('--help');
    expect(code).toBe(0);
    for (const option of [
      '--task',
      '--listen',
      '--threads',
      '--memory',
      '--life',
      '--until-input-ends',
      PRIVATE,
      '--check',
      '--json',
    ]) {
      expect(output).toContain(option);
    }
  });

  for (const [args, words] of [
    [right, /^server: --network-is-private is missing: whoever reaches the port runs code/],
    [[PRIVATE], /--task is missing/],
    [['--task', 'ps:0', PRIVATE], /--listen is missing/],
    [['--task', 'ps', ...right.slice(2), PRIVATE], /--task: expected JOB:INDEX, such as ps:0, received ps/],
    [['--task', 'ps:-1', ...right.slice(2), PRIVATE], /--task: .*received ps:-1/],
    [['--task', 'table:0', ...right.slice(2), PRIVATE], /--task: expected a job of ps, worker, chief, received table/],
    ...['127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', ':2222', '::1:2222', 'a b:1', 'http://a:1'].map(
      (listen) =>
        [['--task', 'ps:0', '--listen', listen, PRIVATE], /--listen: expected ADDRESS:PORT, received /] as const,
    ),
    [[...right, '--threads', '0', PRIVATE], /--threads: expected a whole number from 1 to 64, received 0/],
    [[...right, '--threads', '65', PRIVATE], /--threads: .*received 65/],
    [[...right, '--memory', '8GB', PRIVATE], /--memory: expected a whole number .*received 8GB/],
    [[...right, '--life', '0', PRIVATE], /--life: expected a number above 0, received 0/],
    [[...right, '--json', PRIVATE], /--json: expected with --check/],
    [[...right, '--tasks', '1', PRIVATE], /'--tasks'/],
    [['--check', 'nowhere'], /--check: expected ADDRESS:PORT, received nowhere/],
    [['--check', '127.0.0.1:1', '--task', 'ps:0'], /--task: expected without --check/],
    [['something'], /something/],
  ] as [string[], RegExp][]) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, output, errors } = await command(...args);
      expect(code).toBe(2);
      expect(output).toBe('');
      expect(errors).toMatch(words);
      expect(errors.trim()).not.toContain('\n');
    });
  }
});

describeTensorFlow('a server that the command started', () => {
  const started: ServerProcess[] = [];
  const start = async (...args: string[]): Promise<ServerProcess> => {
    const listening = (port: number): string[] => ['--task', 'ps:0', '--listen', `127.0.0.1:${port}`, PRIVATE];
    const program = (port: number) => ({
      command: process.execPath,
      args: [CLI, 'server', ...listening(port), ...args],
    });
    started.push(await ServerProcess.start(undefined, program));
    return started.at(-1)!;
  };
  afterEach(async () => {
    for (const server of started.splice(0)) await server.end();
  });

  it('says what is to be feared, then where it is, and answers', async () => {
    const server = await start('--memory', '5000000000', '--threads', '1');
    const place = `127.0.0.1:${server.port}`;
    expect(server.output).toMatch(
      new RegExp(`^ready grpc://${place} job ps task 0 process ${server.pid} threads 1 .*\n$`),
    );
    for (const words of [/private networks only/, /asks nobody/, /Nothing is encrypted/, /all interfaces/]) {
      expect(server.errors).toMatch(words);
    }
    const found = await command('--check', place, '--json');
    expect(found.code).withContext(found.errors).toBe(0);
    const facts = JSON.parse(found.output) as Record<string, number>;
    expect(facts).toEqual(
      jasmine.objectContaining({
        address: place as never,
        ops: 'tfjs-embeddings' as never,
        memoryLimit: 5_000_000_000,
        threads: 1,
        processId: server.pid,
        kernels: 0,
      }),
    );
    expect(facts['residentBytes']).toBeGreaterThan(2 ** 26);
    const printed = await command('--check', `localhost:${server.port}`);
    expect(printed.output).toMatch(/ lives, with the ops of tfjs-embeddings\n[^]* of 5.00 GB\n$/);
    const second = await command('--task', 'ps:0', '--listen', place, PRIVATE);
    expect([second.code, second.errors]).toEqual([2, `server: port ${server.port} is in use\n`]);
  }, 60_000);

  it('lets calls finish when it is told to end', async () => {
    loadAddon().registerTensorFlow();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const server = await start('--threads', '1');
      const client = new TableClient(server);
      client.fetch({}, ['info']);
      const { kind, key, numbers, quantiles } = fillInputs({ kind: 'normal', mean: 0, deviation: 1, seed: 1 });
      const shape = Int32Array.of(2 ** 22, 16);
      const group = client.start(
        client.run(
          {
            shape: [shape, [2]],
            part: [Int32Array.of(0, 1, 0), [3]],
            kind: [Int32Array.of(kind), []],
            key: [key, [2]],
            numbers: [numbers, [3]],
            quantiles: [quantiles, [quantiles.length]],
          },
          [],
          ['fill/assign'],
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      server.signal(signal);
      expect(client.finish(group)[0]).toEqual(jasmine.objectContaining({ code: 0, message: '' }));
      expect(await server.ended).toBe(0);
      client.close();
    }
  }, 60_000);

  it('ends by itself where it was given a life', async () => {
    const server = await start('--life', '0.5');
    expect(await server.ended).toBe(0);
  }, 30_000);

  it('is not found where nothing answers', async () => {
    const port = await freePort();
    const absent = await command('--check', `127.0.0.1:${port}`);
    expect([absent.code, absent.output]).toEqual([1, '']);
    expect(absent.errors).toContain(`127.0.0.1:${port} does not answer: nothing listens`);
    // One that accepts and says nothing.
    const mute = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.on('listening', resolve));
    const { port: silent } = mute.address() as AddressInfo;
    const begun = performance.now();
    const unanswered = await command('--check', `127.0.0.1:${silent}`);
    expect(unanswered.code).toBe(1);
    expect(unanswered.errors).toContain('does not answer: nothing came within 5 s');
    expect(performance.now() - begun).toBeLessThan(15_000);
    // It is no server of ours, but has the port.
    const taken = await command('--task', 'ps:0', '--listen', `127.0.0.1:${silent}`, PRIVATE);
    expect(taken.code).toBe(2);
    mute.close();
  }, 60_000);

  it('listens at an address of its machine alone', async () => {
    const port = await freePort();
    const { code, errors } = await command('--task', 'ps:0', '--listen', `192.0.2.1:${port}`, PRIVATE);
    expect([code, errors]).toEqual([2, `server: 192.0.2.1:${port} is no address of this machine\n`]);
  });
});
