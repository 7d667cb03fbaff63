/** The public API of the emulator: its machine, its counters, its report, and faults to test with. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import type { Counters } from '../backends/devices/machine/counters.js';
import { FAULT_NAMES, type FaultName } from '../backends/devices/device.js';
import { isBuilt, running, type Running } from '../backends/emulator/register.js';
import type { Report, ReportArgs } from './report.js';
import { sourceOf } from './device_source.js';
import { reportMaker } from './report_maker.js';
import { BACKEND_NAME, configure, type TpuEmulatorArgs } from '../backends/emulator/settings.js';

/**
 * Describes the machine that `await tf.setBackend('tpu-emulator')` builds; returns nothing.
 *
 * `chips` x `coresPerChip` virtual devices (4 x 2 by default), which share `hbmBytesPerChip` bytes per chip evenly among
 * tables, slots and exchange buffers (null: no limit). `devices: 'auto'` makes each a worker where that is possible and
 * runs them in line elsewhere, with the same results; 'worker' and 'inline' force it. A worker that makes no progress
 * for `timeoutMs` (10,000) hangs: calls that wait for it throw. What is left out comes from the environment:
 * TFJS_EMBEDDINGS_TPU_CHIPS, TFJS_EMBEDDINGS_TPU_CORES_PER_CHIP, TFJS_EMBEDDINGS_TPU_HBM_BYTES,
 * TFJS_EMBEDDINGS_TPU_TIMEOUT_MS. A later call replaces an earlier one.
 * Source: the chips and cores of tf.tpu.experimental.Topology (TensorFlow 2.21), without their mesh.
 *
 * @param args - The machine; every field has a default.
 * @throws TypeError for wrong types, ValueError for values out of range and unknown names, RuntimeError while the
 * emulator starts or runs: `tf.removeBackend('tpu-emulator')` ends it.
 *
 * @example
 * emb.configureTpuEmulator({chips: 8, coresPerChip: 1, hbmBytesPerChip: 16e9});
 * await tf.setBackend('tpu-emulator');
 */
export function configureTpuEmulator(args: TpuEmulatorArgs): void {
  configure(args, isBuilt());
}

/** The running emulator. */
export class TpuEmulator {
  /** Number of virtual devices. */
  get devices(): number {
    return this.now().machine.count;
  }

  /**
   * Returns what was counted since the start or the last `resetCounters`, as plain data: lookups, updates and bags; ids
   * and bytes of each link [from][to]; per device ids, distinct ids, elements read (ids x width), bytes in and out and
   * memory in bytes; seconds that the host spent in lookups and updates.
   *
   * Each device begins with its part of the batch, an even share of the bags of each lookup, as on a machine whose
   * devices read their own samples (without a combiner each id is a bag, so a share may end within a sample); what a
   * device sends itself is no traffic. Ids outside a table (`outOfRange: 'zero'`) count where they are looked at: on the
   * devices of a table that is placed whole, by columns or in copies, and on none where rows are dealt out. Throws RuntimeError where no emulator runs.
   *
   * @returns The counters.
   *
   * @example
   * emb.tpuEmulator().counters().devices[0].elements;
   */
  counters(): Counters {
    return this.now().machine.counters.counters();
  }

  /** Counts from zero again; peaks of memory start at what is in use. */
  resetCounters(): void {
    this.now().machine.counters.reset();
  }

  /**
   * Returns a report; see `Report`. `generation` and `chips` ask for a prediction on TPUs of that kind, `network` for one
   * on servers that clients reach over a network of that `bandwidth` and `latency`. In pages it comes
   * with `import 'tfjs-embeddings/report'`, and without that throws RuntimeError.
   *
   * @param options - The machine that is predicted.
   * @returns The report.
   */
  report(options?: ReportArgs): Report {
    const found = this.now();
    return reportMaker()(sourceOf(found, found.settings), options);
  }

  /**
   * Makes a device fail, to see what a program then does: 'terminate' ends its worker, 'kernelError' fails its next
   * command, 'outOfMemory' exhausts its worker's memory, 'hang' stops it from answering. The next lookup or update
   * throws RuntimeError within seconds; the emulator then needs `tf.removeBackend('tpu-emulator')` and
   * `tf.setBackend`. Throws TypeError and ValueError for an unknown device or fault.
   *
   * @param device - The number of the device.
   * @param fault - What goes wrong.
   *
   * @example
   * emb.tpuEmulator().injectFault(3, 'terminate');
   */
  injectFault(device: number, fault: FaultName): void {
    const { machine } = this.now();
    const expected = `a device, 0 to ${machine.count - 1}`;
    if (typeof device !== 'number') throw new ArgumentTypeError('device', expected, device);
    if (!Number.isInteger(device) || device < 0 || device >= machine.count) {
      throw new ValueError('device', expected, device);
    }
    const known = `one of ${FAULT_NAMES.join(', ')}`;
    if (typeof fault !== 'string') throw new ArgumentTypeError('fault', known, fault);
    if (!FAULT_NAMES.includes(fault)) throw new ValueError('fault', known, fault);
    machine.set.devices[device]!.injectFault(fault);
  }

  private now(): Running {
    const found = running();
    if (found !== null) return found;
    const note = `await tf.setBackend('${BACKEND_NAME}') starts it.`;
    throw new RuntimeError('tpuEmulator', `a running ${BACKEND_NAME}`, described('none'), note);
  }
}

/**
 * Returns the emulator that runs: `counters()`, `report()`, `injectFault()`.
 *
 * @returns The emulator.
 * @throws RuntimeError before `await tf.setBackend('tpu-emulator')` and after `tf.removeBackend('tpu-emulator')`.
 *
 * @example
 * console.log(String(emb.tpuEmulator().report({generation: 'v5p', chips: 64})));
 */
export function tpuEmulator(): TpuEmulator {
  const emulator = new TpuEmulator();
  void emulator.devices; // Throws where none runs.
  return emulator;
}
