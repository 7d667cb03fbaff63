// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, valuesOf } from '../command_line.mjs';
import { RUN, oneOf, whole } from '../option_kinds.mjs';

/** TPUEmbeddingV2 wants a power of two, which divides the four samples of a batch. */
const DEVICES = /** @type {const} */ (['1', '2', '4']);

const OPTIONS = {
  devices: oneOf(DEVICES, '4', ': number of virtual devices (default: 4)', 'N'),
  steps: whole(1, 1000, 2, 'training steps of each API (default: 2)'),
  help: RUN.help,
};

/** @typedef {Readonly<{devices: number, steps: number}>} Options */

export const HELP = `Trains two small tables with both TPU embedding APIs of TensorFlow, and prints every step.

  node models/start.mjs tpu_embedding [options]

${helpOf(OPTIONS)}
The exit code is 1 where the two APIs come to other tables.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function readOptions(args) {
  const { devices, steps } = valuesOf(args, OPTIONS);
  return { devices: Number(devices), steps };
}
