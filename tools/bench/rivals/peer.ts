/** A program that the bench measures: it is asked in JSON lines, one at a time. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a program says: of a step the median milliseconds, or why there is nothing to measure. */
export interface Answer {
  readonly version?: string;
  readonly missing?: string;
  readonly lacks?: string;
  readonly error?: string;
  readonly ms?: number;
  readonly losses?: number[];
  /** Why steps ran op by op. */
  readonly eager?: string;
}

/** Whoever can be measured. */
export interface Measured {
  readonly name: string;
  run(steps: number): Promise<number>;
}

/** Lines of what a program wrote to standard error that an error shows. */
const TOLD = 6;

export class Peer implements Measured {
  private readonly child: ChildProcess;
  private readonly lines: string[] = [];
  private waiting: ((answer: Answer) => void) | null = null;
  private readonly told: string[] = [];
  private ended: string | null = null;
  version = '';

  private constructor(
    readonly name: string,
    [program, ...args]: readonly string[],
    environment: NodeJS.ProcessEnv,
  ) {
    const child = spawn(program!, args, { env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child = child;
    createInterface({ input: child.stdout! }).on('line', (line) => {
      this.lines.push(line);
      this.deliver();
    });
    createInterface({ input: child.stderr! }).on('line', (line) => {
      this.told.push(line);
      if (this.told.length > TOLD) this.told.shift();
    });
    child.stdin!.on('error', () => undefined); // told by its end
    child.on('error', ({ message }) => this.end(message));
    child.on('close', (code, signal) => this.end(`ended with ${signal ?? code}: ${this.told.join(' | ')}`));
  }

  /** A program that is ready, or why there is none. */
  static async start(
    name: string,
    command: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Peer | string> {
    const peer = new Peer(name, command, environment);
    const { version, missing, error } = await peer.answer();
    if (version === undefined) {
      peer.stop();
      return missing ?? error ?? 'said nothing';
    }
    peer.version = version;
    return peer;
  }

  ask(request: Record<string, unknown> & { do: string }): Promise<Answer> {
    if (this.ended === null) this.child.stdin!.write(`${JSON.stringify(request)}\n`);
    return this.answer();
  }

  /** Median milliseconds of a step. */
  async run(steps: number): Promise<number> {
    const { ms, error, lacks } = await this.ask({ do: 'run', steps });
    if (ms === undefined) throw new Error(error ?? lacks ?? 'no time');
    return ms;
  }

  stop(): void {
    this.child.stdin!.end();
  }

  get isAlive(): boolean {
    return this.ended === null;
  }

  private answer(): Promise<Answer> {
    return new Promise((resolve) => {
      this.waiting = resolve;
      this.deliver();
    });
  }

  private deliver(): void {
    if (this.waiting === null) return;
    const line = this.lines.shift();
    if (line === undefined && this.ended === null) return;
    const resolve = this.waiting;
    this.waiting = null;
    resolve(line === undefined ? { error: this.ended! } : (JSON.parse(line) as Answer));
  }

  private end(why: string): void {
    this.ended ??= why;
    this.deliver();
  }
}
