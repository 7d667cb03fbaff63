// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { parseArgs } from 'node:util';
import { InputError } from '../wide_and_deep/input_error.mjs';
import { readReportFile } from '../wide_and_deep/read_path.mjs';
import { readOneOf, readWhole } from '../wide_and_deep/read_value.mjs';

/** Described in configs.ts. */
export const MODELS = /** @type {const} */ (['tiny', 'small', 'criteo']);
const STRATEGIES = /** @type {const} */ (['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced']);
const HOSTS = /** @type {const} */ (['tensorflow', 'wasm', 'cpu']);
const OPTIMIZERS = /** @type {const} */ (['sgd', 'adagrad', 'adam']);

/**
 * @typedef {object} Fields
 * @property {typeof MODELS[number]} model
 * @property {number} devices
 * @property {number} threads
 * @property {import('tfjs-embeddings/node').StrategyName} strategy
 * @property {typeof OPTIMIZERS[number]} optimizer
 * @property {number} batch
 * @property {number} batches
 * @property {number} steps
 * @property {number} bytes
 * @property {string | null} host
 * @property {string | null} report
 * @property {boolean} plan
 */
/** @typedef {Readonly<Fields>} Options */

export const HELP = `Trains a synthetic recommender model (NVIDIA distributed-embeddings) on virtual devices.

  node models/start.mjs synthetic [options]

  --model NAME      ${MODELS.join(', ')} (default: tiny)
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

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function readOptions(args) {
  /** @param {string} byDefault */
  const text = (byDefault) => /** @type {const} */ ({ type: 'string', default: byDefault });
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
      },
    }));
  } catch (error) {
    throw new InputError(`${/** @type {Error} */ (error).message} (--help lists the options)`);
  }
  /** @type {(option: string, value: string, most: number) => number} */
  const whole = (option, value, most) => readWhole(option, value, 1, most);
  return {
    model: readOneOf('--model', values.model, MODELS),
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
