/**
 * Speed of the native kernels: one JSON line per case, with the limit of the memory measured beside it.
 *   node --import tsx tools/bench/kernels.ts [--threads 1,2] [--dims 32,64,128] [--hots 1,10,50] [--ops forward,sgd]
 *     [--rows 1000000] [--batch 4096] [--repeats 15]
 * `limitMs` is the least that the traffic of rows alone takes: read in the order of the ids and, for a step, read and
 * written back, each once, in the order of the table, with the rows of slots. `otherCpu` is the share of the machine that other processes used meanwhile.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { floatTable, type HostBags } from '../../src/backends/kernel_set.js';
import { loadNative } from '../../src/backends/native/register.js';
import type { UpdateName } from '../../src/rules/rules.js';
import { Random } from '../../test/helpers/random.js';
import { HYPER, OPTIONS, readSizes } from './bag_options.js';
import { compileMemoryLimit, SLOTS } from './rivals/bags/memory_peer.js';
import { printLine, time } from './stopwatch.js';
import { lookUpInto, stepOne } from '../../test/helpers/kernel_calls.js';

const given = readSizes({ threads: '1,2', hots: '1,10,50', ops: 'forward,sgd,rowWiseAdagrad,adagrad' });
const { rows, batch, repeats } = given;

/** The milliseconds that the memory needs; null where there is no compiler. */
function measureLimit(dim: number, hot: number, threads: number, op: string): number | null {
  if (!('program' in limit)) return null;
  const args = [rows, dim, batch * hot, hot, batchesFor(hot), SLOTS[op]!, threads, repeats].map(String);
  const { status, stdout } = spawnSync(limit.program, args, { encoding: 'utf8', input: '\n' });
  return status === 0 ? (JSON.parse(stdout) as { ms: number }).ms : null;
}

const batchesFor = (hot: number): number => (hot === 1 ? 64 : 16);

function batches(random: Random, hot: number): HostBags[] {
  const rowSplits = Int32Array.from({ length: batch + 1 }, (_, b) => b * hot);
  return Array.from({ length: batchesFor(hot) }, () => ({
    values: Int32Array.from({ length: batch * hot }, () => random.whole(0, rows)),
    rowSplits,
    weights: null,
  }));
}

const kernels = loadNative();
const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-bench-'));
const limit = compileMemoryLimit(folder);
for (const dim of given.dims) {
  const table = floatTable(kernels.allocate(rows * dim).fill(0.5), rows, dim);
  const slot = kernels.allocate(rows * dim).fill(0.1);
  const [pooled, gradient] = [new Float32Array(batch * dim), new Float32Array(batch * dim).fill(1e-4)];
  for (const hot of given.hots) {
    const rotating = batches(new Random(dim + hot), hot);
    for (const threads of given.threads) {
      kernels.setThreads(threads);
      for (const op of given.ops) {
        const forward = (n: number): void =>
          lookUpInto(kernels, table, rotating[n % rotating.length]!, OPTIONS, pooled);
        const slots = op === 'sgd' ? [] : [op === 'adagrad' ? slot : slot.subarray(0, rows)];
        const step = (n: number): void => {
          forward(n);
          const bags = rotating[n % rotating.length]!;
          stepOne(kernels, op as UpdateName, table, slots, gradient, bags, OPTIONS, HYPER);
        };
        const result = await time(op === 'forward' ? forward : step, repeats);
        const limitMs = measureLimit(dim, hot, threads, op);
        printLine({
          peer: 'tfjs-embeddings native',
          case: `${op} d${dim} h${hot}`,
          threads,
          instructionSet: kernels.info().instructionSet,
          ...result,
          limitMs,
          ratio: limitMs === null ? null : result.msMedian / limitMs,
          ratioOfMin: limitMs === null ? null : result.msMin / limitMs,
        });
      }
    }
  }
}
rmSync(folder, { recursive: true });
