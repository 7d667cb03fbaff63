/** Runs the specs in a process that holds every change of a room behind a switch; starts it anew where it is spoilt. */
import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from '../hunt.js';
import { whenLate } from '../specs/patience.js';
import type { SwitchAnswer, SwitchRequest } from './messages.js';

/** A spec file that was never run may take this long. */
const FIRST_SECONDS = 600;

/** Seconds that specs may take which take so many without a change. */
function limitFor(seconds: number | null): number {
  return seconds === null ? FIRST_SECONDS : 30 + 5 * seconds;
}

type Last = Exclude<SwitchAnswer, { kind: 'runs' }> | { kind: 'hung' | 'crashed'; file: string };

export class SwitchedSpecs {
  private child: ChildProcess | null = null;
  /** What specs do without a change, of these sources. */
  private readonly dryRuns: string;
  private readonly closed = (): void => this.close();

  /**
   * `switched` are the sources of the room with their switches, by path; they are written into the tree. What specs do
   * without a change is kept in a folder, until the sources differ.
   */
  constructor(
    private readonly tree: string,
    switched: ReadonlyMap<string, string>,
    folder: string,
  ) {
    const key = createHash('sha256')
      .update(JSON.stringify([...switched]))
      .digest('hex')
      .slice(0, 16);
    this.dryRuns = join(folder, key);
    if (!existsSync(this.dryRuns)) rmSync(folder, { recursive: true, force: true });
    for (const [path, text] of switched) writeFileSync(join(tree, path), text);
    process.once('exit', this.closed);
  }

  close(): void {
    this.endChild();
    process.off('exit', this.closed);
  }

  private endChild(): void {
    if (this.child === null) return;
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch {
      this.child.kill('SIGKILL');
    }
    this.child = null;
  }

  /** Null: it cannot be told here. */
  async find(request: SwitchRequest): Promise<Found | null> {
    for (let turn = 0; turn < 2; turn++) {
      const last = await this.ask(request);
      if (last.kind === 'caught') return { fate: 'caught', text: `${last.failure.spec}: ${last.failure.message}` };
      if (last.kind === 'missed') {
        const { thrown, files } = last;
        if (thrown === null) return { fate: 'survived', text: `${files} spec files run` };
        const isEndless = thrown.message.includes('Hit count limit');
        return { fate: isEndless ? 'hung' : 'thrown', text: `${thrown.spec}: ${thrown.message}` };
      }
      this.endChild();
      if (last.kind !== 'spoilt') return { fate: last.kind, text: last.file };
    }
    return null;
  }

  private start(): ChildProcess {
    const child = fork('tools/mutations/switched/program.ts', [this.dryRuns], {
      cwd: this.tree,
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: process.platform !== 'win32',
    });
    // It may end between two requests; the next one starts another.
    child.once('close', () => {
      if (this.child === child) this.child = null;
    });
    return child;
  }

  private ask(request: SwitchRequest): Promise<Last> {
    const child = (this.child ??= this.start());
    return new Promise((done) => {
      let file = request.files[0] ?? '';
      const waitFor = (seconds: number): (() => void) =>
        whenLate(child.pid!, seconds, () => end({ kind: 'hung', file }));
      let stopWaiting = waitFor(FIRST_SECONDS);
      const end = (last: Last): void => {
        stopWaiting();
        child.off('message', hear);
        child.off('close', closed);
        done(last);
      };
      const closed = (): void => end({ kind: 'crashed', file });
      const hear = (answer: SwitchAnswer): void => {
        if (answer.kind !== 'runs') {
          end(answer);
          return;
        }
        ({ file } = answer);
        stopWaiting();
        stopWaiting = waitFor(limitFor(answer.seconds));
      };
      child.on('message', hear);
      child.once('close', closed);
      child.send(request, (error) => error !== null && closed());
    });
  }
}
