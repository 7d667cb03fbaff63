/** The command line. */
import { parseArgs } from 'node:util';
import type { StrategyName } from 'tfjs-embeddings/node';
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
}

const STRATEGIES = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'] as const;
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
  --host NAME       tfjs backend of dense ops (default: the best one there is)
  --report FILE     writes the report as a page
  --help            print this

The last line is JSON: milliseconds per step, and of it lookup, exchange and update; growth of the main thread's memory.
`;

/** The options, or null where help was asked for. */
export function readOptions(args: readonly string[]): Options | null {
  const text = (byDefault: string) => ({ type: 'string', default: byDefault }) as const;
  const { values } = parseArgs({
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
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    model: oneOf('--model', values.model, Object.keys(CONFIGS)),
    devices: whole('--devices', values.devices),
    threads: whole('--threads', values.threads),
    strategy: oneOf('--strategy', values.strategy, STRATEGIES),
    optimizer: oneOf('--optimizer', values.optimizer, OPTIMIZERS),
    batch: whole('--batch', values.batch),
    batches: whole('--batches', values.batches),
    steps: whole('--steps', values.steps),
    bytes: whole('--bytes', values.bytes),
    host: values.host ?? null,
    report: values.report ?? null,
  };
}

function whole(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error(`${option} must be a whole number from 1 on, not "${text}"`);
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((each) => each === text);
  if (found === undefined) throw new Error(`${option} must be one of ${known.join(', ')}, not "${text}"`);
  return found;
}
