// @ts-check
/** The part of the command line that is about devices: the emulated machine, and how tables are spread over it. */
import { InputError } from './input_error.mjs';
import { readOneOf, readWhole } from './read_value.mjs';
import { readReportFile } from './read_path.mjs';

/** The backend whose devices hold the tables. */
export const EMULATOR = /** @type {const} */ ('tpu-emulator');

/** @type {readonly import('tfjs-embeddings/node').StrategyName[]} */
const STRATEGIES = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'];
const HOSTS = /** @type {const} */ (['tensorflow', 'wasm', 'cpu']);
const MOST_DEVICES = 1024;
const DEVICES = 8;

/**
 * How tables are spread. Thresholds count elements; null: the planner's own way, which cuts only where it must.
 * @typedef {object} Placement
 * @property {import('tfjs-embeddings/node').StrategyName} strategy
 * @property {number | null} columnSliceThreshold
 * @property {number | null} rowSliceThreshold
 * @property {number | null} dataParallelThreshold
 */

/**
 * The emulated machine.
 * @typedef {object} Machine
 * @property {number} devices
 * @property {number | null} deviceMemory bytes of each device; null: no limit
 * @property {typeof HOSTS[number] | null} host the backend for everything but tables; null: the best one there is
 */

/**
 * @typedef {object} OwnOptions
 * @property {number} reloadDevices devices on which a second process loads the model once more
 * @property {string | null} report where the picture goes
 */
/** @typedef {Readonly<Machine & OwnOptions>} DeviceOptions */

const text = /** @type {const} */ ({ type: 'string' });

/** For `parseArgs`. */
export const DEVICE_FLAGS = {
  devices: text,
  'reload-devices': text,
  'device-memory': text,
  host: text,
  strategy: text,
  'column-slice': text,
  'row-slice': text,
  'data-parallel': text,
  report: text,
};

/** Of those, what only a plan of tables heeds. */
export const PLACEMENT_FLAGS = /** @type {const} */ (['strategy', 'column-slice', 'row-slice', 'data-parallel']);

export const DEVICE_HELP = `With --backend ${EMULATOR}, where tables lie on virtual devices:
  --devices N         number of devices (default: ${DEVICES})
  --strategy NAME     ${STRATEGIES.join(', ')}
                      (default: cost_balanced, which evens out lookups and bytes sent as well as memory)
  --column-slice N    cut tables of more than N elements by columns (default: where there are too few for all devices)
  --row-slice N       cut tables of N elements and more by rows (default: none)
  --data-parallel N   copy tables of up to N elements to each device (default: none)
  --device-memory N   bytes of each device for tables, slots and exchange (default: no limit)
  --host NAME         ${HOSTS.join(', ')}: what computes the rest (default: the first of these that is there)
  --reload-devices N  on how many devices the model is loaded once more (default: 3, or 2 if it was trained on 3)
  --report FILE       write a page with a picture: what lies where, and what was sent
`;

/** @typedef {keyof typeof DEVICE_FLAGS} Flag */
/** @typedef {Partial<Record<Flag, string>>} DeviceValues */

/**
 * Null for another backend, which has no devices: then none of the options may be there.
 * @param {DeviceValues} values
 * @param {string | null} backend
 * @returns {DeviceOptions | null}
 */
export function readDevices(values, backend) {
  if (backend !== EMULATOR) {
    const given = /** @type {Flag[]} */ (Object.keys(DEVICE_FLAGS)).find((flag) => values[flag] !== undefined);
    if (given !== undefined) throw new InputError(`--${given} needs --backend ${EMULATOR}`);
    return null;
  }
  /** @type {<T>(flag: Flag, most: number, byDefault: T) => number | T} */
  const whole = (flag, most, byDefault) => {
    const value = values[flag];
    return value === undefined ? byDefault : readWhole(`--${flag}`, value, 1, most);
  };
  const devices = whole('devices', MOST_DEVICES, DEVICES);
  const { host, report } = values;
  return {
    devices,
    reloadDevices: whole('reload-devices', MOST_DEVICES, devices === 3 ? 2 : 3),
    deviceMemory: whole('device-memory', Number.MAX_SAFE_INTEGER, null),
    host: host === undefined ? null : readOneOf('--host', host, HOSTS),
    report: report === undefined ? null : readReportFile('--report', report),
  };
}

/**
 * @param {DeviceValues} values
 * @returns {Readonly<Placement>}
 */
export function readPlacement(values) {
  /** @param {Flag} flag */
  const threshold = (flag) => {
    const value = values[flag];
    return value === undefined ? null : readWhole(`--${flag}`, value, 0, Number.MAX_SAFE_INTEGER);
  };
  const { strategy } = values;
  return {
    strategy: strategy === undefined ? 'cost_balanced' : readOneOf('--strategy', strategy, STRATEGIES),
    columnSliceThreshold: threshold('column-slice'),
    rowSliceThreshold: threshold('row-slice'),
    dataParallelThreshold: threshold('data-parallel'),
  };
}
