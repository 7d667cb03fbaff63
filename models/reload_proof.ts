/** The proof that a saved model is whole: other processes load it and predict the same to the bit. */
import type { Machine } from './device_options.mjs';
import { largestDifference, runElsewhere, sameBits } from './other_process.js';

/** How far predictions may be apart where tables cut by rows are summed in another order, on other devices. */
const TOLERANCE = 1e-5;

/** What was trained, on which machine; null: a backend without devices. */
interface Trained {
  readonly machine: (Machine & { readonly reloadDevices: number }) | null;
  readonly predictions: Float32Array;
  /** Number of tables whose rows lie on several devices. */
  readonly tablesByRows: number;
}

/**
 * Lets a program load the model on the machine that trained it and, where there are devices, on another number of them.
 * What was trained on servers is loaded on as many virtual devices: the model needs no servers any more.
 * It is given `request` and the machine as JSON, writes predictions, and prints its number of tables by rows last.
 */
export async function proveReload(program: string, request: object, { machine, predictions, tablesByRows }: Trained) {
  const counts = new Set(machine === null ? [] : [machine.devices, machine.reloadDevices]);
  const machines =
    machine === null ? [null] : [...counts].map((devices) => ({ ...machine, devices, onServers: false }));
  const proof = { isEqual: true, isWhole: true, devices: [...counts], lines: [] as string[] };
  for (const each of machines) {
    const args = [...process.execArgv, program];
    const found = await runElsewhere(process.execPath, args, { ...request, machine: each });
    const isEqual = sameBits(predictions, found.predictions);
    const apart = largestDifference(predictions, found.predictions);
    const isOther = each !== null && each.devices !== machine!.devices;
    const isByRows = isOther && tablesByRows + Number(found.printed.trim().split('\n').at(-1)) > 0;
    const isWhole = isEqual || (isByRows && apart <= TOLERANCE);
    const where = each === null ? '' : ` on ${each.devices} ${each.devices === 1 ? 'device' : 'devices'}`;
    const near = `at most ${apart.toExponential(1)} apart, as tables cut by rows are summed in another order`;
    const outcome = isEqual ? 'the same predictions to the bit' : isWhole ? near : 'OTHER predictions';
    proof.lines.push(`another process loaded the model${where}: ${outcome}`);
    proof.isEqual &&= isEqual;
    proof.isWhole &&= isWhole;
  }
  return proof;
}
