// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, valuesOf } from '../command_line.mjs';
import { MACHINE, PLACEMENT } from '../device_options.mjs';
import { RUN, flag, oneOf, whole } from '../option_kinds.mjs';

/** Described in configs.ts. */
export const MODELS = /** @type {const} */ (['tiny', 'small', 'criteo']);
const OPTIMIZERS = /** @type {const} */ (['sgd', 'adagrad', 'adam']);

const OPTIONS = {
  model: oneOf(MODELS, 'tiny', ' (default: tiny)'),
  devices: MACHINE.devices,
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

export const HELP = `Trains a synthetic recommender model (NVIDIA distributed-embeddings) on virtual devices.

  node models/start.mjs synthetic [options]

${helpOf(OPTIONS)}
The last line is JSON: milliseconds per step, and of it lookup, exchange and update; growth of the main thread's memory.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  return valuesOf(args, OPTIONS);
}
