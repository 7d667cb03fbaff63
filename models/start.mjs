// @ts-check
/**
 * Sets this clone up and runs a model: `node models/start.mjs wide_and_deep --epochs 3`, which is `npm start`.
 *
 * Options come first, as set-up takes minutes where nothing is installed; so this needs Node alone.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setup } from '../custom-ops/setup/program.mjs';
import { optionsIn } from './command_line.mjs';
import * as demo from './demo/options.mjs';
import * as dlrm from './dlrm/options.mjs';
import * as matrixFactorization from './matrix_factorization/options.mjs';
import * as personal from './personal/options.mjs';
import * as sasrec from './sasrec/options.mjs';
import * as synthetic from './synthetic/options.mjs';
import * as tpuEmbedding from './tpu_embedding/options.mjs';
import * as twoTower from './two_tower/options.mjs';
import * as wideAndDeep from './wide_and_deep/options.mjs';

/** @type {ReadonlyMap<string, import('./command_line.mjs').CommandLine<unknown>>} */
const MODELS = new Map(
  Object.entries({
    wide_and_deep: wideAndDeep,
    matrix_factorization: matrixFactorization,
    two_tower: twoTower,
    dlrm,
    sasrec,
    synthetic,
    tpu_embedding: tpuEmbedding,
    demo,
    personal,
  }),
);

/**
 * Runs the model's program; resolves to its exit code. What would end this process goes on to it.
 * @param {string} name
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function run(name, args) {
  const main = fileURLToPath(new URL(`./${name}/main.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => void child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

const [name = '', ...args] = process.argv.slice(2);
const program = MODELS.get(name);
if (program === undefined) {
  process.stderr.write(`error: expected one of ${[...MODELS.keys()].join(', ')}, not "${name}"\n`);
  process.exitCode = 2;
} else if (optionsIn(args, program) !== null) {
  process.exitCode = (await setup(['--quiet'])) || (await run(name, args));
}
