/** A report as text of at most 120 columns: long lists are cut short, and say so; names are whole. */
import { reportClusterText } from './cluster.js';
import type { Prediction } from './prediction.js';
import { commonPath, type ReportData, type ReportDevice, type ReportPlan } from './report_data.js';
import { sparseCoreText } from './sparse_cores.js';
import { groupName, groupWhereText, tableGroups } from './table_groups.js';
import { textTable, wrapped } from './text_lines.js';
import { bytesText, counted, countText, ratioText, secondsText, wholeText } from '../base/units.js';

const MOST_DEVICES = 32;
const MOST_TABLES = 40;
const MOST_IN_MATRIX = 8;
const MOST_LINKS = 10;
/** Characters of a name on a line; longer ones go on below. */
const NAME_WIDTH = 32;

/** What the machine is, in two words. */
export function machineTitle({ machine: { devices, kind } }: ReportData): string {
  return kind === 'server' ? `Cluster, ${counted(devices, 'server')}` : `TPU emulator, ${counted(devices, 'device')}`;
}

/** What the machine is, in one line. */
export function machineText({ machine }: ReportData): string {
  const { chips, coresPerChip, devices, kind, host, hbmBytesPerChip } = machine;
  const size = `${counted(devices, 'device')} (${counted(chips, 'chip')} x ${counted(coresPerChip, 'core')})`;
  const memory = hbmBytesPerChip === null ? 'no memory limit' : `${bytesText(hbmBytesPerChip)} of memory for each chip`;
  if (kind === 'server') {
    const limit = hbmBytesPerChip === null ? 'no memory limit' : `${bytesText(hbmBytesPerChip)} of memory for each`;
    return `Cluster: ${counted(devices, 'server')}, ${limit}, dense ops on ${host}`;
  }
  return `TPU emulator: ${size}, ${kind === 'worker' ? 'workers' : 'in line'}, ${memory}, dense ops on ${host}`;
}

/** What the counters count, in one line. */
export function countedText({ counted: { lookUps, updates, bags, seconds }, plans }: ReportData): string {
  const ofLayers = plans.reduce((sum, { measured }) => sum + (measured?.calls ?? 0), 0);
  // Others are of layers without a plan, and of penalties on the rows of a step.
  const own = ofLayers > 0 && ofLayers < lookUps ? `, ${wholeText(ofLayers)} of them by layers with a plan,` : '';
  return (
    `Counted: ${counted(lookUps, 'lookup call')} (${counted(bags, 'bag')})${own} in ${secondsText(seconds.lookUp)}, ` +
    `${counted(updates, 'update')} in ${secondsText(seconds.update)}, exchange included`
  );
}

export function balanceText({ balance }: ReportData): string {
  const { elements, bytes, memory } = balance;
  return (
    `Busiest device over mean: elements read ${ratioText(elements)}, bytes exchanged ${ratioText(bytes)}, ` +
    `memory ${ratioText(memory)}`
  );
}

/** How a layer's tables were placed, and what it looked up. */
export function planText({ strategy, tables, measured }: ReportPlan): string {
  const placed = `${counted(tables.length, 'table')} by strategy ${strategy}`;
  if (measured === null) return `${placed}, not looked up yet`;
  const { calls, trainingCalls, batch, idsPerSample } = measured;
  const ids = idsPerSample.reduce((sum, each) => sum + each, 0);
  const other = calls - trainingCalls;
  const kinds = [
    ...(trainingCalls > 0 ? [counted(trainingCalls, 'training step')] : []),
    ...(other > 0 ? [counted(other, trainingCalls > 0 ? 'other call' : 'call')] : []),
  ];
  const each = trainingCalls > 0 && other > 0 ? ' in training' : '';
  return (
    `${placed}; ${kinds.join(' and ')}, ${countText(batch)} samples each${each}, ` +
    `${counted(idsPerSample.length, 'input')} with ${wholeText(Number(ids.toFixed(ids < 100 ? 1 : 0)))} ids per sample together`
  );
}

