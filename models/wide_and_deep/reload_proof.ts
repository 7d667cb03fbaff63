/** The proof that a saved model is whole: other processes load it and predict the same to the bit. */
import type { TextTable } from './data/csv.js';
import type { DeviceOptions, Machine } from './device_options.mjs';
import type { BackendName } from './options.mjs';
import { predictElsewhere, sameBits } from './second_process.js';

/** How far probabilities may be apart where sums were taken in another order. */
const TOLERANCE = 1e-5;

export interface ReloadProof {
  /** To the bit, in each process. */
  readonly isEqual: boolean;
  /** Equal, or different only as far as tables cut by rows are added up in another order on other devices. */
  readonly isWhole: boolean;
  /** Numbers of devices on which the model was loaded; empty where the backend has none. */
  readonly devices: readonly number[];
  /** One line for each process. */
  readonly lines: readonly string[];
}

interface Trained {
  readonly rows: TextTable;
  readonly probabilities: Float32Array;
  readonly tablesByRows: number;
}

/** Loads the model in `folder` as it was trained and, where there are devices, on another number of them. */
export function proveReload(
  folder: string,
  backend: BackendName,
  onDevices: DeviceOptions | null,
  { rows, probabilities, tablesByRows }: Trained,
): ReloadProof {
  const tried = machines(onDevices).map((machine) => {
    const found = predictElsewhere({ model: folder, backend, machine, rows });
    const isEqual = sameBits(probabilities, found.probabilities);
    const apart = largestDifference(probabilities, found.probabilities);
    const isOther = machine !== null && machine.devices !== onDevices!.devices;
    const isByRows = isOther && tablesByRows + found.tablesByRows > 0;
    const isWhole = isEqual || (isByRows && apart <= TOLERANCE);
    const where = machine === null ? '' : ` on ${machine.devices} ${machine.devices === 1 ? 'device' : 'devices'}`;
    const near = `at most ${apart.toExponential(1)} apart, as tables cut by rows are summed in another order`;
    const outcome = isEqual ? 'the same predictions to the bit' : isWhole ? near : 'OTHER predictions';
    return { isEqual, isWhole, machine, line: `another process loaded the model${where}: ${outcome}` };
  });
  return {
    isEqual: tried.every(({ isEqual }) => isEqual),
    isWhole: tried.every(({ isWhole }) => isWhole),
    devices: tried.flatMap(({ machine }) => machine?.devices ?? []),
    lines: tried.map(({ line }) => line),
  };
}

/** NaN where one is not a number or the lengths differ. */
function largestDifference(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return NaN;
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

function machines(onDevices: DeviceOptions | null): (Machine | null)[] {
  if (onDevices === null) return [null];
  const { devices, reloadDevices, deviceMemory, host } = onDevices;
  return [...new Set([devices, reloadDevices])].map((count) => ({ devices: count, deviceMemory, host }));
}
