/** Checks plans that the caller changed or wrote by hand. */
import { reverseGroupIds } from './groups.js';
import { rankProblems } from './check_rank.js';
import { comparing, type Compare } from './comparison.js';
import { GROUP_NAMES, isModulo, type PlanData, type RowShard, type Span, type TableParallelPlan } from './plan.js';
import { inputsOfTables, placesByInput } from './plan_layout.js';
import { shapeProblems } from './plan_shape.js';
import { readTables, type PlanTable, type PlanTableArgs } from './plan_table.js';
import { joinedOutputs, mergeSlices, type Shard } from './shards.js';

/** Says where spans leave something out, hold it twice or go beyond the end. */
function coverage(spans: readonly { span: Span; device: number }[], end: number, what: string): string[] {
  const problems: string[] = [];
  const sorted = [...spans].sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1]);
  let covered = 0;
  for (const { span, device } of sorted) {
    const [from, to] = span;
    if (from > to) problems.push(`device ${device}: ${what} ${from}..${to} end before they start`);
    if (from > covered) problems.push(`${what} ${covered}..${Math.min(from, end)} are on no device`);
    if (from < Math.min(covered, to))
      problems.push(`device ${device}: ${what} ${from}..${Math.min(covered, to)} are held twice`);
    if (to > end) problems.push(`device ${device}: ${what} ${from}..${to} go beyond the ${end} there are`);
    covered = Math.max(covered, to);
  }
  if (covered < end) problems.push(`${what} ${covered}..${end} are on no device`);
  return problems;
}

/** Every number from 0 to `count` in exactly one of the groups. */
function partitionProblems(plan: PlanData, which: 'tableGroups' | 'inputGroups', count: number): string[] {
  const problems: string[] = [];
  const times = new Array<number>(count).fill(0);
  const word = which === 'tableGroups' ? 'table' : 'input';
  for (const name of GROUP_NAMES) {
    plan[which][name].forEach((number, place) => {
      if (number < count) times[number]!++;
      else problems.push(`${which}.${name}[${place}]: there is no ${word} ${number}`);
    });
  }
  times.forEach((found, number) => {
    if (found !== 1) problems.push(`${which}: ${word} ${number} is in ${found} groups instead of 1`);
  });
  return problems;
}

/** Groups fit the tables, and inputs fit their tables' groups. */
function groupProblems(plan: PlanData, tables: readonly PlanTable[], compare: Compare): string[] {
  const problems = partitionProblems(plan, 'tableGroups', tables.length);
  const inputs = GROUP_NAMES.reduce((sum, name) => sum + plan.inputGroups[name].length, 0);
  problems.push(...partitionProblems(plan, 'inputGroups', inputs));
  for (const name of GROUP_NAMES) {
    compare(`mapGroups.${name}.length`, plan.inputGroups[name].length, plan.mapGroups[name].length);
    plan.mapGroups[name].forEach((table, input) => {
      if (table < plan.tableGroups[name].length) return;
      problems.push(`mapGroups.${name}[${input}]: the group has no table ${table}`);
    });
  }
  return problems;
}

function copyProblems(plan: PlanData, tables: readonly PlanTable[], compare: Compare): void {
  const copies = plan.tableGroups.dataParallel.map((table) => {
    return { table, inputDim: tables[table]!.rows, outputDim: tables[table]!.columns };
  });
  compare('dataParallelTables', copies.length > 0 ? copies : undefined, plan.dataParallelTables);
}

