/** Checks what one device of a plan holds of the table-parallel group. */
import type { Compare } from './comparison.js';
import { widthOf, type PlanData, type TableParallelRank } from './plan.js';
import type { PlanTable } from './plan_table.js';
import { INT32_MAX } from '../base/types.js';

/** Every shard in exactly one weight. */
function joinProblems(rank: TableParallelRank, path: string): string[] {
  const problems: string[] = [];
  const times = rank.shards.map(() => 0);
  rank.concatGroups.forEach((group, weight) => {
    if (group.length === 0) problems.push(`${path}.concatGroups[${weight}]: no shards`);
    for (const shard of group) {
      if (shard < times.length) times[shard]!++;
      else problems.push(`${path}.concatGroups[${weight}]: there is no shard ${shard}`);
    }
  });
  times.forEach((found, shard) => {
    if (found !== 1) problems.push(`${path}.concatGroups: shard ${shard} is in ${found} weights instead of 1`);
  });
  return problems;
}

/** Sizes and offsets of the weights, and whether their members may share one. */
function weightProblems(
  rank: TableParallelRank,
  path: string,
  tables: readonly PlanTable[],
  compare: Compare,
): string[] {
  const problems: string[] = [];
  compare(`${path}.physicalTables.length`, rank.concatGroups.length, rank.physicalTables.length);
  compare(`${path}.weightOffsets.length`, rank.concatGroups.length, rank.weightOffsets.length);
  rank.concatGroups.forEach((group, weight) => {
    const members = group.map((shard) => ({ shard: rank.shards[shard]!, table: tables[rank.shards[shard]!.table]! }));
    const offsets = [0];
    for (const { table } of members) offsets.push(offsets.at(-1)! + table.rows);
    compare(`${path}.weightOffsets[${weight}]`, offsets, rank.weightOffsets[weight]);
    const found = rank.physicalTables[weight];
    if (found === undefined) return;
    const at = `${path}.physicalTables[${weight}]`;
    compare(`${at}.inputDim`, offsets.at(-1), found.inputDim);
    for (const { shard, table } of members) {
      const { inputDim, outputDim, cpuOffload } = found;
      const { combiner } = table;
      const held = { inputDim, outputDim: widthOf(shard), combiner, cpuOffload };
      compare(at, held, { inputDim, outputDim, combiner: found.combiner, cpuOffload });
    }
    if (new Set(members.map(({ table }) => table.joinKey)).size > 1) {
      const list = members.map(({ shard }) => shard.table).join(', ');
      problems.push(`${at}: tables ${list} differ in what a weight has one of (combiner, initializer, optimizer, …)`);
    }
    if (found.inputDim > INT32_MAX) problems.push(`${at}: more rows than an int32 id can name`);
  });
  return problems;
}

/** Everything that is wrong with one device's part of the table-parallel group. `inputs` are those of each table. */
export function rankProblems(
  plan: PlanData,
  rank: TableParallelRank,
  path: string,
  tables: readonly PlanTable[],
  inputs: readonly (readonly number[])[],
  compare: Compare,
): string[] {
  const group = plan.tableGroups.tableParallel;
  const local = rank.shards.map(({ table }) => group.indexOf(table));
  const stray = rank.shards.findIndex((_, shard) => local[shard] === -1);
  if (stray !== -1) {
    return [`${path}.shards[${stray}]: table ${rank.shards[stray]!.table} is not in the table-parallel group`];
  }
  compare(`${path}.tableIds`, local, rank.tableIds);
  const problems = joinProblems(rank, path);
  if (problems.length > 0) return problems;
  problems.push(...weightProblems(rank, path, tables, compare));
  const uses = local.flatMap((table, shard) => inputs[table]!.map((input) => ({ input, shard })));
  const weightOf = rank.shards.map((_, shard) => rank.concatGroups.findIndex((members) => members.includes(shard)));
  const offsetOf = (shard: number): number | undefined => {
    const weight = weightOf[shard]!;
    return rank.weightOffsets[weight]?.[rank.concatGroups[weight]!.indexOf(shard)];
  };
  const compareUses = (key: 'inputIds' | 'inputIdsGlobal' | 'localMap' | 'inputOffsets', expected: unknown[]): void =>
    compare(`${path}.${key}`, expected, rank[key]);
  compareUses(
    'inputIds',
    uses.map(({ input }) => input),
  );
  compareUses(
    'inputIdsGlobal',
    uses.map(({ input }) => plan.inputGroups.tableParallel[input]),
  );
  compareUses(
    'localMap',
    uses.map(({ shard }) => weightOf[shard]),
  );
  compareUses(
    'inputOffsets',
    uses.map(({ shard }) => offsetOf(shard)),
  );
  const elements = rank.shards.reduce((sum, shard) => sum + widthOf(shard) * tables[shard.table]!.rows, 0);
  compare(`${path}.elements`, elements, rank.elements);
  return problems;
}
