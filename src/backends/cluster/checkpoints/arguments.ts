/** What users give to calls that work on checkpoints. */
import { ArgumentTypeError, ValueError } from '../../../base/errors.js';
import { readOptions } from '../../../base/options.js';
import { timeoutOf } from '../settings.js';
import type { WorkOptions } from './server_work.js';

/** Options of calls that work long. */
export interface CheckpointOptions {
  /** Milliseconds that a call of a server may take; 600,000 (ten minutes) by default. */
  timeoutMs?: number | undefined;
  /** Takes the part of the work that is done, from 0 to 1, again and again. */
  onProgress?: ((done: number) => void) | null | undefined;
}

export interface DeltasArgs extends CheckpointOptions {
  /** The prefix of the checkpoint that tables are compared with. */
  since: string;
  /** The path of the file to be written, on the client. */
  file: string;
}

const FIELDS = ['timeoutMs', 'onProgress'] as const;
const TEN_MINUTES = 600_000;

function workOptions({ timeoutMs, onProgress }: CheckpointOptions): WorkOptions {
  const report = onProgress ?? null;
  if (report !== null && typeof report !== 'function') throw new ArgumentTypeError('onProgress', 'a function', report);
  return { timeoutMs: timeoutOf(timeoutMs, TEN_MINUTES), onProgress: report };
}

/** The prefix of a checkpoint, a path of the servers. */
function readPrefix(value: unknown, argument: string): string {
  const expected = "a path of the servers' file system, such as '/checkpoints/ctr/100'";
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  // TensorFlow writes `prefix.index` and more; a folder or nothing is no such name.
  if (/^\s*$|\/$|\0/.test(value)) throw new ValueError(argument, expected, value);
  // TensorFlow takes these for patterns when it looks for the files.
  if (/[[\\]/.test(value)) throw new ValueError(argument, `${expected}, without [ and \\`, value);
  return value;
}

/** What `save` and `restore` are given. Throws TypeError and ValueError, which name the argument. */
export function readCheckpointArguments(prefix: unknown, options: unknown): { prefix: string; work: WorkOptions } {
  return { prefix: readPrefix(prefix, 'prefix'), work: workOptions(readOptions<CheckpointOptions>(options, FIELDS)) };
}

/** What `deltas` is given. */
export function readDeltasArguments(args: unknown): { since: string; file: string; work: WorkOptions } {
  const { since, file, ...options } = readOptions<DeltasArgs>(args, ['since', 'file', ...FIELDS], 'args');
  const prefix = readPrefix(since, 'since');
  const expected = 'a path for the file, such as deltas.safetensors';
  if (typeof file !== 'string') throw new ArgumentTypeError('file', expected, file);
  if (file === '') throw new ValueError('file', expected, file);
  return { since: prefix, file, work: workOptions(options) };
}