/** All rows of each table of the row group on exactly one device each. */
function rowProblems(plan: PlanData, tables: readonly PlanTable[], compare: Compare): string[] {
  const problems: string[] = [];
  const devices = plan.ranks.length;
  plan.ranks.forEach((rank, device) => {
    (rank.rowSlice ?? []).forEach((shard, place) => {
      const path = `ranks[${device}].rowSlice[${place}]`;
      if (!plan.tableGroups.rowSlice.includes(shard.table)) {
        problems.push(`${path}: table ${shard.table} is not in the row group`);
        return;
      }
      const { rows, columns } = tables[shard.table]!;
      compare(`${path}.outputDim`, columns, shard.outputDim);
      if (isModulo(shard)) {
        const { divisor, remainder } = shard.modulo;
        compare(`${path}.modulo.divisor`, devices, divisor);
        if (remainder >= devices)
          problems.push(`${path}.modulo.remainder: expected less than ${devices}, found ${remainder}`);
        else compare(`${path}.inputDim`, Math.ceil((rows - remainder) / devices), shard.inputDim);
      } else {
        compare(`${path}.inputDim`, shard.rows[1] - shard.rows[0], shard.inputDim);
        compare(`${path}.inputOffset`, 0 - shard.rows[0], shard.inputOffset);
      }
    });
  });
  for (const table of plan.tableGroups.rowSlice) {
    const held: { shard: RowShard; device: number }[] = plan.ranks.flatMap((rank, device) =>
      (rank.rowSlice ?? []).filter((shard) => shard.table === table).map((shard) => ({ shard, device })),
    );
    const dealt = held.filter(({ shard }) => isModulo(shard)).length;
    const say = (line: string): number => problems.push(`table ${table}: ${line}`);
    held.forEach(({ device }, place) => {
      if (held.findIndex((other) => other.device === device) !== place) say(`device ${device} holds rows of it twice`);
    });
    if (dealt > 0 && dealt < held.length) say('some devices hold ranges of rows, others every n-th');
    else if (dealt > 0) {
      const spans = held.map(({ shard, device }) => {
        const remainder = isModulo(shard) ? shard.modulo.remainder : 0;
        return { span: [remainder, remainder + 1] as Span, device };
      });
      coverage(spans, devices, 'remainders').forEach(say);
    } else {
      const spans = held.map(({ shard, device }) => ({
        span: isModulo(shard) ? ([0, 0] as Span) : shard.rows,
        device,
      }));
      coverage(spans, tables[table]!.rows, 'rows').forEach(say);
    }
  }
  return problems;
}

/** All columns of each table-parallel table on exactly one device each, in the order of devices. */
function columnProblems(plan: PlanData, tables: readonly PlanTable[]): string[] {
  const problems: string[] = [];
  for (const table of plan.tableGroups.tableParallel) {
    const held = plan.ranks.flatMap((rank, device) =>
      (rank.tableParallel?.shards ?? [])
        .filter((shard) => shard.table === table)
        .map(({ columns }) => ({ span: columns, device })),
    );
    const { columns, rowCoupled } = tables[table]!;
    const say = (line: string): number => problems.push(`table ${table}: ${line}`);
    coverage(held, columns, 'columns').forEach(say);
    held.forEach(({ span, device }, place) => {
      if (span[0] === span[1]) say(`device ${device} holds none of its columns`);
      const before = held[place - 1];
      if (before === undefined) return;
      if (before.device === device) say(`device ${device} holds several shards of it; merge them`);
      else if (span[0] < before.span[0])
        say(`device ${device} holds columns that precede those of device ${before.device}`);
    });
    if (rowCoupled && held.length > 1) say(`its rows are coupled, but its columns are on ${held.length} devices`);
  }
  return problems;
}

/** The shards that the slices of each device make when they are merged. */
function heldSlices({ sliceWidthsPerTable, dividedIds }: TableParallelPlan, group: readonly number[]): Shard[][] {
  return mergeSlices({ widths: sliceWidthsPerTable, divided: dividedIds }).map((shards) =>
    shards.map(({ table, columns }) => ({ table: group[table]!, columns })),
  );
}

