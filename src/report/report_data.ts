/** The data of a report: plain numbers and texts, made from what the emulator tells of itself. */
import {
  shardSize,
  slotLayout,
  type LayoutShard,
  type ShardRows,
  type TableLayout,
} from '../partition/table_layout.js';
import type { Counters, DeviceMemoryCounts, ServedLayer } from '../backends/devices/machine/counters.js';
import type { DeviceKind } from '../backends/devices/device.js';
import type { ReportCluster } from './cluster.js';
import { perSample, placesOfTables } from './measured.js';
import type { Prediction } from './prediction.js';
import { sparseCoreData, type ReportSparseCores } from './sparse_cores.js';
import type { ReportedTable, ReportSource } from '../backends/devices/report_source.js';

export interface ReportMachine {
  readonly chips: number;
  readonly coresPerChip: number;
  readonly devices: number;
  /** null: no limit. */
  readonly hbmBytesPerChip: number | null;
  readonly kind: DeviceKind;
  readonly inlineBecause: string | null;
  readonly host: string;
}

export interface ReportShard {
  readonly device: number;
  /** Rows first, first + step, ..., `count` of them. */
  readonly rows: ShardRows;
  /** The first column, and the one after the last. */
  readonly columns: readonly [start: number, end: number];
  readonly inHost: boolean;
  /** Bytes of the table's shard, and of all slots beside it. */
  readonly bytes: number;
  readonly slotBytes: number;
}

export interface ReportTable {
  readonly name: string;
  readonly kind: TableLayout['kind'];
  readonly rows: number;
  readonly columns: number;
  readonly slots: readonly { readonly name: string; readonly columns: number }[];
  /** Bytes over all devices, copies counted as often as they lie there. */
  readonly bytes: number;
  readonly slotBytes: number;
  /** Ids looked up since the last reset, each once however many devices hold a part of its row. */
  readonly ids: number;
  /** Bytes that went from device to device for it: ids, pooled rows, gradients. */
  readonly linkBytes: number;
  readonly shards: readonly ReportShard[];
}

export interface ReportDevice {
  readonly device: number;
  readonly chip: number;
  readonly ids: number;
  readonly uniqueIds: number;
  readonly elements: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly memory: DeviceMemoryCounts;
  /** The device's figure over the mean of all devices; null where all are 0. */
  readonly ofMean: { readonly elements: number | null; readonly bytes: number | null; readonly memory: number | null };
}

/** What was looked up for one layer since the last reset. */
export interface ReportMeasured {
  readonly calls: number;
  /** Calls in which gradients were taken; where there are some, the rest tells of these alone. */
  readonly trainingCalls: number;
  /** Samples of a call, in the mean. */
  readonly batch: number;
  /** Of each input. */
  readonly idsPerSample: readonly number[];
}

export interface ReportPlan {
  /** Of the layer. */
  readonly name: string;
  readonly strategy: string;
  readonly notes: readonly string[];
  /** Numbers of its tables in `tables`; null where one is not on the devices. */
  readonly tables: readonly (number | null)[];
  /** null: nothing was looked up. */
  readonly measured: ReportMeasured | null;
}

export interface ReportData {
  readonly machine: ReportMachine;
  /** Since the start of the backend or the last reset. */
  readonly counted: Pick<Counters, 'lookUps' | 'updates' | 'bags' | 'seconds'>;
  readonly tables: readonly ReportTable[];
  readonly devices: readonly ReportDevice[];
  /** [from][to], and the sum of bytes. */
  readonly links: { readonly bytes: number[][]; readonly ids: number[][]; readonly totalBytes: number };
  /** The busiest device over the mean: elements read, bytes sent and received, memory; null where all are 0. */
  readonly balance: { readonly elements: number | null; readonly bytes: number | null; readonly memory: number | null };
  readonly plans: readonly ReportPlan[];
  /** null where no TPUEmbeddingV2 looked anything up since the last reset. */
  readonly sparseCores: ReportSparseCores | null;
  /** null where no generation was asked for. */
  readonly prediction: Prediction | null;
  /** null where no network was given. */
  readonly cluster: ReportCluster | null;
}

const BYTES = 4;

/** Each value over the mean of all; null where all are 0. */
function ofMean(values: readonly number[]): (number | null)[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total === 0 ? null : (value * values.length) / total));
}

/** The largest of numbers that are all there or all missing. */
function busiest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null);
}

