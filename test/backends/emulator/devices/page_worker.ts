/** Runs in a worker of a page: devices as workers of their own, compared with devices in line. */
import { addKernelSet } from '../../../../src/backends/registry.js';
import type { FaultName } from '../../../../src/backends/devices/device.js';
import { makeDevices } from '../../../../src/backends/emulator/devices/device_set.js';
import { ready } from '../../../../src/backends/wasm/module.js';
import { WasmKernelSet } from '../../../../src/backends/wasm/wasm_kernel_set.js';
import { runAll, thrown } from '../../devices/device_script.js';

export interface PageReport {
  readonly inlineBecause: string | null;
  readonly kinds: string[];
  readonly implementation: string;
  readonly equal: boolean;
  readonly faults: Record<string, string>;
}

export async function report(): Promise<PageReport> {
  await ready();
  addKernelSet(new WasmKernelSet());
  const inline = await makeDevices({ count: 5, kind: 'inline', threads: 1, timeoutMs: 4000 });
  const set = await makeDevices({ count: 5, kind: 'auto', threads: 1, timeoutMs: 4000 });
  const expected = runAll(inline.devices, inline.exchange);
  const actual = runAll(set.devices, set.exchange);
  const faults: Record<string, string> = {};
  if (set.inlineBecause === null) {
    (['kernelError', 'outOfMemory', 'terminate', 'hang'] as FaultName[]).forEach((fault, i) => {
      const device = set.devices[i]!;
      device.injectFault(fault);
      const error = thrown(() => {
        device.post([]);
        device.finish();
      });
      faults[fault] = String(error);
    });
  }
  set.devices[4]!.post([]);
  set.devices[4]!.finish();
  await Promise.all(set.devices.map((device) => device.close()));
  return {
    inlineBecause: set.inlineBecause,
    kinds: set.devices.map(({ kind }) => kind),
    implementation: set.devices[0]!.kernels.implementation,
    equal: expected.every((words, i) => words.every((word, at) => word === actual[i]![at])),
    faults,
  };
}

const answer = (value: PageReport | string): void => {
  (globalThis as unknown as { told(value: PageReport | string): void }).told(value);
};
report().then(answer, (error: Error) => answer(String(error.stack)));
