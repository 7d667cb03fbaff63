/** A device that runs on the host's own thread, where there are no workers or where it may not wait for them. */
import type { KernelInfo, KernelSet } from '../../kernel_set.js';
import type { Addon } from '../../native/addon.js';
import { DeviceFault, type Command, type Device, type ExchangeMemory, type FaultName } from '../../devices/device.js';
import { DeviceProgram } from '../../devices/device_program.js';
import { Operands } from '../../devices/operands.js';

const FAULT_TEXTS: Readonly<Record<FaultName, string>> = {
  terminate: 'it was terminated',
  kernelError: 'a kernel failed, as a fault that was injected',
  outOfMemory: 'it ran out of memory, as a fault that was injected',
  hang: 'it does not answer, as a fault that was injected',
};

export class InlineDevice implements Device {
  readonly kind = 'inline';
  private readonly program: DeviceProgram;
  private fault: DeviceFault | null = null;

  constructor(
    readonly index: number,
    private readonly set: KernelSet,
    exchange: ExchangeMemory,
    addon: Addon | null,
  ) {
    this.program = new DeviceProgram(set, new Operands(() => exchange, addon));
  }

  get kernels(): KernelInfo {
    return this.set.info();
  }

  post(commands: readonly Command[]): void {
    if (this.fault !== null) throw this.fault;
    try {
      for (const command of commands) this.program.run(command);
    } catch (error) {
      this.fault = new DeviceFault(this.index, (error as Error).message);
    }
  }

  finish(): void {
    if (this.fault !== null) throw this.fault;
  }

  injectFault(fault: FaultName): void {
    this.fault = new DeviceFault(this.index, FAULT_TEXTS[fault]);
  }

  close(): Promise<void> {
    this.fault ??= new DeviceFault(this.index, 'it was closed');
    this.program.close();
    return Promise.resolve();
  }
}