function deviceLine({ device, ids, uniqueIds, elements, bytesIn, bytesOut, memory, ofMean }: ReportDevice): string[] {
  const held = memory.tables + memory.slots + memory.exchange;
  const free = memory.capacity === null ? '-' : bytesText(Math.max(0, memory.capacity - held));
  const kinds = [memory.tables, memory.slots, memory.exchange, memory.host, memory.peak];
  const bytes = [bytesOut, bytesIn, ...kinds].map(bytesText);
  const counts = [ids, uniqueIds, elements].map(countText);
  return [String(device), ...counts, ratioText(ofMean.elements), ...bytes, free];
}

function devicesText({ devices }: ReportData): string[] {
  const head = 'device ids unique elements of-mean sent received tables slots exchange in-host peak free'.split(' ');
  // Of many devices the busiest are shown.
  const shown =
    devices.length <= MOST_DEVICES
      ? devices
      : [...devices].sort((a, b) => b.elements - a.elements || a.device - b.device).slice(0, MOST_DEVICES / 2);
  const lines = textTable([head.map((cell) => cell.replace('-', ' ')), ...shown.map(deviceLine)], { left: [] });
  if (shown.length < devices.length) lines.push(`the ${shown.length} that read most of ${devices.length} devices`);
  return lines;
}

function tablesText({ tables }: ReportData): string[] {
  if (tables.length === 0) return ['no tables on the devices'];
  const isFolded = tables.length > MOST_TABLES;
  const groups = tableGroups(tables, isFolded);
  const bySize = groups.map((_, place) => place).sort((a, b) => groups[b]!.bytes - groups[a]!.bytes || a - b);
  const shown = new Set(groups.length <= MOST_TABLES ? bySize : bySize.slice(0, (MOST_TABLES * 3) / 4));
  const path = commonPath(tables);
  const cells = groups
    .filter((_, place) => shown.has(place))
    .map((group) => {
      const { numbers, tables: own, bytes, slotBytes, ids, linkBytes } = group;
      const first = own[0]!;
      const size = [countText(first.rows), String(first.columns), bytesText(bytes), bytesText(slotBytes)];
      const count = isFolded ? [wholeText(own.length)] : [String(numbers[0])];
      const name = groupName(group, path);
      return [...count, name, ...size, countText(ids), bytesText(linkBytes), groupWhereText(group, 2)];
    });
  const head = [isFolded ? 'tables' : 'table', 'name', 'rows', 'columns', 'bytes', 'slots', 'ids', 'sent', 'where'];
  const lines = [
    ...(path === '' ? [] : wrapped(`Tables of ${path.slice(0, -1)}:`)),
    ...textTable([head, ...cells], { left: [1, 8], most: { 1: NAME_WIDTH, 8: Infinity } }),
  ];
  const rest = bySize.filter((place) => !shown.has(place)).map((place) => groups[place]!);
  if (rest.length > 0) {
    const bytes = rest.reduce((sum, group) => sum + group.bytes + group.slotBytes, 0);
    const count = rest.reduce((sum, group) => sum + group.tables.length, 0);
    lines.push(`and ${counted(count, 'smaller table')}, ${bytesText(bytes)} with slots`);
  }
  if (!isFolded) return lines;
  const note = `${counted(tables.length, 'table')}; those of one size that are cut alike share a line, bytes are of all of them`;
  return [...lines, ...wrapped(`${note}. Each one by itself: report.tables, toHTML() and the plan.`)];
}

function linksText({ links, devices }: ReportData): string[] {
  if (devices.length < 2) return [];
  const title = `Bytes over links: ${bytesText(links.totalBytes)} in all`;
  if (links.totalBytes === 0) return ['', title];
  if (devices.length <= MOST_IN_MATRIX) {
    const head = ['from \\ to', ...devices.map(({ device }) => String(device))];
    const cells = links.bytes.map((row, from) => [
      String(from),
      ...row.map((bytes, to) => (from === to ? '·' : bytesText(bytes))),
    ]);
    return ['', title, ...textTable([head, ...cells], { left: [] })];
  }
  const all = links.bytes.flatMap((row, from) => row.map((bytes, to) => ({ from, to, bytes })));
  const most = all.sort((a, b) => b.bytes - a.bytes || a.from - b.from || a.to - b.to).slice(0, MOST_LINKS);
  const busiest = most.map(({ from, to, bytes }) => `${from} to ${to}: ${bytesText(bytes)}`).join(', ');
  return ['', title, ...wrapped(`the ${most.length} busiest: ${busiest}`)];
}

