/** The proof that a saved model is whole: other processes load it and predict the same to the bit. */
import type { Machine } from './backend.js';
import type { TextTable } from './csv.js';
import type { DeviceOptions } from './device_options.js';
import type { BackendName } from './options.js';
import { predictElsewhere, sameBits } from './second_process.js';

export interface ReloadProof {
  readonly isEqual: boolean;
  /** Numbers of devices on which the model was loaded; empty where the backend has none. */
  readonly devices: readonly number[];
  /** One line for each process. */
  readonly lines: readonly string[];
}

/** Loads the model in `folder` as it was trained and, where there are devices, on another number of them. */
export function proveReload(
  folder: string,
  backend: BackendName,
  onDevices: DeviceOptions | null,
  { rows, probabilities }: { rows: TextTable; probabilities: Float32Array },
): ReloadProof {
  const tried = machines(onDevices).map((machine) => {
    const found = predictElsewhere({ model: folder, backend, machine, rows });
    const isEqual = sameBits(probabilities, found);
    const where = machine === null ? '' : ` on ${machine.devices} ${machine.devices === 1 ? 'device' : 'devices'}`;
    const outcome = isEqual ? 'the same predictions to the bit' : 'OTHER predictions';
    return { isEqual, machine, line: `another process loaded the model${where}: ${outcome}` };
  });
  return {
    isEqual: tried.every(({ isEqual }) => isEqual),
    devices: tried.flatMap(({ machine }) => machine?.devices ?? []),
    lines: tried.map(({ line }) => line),
  };
}

function machines(onDevices: DeviceOptions | null): (Machine | null)[] {
  if (onDevices === null) return [null];
  const { devices, reloadDevices, deviceMemory, host } = onDevices;
  return [...new Set([devices, reloadDevices])].map((count) => ({ devices: count, deviceMemory, host }));
}
