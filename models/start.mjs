// @ts-check
/**
 * Sets up what a model needs in this clone, and runs it: `node models/start.mjs wide_and_deep --epochs 3`, which is
 * `npm start`.
 *
 * Options come first, as set-up takes a minute where nothing is installed; so this needs Node alone.
 */
import { fileURLToPath } from 'node:url';
import { makeParts } from '../custom-ops/setup/program.mjs';
import { tableOf } from '../custom-ops/setup/table.mjs';
import { runTypescript } from '../custom-ops/typescript/run.mjs';
import { optionsIn } from './command_line.mjs';
import { CLUSTER, EMULATOR } from './device_options.mjs';
import * as demo from './demo/options.mjs';
import * as dlrm from './dlrm/options.mjs';
import * as matrixFactorization from './matrix_factorization/options.mjs';
import * as online from './online/options.mjs';
import * as perLayer from './per_layer/options.mjs';
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
    per_layer: perLayer,
    online,
  }),
);

/**
 * @typedef {object} Asked what options say of backends
 * @property {string | null} [backend]
 * @property {string | null} [host]
 * @property {{ readonly host?: string | null } | null} [onDevices]
 * @property {string | null} [export]
 */

/**
 * The parts of set-up that a run needs: TensorFlow's 270 MB and WebAssembly only where something computes with them.
 * @param {Asked} asked
 */
function partsFor({ backend, host = null, onDevices = null, export: exported = null }) {
  const names = [backend, host, onDevices?.host];
  const hasTensorflow = exported !== null || names.includes('tensorflow') || backend === CLUSTER;
  // What has no choice of backends has a page, or devices.
  const isOnHost =
    backend !== undefined && backend !== 'wasm' && backend !== EMULATOR && host === null && onDevices === null;
  return [
    ...(hasTensorflow ? ['TensorFlow', 'tfjs-node'] : []),
    ...['dependencies', 'addon'],
    ...(isOnHost || backend === CLUSTER ? [] : ['WebAssembly', 'workers']),
  ];
}

/**
 * Makes what a run needs, and says what was made or is missing; WebAssembly too where the native addon cannot be made.
 * Resolves to whether the run can begin.
 * @param {Asked} asked
 * @returns {Promise<boolean>}
 */
async function setUpFor(asked) {
  const only = partsFor(asked);
  const rows = await makeParts({ only });
  if (rows === null) return false;
  if (rows.some(({ name, state }) => name === 'addon' && state === 'missing') && !only.includes('WebAssembly')) {
    rows.push(...((await makeParts({ only: ['dependencies', 'WebAssembly'] })) ?? []).slice(1));
  }
  if (rows.some(({ state }) => state !== 'present')) process.stderr.write(`${tableOf(rows)}\n`);
  return rows.every(({ name, state }) => name !== 'dependencies' || state !== 'missing');
}

const [name = '', ...args] = process.argv.slice(2);
const program = MODELS.get(name);
if (program === undefined) {
  process.stderr.write(`error: expected one of ${[...MODELS.keys()].join(', ')}, not "${name}"\n`);
  process.exitCode = 2;
} else {
  const options = optionsIn(args, program);
  const main = fileURLToPath(new URL(`./${name}/main.ts`, import.meta.url));
  if (options !== null) {
    process.exitCode = (await setUpFor(/** @type {Asked} */ (options))) ? await runTypescript(main, args) : 1;
  }
}
