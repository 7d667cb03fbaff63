/** Servers of TensorFlow in processes of their own, on loopback. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '../../../models/servers.js';
import { ROOT } from '../project.js';

export { freePort };

const CLI = join(ROOT, 'custom-ops', 'cli.mjs');

/** How a server is started. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** The command of this package, as a task of its cluster. */
export function serverCommand(task: number, ...options: string[]): (port: number) => ServerProgram {
  return (port) => {
    const where = ['--task', `ps:${task}`, '--listen', `127.0.0.1:${port}`];
    const args = [CLI, 'server', ...where, '--network-is-private', '--until-input-ends', ...options];
    return { command: process.execPath, args };
  };
}

/** A child process that ends with this one, however that ends: its standard input does. */
export class ServerProcess {
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** What it has printed, and what it said on standard error. */
  output = '';
  errors = '';
  private readonly killed = (): void => void this.child.kill('SIGKILL');

  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
  ) {
    this.ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));
    process.once('exit', this.killed); // one that is stopped sees no end of its input
    void this.ended.then(() => process.off('exit', this.killed));
  }

  /** Starts a server on a port, a free one if none is given, and waits until it is there. */
  static async start(
    port?: number,
    program: (port: number) => ServerProgram = serverCommand(0),
  ): Promise<ServerProcess> {
    const chosen = port ?? (await freePort());
    const { command, args, env } = program(chosen);
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2', ...env },
    });
    const server = new ServerProcess(chosen, child);
    child.stderr.on('data', (text: Buffer) => (server.errors += text.toString()));
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        server.output += text.toString();
        if (server.output.includes('grpc://')) resolve();
      });
      child.on('error', reject);
      void server.ended.then((end) => reject(new Error(`the server ended with ${end}: ${server.errors}`)));
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
  }
}
