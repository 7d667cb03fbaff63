/** TensorFlow servers on this machine, which end with this process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../custom-ops/cli.mjs', import.meta.url));

/** A port that nothing listens on. */
export function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Servers that run. */
export interface Servers {
  /** As `emb.connectCluster` takes them. */
  readonly ps: readonly string[];
  /** Lets running calls end, then the servers. */
  end(): Promise<void>;
}

async function startServer(task: number, memory: number | null): Promise<{ address: string; child: ChildProcess }> {
  const address = `127.0.0.1:${await freePort()}`;
  const limit = memory === null ? [] : ['--memory', String(memory)];
  const own = ['--task', `ps:${task}`, '--listen', address, '--network-is-private', '--until-input-ends'];
  const child = spawn(process.execPath, [COMMAND, 'server', ...own, ...limit], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { TF_CPP_MIN_LOG_LEVEL: '2', ...process.env },
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      if (text.includes('ready ')) resolve();
    });
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(`server ${task} ended with ${code}: ${said.trimEnd()}`)));
  });
  return { address, child };
}

/** Starts so many servers, and waits until they answer. `memory`: bytes of each; null: no limit. */
export async function startServers(count: number, memory: number | null): Promise<Servers> {
  const started = await Promise.allSettled(Array.from({ length: count }, (_, task) => startServer(task, memory)));
  const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const end = async (): Promise<void> => {
    const ends = running.map(({ child }) => {
      return child.exitCode === null ? new Promise((resolve) => child.once('close', resolve)) : null;
    });
    for (const { child } of running) child.stdin!.end();
    await Promise.all(ends);
  };
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await end();
    throw failed.reason;
  }
  // A program that waits for nothing else may end.
  for (const { child } of running) {
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref(): void }).unref();
  }
  return { ps: running.map(({ address }) => address), end };
}
