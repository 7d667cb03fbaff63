/** Programs in processes of their own, so that a crash or a hang is something to report. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../test/helpers/programs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LONGEST_TEXT = 2000;

export interface Ended {
  /** The last line on standard output, where the program ended with 0. */
  readonly lastLine: string;
  /** How it ended instead, with the last words on standard error; null where all is well. */
  readonly problem: string | null;
}

export interface ProgramOptions {
  /** Where it says nothing for so long on standard error; whole programs where nobody listens. */
  readonly timeoutMs: number;
  readonly nodeOptions?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told each line that the program writes on standard error. */
  readonly onLine?: (line: string) => void;
}

/** Runs a TypeScript file with Node in the root of the project, and kills it when its time is over: it hangs where it should speak and does not. */
export async function runProgram(
  file: URL,
  args: readonly (string | number)[],
  { timeoutMs, nodeOptions = [], env = {}, onLine }: ProgramOptions,
): Promise<Ended> {
  const command = [...nodeOptions, ...WITH_SOURCES, fileURLToPath(file), ...args.map(String)];
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err, isLate] = ['', '', false];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err = (err + text).slice(-LONGEST_TEXT)));
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  if (onLine !== undefined) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      timer.refresh();
      onLine(line);
    });
  }
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  const end = isLate
    ? `hangs: ${onLine === undefined ? 'not done' : 'silent'} after ${timeoutMs} ms`
    : code === 0
      ? null
      : `ended with ${code ?? signal}`;
  return {
    lastLine: out.trimEnd().split('\n').at(-1) ?? '',
    problem: end === null ? null : `${end}\n${err.trim()}`.trim(),
  };
}
