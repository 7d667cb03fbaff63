/** Starts a process that runs specs in a sandbox, and ends it where it hangs. */
import { fork, type ChildProcess } from 'node:child_process';
import type { SpecMessage, SpecRequest } from './messages.js';
import { whenLate } from './patience.js';

export interface SpecProcessOptions extends SpecRequest {
  /** The sandbox. */
  readonly tree: string;
  /** How long a file may take, in seconds. */
  readonly limitOf: (file: string) => number;
  readonly env?: Readonly<Record<string, string>>;
  /** Modules that are loaded first. */
  readonly imports?: readonly string[];
  /** Called with each message as it comes. */
  readonly hear?: (message: SpecMessage) => void;
}

export interface SpecProcessEnd {
  readonly messages: readonly SpecMessage[];
  /** The file that was not done in time; null: none. */
  readonly hung: string | null;
  /** How the process ended by itself before all was done; null: it did not. */
  readonly crash: string | null;
}

/** Loading the package takes some seconds, on a busy machine many. */
const LOADING_SECONDS = 120;

function endAll(child: ChildProcess): void {
  // With the processes that specs started: the child leads a group.
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

export function runSpecs(options: SpecProcessOptions): Promise<SpecProcessEnd> {
  const { tree, files, hunts, limitOf, env = {}, imports = [], hear } = options;
  return new Promise((done) => {
    const messages: SpecMessage[] = [];
    let file = '';
    let hung: string | null = null;
    let said = '';
    const child = fork('tools/mutations/specs/spec_program.ts', [JSON.stringify({ files, hunts })], {
      cwd: tree,
      execArgv: [...imports, 'tsx'].flatMap((name) => ['--import', name]),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
    });
    const interrupted = (): void => endAll(child);
    process.once('exit', interrupted);
    const tooLate = (): void => {
      hung = file;
      endAll(child);
    };
    let stopWaiting = whenLate(child.pid!, LOADING_SECONDS, tooLate);
    child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
    child.on('message', (message: SpecMessage) => {
      messages.push(message);
      stopWaiting();
      file = message.file;
      stopWaiting = whenLate(child.pid!, message.kind === 'begins' ? limitOf(file) : LOADING_SECONDS, tooLate);
      hear?.(message);
    });
    child.on('close', (code, signal) => {
      stopWaiting();
      process.off('exit', interrupted);
      endAll(child);
      const failed = code !== 0 && hung === null;
      done({ messages, hung, crash: failed ? `ended with ${code ?? signal}: ${said.trim().slice(-600)}` : null });
    });
  });
}
