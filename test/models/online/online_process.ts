/** The online recommender as a process of its own, as a user runs it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_DIST } from '../../helpers/programs.js';

const MAIN = fileURLToPath(new URL('../../../models/online/main.ts', import.meta.url));

export class OnlineProcess {
  static readonly #all = new Set<OnlineProcess>();

  /** Ends those that a spec which failed has left. */
  static killAll(): void {
    for (const each of OnlineProcess.#all) each.child.kill('SIGKILL');
  }

  #printed = '';
  #said = '';
  readonly #ended: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.#printed += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    OnlineProcess.#all.add(this);
    void this.#ended.then(() => OnlineProcess.#all.delete(this));
  }

  static run(args: readonly string[]): OnlineProcess {
    return new OnlineProcess(
      spawn(process.execPath, [...WITH_DIST, MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  }

  /** Resolves once it listens; throws with what it said where it ends before. */
  static async listening(args: readonly string[]): Promise<OnlineProcess> {
    const started = OnlineProcess.run(args);
    let hasEnded = false;
    void started.ended().then(() => (hasEnded = true));
    while (started.url === null) {
      if (hasEnded) throw new Error(`it ended: ${started.printed}${started.said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return started;
  }

  get printed(): string {
    return this.#printed;
  }

  get said(): string {
    return this.#said;
  }

  /** Where it listens; null: it does not yet. */
  get url(): string | null {
    return / at (http:\S+?),?(?: |\n)/.exec(this.#printed)?.[1] ?? null;
  }

  /** Resolves to the exit code; null: a signal ended it. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal);
    return this.#ended;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(this.url + path)).json()) as T;
  }

  async post(events: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}/events`, { method: 'POST', headers, body: JSON.stringify(events) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }
}
