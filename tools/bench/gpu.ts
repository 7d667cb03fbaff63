/**
 * Training steps in a page, on GPU backends that compute in software: one JSON line per optimizer and backend, with what a
 * step takes on tables of different heights, taken in turns, and the ratio of the last to the first.
 *   node --import tsx tools/bench/gpu.ts [--backends webgl,webgpu] [--rows 1000,1000000] [--dim 32] [--batch 256] [--length 10]
 *     [--steps 15] [--optimizers adagrad,adam]
 */
import { parseArgs } from 'node:util';
import { GpuPage, type GpuBackend } from '../../test/browser/gpu_page.js';
import { OPTIMIZER_NAMES } from '../../src/rules/rules.js';
import type { TimedSteps } from './gpu/program.js';
import { Load, median, printLine } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    backends: { type: 'string', default: 'webgl,webgpu' },
    rows: { type: 'string', default: '1000,1000000' },
    dim: { type: 'string', default: '32' },
    batch: { type: 'string', default: '256' },
    length: { type: 'string', default: '10' },
    steps: { type: 'string', default: '15' },
    optimizers: { type: 'string', default: OPTIMIZER_NAMES.join() },
  },
});
const [dim, batch, length, steps] = [given.dim, given.batch, given.length, given.steps].map(Number) as [
  number,
  number,
  number,
  number,
];
const rows = given.rows.split(',').map(Number);

for (const backend of given.backends.split(',') as GpuBackend[]) {
  const opened = await GpuPage.open(backend, new URL('gpu/program.ts', import.meta.url));
  if (opened === null) continue;
  for (const optimizer of given.optimizers.split(',') as TimedSteps['optimizer'][]) {
    const what: TimedSteps = { optimizer, rows, dim, batch, length, steps };
    const load = new Load();
    const taken: number[][] = await opened.page.evaluate(`timedSteps(${JSON.stringify(what)})`);
    const medians = taken.map(median);
    const least = taken.map((each) => Math.min(...each));
    printLine({
      peer: `emb.train.${optimizer}`,
      case: `step ${backend} rows ${rows.join(' and ')} d${dim} b${batch}x${length}`,
      msMedian: medians,
      msMin: least,
      ratio: medians.at(-1)! / medians[0]!,
      ratioOfLeast: least.at(-1)! / least[0]!,
      otherCpu: load.ofOthers(),
    });
  }
  await opened.close();
}
