/** Test files of TensorFlow, run by Python in a process of its own that asks this package in another. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Python } from '../../../test/backends/tensorflow/python_tensorflow.js';

export interface TestFiles {
  /** The source tree. */
  readonly tree: string;
  /** The files, from the root of the tree, or absolute paths. */
  readonly files: readonly string[];
  /** Of TensorFlow 1 (graphs and sessions) or 2. */
  readonly behaviour: 'v1' | 'v2';
  /** Texts of which the name of a case must hold one; none: all cases. */
  readonly texts: readonly string[];
  /** Hears of each file that ends: its cases, failures and seconds. */
  readonly say?: (line: string) => void;
}

/** What became of one case. */
export interface CaseLine {
  readonly name: string;
  /** The file that has it, as it was given. */
  readonly file: string;
  /** `refused`: it needs what tfjs lacks. `reaches nothing`: it passed and asked the package nothing. */
  readonly status: 'passed' | 'failed' | 'skipped' | 'refused' | 'reaches nothing';
  readonly message: string;
  readonly seconds: number;
}

/** A case, a file that begins, or the end. */
interface Line {
  readonly name: string;
  readonly file: string;
  readonly status: CaseLine['status'] | 'file' | 'end';
  readonly message: string;
  readonly seconds: number;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('python/run_tests.py', import.meta.url));
const PACKAGE = fileURLToPath(new URL('served/main.ts', import.meta.url));
const BYTECODE = fileURLToPath(new URL('../../../test/.cache/bytecode', import.meta.url));
const TIMEOUT_MS = 4 * 3_600_000;
const LONGEST_TEXT = 4000;
const LOOK_EVERY_MS = 2000;

/** What became of the cases of some files. A process that ends early is a failure of its file; those behind it run anew. */
export async function runTestFiles(python: Python, run: TestFiles): Promise<CaseLine[]> {
  const { files, behaviour } = run;
  const { lines, problem } = await runProcess(python, run);
  const cases = lines
    .filter((line): line is CaseLine => line.status !== 'file' && line.status !== 'end')
    .map((line) => ({ ...line, name: `${line.name} (${behaviour})` }));
  if (problem === null) return cases;
  const begun = Math.max(1, lines.filter(({ status }) => status === 'file').length);
  const file = files[begun - 1]!;
  const name = `the process of ${file} (${behaviour})`;
  const rest = files.slice(begun);
  const others = rest.length === 0 ? [] : await runTestFiles(python, { ...run, files: rest });
  return [...cases, { name, file, status: 'failed', message: problem, seconds: 0 }, ...others];
}

/** The lines of one process, and how it ended where it ended early. */
async function runProcess(
  python: Python,
  { say, ...run }: TestFiles,
): Promise<{ lines: Line[]; problem: string | null }> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const results = join(folder, 'results.jsonl');
  // Parts of tfjs-converter that it calls name each other without `.js`, which tsx alone resolves.
  const command = [process.execPath, '--import', 'tsx', PACKAGE];
  try {
    const options = JSON.stringify({ ...run, command, cwd: ROOT, results });
    const child = spawn(process.platform === 'win32' ? 'python' : 'python3', [PROGRAM, options], {
      // Neither the source tree nor the packages are written to; compiling them takes longer than importing them.
      env: { ...process.env, ...python.env, PYTHONPYCACHEPREFIX: BYTECODE, TEST_TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    let [said, told] = ['', 0];
    const tell = (): void => {
      const ended = filesOf(readLines(results));
      ended.slice(told).forEach((line) => say?.(`  ${line} (${run.behaviour})`));
      told = ended.length;
    };
    const looks = setInterval(tell, LOOK_EVERY_MS);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-LONGEST_TEXT)));
    const status = await new Promise<number | string | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? signal));
    }).finally(() => clearInterval(looks));
    tell();
    const lines = readLines(results);
    const isWhole = status === 0 && lines.at(-1)?.status === 'end';
    return { lines, problem: isWhole ? null : `ended with ${status}: ${said}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines that are whole: the process may be writing the last one. */
function readLines(results: string): Line[] {
  const text = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** What became of the files that have ended, in words. */
function filesOf(lines: readonly Line[]): string[] {
  const starts = lines.flatMap(({ status }, i) => (status === 'file' || status === 'end' ? [i] : []));
  return starts.slice(0, -1).map((start, i) => {
    const cases = lines.slice(start + 1, starts[i + 1]);
    const failed = cases.filter(({ status }) => status === 'failed').length;
    const seconds = cases.reduce((sum, each) => sum + each.seconds, 0);
    return `${lines[start]!.name}: ${cases.length} cases, ${failed} fail, ${seconds.toFixed(0)} s`;
  });
}
