/**
 * The program of a worker that is a device. custom-ops/build_worker.mjs bundles it into one text that runs in Node and
 * in browsers, so nothing here may import tfjs or Node.
 */
import type * as threads from 'node:worker_threads';
import type { Addon } from '../../native/addon.js';
import { NativeKernelSet } from '../../native/native_kernel_set.js';
import { referenceKernels } from '../../reference/reference_kernel_set.js';
import { adoptModule } from '../../wasm/module.js';
import { WasmKernelSet } from '../../wasm/wasm_kernel_set.js';
import type { KernelSet } from '../../kernel_set.js';
import type { FaultName } from '../../devices/device.js';
import { DeviceProgram } from '../../devices/device_program.js';
import { Operands } from '../../devices/operands.js';
import { SharedView } from '../../devices/exchange_memory.js';
import { WorkerControl } from './worker_control.js';
import type {
  CommandsMessage,
  HostMessage,
  KernelsToMake,
  ReadyMessage,
  StartMessage,
  WorkerMessage,
} from './worker_messages.js';

/** What differs between runtimes. */
interface Runtime {
  answer(message: WorkerMessage): void;
  loadAddon(path: string): Addon;
  /** Tells the control words when the worker ends, as far as JavaScript can. */
  watch(control: WorkerControl): void;
  exhaustMemory(): void;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}

/** The device in this worker. */
class WorkerProgram {
  private readonly control: WorkerControl;
  private readonly exchange: SharedView;
  private readonly program: DeviceProgram;
  private fault: FaultName | null = null;
  private readonly addon: Addon | null;
  private readonly kernels: KernelSet;

  constructor(
    { kernels, threads, control, exchange }: StartMessage,
    private readonly runtime: Runtime,
  ) {
    this.control = new WorkerControl(control);
    this.exchange = new SharedView(exchange);
    runtime.watch(this.control);
    const { addonPath } = kernels;
    this.addon = addonPath === null ? null : this.loadAddon(addonPath, threads);
    this.kernels = this.make(kernels);
    const operands = new Operands(() => this.exchange, this.addon);
    this.program = new DeviceProgram(this.kernels, operands, () => this.control.progress());
    this.control.ready();
  }

  /** Runs the commands, or none after a failure. */
  run({ sequence, commands, words, exchange }: CommandsMessage): void {
    try {
      if (this.control.failure === null) {
        if (exchange !== undefined) this.exchange.source = exchange;
        this.exchange.see(words);
        if (this.fault !== null) this.fail(this.fault);
        for (const command of commands) {
          this.control.progress();
          this.program.run(command);
        }
      }
    } catch (error) {
      this.control.failed(textOf(error));
      this.program.close();
    }
    this.control.done(sequence);
  }

  ready(): ReadyMessage {
    return { ready: this.kernels.info(), sharedTensorRegistry: this.addon?.sharedTensorRegistry() ?? 0 };
  }

  inject(fault: FaultName): void {
    this.fault = fault;
  }

  private loadAddon(path: string, threads: number): Addon {
    const addon = this.runtime.loadAddon(path);
    const { words, index } = this.control.exitWord;
    addon.watchExit(words, index);
    addon.setOwnThreads(threads);
    return addon;
  }

  private make({ name, addonPath, module }: KernelsToMake): KernelSet {
    if (name === 'reference') return referenceKernels;
    if (name === 'native') return new NativeKernelSet(this.addon!, addonPath!);
    adoptModule(module!);
    return new WasmKernelSet();
  }

  private fail(fault: FaultName): void {
    if (fault === 'kernelError') throw new Error('a kernel failed, as a fault that was injected');
    if (fault === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    if (fault === 'outOfMemory') this.runtime.exhaustMemory();
  }
}

/** Returns what takes the messages of the host. */
function listen(runtime: Runtime): (message: HostMessage) => void {
  let program: WorkerProgram | null = null;
  return (message) => {
    if ('start' in message) {
      try {
        program = new WorkerProgram(message, runtime);
        runtime.answer(program.ready());
      } catch (error) {
        runtime.answer({ notReady: textOf(error) });
      }
    } else if ('sequence' in message) program?.run(message);
    else if ('fault' in message) program?.inject(message.fault);
  };
}

type Require = (name: string) => unknown;

/** Called at the end of the text in Node, with the `require` of the worker. */
export function startInNode(require: Require): void {
  const { parentPort } = require('node:worker_threads') as typeof threads;
  const take = listen({
    answer: (message) => parentPort!.postMessage(message),
    loadAddon: (path) => require(path) as Addon,
    watch: (control) => {
      process.on('uncaughtExceptionMonitor', (error) => control.failed(`its worker failed: ${textOf(error)}`));
      process.on('exit', () => control.exited());
    },
    exhaustMemory: () => {
      const hoard: unknown[] = [];
      for (;;) hoard.push(new Array(2 ** 22).fill(hoard.length)); // few collections on the way
    },
  });
  parentPort!.on('message', take);
}

/** Called at the end of the text in browsers. */
export function startInPage(): void {
  const scope = globalThis as unknown as {
    postMessage(message: unknown): void;
    onmessage: ((event: { data: HostMessage }) => void) | null;
  };
  const take = listen({
    answer: (message) => scope.postMessage(message),
    loadAddon: () => {
      throw new Error('there is no addon in browsers');
    },
    watch: () => undefined,
    exhaustMemory: () => {
      throw new RangeError('out of memory, as a fault that was injected');
    },
  });
  scope.onmessage = ({ data }) => take(data);
}