/** The step's parts, as they are reported in text and page. */
export function stepParts(prediction: Prediction): [name: string, seconds: number | null][] {
  const { lookupSeconds, exchangeForwardSeconds, exchangeBackwardSeconds, updateSeconds } = prediction;
  return [
    ['lookup', lookupSeconds],
    ['exchange forward', exchangeForwardSeconds],
    ['exchange backward', exchangeBackwardSeconds],
    ['update', updateSeconds],
  ];
}

export function orUnknown(seconds: number | null): string {
  return seconds === null ? 'unknown' : secondsText(seconds);
}

/** What is predicted, in one line. */
export function predictionTitle({ generation, chips, devices, torus, batchSizes }: Prediction): string {
  const batch = [...new Set(batchSizes)].map(wholeText).join(' and ');
  const sizes = torus.filter((size) => size > 1);
  const shape = chips === 1 ? '' : sizes.length === 1 ? ' in a ring' : ` in a ${sizes.join(' x ')} torus`;
  return `TPU ${generation}, ${counted(chips, 'chip')}${shape}, ${counted(devices, 'device')}, global batch ${batch}`;
}

/** Which devices have too little memory, in one sentence. */
export function fitText({ doesNotFit, bytesPerDevice, mostBytesWanted }: Prediction): string {
  if (bytesPerDevice === null) return `Memory: at most ${bytesText(mostBytesWanted)} wanted; what there is, is unknown`;
  if (doesNotFit.length === 0) {
    return `Memory: fits; at most ${bytesText(mostBytesWanted)} of ${bytesText(bytesPerDevice)} wanted of a device`;
  }
  const shown = doesNotFit.slice(0, 4).map(({ device, bytesWanted, bytesThere }) => {
    return `device ${device} wants ${bytesText(bytesWanted)} and has ${bytesText(bytesThere)}`;
  });
  const more = doesNotFit.length - shown.length;
  return `Memory: does not fit; ${shown.join(', ')}${more > 0 ? `, and ${counted(more, 'more device')} too` : ''}`;
}

function predictionText(prediction: Prediction): string[] {
  const phases = prediction.phases.map(({ name, bound, seconds, bytes, totalBytes, busiest }) => [
    name,
    orUnknown(seconds),
    bytesText(bytes),
    bytesText(totalBytes),
    `${bound === 'memory' ? 'device' : 'chip'} ${busiest}`,
  ]);
  const all = ['together', orUnknown(prediction.stepSeconds), '', '', ''];
  const parts = stepParts(prediction).map(([name, seconds]) => `${name} ${orUnknown(seconds)}`);
  return [
    '',
    `Prediction for the embeddings: ${predictionTitle(prediction)}`,
    ...textTable([['phase', 'at least', 'bytes of busiest', 'of all', 'busiest'], ...phases, all], { left: [0, 4] }),
    ...wrapped(`In parts, at least: ${parts.join(', ')}`),
    ...wrapped(NO_LATENCY),
    ...wrapped(fitText(prediction)),
    ...prediction.assumptions.flatMap((text) => wrapped(`assumed: ${text}`)),
    ...prediction.lacking.flatMap((text) => wrapped(`lacking: ${text}`)),
  ];
}

/** What times of a prediction are: no generation's latency is published. */
export const NO_LATENCY =
  'Times are bytes over bandwidth, without the latency of messages: the least that each phase can take.';

/** The whole report as text. */
export function reportText(data: ReportData): string {
  const { machine, plans, prediction, cluster } = data;
  return [
    ...wrapped(machineText(data)),
    ...(machine.inlineBecause === null ? [] : wrapped(`in line because ${machine.inlineBecause}`)),
    ...wrapped(countedText(data)),
    ...wrapped(balanceText(data)),
    ...plans.flatMap((plan) => [
      ...wrapped(`Plan of layer ${plan.name}: ${planText(plan)}`),
      ...plan.notes.flatMap((note) => wrapped(`note: ${note}`)),
    ]),
    '',
    ...devicesText(data),
    '',
    ...tablesText(data),
    ...linksText(data),
    ...sparseCoreText(data.sparseCores),
    ...(prediction === null ? [] : predictionText(prediction)),
    ...(cluster === null ? [] : reportClusterText(cluster)),
  ].join('\n');
}
