/** Python with TensorFlow, installed once into a folder of the tests. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '2.21.0';
const PYTHON = process.platform === 'win32' ? 'python' : 'python3';
const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../../custom-ops/python/src', import.meta.url));
const INSTALL_MS = 540_000;
const RUN_MS = 240_000;
/**
 * What Python compiled is kept, whatever the environment says: without it each start of TensorFlow takes three times as
 * long. It lies apart, so that nothing is written beside sources of the wheel.
 */
const KEEPS_COMPILED = { PYTHONDONTWRITEBYTECODE: '', PYTHONPYCACHEPREFIX: join(CACHE, 'bytecode') };

/** Enough for the installation; specs that wait for it need this time limit. */
export const PYTHON_TIMEOUT_MS = INSTALL_MS + 2 * RUN_MS;

/** A script that runs while lines are still made for it. */
export interface RunningScript {
  /** Hands it a line, without the line feed. */
  write(line: string): void;
  /** There are no more lines; gives what it printed. Throws with what it said when it fails. */
  end(): Promise<string>;
}

export interface Python {
  /** Starts a script, which reads lines from its standard input. */
  start(script: string, ...args: string[]): RunningScript;
  /** Runs a script and returns what it printed. Throws with what it said when it fails. */
  run(script: string, ...args: string[]): string;
  /** What a process needs beside its own environment to find the packages with `python3`. */
  readonly env: Readonly<Record<string, string>>;
}

function python(args: readonly string[], timeout: number, env: NodeJS.ProcessEnv = {}): string {
  const options = { encoding: 'utf8', timeout, env: { ...process.env, ...env }, maxBuffer: 1 << 26 } as const;
  const { status, stdout, stderr, error } = spawnSync(PYTHON, args, options);
  if (error !== undefined) throw new Error(`${PYTHON} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${PYTHON} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

function startPython(args: readonly string[], timeout: number, env: NodeJS.ProcessEnv): RunningScript {
  const child = spawn(PYTHON, args, { timeout, env: { ...process.env, ...env } });
  const [out, said] = [[] as Buffer[], [] as Buffer[]];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  // A script that is gone says why when it is asked for what it printed.
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', ({ message }) => reject(new Error(`${PYTHON} cannot be run: ${message}`)));
    child.on('close', (status) => {
      const [printed, told] = [Buffer.concat(out).toString(), Buffer.concat(said).toString()];
      if (status === 0) resolve(printed);
      else reject(new Error(`${PYTHON} ended with ${status}:\n${printed}\n${told}`));
    });
  });
  ended.catch(() => {}); // told by `end`
  return {
    write: (line) => void child.stdin.write(`${line}\n`),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** Into a folder of packages and not a virtual environment: that needs pip alone, and Debian ships no `ensurepip`. */
function install(folder: string, packages: readonly string[], note: string): void {
  const partial = `${folder}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  console.log(`installing ${packages.join(' ')} for Python into ${folder} (once; ${note})`);
  const options = ['--target', partial, '--no-compile', '--only-binary=:all:', '--disable-pip-version-check', '-q'];
  python(['-m', 'pip', 'install', ...options, ...packages], INSTALL_MS, { PIP_USER: '0' });
  renameSync(partial, folder);
}

/** Folders of packages that Python shall find, each installed when it is first asked for. */
interface Packages {
  readonly folder: string;
  readonly names: readonly string[];
  readonly note: string;
}

const TENSORFLOW: Packages = {
  folder: `tensorflow-cpu-${VERSION}`,
  names: [`tensorflow-cpu==${VERSION}`],
  note: '1.5 GB',
};
/** Beside TensorFlow, which brings Keras 3 and everything else that they need. */
const KERAS: Packages = {
  folder: 'keras-rs-0.4.0-tf-keras-2.21.0',
  names: ['--no-deps', 'keras-rs==0.4.0', 'tf-keras==2.21.0'],
  note: '10 MB',
};

/** The converter of TensorFlow.js alone: what it imports for formats that nobody asks for here is not installed. */
const TENSORFLOWJS: Packages = {
  folder: 'tensorflowjs-4.22.0',
  names: ['--no-deps', 'tensorflowjs==4.22.0'],
  note: '1 MB',
};

/** ONNX with its checker, and onnxruntime, with what both import. */
const ONNX: Packages = {
  folder: 'onnx-1.23.2-onnxruntime-1.32.0',
  names: ['onnx==1.23.2', 'onnxruntime==1.32.0'],
  note: '150 MB',
};

/** With the packages that its readers of logs import, and TensorFlow does not bring. */
const TENSORBOARD: Packages = {
  folder: 'tensorboard-2.20.0',
  names: ['--no-deps', 'tensorboard==2.20.0', 'werkzeug==3.1.3', 'markupsafe==3.0.2', 'pillow==11.3.0'],
  note: '15 MB',
};

/** What Python finds beside packages that are installed. */
interface Beside {
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function pythonWith(all: readonly Packages[], beside: Beside = { folders: [], env: {} }): Python | string {
  try {
    const tag = python(['-c', 'import sys; print(sys.implementation.cache_tag)'], RUN_MS).trim();
    const folders = all.map(({ folder, names, note }) => {
      const path = join(CACHE, `${folder}-${tag}`);
      if (!existsSync(path)) install(path, names, note);
      return path;
    });
    const paths = [...folders, ...beside.folders];
    const env = { PYTHONPATH: paths.join(delimiter), TF_CPP_MIN_LOG_LEVEL: '2', ...KEEPS_COMPILED, ...beside.env };
    return {
      env,
      run: (script, ...args) => python([script, ...args], RUN_MS, env),
      start: (script, ...args) => startPython([script, ...args], RUN_MS, env),
    };
  } catch (error) {
    return `Python with ${all.map(({ folder }) => folder).join(' and ')} cannot be had: ${(error as Error).message}`;
  }
}

/** Python that can import TensorFlow, or the reason why there is none. */
export function pythonWithTensorFlow(): Python | string {
  return pythonWith([TENSORFLOW]);
}

/** Python that can import TensorFlow and the converter of TensorFlow.js, or the reason why there is none. */
export function pythonWithConverter(): Python | string {
  return pythonWith([TENSORFLOW, TENSORFLOWJS]);
}

/** Python that can import all that programs in the docs do, or the reason why there is none. */
export function pythonOfPages(library: string): Python | string {
  const env = { TFJS_EMBEDDINGS_LIBRARY: library };
  return pythonWith([TENSORFLOW, ONNX], { folders: [SOURCES], env });
}

/** Python that can import onnx and onnxruntime, or the reason why there is none. */
export function pythonWithOnnx(): Python | string {
  return pythonWith([ONNX]);
}

/** Python that can import TensorFlow and TensorBoard, or the reason why there is none. */
export function pythonWithTensorBoard(): Python | string {
  return pythonWith([TENSORFLOW, TENSORBOARD]);
}

/** Python that can import TensorFlow, Keras 3, Keras RS and Keras 2 (tf_keras), or the reason why there is none. */
export function pythonWithKeras(): Python | string {
  return pythonWith([TENSORFLOW, KERAS]);
}

/** Python that can import the sources of the wheel with this op library, or the reason why there is none. */
export function pythonWithSources(library: string): Python | string {
  const env = { TFJS_EMBEDDINGS_LIBRARY: library };
  return pythonWith([TENSORFLOW], { folders: [SOURCES], env });
}
