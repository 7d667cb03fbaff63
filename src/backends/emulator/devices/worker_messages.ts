/** What a host and its worker send each other. */
import type { ImplementationName, KernelInfo } from '../../kernel_set.js';
import type { Command, FaultName } from '../../devices/device.js';
import type { SharedSource } from '../../devices/exchange_memory.js';

/** Kernels as another thread can make them. */
export interface KernelsToMake {
  readonly name: ImplementationName;
  /** Where the addon lies, if there is one: it also tells when a worker ends. */
  readonly addonPath: string | null;
  /** wasm: the module. */
  readonly module: WebAssembly.Module | null;
}

/** The first message to a worker. */
export interface StartMessage {
  readonly start: true;
  readonly kernels: KernelsToMake;
  readonly threads: number;
  readonly control: SharedArrayBuffer;
  readonly exchange: SharedSource;
}

export interface CommandsMessage {
  readonly sequence: number;
  readonly commands: readonly Command[];
  /** Words of the exchange memory. */
  readonly words: number;
  /** Given where it was replaced. */
  readonly exchange?: SharedSource;
}

export interface FaultMessage {
  readonly fault: FaultName;
}

export type HostMessage = StartMessage | CommandsMessage | FaultMessage;

/** The worker takes commands. */
export interface ReadyMessage {
  readonly ready: KernelInfo;
  /** The registry of shared tensors that its addon reads; 0: none. */
  readonly sharedTensorRegistry: number;
}

/** The only message from a worker; all else goes through the control words. */
export type WorkerMessage = ReadyMessage | { readonly notReady: string };
