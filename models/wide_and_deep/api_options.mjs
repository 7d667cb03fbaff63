// @ts-check
/** The part of the command line that says which API holds the tables. */
import { EMULATOR, PLACEMENT_FLAGS } from './device_options.mjs';
import { InputError } from './input_error.mjs';
import { readOneOf } from './read_value.mjs';

export const APIS = /** @type {const} */ (['distributed', 'tpu-v1', 'tpu-v2']);
/** @typedef {typeof APIS[number]} ApiName */

/**
 * @param {{api?: string | undefined, backend?: string | undefined} &
 *   import('./device_options.mjs').DeviceValues} values
 * @returns {ApiName}
 */
export function readApi(values) {
  const api = readOneOf('--api', values.api ?? 'distributed', APIS);
  if (api === 'distributed') return api;
  if (values.backend !== undefined && values.backend !== EMULATOR) {
    throw new InputError(`--api ${api} needs --backend ${EMULATOR}, not "${values.backend}"`);
  }
  const given = PLACEMENT_FLAGS.find((flag) => values[flag] !== undefined);
  if (given !== undefined) {
    throw new InputError(`--${given} needs --api distributed: ${api} deals the rows of every table out to all devices`);
  }
  const devices = values.devices === undefined ? 1 : Number(values.devices);
  if (api === 'tpu-v2' && Number.isInteger(devices) && !Number.isInteger(Math.log2(devices))) {
    throw new InputError(`--devices must be a power of two with --api ${api}, not "${values.devices}"`);
  }
  return api;
}
