// runner: servers
/** What becomes of a run whose answer is lost on its way. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { loadAddon, type RunResult, type SessionRun } from '../../../src/backends/native/addon.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { describeTensorFlow } from '../tensorflow/tensorflow_backend.js';
import { get, openOn, put, runAll } from './session_graph.js';

/** Passes bytes on; cuts the connection in place of the next answer, where that is asked for. */
class CuttingProxy {
  cuts = 0;
  cutsNext = false;
  private readonly sockets = new Set<Socket>();
  private constructor(
    private readonly to: number,
    private readonly listening = createServer((client) => this.join(client)),
  ) {}

  static async start(to: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(to);
    await new Promise<void>((resolve) => proxy.listening.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.listening.address() as AddressInfo).port;
  }

  private join(client: Socket): void {
    const server = connect(this.to, '127.0.0.1');
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const each of [client, server]) {
      this.sockets.add(each);
      each.on('error', end).on('close', end);
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      if (!this.cutsNext) return void client.write(bytes);
      this.cutsNext = false;
      this.cuts++;
      end();
    });
  }

  close(): void {
    this.listening.close();
    for (const each of this.sockets) each.destroy();
  }
}

describeTensorFlow('a run whose answer is lost', () => {
  it('is done once, though TensorFlow sends it again, and is told as an error', async () => {
    const { closeSession, finishRunsAsync, registerTensorFlow, startRuns } = loadAddon();
    registerTensorFlow();
    const server = await ServerProcess.start();
    const proxy = await CuttingProxy.start(server.port);
    const cut = openOn({ port: proxy.port, target: `grpc://127.0.0.1:${proxy.port}` });
    const direct = openOn(server);
    // The proxy is of this thread, which must not wait.
    const run = async (one: SessionRun): Promise<RunResult> => (await finishRunsAsync(startRuns(cut, [one])))[0]!;
    expect((await run(put(0))).code).toBe(0);
    for (let i = 1; i <= 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100)); // whatever gRPC has still to say
      proxy.cutsNext = true;
      const { code } = await run(put(i, 5000));
      expect(code).not.toBe(0);
    }
    expect(proxy.cuts).toBe(3);
    expect((await run(put(4))).code).toBe(0);
    const done: number[] = [];
    for (let next = runAll(direct, get(300))[0]!; next.code === 0; next = runAll(direct, get(300))[0]!) {
      done.push((next.values[0] as Float32Array)[0]!);
    }
    expect(done.filter((x, i) => done.indexOf(x) !== i)).toEqual([]);
    expect(done[0]).toBe(0);
    // A run that TensorFlow sends again may be done after those that were begun later.
    expect(done).toContain(4);
    for (const each of [cut, direct]) closeSession(each);
    proxy.close();
    await server.end();
  }, 60_000);
});
