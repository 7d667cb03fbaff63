/** The command line. */
import { parseArgs } from 'node:util';
import type { StrategyName } from 'tfjs-embeddings/node';
import { InputError } from '../wide_and_deep/input_error.js';
import { readOneOf, readWhole } from '../wide_and_deep/read_value.js';
import { readReportFile } from '../wide_and_deep/output_paths.js';
import { CONFIGS } from './configs.js';

export interface Options {
  readonly model: string;
  readonly devices: number;
  readonly threads: number;
  readonly strategy: StrategyName;
  readonly optimizer: 'sgd' | 'adagrad' | 'adam';
  readonly batch: number;
  readonly batches: number;
  readonly steps: number;
  readonly bytes: number;
  readonly host: string | null;
  readonly report: string | null;
  readonly plan: boolean;
}

const STRATEGIES = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'] as const;
const HOSTS = ['tensorflow', 'wasm', 'cpu'] as const;
const OPTIMIZERS = ['sgd', 'adagrad', 'adam'] as const;

export const HELP = `Trains a synthetic recommender model (NVIDIA distributed-embeddings) on virtual devices.

  node --import tsx models/synthetic/main.ts [options]

  --model NAME      ${Object.keys(CONFIGS).join(', ')} (default: tiny)
  --devices N       virtual devices (default: 8)
  --threads N       threads of the kernels of each device (default: 1)
  --strategy NAME   ${STRATEGIES.join(', ')} (default: cost_balanced)
  --optimizer NAME  ${OPTIMIZERS.join(', ')} (default: adagrad)
  --batch N         samples per step (default: 8192)
  --batches N       different batches, used in turn (default: 2)
  --steps N         (default: 20)
  --bytes N         tables and slots take at most so many: rows of large tables are scaled (default: 1e9)
  --host NAME       ${HOSTS.join(', ')}: what computes the rest (default: the first of these that is there)
  --report FILE     write a page with a picture: what lies where, and what was sent
  --plan            print which part of which table lies on which device, a line for each
  --help            print this

The last line is JSON: milliseconds per step, and of it lookup, exchange and update; growth of the main thread's memory.
`;

/** The options, or null where help was asked for. */
export function readOptions(args: readonly string[]): Options | null {
  const text = (byDefault: string) => ({ type: 'string', default: byDefault }) as const;
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        model: text('tiny'),
        devices: text('8'),
        threads: text('1'),
        strategy: text('cost_balanced'),
        optimizer: text('adagrad'),
        batch: text('8192'),
        batches: text('2'),
        steps: text('20'),
        bytes: text('1e9'),
        host: { type: 'string' },
        report: { type: 'string' },
        plan: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new InputError(`${(error as Error).message} (--help lists the options)`);
  }
  const whole = (option: string, value: string, most: number): number => readWhole(option, value, 1, most);
  if (values.help) return null;
  return {
    model: readOneOf('--model', values.model, Object.keys(CONFIGS)),
    devices: whole('--devices', values.devices, 1024),
    threads: whole('--threads', values.threads, 256),
    strategy: readOneOf('--strategy', values.strategy, STRATEGIES),
    optimizer: readOneOf('--optimizer', values.optimizer, OPTIMIZERS),
    batch: whole('--batch', values.batch, 1_000_000),
    batches: whole('--batches', values.batches, 1000),
    steps: whole('--steps', values.steps, 1_000_000),
    bytes: whole('--bytes', values.bytes, Number.MAX_SAFE_INTEGER),
    host: values.host === undefined ? null : readOneOf('--host', values.host, HOSTS),
    plan: values.plan,
    report: values.report === undefined ? null : readReportFile('--report', values.report),
  };
}
