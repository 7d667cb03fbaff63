/** What devices that are servers have in common: a session, variables, and a fault that ends them until they are revived. */
import { DeviceFault, type Command, type Device, type ExchangeMemory, type FaultName } from '../devices/device.js';
import type { Sharing } from '../devices/operands.js';
import type { KernelInfo } from '../kernel_set.js';
import { ServerError, type ServerSession } from './server_session.js';
import type { Variables } from './variables.js';

export interface SessionDeviceParts {
  readonly index: number;
  readonly session: ServerSession;
  readonly variables: Variables;
  readonly exchange: ExchangeMemory;
  /** Shares tensors of TensorFlow in this process. */
  readonly sharing: Sharing;
  /** What runs on the server. */
  readonly kernels: KernelInfo;
  /** Steps and writes are refused. */
  readonly isReadOnly: boolean;
}

export abstract class SessionDevice implements Device {
  readonly kind = 'server';
  readonly index: number;
  readonly session: ServerSession;
  readonly variables: Variables;
  readonly kernels: KernelInfo;
  protected fault: DeviceFault | null = null;

  constructor({ index, session, variables, kernels }: SessionDeviceParts) {
    this.index = index;
    this.session = session;
    this.variables = variables;
    this.kernels = kernels;
  }

  abstract post(commands: readonly Command[]): void;
  abstract finish(): void;
  abstract close(): Promise<void>;

  injectFault(fault: FaultName): void {
    this.fault = new DeviceFault(this.index, `it failed, as a fault that was injected: ${fault}`);
  }

  /** Takes commands again after a fault. */
  revive(): void {
    this.fault = null;
  }

  protected checkFault(): void {
    if (this.fault !== null) throw this.fault;
  }

  /** What went wrong, as the machine takes it; errors of arguments pass. */
  protected faultOf(error: unknown): unknown {
    if (!(error instanceof ServerError)) return error;
    this.fault = new DeviceFault(this.index, error.message);
    return this.fault;
  }
}
