/**
 * The host preprocessing of SparseCores: 26 features with the numbers of ids of the MLPerf recommender (214 for each
 * sample) to CSR, limits from `computeSparseCoreStats`, with one pass over the ids measured beside it.
 *   node --import tsx tools/bench/sparse_core.ts [--threads 1,2] [--batch 16384] [--cores 8] [--repeats 7]
 * `ratio` compares with reading every id once and writing a triple for each into fresh memory, in as many threads;
 * `ratioOfWarm` with the same into memory that was written before, which costs no page faults.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as emb from 'tfjs-embeddings/node';
import { TPUEmbeddingV2 } from '../../src/tpu/sparse_core/index.js';
import { preprocessFeatures, type PreprocessFeaturesArgs } from '../../src/tpu/sparse_core/csr/preprocess_features.js';
import { BatchStats } from '../../src/tpu/sparse_core/sparse_core_stats.js';
import { columnOffset } from '../../src/tpu/sparse_core/layouts.js';
import { Random } from '../../test/helpers/random.js';
import { printLine, time } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    threads: { type: 'string', default: '1,2' },
    batch: { type: 'string', default: '16384' },
    cores: { type: 'string', default: '8' },
    repeats: { type: 'string', default: '7' },
  },
});
const [batch, cores, repeats] = [Number(given.batch), Number(given.cores), Number(given.repeats)];
const HOTS = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1];
const ROWS = [
  40_000_000, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63, 40_000_000, 3_067_956, 405_282, 10, 2_209, 11_938,
  155, 4, 976, 14, 40_000_000, 40_000_000, 40_000_000, 590_152, 12_973, 108, 36,
];

/** Ids of a power law, as those of users and items are: some rows come often. */
function idsOf(random: Random, rows: number, hot: number): { values: Int32Array; rowSplits: Int32Array } {
  const values = new Int32Array(batch * hot);
  for (let i = 0; i < values.length; i++) values[i] = Math.floor(rows * random.next() ** 3);
  return { values, rowSplits: Int32Array.from({ length: batch + 1 }, (_, row) => row * hot) };
}

const { SGD, TableConfig, FeatureConfig } = emb.tpu;
const random = new Random(1);
const featureConfig = ROWS.map((vocabularySize, i) => {
  const table = new TableConfig({ vocabularySize, dim: 16, combiner: 'sum', name: `t${String(i).padStart(2, '0')}` });
  return new FeatureConfig({ table, outputShape: [batch] });
});
const features = HOTS.map((hot, i) => idsOf(random, ROWS[i]!, hot));
const optimizer = new SGD({ learningRate: 0.1 });
const machine = { featureConfig, numTpuChips: 1, numScPerChip: cores, optimizer };
const stats = TPUEmbeddingV2.computeSparseCoreStats({ ...machine, features });
const { plan } = new BatchStats(machine).read(features);
const layouts = [...plan.layouts.values()];
const args: PreprocessFeaturesArgs = {
  numChips: 1,
  numScPerChip: cores,
  maxIdsPerChipPerSample: 128,
  tables: layouts.map(({ tableName, unshardedPaddedShape: [paddedVocab, paddedDim] }) => {
    return { name: tableName, paddedVocab, paddedDim, combiner: 'sum' as const };
  }),
  stackedTableToTables: Object.fromEntries(
    plan.stacks.map(({ name, tables }) => [name, tables.map((t) => t.table.name)]),
  ),
  tableToStackedTableOffset: Object.fromEntries(
    layouts.map((layout) => [
      layout.tableName,
      [layout.stackedTableName, columnOffset(layout), layout.sparseCoreShardRotation] as const,
    ]),
  ),
  featureToSampleOffset: Object.fromEntries(
    plan.stacks.flatMap((stack) => stack.features.map(({ place, sampleOffset }) => [place, sampleOffset])),
  ),
  tableToSampleCount: Object.fromEntries(plan.stacks.map(({ name, samples }) => [name, samples])),
  features: featureConfig.map(({ table }) => ({ table: table.name!, outputShape: [batch] })),
  inputs: features,
  maxIdsPerTable: stats.maxIds,
  maxUniqueIdsPerTable: stats.maxUniqueIds,
};

const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-bench-'));
const program = join(folder, 'csr_pass');
const source = fileURLToPath(new URL('csr_pass.c', import.meta.url));
const hasPass = spawnSync('cc', ['-O3', '-march=native', '-pthread', source, '-o', program]).status === 0;
const ids = features.reduce((sum, { values }) => sum + values.length, 0);
for (const threads of given.threads.split(',').map(Number)) {
  emb.setThreads(threads);
  // A step disposes the CSR of its batch, so that the next one is made in the same memory.
  const run = (): void => Object.values(preprocessFeatures(args)).forEach((csr) => csr.dispose());
  const result = await time(run, repeats, 5);
  const { stdout } = spawnSync(program, [ids, threads, 15].map(String), { encoding: 'utf8' });
  const pass = hasPass ? (JSON.parse(stdout) as { passMs: number; passMinMs: number; warmPassMs: number }) : null;
  printLine({
    peer: 'tfjs-embeddings native',
    case: `csr 26 features, batch ${batch}, ${ids / batch} ids a sample, ${cores} cores, ${plan.stacks.length} stacks`,
    threads,
    ...result,
    passMs: pass?.passMs ?? null,
    warmPassMs: pass?.warmPassMs ?? null,
    ratio: pass === null ? null : result.msMedian / pass.passMs,
    ratioOfMin: pass === null ? null : result.msMin / pass.passMinMs,
    ratioOfWarm: pass === null ? null : result.msMedian / pass.warmPassMs,
  });
}
rmSync(folder, { recursive: true });
