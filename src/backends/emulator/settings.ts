/** What the emulated machine looks like. */
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { perProcess } from '../../base/per_process.js';
import { hostName } from '../devices/host/derived_backend.js';
import { environmentVariable } from '../registry.js';

export const BACKEND_NAME = 'tpu-emulator';

export interface TpuEmulatorArgs {
  /** Chips of the machine; 4 by default. */
  chips?: number | undefined;
  /** Each core is one virtual device; 2 by default. */
  coresPerChip?: number | undefined;
  /** Bytes of a chip's memory, which its cores share evenly: tables, slots and exchange; null: no limit (default). */
  hbmBytesPerChip?: number | null | undefined;
  /** Workers where that is possible (default), workers or an error, or everything on the calling thread. */
  devices?: 'auto' | 'worker' | 'inline' | undefined;
  /** Threads of the kernels of one device; 1 by default. */
  threadsPerDevice?: number | undefined;
  /**
   * Milliseconds that a device may go without progress before it counts as hanging; 10,000 by default. Raise it where
   * one command takes long: huge tables with slow kernels.
   */
  timeoutMs?: number | undefined;
  /** The tfjs backend for dense ops; by default tensorflow, else wasm, else cpu, whichever is there. */
  host?: string | null | undefined;
}

export interface EmulatorSettings {
  readonly chips: number;
  readonly coresPerChip: number;
  readonly hbmBytesPerChip: number | null;
  readonly devices: 'auto' | 'worker' | 'inline';
  readonly threadsPerDevice: number;
  readonly timeoutMs: number;
  readonly host: string | null;
}

const FIELDS = [
  'chips',
  'coresPerChip',
  'hbmBytesPerChip',
  'devices',
  'threadsPerDevice',
  'timeoutMs',
  'host',
] as const;
const KINDS = ['auto', 'worker', 'inline'] as const;
const MOST_DEVICES = 1024;
const DEFAULT_TIMEOUT_MS = 10_000;
const MOST_TIMEOUT_MS = 2 ** 31 - 1;
/** What `configureTpuEmulator` was given. */
const configuration = (): { args: TpuEmulatorArgs } => perProcess('tpu-emulator settings', () => ({ args: {} }));

function whole(value: unknown, argument: string, fallback: number, most: number): number {
  if (value === undefined || value === null) return fallback;
  const expected = `a whole number from 1 to ${most}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < 1 || value > most) throw new ValueError(argument, expected, value);
  return value;
}

function bytes(value: unknown, argument: string): number | null {
  if (value === undefined || value === null) return null;
  const expected = 'a whole number of bytes above 0, or null for no limit';
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isSafeInteger(value) || value < 1) throw new ValueError(argument, expected, value);
  return value;
}

function kindOf(value: unknown): EmulatorSettings['devices'] {
  if (value === undefined || value === null) return 'auto';
  const expected = `one of ${KINDS.join(', ')}`;
  if (typeof value !== 'string') throw new ArgumentTypeError('devices', expected, value);
  const known = KINDS.find((kind) => kind === value);
  if (known === undefined) throw new ValueError('devices', expected, value);
  return known;
}

function fromEnvironment(name: string): number | undefined {
  const argument = `TFJS_EMBEDDINGS_TPU_${name}`;
  const text = environmentVariable(argument);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new ValueError(argument, 'a whole number above 0', text);
  return value;
}

function read(args: TpuEmulatorArgs): EmulatorSettings {
  const chips = whole(args.chips, 'chips', 4, MOST_DEVICES);
  const coresPerChip = whole(args.coresPerChip, 'coresPerChip', 2, MOST_DEVICES);
  if (chips * coresPerChip > MOST_DEVICES) {
    const received = described(`${chips} x ${coresPerChip}`);
    throw new ValueError('chips', `at most ${MOST_DEVICES} devices, chips x coresPerChip`, received);
  }
  return {
    chips,
    coresPerChip,
    hbmBytesPerChip: bytes(args.hbmBytesPerChip, 'hbmBytesPerChip'),
    devices: kindOf(args.devices),
    threadsPerDevice: whole(args.threadsPerDevice, 'threadsPerDevice', 1, 64),
    timeoutMs: whole(args.timeoutMs, 'timeoutMs', DEFAULT_TIMEOUT_MS, MOST_TIMEOUT_MS),
    host: hostName(args.host),
  };
}

/** The settings in force: what was configured, else the environment, else the defaults. */
export function emulatorSettings(): EmulatorSettings {
  return read({
    chips: fromEnvironment('CHIPS'),
    coresPerChip: fromEnvironment('CORES_PER_CHIP'),
    hbmBytesPerChip: fromEnvironment('HBM_BYTES'),
    timeoutMs: fromEnvironment('TIMEOUT_MS'),
    ...configuration().args,
  });
}

/** Sets what `configureTpuEmulator` was given. `isRunning`: the machine was built already. */
export function configure(args: unknown, isRunning: boolean): void {
  const given = readOptions<TpuEmulatorArgs>(args, FIELDS, 'args');
  read(given);
  if (isRunning) {
    const note = `tf.removeBackend('${BACKEND_NAME}') ends it; tables on its devices are lost.`;
    throw new RuntimeError('configureTpuEmulator', 'a machine that has not started', described('a running one'), note);
  }
  // What is left out comes from the environment.
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  configuration().args = Object.fromEntries(present);
}
