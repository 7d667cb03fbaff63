/** What the benchmarks of kernels take: sizes of tables and bags on the command line, and the options of each call. */
import { parseArgs } from 'node:util';
import { NEUTRAL_HYPER, packHyper } from '../../src/rules/hyper.js';
import type { BagOptions } from '../../src/backends/kernel_set.js';

export const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
export const HYPER = packHyper({ ...NEUTRAL_HYPER, learningRate: 1e-3, epsilon: 1e-7 });

interface BagSizes {
  readonly threads: readonly number[];
  readonly dims: readonly number[];
  /** Ids in each bag. */
  readonly hots: readonly number[];
  readonly ops: readonly string[];
  readonly rows: number;
  readonly batch: number;
  readonly repeats: number;
}

/** Reads the command line; lists are separated by commas. */
export function readSizes(defaults: {
  readonly threads: string;
  readonly hots: string;
  readonly ops: string;
}): BagSizes {
  const { values } = parseArgs({
    options: {
      threads: { type: 'string', default: defaults.threads },
      dims: { type: 'string', default: '32,64,128' },
      hots: { type: 'string', default: defaults.hots },
      ops: { type: 'string', default: defaults.ops },
      rows: { type: 'string', default: '1000000' },
      batch: { type: 'string', default: '4096' },
      repeats: { type: 'string', default: '15' },
    },
  });
  const list = (text: string): number[] => text.split(',').map(Number);
  return {
    threads: list(values.threads),
    dims: list(values.dims),
    hots: list(values.hots),
    ops: values.ops.split(','),
    rows: Number(values.rows),
    batch: Number(values.batch),
    repeats: Number(values.repeats),
  };
}
