// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { CLUSTER, EMULATOR, MACHINE, PLACEMENT, SERVERS } from '../device_options.mjs';
import { InputError } from '../input_error.mjs';
import { RUN, flag, oneOf, whole } from '../option_kinds.mjs';

/** Described in configs.ts. */
export const MODELS = /** @type {const} */ (['tiny', 'small', 'criteo']);
const OPTIMIZERS = /** @type {const} */ (['sgd', 'adagrad', 'adam']);

const OPTIONS = {
  model: oneOf(MODELS, 'tiny', ' (default: tiny)'),
  backend: oneOf([EMULATOR, CLUSTER], EMULATOR, ` (default: ${EMULATOR})`),
  devices: MACHINE.devices,
  ...SERVERS,
  threads: whole(1, 256, 1, 'threads of the kernels of each device (default: 1)'),
  strategy: PLACEMENT.strategy,
  optimizer: oneOf(OPTIMIZERS, 'adagrad', ' (default: adagrad)'),
  batch: whole(1, 1_000_000, 8192, 'samples per step (default: 8192)'),
  batches: whole(1, 1000, 2, 'different batches, used in turn (default: 2)'),
  steps: whole(1, 1_000_000, 20, '(default: 20)'),
  bytes: whole(
    1,
    Number.MAX_SAFE_INTEGER,
    1e9,
    'tables and slots take at most so many: rows of large tables are scaled (default: 1e9)',
  ),
  host: MACHINE.host,
  report: MACHINE.report,
  plan: flag('print which part of which table lies on which device, a line for each'),
  help: RUN.help,
};
/** @typedef {ReturnType<typeof readOptions>} Options */

export const HELP = `Trains a synthetic recommender model (NVIDIA distributed-embeddings) on virtual devices or servers.

  node models/start.mjs synthetic [options]

${helpOf(OPTIONS)}
The last line is JSON: milliseconds per step, and of it lookup, exchange and update; growth of the main thread's memory.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { given, values } = parse(args, OPTIONS);
  const options = values(OPTIONS);
  const onServers = options.backend === CLUSTER;
  const other = (onServers ? ['devices', 'threads'] : Object.keys(SERVERS)).find((name) => given.includes(name));
  if (other !== undefined) throw new InputError(`--${other} needs --backend ${onServers ? EMULATOR : CLUSTER}`);
  return { ...options, devices: onServers ? options.servers : options.devices, onServers };
}
