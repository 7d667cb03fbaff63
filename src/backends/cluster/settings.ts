/** Which servers hold the tables, and how they are used. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkChoice, readOptions } from '../../base/options.js';
import { hostName } from '../devices/host/derived_backend.js';
import { environmentVariable } from '../registry.js';
import { TABLES_MODES, type TablesMode } from './record/membership.js';

export const BACKEND_NAME = 'tf-cluster';

export interface ConnectClusterArgs {
  /** Addresses of the parameter servers as `host:port`, in the order of their tasks; else those of `TF_CONFIG`. */
  ps?: readonly string[] | null | undefined;
  /** The name of their job; 'ps' by default. */
  job?: string | undefined;
  /** Clients of one name share tables, others see none of them; 'tfjs-embeddings' by default. Letters, digits, dots, dashes. */
  name?: string | undefined;
  /**
   * Whether tables are made (default), made in place of those that are there, attached to as others made them, or attached
   * to for lookups alone.
   */
  tables?: TablesMode | undefined;
  /** Milliseconds that a call of a server may take; 30,000 by default. */
  timeoutMs?: number | undefined;
  /** What pooled rows and gradients travel as; 'float16' halves the bytes, and rounds each number to 11 bits. */
  exchange?: 'float32' | 'float16' | undefined;
  /**
   * Batches that are looked up ahead in `fit`, 0 (default) or 1: the next one in the call of this one's step, after it, so
   * that a step takes one way to each server and back in place of two. Training is the same to the bit.
   */
  prefetch?: 0 | 1 | undefined;
  /** The tfjs backend for dense ops; by default tensorflow, else wasm, else cpu, whichever is there. */
  host?: string | null | undefined;
}

/** An address. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ClusterSettings {
  readonly ps: readonly ServerAddress[];
  readonly job: string;
  readonly name: string;
  readonly tables: TablesMode;
  readonly timeoutMs: number;
  readonly exchange: 'float32' | 'float16';
  readonly prefetch: 0 | 1;
  readonly host: string | null;
}

const FIELDS = ['ps', 'job', 'name', 'tables', 'timeoutMs', 'exchange', 'prefetch', 'host'] as const;
const EXCHANGES = ['float32', 'float16'] as const;
const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_TIMEOUT_MS = 2 ** 31 - 1;
const MOST_SERVERS = 1024;
/** What TensorFlow takes as the name of a container. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;
const JOB = /^[a-z][a-z0-9_]*$/;
const ADDRESS = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/;

function named(value: unknown, argument: string, pattern: RegExp, expected: string, fallback: string): string {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  if (!pattern.test(value)) throw new ValueError(argument, expected, value);
  return value;
}

/** Milliseconds that a call may take. */
export function timeoutOf(value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const expected = `a whole number of milliseconds from 1 to ${MOST_TIMEOUT_MS}`;
  if (typeof value !== 'number') throw new ArgumentTypeError('timeoutMs', expected, value);
  if (!Number.isInteger(value) || value < 1 || value > MOST_TIMEOUT_MS) {
    throw new ValueError('timeoutMs', expected, value);
  }
  return value;
}

function prefetchOf(value: unknown): 0 | 1 {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number') throw new ArgumentTypeError('prefetch', '0 or 1', value);
  if (value !== 0 && value !== 1) throw new ValueError('prefetch', '0 or 1', value);
  return value;
}

/** Throws TypeError and ValueError, which name the argument, for what is no address. */
export function readAddress(value: unknown, argument: string): ServerAddress {
  const expected = 'an address as host:port, an IPv6 host in brackets';
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  const [, v6, name, digits] = ADDRESS.exec(value) ?? [];
  const port = Number(digits);
  if (digits === undefined || port < 1 || port > 65535) throw new ValueError(argument, expected, value);
  return { host: v6 ?? name!, port };
}

/** The addresses that `TF_CONFIG` has for a job; null: there is no such variable. */
function fromEnvironment(job: string): unknown {
  const text = environmentVariable('TF_CONFIG');
  if (text === undefined || text === '') return null;
  const expected = `JSON such as {"cluster": {"${job}": ["host:port"]}}`;
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    throw new ValueError('TF_CONFIG', expected, text);
  }
  const found = (config as { cluster?: Record<string, unknown> } | null)?.cluster?.[job];
  if (found === undefined) throw new ValueError('TF_CONFIG', expected, text);
  return found;
}

function addressesOf(value: unknown, job: string): ServerAddress[] {
  const given = value ?? fromEnvironment(job);
  const expected = 'a list of addresses such as ["10.0.0.1:2222"]';
  if (given === null) {
    throw new ArgumentTypeError('ps', expected, described('none, and no environment variable TF_CONFIG'));
  }
  if (!Array.isArray(given)) throw new ArgumentTypeError('ps', expected, given);
  if (given.length === 0 || given.length > MOST_SERVERS) {
    throw new ValueError('ps', `1 to ${MOST_SERVERS} addresses`, described(`${given.length}`));
  }
  const found = given.map((each: unknown, i) => readAddress(each, `ps[${i}]`));
  found.forEach(({ host, port }, i) => {
    const first = found.findIndex((each) => each.host === host && each.port === port);
    if (first < i) throw new ValueError(`ps[${i}]`, 'another address than those before it', given[i]);
  });
  return found;
}

/** Reads and checks what `connectCluster` was given. */
export function readClusterSettings(args: unknown): ClusterSettings {
  const given = readOptions<ConnectClusterArgs>(args ?? {}, FIELDS, 'args');
  const job = named(given.job, 'job', JOB, 'a name of lower-case letters, digits and underscores', 'ps');
  return {
    ps: addressesOf(given.ps, job),
    job,
    name: named(
      given.name,
      'name',
      NAME,
      'letters, digits, dots and dashes, a letter or digit first',
      'tfjs-embeddings',
    ),
    tables: checkChoice(given.tables ?? 'create', 'tables', TABLES_MODES),
    timeoutMs: timeoutOf(given.timeoutMs, DEFAULT_TIMEOUT_MS),
    exchange: checkChoice(given.exchange ?? 'float32', 'exchange', EXCHANGES),
    prefetch: prefetchOf(given.prefetch),
    host: hostName(given.host),
  };
}
