// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { parseArgs } from 'node:util';
import { InputError } from '../wide_and_deep/input_error.mjs';
import { readOneOf, readWhole } from '../wide_and_deep/read_value.mjs';

/** TPUEmbeddingV2 wants a power of two, which divides the four samples of a batch. */
const DEVICES = /** @type {const} */ (['1', '2', '4']);

/** @typedef {Readonly<{devices: number, steps: number}>} Options */

export const HELP = `Trains two small tables with both TPU embedding APIs of TensorFlow, and prints every step.

  node models/start.mjs tpu_embedding [options]

  --devices N       virtual devices: ${DEVICES.join(', ')} (default: 4)
  --steps N         training steps of each API (default: 2)
  --help            print this

The exit code is 1 where the two APIs come to other tables.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function readOptions(args) {
  let values;
  try {
    const text = (/** @type {string} */ byDefault) => /** @type {const} */ ({ type: 'string', default: byDefault });
    ({ values } = parseArgs({ args: [...args], options: { devices: text('4'), steps: text('2') } }));
  } catch (error) {
    throw new InputError(`${/** @type {Error} */ (error).message} (--help lists the options)`);
  }
  return {
    devices: Number(readOneOf('--devices', values.devices, DEVICES)),
    steps: readWhole('--steps', values.steps, 1, 1000),
  };
}
