/** What devices that are servers have in common: a session, variables, and a fault that ends them until they are revived. */
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { DeviceFault, type Command, type Device, type ExchangeMemory, type FaultName } from '../devices/device.js';
import type { Sharing } from '../devices/operands.js';
import type { KernelInfo } from '../kernel_set.js';
import { readOnlyError } from './read_only.js';
import { REFUSED } from './record/gate.js';
import type { ServerCall } from './server_call.js';
import { addressOf, ServerError, type ServerSession } from './server_session.js';
import { ownerOf, type Variables } from './variables.js';

export interface SessionDeviceParts {
  readonly index: number;
  readonly session: ServerSession;
  readonly variables: Variables;
  readonly exchange: ExchangeMemory;
  /** Shares tensors of TensorFlow in this process. */
  readonly sharing: Sharing;
  /** What runs on the server. */
  readonly kernels: KernelInfo;
}

/** How often a client that ends tries to say so while others are quicker. */
const MOST_TRIES = 20;

const leaving = (): Set<Promise<void>> => perProcess('clients that leave servers', () => new Set());

/** Ends when clients of this process that were closed have said so, and where servers hang after so long. */
export async function allLeft(timeoutMs: number): Promise<void> {
  if (leaving().size === 0) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
  await Promise.race([Promise.allSettled([...leaving()]), late]);
  clearTimeout(timer);
}

/** Tables are others than a reader knew: what it asks for again it gets, where they are ready. */
export class StaleTables extends RuntimeError {}

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

  /** Before values of a buffer are read: throws where a reader may not have them. */
  protected reading(buffer: number): void {
    const { known } = this.variables.of(buffer);
    if (known !== null) this.variables.membership.admit(ownerOf(known));
  }

  /** Before a table or a slot changes: throws where this client may not, else returns the call that goes before it. */
  protected changing(buffer: number): ServerCall | null {
    const { known } = this.variables.of(buffer);
    const { membership } = this.variables;
    if (membership.mode === 'readOnly') throw readOnlyError();
    if (known === null) return null;
    if (known.isCopy) membership.changeCopies(this.index, ownerOf(known));
    return membership.advance(this.index, ownerOf(known), 'ready');
  }

  /** Says on the server that this client has gone; waits for nobody here. */
  protected leave(): Promise<void> {
    const end = this.sayGone();
    leaving().add(end);
    return end.finally(() => leaving().delete(end));
  }

  private async sayGone(): Promise<void> {
    const isWell = this.fault === null;
    this.fault ??= new DeviceFault(this.index, 'it was closed');
    if (!isWell) return;
    // What becomes of them nobody asks any more.
    await this.session.finishLater(this).catch(() => undefined);
    const { membership } = this.variables;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const call = membership.leaving(this.index);
      if (call === null) return;
      this.session.start([call], call);
      const isAnswered = await this.session.finishLater(call).then(
        () => true,
        () => false,
      );
      if (!isAnswered) return;
    }
  }

  /** What went wrong, as the machine takes it; errors of arguments pass. A reader that asks again is answered again. */
  protected faultOf(error: unknown): unknown {
    if (!(error instanceof ServerError)) return error;
    const { membership } = this.variables;
    const text = this.told(error);
    if (membership.mode !== 'readOnly') {
      this.fault = new DeviceFault(this.index, text, isRefused(error));
      return this.fault;
    }
    membership.doubt();
    const server = `server ${addressOf(this.session.place)}`;
    if (isRefused(error) || error.isMissing) {
      const note =
        'Ask again: what is ready is answered. Where tables are lost, who trains them calls restore(prefix).';
      return new StaleTables(server, 'the tables that this client knows', described(text), note);
    }
    this.session.reopen();
    const note = 'The next call asks again. Where tables are lost, who trains them calls restore(prefix).';
    return new RuntimeError(server, 'a device that does its work', described(text), note);
  }

  private told(error: ServerError): string {
    if (error.message.includes(`${REFUSED}] [restoring `)) return 'another client is restoring its tables';
    if (isRefused(error)) return 'another client has restored or replaced its tables';
    return error.isMissing ? `it has no such table any more: ${error.message}` : error.message;
  }
}

function isRefused({ message }: ServerError): boolean {
  return message.includes(REFUSED);
}
