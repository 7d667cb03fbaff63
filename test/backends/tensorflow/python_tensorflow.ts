/** Python with TensorFlow, installed once into a folder of the tests. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '2.21.0';
const PYTHON = process.platform === 'win32' ? 'python' : 'python3';
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const INSTALL_MS = 540_000;
const RUN_MS = 240_000;

/** Enough for the installation; specs that wait for it need this time limit. */
export const PYTHON_TIMEOUT_MS = INSTALL_MS + 2 * RUN_MS;

export interface Python {
  /** Runs a script and returns what it printed. Throws with what it said when it fails. */
  run(script: string, ...args: string[]): string;
}

function python(args: readonly string[], timeout: number, env: NodeJS.ProcessEnv = {}): string {
  const options = { encoding: 'utf8', timeout, env: { ...process.env, ...env }, maxBuffer: 1 << 26 } as const;
  const { status, stdout, stderr, error } = spawnSync(PYTHON, args, options);
  if (error !== undefined) throw new Error(`${PYTHON} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${PYTHON} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** Into a folder of packages and not a virtual environment: that needs pip alone, and Debian ships no `ensurepip`. */
function install(folder: string): void {
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  console.log(`installing tensorflow-cpu ${VERSION} for Python into ${folder} (once; 1.5 GB)`);
  const options = ['--target', partial, '--no-compile', '--only-binary=:all:', '--disable-pip-version-check', '-q'];
  python(['-m', 'pip', 'install', ...options, `tensorflow-cpu==${VERSION}`], INSTALL_MS, { PIP_USER: '0' });
  renameSync(partial, folder);
}

/** Python that can import TensorFlow, or the reason why there is none. */
export function pythonWithTensorFlow(): Python | string {
  try {
    const tag = python(['-c', 'import sys; print(sys.implementation.cache_tag)'], RUN_MS).trim();
    const folder = join(CACHE, `tensorflow-cpu-${VERSION}-${tag}`);
    if (!existsSync(folder)) install(folder);
    const env = { PYTHONPATH: folder, TF_CPP_MIN_LOG_LEVEL: '2' };
    return { run: (script, ...args) => python([script, ...args], RUN_MS, env) };
  } catch (error) {
    return `Python with TensorFlow ${VERSION} cannot be had: ${(error as Error).message}`;
  }
}
