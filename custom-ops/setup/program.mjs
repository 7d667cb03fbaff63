/** The set-up program: takes the lock, goes through the parts, prints the table, decides the exit code. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { watchChildren } from './command.mjs';
import { takeLock } from './lock.mjs';
import { goThroughParts } from './parts.mjs';
import { build } from './places.mjs';
import { tableOf } from './table.mjs';
import { unusable } from './tensorflow.mjs';

const HELP = `Usage: tfjs-embeddings setup [--tensorflow PATH] [--compile] [--quiet] [--help]

Makes what native speed needs, and says what is there and what is not:
  dependencies   npm packages (in a clone), install scripts disabled
  TensorFlow     its C libraries and headers, out of its Python wheel (fetched with pip)
  tfjs-node      the binding of @tensorflow/tfjs-node
  addon          the kernels for Node, TensorFlow and Python
  WebAssembly    the kernels for browsers (in a clone)
  workers        the program of the TPU emulator's devices (in a clone)
  bundles        what npm publishes (in a clone)
The binding and the addon come out of a package for this platform where there is one, else they are compiled.
Nothing is made twice. What cannot be made is named with its reason, and the package works on what remains.

  --tensorflow PATH
                 a wheel of TensorFlow, or a folder of its libraries and headers, in place of what pip fetches
  --compile      compiles the binding and the addon here, with your compiler
  --quiet        prints the table only if something was made or is missing

Environment: CC, CXX, PYTHON name the programs to use. LIBTENSORFLOW_DIR names a TensorFlow to use instead of the wheel.
With CI=true a missing part is a failure (exit code 1); otherwise only missing dependencies are.
`;

const OPTIONS = {
  tensorflow: { type: 'string' },
  compile: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
};

/** Runs the set-up with command line arguments; resolves to the exit code. */
export async function setup(args) {
  let values;
  try {
    ({ values } = parseArgs({ args, options: OPTIONS }));
  } catch (error) {
    process.stderr.write(`setup: ${error.message.split('. ')[0]}\n\n${HELP}`);
    return 2;
  }
  const { compile, tensorflow, quiet, help } = values;
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  const problem = tensorflow === undefined ? null : unusable(tensorflow);
  if (problem !== null) {
    process.stderr.write(`setup: ${problem}\n`);
    return 2;
  }
  const rows = await makeParts({ wishes: { compile, tensorflowPath: tensorflow ?? null } });
  if (rows === null) return 1;
  const calm = rows.every((row) => row.state === 'present');
  // With --quiet the table is news for the person who waits, not output that a program would read.
  if (!quiet) process.stdout.write(`${tableOf(rows)}\n`);
  else if (!calm) process.stderr.write(`${tableOf(rows)}\n`);
  return exitCode(rows, process.env.CI);
}

/**
 * Makes the parts that `only` names, all where that is null, for the wishes of goThroughParts. Resolves to its rows; null
 * where nothing could be done, which is said.
 * @param {{ readonly only?: readonly string[] | null, readonly wishes?: object }} asked
 * @returns {Promise<{ name: string, state: string, why: string, seconds?: number }[] | null>}
 */
export async function makeParts({ only = null, wishes = {} }) {
  try {
    return await underLock((log) => goThroughParts({ log, make: true, only, wishes }));
  } catch (error) {
    // Of the parts each tells its own; this is the lock's: a full disk, a folder of another user.
    process.stderr.write(`set-up: ${error.message}\n`);
    return null;
  }
}

/** 1 when something is missing that must be there, else 0. */
export function exitCode(rows, ci) {
  const strict = ci === 'true' || ci === '1';
  return rows.some((row) => row.state === 'missing' && (strict || row.name === 'dependencies')) ? 1 : 0;
}

async function underLock(work) {
  const log = (text) => process.stderr.write(`set-up: ${text}\n`);
  try {
    mkdirSync(build, { recursive: true });
  } catch {
    // A folder that may not be written: each part will say what it could not make.
  }
  const lock = await takeLock(join(build, 'setup.lock'), log);
  watchChildren((pids) => lock.children(pids));
  try {
    return await work(log);
  } finally {
    watchChildren(() => {});
    lock.release();
  }
}
