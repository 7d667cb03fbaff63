/** What a report tells of SparseCores: ids, buffers and minibatches by stack, and the step on every TPU generation. */
import type { ReportSource } from '../backends/devices/report_source.js';
import type { StackCounts } from '../backends/devices/machine/stack_stats.js';
import { emptyLoad, type StepLoad } from '../partition/step_load.js';
import { counted, secondsText, wholeText } from '../base/units.js';
import { predictStep } from './cost_model.js';
import { GENERATIONS } from './generations.js';
import { textTable, wrapped } from './text_lines.js';

export interface ReportStack {
  readonly name: string;
  readonly lookUps: number;
  /** Of a lookup, in the mean: samples, ids, and rows that cores ask each other for. */
  readonly samples: number;
  readonly ids: number;
  readonly rows: number;
  /** Over all lookups, and as a fraction of all ids. */
  readonly droppedIds: number;
  readonly droppedShare: number;
  /** Slots in use, as a fraction of those of the buffers. */
  readonly fill: number;
  /** Of each core in a lookup, in the mean. */
  readonly minibatches: number;
}

/** A training step with the ids of the mean lookup on the SparseCores of as many chips as are emulated. */
export interface SparseCorePrediction {
  readonly generation: string;
  /** Of a chip; null: not published. */
  readonly sparseCores: number | null;
  /** null: a figure that is needed is not published. */
  readonly lookupSeconds: number | null;
  readonly exchangeSeconds: number | null;
  readonly updateSeconds: number | null;
  readonly stepSeconds: number | null;
}

export interface ReportSparseCores {
  readonly stacks: readonly ReportStack[];
  readonly predictions: readonly SparseCorePrediction[];
}

const BYTES = 4;
/** A backward pass with its update moves twice what the lookup does. */
const BACKWARD = 2;

function stackData(stack: StackCounts): ReportStack {
  const { name, lookUps, samples, ids, droppedIds, slots, slotsUsed, minibatches, rows } = stack;
  const asked = rows.flat().reduce((sum, count) => sum + count, 0);
  return {
    name,
    lookUps,
    samples: samples / lookUps,
    ids: ids / lookUps,
    rows: asked / lookUps,
    droppedIds,
    droppedShare: ids + droppedIds === 0 ? 0 : droppedIds / (ids + droppedIds),
    fill: slots === 0 ? 0 : slotsUsed / slots,
    minibatches: minibatches / lookUps,
  };
}

/** What each device does in the mean lookup: rows are read by the shards that hold them and go to the cores that ask. */
export function sparseCoreLoads(stacks: readonly StackCounts[], devices: number): StepLoad[] {
  const loads = Array.from({ length: devices }, emptyLoad);
  for (const { rows, columns, lookUps } of stacks) {
    rows.forEach((row, core) => {
      row.forEach((count, shard) => {
        const asked = count / lookUps;
        const [from, to] = [loads[core]!, loads[shard]!];
        to.lookups += asked;
        to.elements += asked * columns;
        to.lookupBytes += BYTES * asked * (1 + columns);
        to.updateBytes += BACKWARD * BYTES * asked * (1 + columns);
        if (core === shard) return;
        from.idsOut += BYTES * asked;
        to.idsIn += BYTES * asked;
        to.pooledOut += BYTES * asked * columns;
        from.pooledIn += BYTES * asked * columns;
      });
    });
  }
  return loads;
}

/** null where no SparseCore looked anything up. */
export function sparseCoreData(source: ReportSource): ReportSparseCores | null {
  const { sparseCores: stacks = [], chips, coresPerChip } = source;
  if (stacks.length === 0) return null;
  const loads = sparseCoreLoads(stacks, chips * coresPerChip);
  const memory = loads.map(() => ({ tables: 0, slots: 0, exchange: 0, host: 0 }));
  const predictions = Object.entries(GENERATIONS).map(([generation, figures]): SparseCorePrediction => {
    const args = { generation, chips, devicesPerChip: coresPerChip, loads, memory, hostBandwidth: Infinity };
    const { lookupSeconds, exchangeForwardSeconds, exchangeBackwardSeconds, updateSeconds, stepSeconds } =
      predictStep(args);
    const isKnown = exchangeForwardSeconds !== null && exchangeBackwardSeconds !== null;
    return {
      generation,
      sparseCores: figures.sparseCores.value,
      lookupSeconds,
      exchangeSeconds: isKnown ? exchangeForwardSeconds + exchangeBackwardSeconds : null,
      updateSeconds,
      stepSeconds,
    };
  });
  return { stacks: stacks.map(stackData), predictions };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const secondsOr = (seconds: number | null): string => (seconds === null ? 'unknown' : secondsText(seconds));

export const STACK_HEAD = ['stack', 'lookups', 'samples', 'ids', 'rows', 'dropped', 'fill', 'minibatches'];
export const STEP_HEAD = ['TPU', 'SparseCores', 'lookup', 'exchange', 'update', 'step at least'];
export const SPARSE_CORE_NOTE =
  'Numbers of ids and rows are those of a lookup in the mean; times are bytes over bandwidth on as many chips.';

export function stackCells(stack: ReportStack): string[] {
  const { name, lookUps, samples, ids, rows, droppedIds, droppedShare, fill, minibatches } = stack;
  const dropped = droppedIds === 0 ? 'none' : `${wholeText(droppedIds)} (${percent(droppedShare)})`;
  const numbers = [lookUps, Math.round(samples), Math.round(ids), Math.round(rows)].map(wholeText);
  return [name, ...numbers, dropped, percent(fill), String(minibatches)];
}

export function stepCells(prediction: SparseCorePrediction): string[] {
  const { generation, sparseCores, lookupSeconds, exchangeSeconds, updateSeconds, stepSeconds } = prediction;
  const times = [lookupSeconds, exchangeSeconds, updateSeconds, stepSeconds].map(secondsOr);
  return [generation, sparseCores === null ? 'unknown' : `${sparseCores} a chip`, ...times];
}

/** The section of the text. */
export function sparseCoreText(data: ReportSparseCores | null): string[] {
  if (data === null) return [];
  const { stacks, predictions } = data;
  return [
    '',
    `SparseCores, ${counted(stacks.length, 'stack')}:`,
    ...textTable([STACK_HEAD, ...stacks.map(stackCells)], { left: [0], most: { 0: 32 } }),
    ...textTable([STEP_HEAD, ...predictions.map(stepCells)], { left: [0] }),
    ...wrapped(SPARSE_CORE_NOTE),
  ];
}
