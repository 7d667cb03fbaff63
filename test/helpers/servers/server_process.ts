/** Servers of TensorFlow in processes of their own, on loopback. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('server_program.ts', import.meta.url));

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

/** A child process that ends with this one, however that ends: its standard input does. */
export class ServerProcess {
  readonly ended: Promise<void>;
  private readonly killed = (): void => void this.child.kill('SIGKILL');

  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
  ) {
    this.ended = new Promise((resolve) => child.on('close', () => resolve()));
    process.once('exit', this.killed); // one that is stopped sees no end of its input
  }

  /** Starts a server, and waits until it is there. */
  static async start(port?: number): Promise<ServerProcess> {
    const chosen = port ?? (await freePort());
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, String(chosen)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' },
    });
    const server = new ServerProcess(chosen, child);
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        if (text.includes('grpc://')) resolve();
      });
      child.on('error', reject);
      child.on('close', (code, signal) => reject(new Error(`the server ended with ${code ?? signal}: ${said}`)));
    });
    return server;
  }

  get target(): string {
    return `grpc://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it at once, a stopped one too. */
  async end(): Promise<void> {
    this.killed();
    await this.ended;
    process.off('exit', this.killed);
  }
}
