/** The part of the command line that is about devices: the emulated machine, and how tables are spread over it. */
import type * as emb from 'tfjs-embeddings/node';
import type { Machine } from './backend.js';
import { InputError } from './input_error.js';
import { readOneOf, readWhole } from './read_value.js';
import { readReportFile } from './output_paths.js';

/** The backend whose devices hold the tables. */
export const EMULATOR = 'tpu-emulator';

const STRATEGIES = [
  'basic',
  'memory_balanced',
  'memory_optimized',
  'cost_balanced',
] as const satisfies readonly emb.StrategyName[];
const HOSTS = ['tensorflow', 'wasm', 'cpu'] as const;
const MOST_DEVICES = 1024;
const DEVICES = 8;

/** How tables are spread. Thresholds count elements; null: the planner's own way, which cuts only where it must. */
export interface Placement {
  readonly strategy: emb.StrategyName;
  readonly columnSliceThreshold: number | null;
  readonly rowSliceThreshold: number | null;
  readonly dataParallelThreshold: number | null;
}

export interface DeviceOptions extends Machine {
  /** Devices on which a second process loads the model once more. */
  readonly reloadDevices: number;
  /** Where the picture goes. */
  readonly report: string | null;
}

const text = { type: 'string' } as const;

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
} as const;

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

export type DeviceValues = Partial<Record<keyof typeof DEVICE_FLAGS, string>>;

/** Null for another backend, which has no devices: then none of the options may be there. */
export function readDevices(values: DeviceValues, backend: string | null): DeviceOptions | null {
  if (backend !== EMULATOR) {
    const given = (Object.keys(DEVICE_FLAGS) as (keyof DeviceValues)[]).find((flag) => values[flag] !== undefined);
    if (given !== undefined) throw new InputError(`--${given} needs --backend ${EMULATOR}`);
    return null;
  }
  const whole = <T>(flag: keyof DeviceValues, most: number, byDefault: T): number | T => {
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

export function readPlacement(values: DeviceValues): Placement {
  const threshold = (flag: keyof DeviceValues): number | null => {
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
