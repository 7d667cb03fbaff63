/** A plan as text: one line for each piece of a table on a device, one for each device. */
import { alignedBytesText, alignedSecondsText, bytesText } from '../base/units.js';
import { clusterTexts, clusterTitle, serverCells } from './cluster/plan_cluster.js';
import { DEFAULT_BATCH, DEFAULT_MACHINE } from './machine.js';
import type { PlanData, RowShard } from './plan.js';

interface Piece {
  readonly table: number;
  readonly rows: string;
  readonly columns: string;
  readonly elements: number;
  readonly held: string;
}

function rowsText(shard: RowShard): string {
  if ('modulo' in shard) return `id mod ${shard.modulo.divisor} = ${shard.modulo.remainder}`;
  return `${shard.rows[0]}..${shard.rows[1]}`;
}

/** The pieces that a device holds, in the order of the plan. */
function pieces(plan: PlanData, device: number): Piece[] {
  const { tableParallel, rowSlice } = plan.ranks[device]!;
  const found: Piece[] = [];
  for (const { table, inputDim, outputDim } of plan.dataParallelTables ?? []) {
    const elements = inputDim * outputDim;
    found.push({ table, rows: `0..${inputDim}`, columns: `0..${outputDim}`, elements, held: 'copy' });
  }
  tableParallel?.shards.forEach(({ table, columns }, shard) => {
    const weight = tableParallel.concatGroups.findIndex((group) => group.includes(shard));
    const place = tableParallel.concatGroups[weight]?.indexOf(shard) ?? -1;
    const offsets = tableParallel.weightOffsets[weight];
    const first = offsets?.[place] ?? NaN;
    const rows = (offsets?.[place + 1] ?? NaN) - first;
    const offloaded = tableParallel.physicalTables[weight]?.cpuOffload === true;
    const held = `weight ${weight} from row ${first}${offloaded ? ', host memory' : ''}`;
    const elements = rows * (columns[1] - columns[0]);
    found.push({ table, rows: `0..${rows}`, columns: `${columns[0]}..${columns[1]}`, elements, held });
  });
  for (const shard of rowSlice ?? []) {
    const elements = shard.inputDim * shard.outputDim;
    found.push({ table: shard.table, rows: rowsText(shard), columns: `0..${shard.outputDim}`, elements, held: 'rows' });
  }
  return found;
}

function columnsOfText(lines: readonly (readonly string[])[], left: ReadonlySet<number>): string[] {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) =>
    line
      .map((cell, column) => (left.has(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** What the seconds of the devices stand for. */
function assumedText({ predictedFor, ranks }: PlanData): string[] {
  if (ranks.every(({ predicted }) => predicted === undefined)) return [];
  const { batchSize, machine } = predictedFor ?? { batchSize: DEFAULT_BATCH, machine: DEFAULT_MACHINE };
  const { memoryBandwidth, hostBandwidth, linkBandwidth } = machine;
  return [
    `a step: a batch of ${batchSize}, on devices that read ${bytesText(memoryBandwidth)}/s of their own memory and ` +
      `${bytesText(hostBandwidth)}/s of the host's, and send ${bytesText(linkBandwidth)}/s`,
  ];
}

/** What servers of a network do. */
function clusterLines({ cluster }: PlanData): string[] {
  if (cluster === undefined) return [];
  const lines = columnsOfText(serverCells(cluster), new Set());
  return [`as servers: ${clusterTitle(cluster)}`, ...lines, ...clusterTexts(cluster)];
}

/** The whole plan as text. */
export function planText(plan: PlanData): string {
  const devices = plan.ranks.map((_, device) => pieces(plan, device));
  const total = devices.flat().reduce((sum, piece) => sum + piece.elements, 0);
  const share = (elements: number): string => `${total === 0 ? '0.0' : ((100 * elements) / total).toFixed(1)} %`;
  const name = (table: number): string => {
    const given = plan.tableNames?.[table];
    return given === undefined ? String(table) : `${table} ${given}`;
  };
  const lines = [['device', 'table', 'rows', 'columns', 'elements', 'bytes', 'share', 'held as']];
  devices.forEach((held, device) => {
    for (const { table, rows, columns, elements, held: how } of held) {
      const size = [String(elements), alignedBytesText(4 * elements), share(elements)];
      lines.push([String(device), name(table), rows, columns, ...size, how]);
    }
    const elements = held.reduce((sum, piece) => sum + piece.elements, 0);
    const { predicted } = plan.ranks[device]!;
    const load =
      predicted === undefined
        ? ''
        : `per step ${alignedSecondsText(predicted.seconds)}, ${Math.round(predicted.lookups)} lookups, ` +
          `${alignedBytesText(predicted.bytesOut)} sent`;
    lines.push([
      String(device),
      'in all',
      '',
      '',
      String(elements),
      alignedBytesText(4 * elements),
      share(elements),
      load,
    ]);
  });
  const { dataParallel, tableParallel, rowSlice } = plan.tableGroups;
  const tables = dataParallel.length + tableParallel.length + rowSlice.length;
  return [
    `${tables} tables for ${plan.revGroupIds.length} inputs on ${plan.ranks.length} devices, ` +
      `strategy ${plan.effectiveStrategy}: ${dataParallel.length} copied to each device, ` +
      `${tableParallel.length} placed whole or by columns, ${rowSlice.length} by rows`,
    ...columnsOfText(lines, new Set([1, 2, 3, 7])),
    ...assumedText(plan),
    ...clusterLines(plan),
    ...(plan.notes ?? []).map((note) => `note: ${note}`),
  ].join('\n');
}