function tableData({ name, layout, slots, counts }: ReportedTable): ReportTable {
  const slotLayouts = slots.map(({ columns }) => slotLayout(layout, columns));
  const shards = layout.shards.map((shard: LayoutShard, place): ReportShard => {
    const { device, rows, columns, inHost } = shard;
    const beside = slotLayouts.reduce((sum, slot) => sum + shardSize(slot.shards[place]!), 0);
    return {
      device,
      rows: { first: rows.first, step: rows.step, count: rows.count },
      columns: [columns[0], columns[1]],
      inHost,
      bytes: BYTES * shardSize(shard),
      slotBytes: BYTES * beside,
    };
  });
  return {
    name,
    kind: layout.kind,
    rows: layout.rows,
    columns: layout.columns,
    slots: slots.map((slot) => ({ name: slot.name, columns: slot.columns })),
    bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0),
    slotBytes: shards.reduce((sum, { slotBytes }) => sum + slotBytes, 0),
    ids: counts.ids,
    linkBytes: counts.linkBytes,
    shards,
  };
}

function measuredData(served: ServedLayer | null): ReportMeasured | null {
  if (served === null || served.all.calls === 0) return null;
  const { calls } = served.all;
  const { calls: trainingCalls } = served.training;
  const { batch, hotness } = perSample(trainingCalls > 0 ? served.training : served.all);
  return { calls, trainingCalls, batch, idsPerSample: hotness };
}

/** All that a report tells. */
export function reportData(
  source: ReportSource,
  prediction: Prediction | null,
  cluster: ReportCluster | null = null,
): ReportData {
  const { chips, coresPerChip, hbmBytesPerChip, kind, inlineBecause, host, counters } = source;
  const elements = ofMean(counters.devices.map((device) => device.elements));
  const bytes = ofMean(counters.devices.map(({ bytesIn, bytesOut }) => bytesIn + bytesOut));
  const memory = ofMean(counters.devices.map((device) => device.memory.tables + device.memory.slots));
  const { lookUps, updates, bags, seconds } = counters;
  const links = counters.links.bytes.map((row) => [...row]);
  const places = placesOfTables(source);
  return {
    machine: { chips, coresPerChip, devices: chips * coresPerChip, hbmBytesPerChip, kind, inlineBecause, host },
    counted: { lookUps, updates, bags, seconds: { lookUp: seconds.lookUp, update: seconds.update } },
    tables: source.tables.map(tableData),
    devices: counters.devices.map((device, number) => ({
      device: number,
      chip: Math.floor(number / coresPerChip),
      ids: device.ids,
      uniqueIds: device.uniqueIds,
      elements: device.elements,
      bytesIn: device.bytesIn,
      bytesOut: device.bytesOut,
      memory: { ...device.memory },
      ofMean: { elements: elements[number]!, bytes: bytes[number]!, memory: memory[number]! },
    })),
    links: {
      bytes: links,
      ids: counters.links.ids.map((row) => [...row]),
      totalBytes: links.flat().reduce((sum, value) => sum + value, 0),
    },
    balance: { elements: busiest(elements), bytes: busiest(bytes), memory: busiest(memory) },
    plans: source.plans.map(({ name, plan, measured }, number) => ({
      name,
      strategy: plan.effectiveStrategy,
      notes: [...(plan.notes ?? [])],
      tables: places[number]!,
      measured: measuredData(measured ?? null),
    })),
    sparseCores: sparseCoreData(source),
    prediction,
    cluster,
  };
}

/** Where a table lies, in a few words: `columns 0..4 on 0, 4..8 on 1`. At most `most` devices are told one by one. */
export function whereText(
  { kind, shards, columns }: Pick<ReportTable, 'kind' | 'shards' | 'columns'>,
  most = 4,
): string {
  const host = shards.some(({ inHost }) => inHost) ? ', host memory' : '';
  const devices = numbersText([...new Set(shards.map(({ device }) => device))]);
  const [first] = shards;
  if (first === undefined) return 'nowhere';
  if (kind === 'replicated') return `copies on ${devices}`;
  if (kind === 'rows') {
    if (first.rows.step > 1) return `rows by id mod ${first.rows.step} on ${devices}`;
    if (shards.length > most) return `rows in ${shards.length} ranges on ${devices}`;
    return `rows ${shards.map(({ device, rows }) => `${rows.first}..${rows.first + rows.count} on ${device}`).join(', ')}`;
  }
  if (shards.length === 1 && first.columns[1] - first.columns[0] === columns) return `whole on ${first.device}${host}`;
  if (shards.length > most) return `${shards.length} column slices on ${devices}${host}`;
  const parts = shards.map(({ device, columns: [start, end] }) => `${start}..${end} on ${device}`);
  return `columns ${parts.join(', ')}${host}`;
}

/** The name of a table without what all of them end in. */
export function shortName(name: string): string {
  return name.replace(/\/embeddings$/, '');
}

/** What the names of all tables begin with. */
export function commonPath(tables: readonly Pick<ReportTable, 'name'>[]): string {
  const first = shortName(tables[0]!.name);
  const path = first.slice(0, first.lastIndexOf('/') + 1);
  return tables.every(({ name }) => shortName(name).startsWith(path)) ? path : '';
}

/** Numbers with ranges drawn together: 0-3, 7. */
export function numbersText(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
