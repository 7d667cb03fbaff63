// @ts-check
/** Options about virtual devices: the emulated machine, and how tables are spread over it. */
import { oneOf, outputFile, whole } from './option_kinds.mjs';

/** The backend whose devices hold the tables. */
export const EMULATOR = /** @type {const} */ ('tpu-emulator');

/** The backend whose tables lie on TensorFlow servers. */
export const CLUSTER = /** @type {const} */ ('tf-cluster');

const MOST_DEVICES = 1024;
const MOST_SERVERS = 64;
const HOSTS = /** @type {const} */ (['tensorflow', 'wasm', 'cpu']);
/** @type {readonly import('tfjs-embeddings/node').StrategyName[]} */
const STRATEGIES = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'];

/**
 * The emulated machine.
 * @typedef {object} Machine
 * @property {number} devices
 * @property {boolean} [onServers] each is a TensorFlow server on this machine
 * @property {number} [threads] of each device
 * @property {number | null} [deviceMemory] bytes of each device; null: no limit
 * @property {typeof HOSTS[number] | null} host the backend for everything but tables; null: the best one there is
 */

export const MACHINE = {
  devices: whole(1, MOST_DEVICES, 8, 'number of virtual devices (default: 8)'),
  'device-memory': whole(1, Number.MAX_SAFE_INTEGER, null, 'bytes of each device (default: no limit)'),
  host: oneOf(HOSTS, null, ': what computes the rest (default: the first of these that is there)'),
  report: outputFile('write a page with a picture: what lies where, and what was sent'),
};

/** In place of virtual devices. */
export const SERVERS = {
  servers: whole(1, MOST_SERVERS, 2, 'number of TensorFlow servers, started on this machine (default: 2)'),
};

/** The same devices and others. */
export const RELOAD = {
  'reload-devices': whole(1, MOST_DEVICES, null, 'on how many the model is loaded once more (default: 3, or 2 for 3)'),
};

/** @type {(help: string) => import('./command_line.mjs').Option<number | null>} */
const threshold = (help) => whole(0, Number.MAX_SAFE_INTEGER, null, help);

/** Thresholds count elements; null: the planner's own way, which cuts only where it must. */
export const PLACEMENT = {
  strategy: oneOf(
    STRATEGIES,
    'cost_balanced',
    ' (default: cost_balanced, which evens out lookups and bytes sent as well as memory)',
  ),
  'column-slice': threshold('cut tables of more than N elements by columns (default: where there are too few)'),
  'row-slice': threshold('cut tables of N elements and more by rows (default: none)'),
  'data-parallel': threshold('copy tables of up to N elements to each device (default: none)'),
};

/** @param {import('./command_line.mjs').Values<typeof PLACEMENT>} values */
export function placementOf(values) {
  return {
    strategy: values.strategy,
    columnSliceThreshold: values['column-slice'],
    rowSliceThreshold: values['row-slice'],
    dataParallelThreshold: values['data-parallel'],
  };
}

/** @param {import('./command_line.mjs').Values<typeof MACHINE & typeof RELOAD>} values */
export function machineOf({ devices, host, report, ...values }) {
  const reloadDevices = values['reload-devices'] ?? (devices === 3 ? 2 : 3);
  return { devices, reloadDevices, deviceMemory: values['device-memory'], host, report };
}