/** The lists of the whole table-parallel group follow from what the devices hold. */
function tableParallelProblems(plan: PlanData, tables: readonly PlanTable[], compare: Compare): string[] {
  const problems: string[] = [];
  const { tableParallel: group } = plan.tableGroups;
  const whole = plan.tableParallel;
  if (group.length === 0) {
    compare('tableParallel', undefined, whole);
    return problems;
  }
  if (whole === undefined) return [...problems, 'tableParallel: missing'];
  const map = plan.mapGroups.tableParallel;
  const inputs = inputsOfTables(map, group.length);
  plan.ranks.forEach((rank, device) => {
    const path = `ranks[${device}].tableParallel`;
    if (rank.tableParallel === undefined) problems.push(`${path}: missing`);
    else problems.push(...rankProblems(plan, rank.tableParallel, path, tables, inputs, compare));
  });
  const ranks = plan.ranks.flatMap(({ tableParallel }) => tableParallel ?? []);
  const widths = whole.sliceWidthsPerTable;
  compare('tableParallel.sliceWidthsPerTable.length', group.length, widths.length);
  compare('tableParallel.dividedIds.length', plan.ranks.length, whole.dividedIds.length);
  if (widths.length !== group.length) return problems;
  const given = group.map(() => 0);
  whole.dividedIds.forEach((list, device) =>
    list.forEach((table) => {
      if (table < given.length) given[table]!++;
      else problems.push(`tableParallel.dividedIds[${device}]: the group has no table ${table}`);
    }),
  );
  widths.forEach((list, table) => {
    const sum = list.reduce((total, width) => total + width, 0);
    compare(`tableParallel.sliceWidthsPerTable[${table}], in all`, tables[group[table]!]!.columns, sum);
    compare(`tableParallel.dividedIds, slices of table ${table}`, list.length, given[table]);
    if (list.includes(0)) problems.push(`tableParallel.sliceWidthsPerTable[${table}]: a slice has no columns`);
  });
  if (problems.length === 0 && given.every((count, table) => count === widths[table]!.length)) {
    heldSlices(whole, group).forEach((shards, device) =>
      compare(`ranks[${device}].tableParallel.shards`, shards, plan.ranks[device]?.tableParallel?.shards),
    );
  }
  const held = group.map((table) => ranks.filter(({ shards }) => shards.some((shard) => shard.table === table)).length);
  const slices = widths.map(({ length }) => length);
  compare(
    'tableParallel.slicedOutRangesBeforeMerge',
    joinedOutputs(map, widths, slices),
    whole.slicedOutRangesBeforeMerge,
  );
  compare('tableParallel.slicedOutRanges', joinedOutputs(map, widths, held), whole.slicedOutRanges);
  const flat = ranks.flatMap((rank) => rank.localMap.map((weight) => rank.physicalTables[weight]?.outputDim));
  compare('tableParallel.widthsListFlat', flat, whole.widthsListFlat);
  compare('tableParallel.revTpIds', placesByInput(ranks), whole.revTpIds);
  return problems;
}

/**
 * Returns everything that is wrong with a plan for these tables, one line each; an empty list means that every row and
 * column of each table is held exactly once (copies: once on each device) and that sizes, offsets, joined weights and
 * the ways of inputs and outputs fit. Where a key is missing or of another kind, those lines come alone, because the
 * rest cannot be looked at.
 *
 * Looks at what the plan says, not at how good it is: balance, thresholds and `predicted` are the planner's affair.
 *
 *
 * ```ts
 * import { checkPlan, planEmbedding } from 'tfjs-embeddings';
 * const tables = [{ inputDim: 10, outputDim: 4 }, { inputDim: 20, outputDim: 4 }];
 * const forced = planEmbedding({ tables, worldSize: 2 }).toJSON();
 * forced.ranks[1]!.tableParallel!.shards[0]!.columns = [0, 3];
 * console.log(checkPlan(forced, tables)[0]); // table 1: columns 3..4 are on no device
 * ```
 *
 * @param plan - A plan, or what was one before it was changed.
 * @param tables - The tables that it is for, as `planEmbedding` takes them.
 * @returns What is wrong, in words that name the place; an empty list for a good plan.
 * @throws TypeError or ValueError for tables that `planEmbedding` would not take. Never throws for a plan.
 */
export function checkPlan(plan: PlanData, tables: readonly PlanTableArgs[]): string[] {
  const read = readTables(tables);
  const shape = shapeProblems(plan);
  if (shape.length > 0) return shape;
  const problems: string[] = [];
  const compare = comparing(problems);
  if (plan.ranks.length === 0) problems.push('ranks: expected at least one device, found none');
  problems.push(...groupProblems(plan, read, compare));
  if (problems.length > 0) return problems;
  compare('revGroupIds', reverseGroupIds(plan.inputGroups), plan.revGroupIds);
  if (plan.tableNames !== undefined) {
    compare(
      'tableNames',
      read.map(({ name }, table) => name ?? String(table)),
      plan.tableNames,
    );
  }
  copyProblems(plan, read, compare);
  problems.push(...rowProblems(plan, read, compare));
  problems.push(...columnProblems(plan, read));
  problems.push(...tableParallelProblems(plan, read, compare));
  return [...new Set(problems)];
}
