/** Spec files over several processes: each takes the next file when it has done one. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../helpers/programs.js';
import type { Message, Task } from './messages.js';
import { inOwnNetwork } from './own_network.js';
import { needsOf, type Choice, type Need, type SpecFile } from './spec_files.js';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

export interface PoolOptions extends Choice, Task {
  /** In the order in which they are begun. */
  readonly files: readonly SpecFile[];
  readonly processes: number;
  /** What takes a while to be there: files that need it wait for it. */
  readonly waits: Partial<Record<Need, Promise<void>>>;
  /** Milliseconds without a word from a process until the file that it runs counts as hung. */
  readonly silence: number;
  readonly hear: (file: SpecFile, message: Message) => void;
  /** The program of the processes, where it is another. */
  readonly program?: string;
}

/** Ends a process with those that it started: it leads a group. */
function endAll(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

class Lane {
  #child: ChildProcess | null = null;
  /** Whether the process has servers of its files to itself. */
  #isForServers = false;
  #said = '';

  constructor(private readonly options: PoolOptions) {}

  /**
   * Runs a file, in the process of the file before unless that ended or is in another network. A process that dies is a
   * failure of this file.
   */
  run(file: SpecFile, isForServers: boolean): Promise<void> {
    if (this.needsAnother(isForServers)) this.end();
    this.#isForServers = isForServers;
    const child = (this.#child ??= this.#start());
    const { hear, silence } = this.options;
    hear(file, { kind: 'taken' });
    return new Promise((done) => {
      let during = 'before its first spec';
      let hung = false;
      const tooLate = (): void => {
        hung = true;
        endAll(child);
      };
      let timer = setTimeout(tooLate, silence);
      const finish = (): void => {
        clearTimeout(timer);
        child.off('message', listen).off('close', closed);
        done();
      };
      const listen = (message: Message): void => {
        clearTimeout(timer);
        timer = setTimeout(tooLate, silence);
        if (message.kind === 'begins') during = `in "${message.spec}"`;
        if (message.kind === 'ends') during = `after "${message.result.fullName}"`;
        hear(file, message);
        if (message.kind === 'done') finish();
      };
      const closed = (code: number | null, signal: string | null): void => {
        this.#child = null;
        endAll(child);
        const how = hung ? `said nothing for ${silence / 1000} s` : `ended with ${signal ?? code}`;
        const expectations = [{ message: `The process that ran it ${how}, ${during}.\n${this.#said}`.trimEnd() }];
        hear(file, { kind: 'failed', name: file.name, expectations });
        hear(file, { kind: 'done', status: 'failed' });
        finish();
      };
      child.on('message', listen).on('close', closed);
      child.send(file, (error) => {
        if (error !== null) endAll(child); // it is gone, and says so by `close`
      });
    });
  }

  /** Whether the file needs another process than the one that is there. */
  needsAnother(isForServers: boolean): boolean {
    return this.#child !== null && this.#isForServers !== isForServers;
  }

  end(): void {
    if (this.#child !== null) endAll(this.#child);
    this.#child = null;
  }

  #start(): ChildProcess {
    const { texts, isShort, program = WORKER } = this.options;
    const task: Task = { texts, isShort };
    const command = [process.execPath, ...WITH_SOURCES];
    const [execPath, ...execArgv] = (this.#isForServers ? inOwnNetwork(command) : command) as [string, ...string[]];
    const child = fork(program, [JSON.stringify(task)], {
      execPath,
      execArgv,
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
    });
    this.#said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      this.#said = (this.#said + chunk.toString()).slice(-2000);
    });
    child.on('error', () => endAll(child));
    return child;
  }
}

/** Resolves when every file is done; those that ask to be alone come last, one by one. */
export async function runInPool(options: PoolOptions): Promise<void> {
  const { files, processes, waits } = options;
  const needs = new Map(files.map((file) => [file, needsOf(file)]));
  const alone = files.filter((file) => needs.get(file)!.has('alone'));
  const queue = files.filter((file) => !alone.includes(file));
  const pending = new Map<Need, Promise<void>>();
  for (const [need, there] of Object.entries(waits) as [Need, Promise<void>][]) {
    pending.set(
      need,
      there.then(() => void pending.delete(need)),
    );
  }
  const lanes = Array.from({ length: processes }, () => new Lane(options));
  const endLanes = (): void => lanes.forEach((lane) => lane.end());
  process.once('exit', endLanes);
  const isForServers = (file: SpecFile): boolean => needs.get(file)!.has('servers');
  const take = async (lane: Lane): Promise<SpecFile | undefined> => {
    if (queue.length === 0) return undefined;
    const isReady = (file: SpecFile): boolean => ![...needs.get(file)!].some((need) => pending.has(need));
    // A lane stays with files of its process: another one loads the package anew.
    const of = queue.findIndex((file) => isReady(file) && !lane.needsAnother(isForServers(file)));
    const at = of >= 0 ? of : queue.findIndex(isReady);
    if (at >= 0) return queue.splice(at, 1)[0];
    await Promise.race(pending.values());
    return take(lane);
  };
  try {
    await Promise.all(
      lanes.map(async (lane) => {
        for (let file = await take(lane); file !== undefined; file = await take(lane)) {
          await lane.run(file, isForServers(file));
        }
      }),
    );
    await Promise.all(pending.values());
    lanes.slice(1).forEach((lane) => lane.end());
    for (const file of alone) await lanes[0]!.run(file, isForServers(file));
  } finally {
    process.off('exit', endLanes);
    endLanes();
  }
}
