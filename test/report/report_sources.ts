/** What the emulator would tell of itself, made by hand. */
import type { Counters } from '../../src/backends/devices/machine/counters.js';
import type { ReportedPlan, ReportedTable, ReportSource } from '../../src/backends/devices/report_source.js';
import { shardSize, slotLayout, tableLayouts } from '../../src/partition/table_layout.js';
import { planEmbedding, type PlanEmbeddingArgs } from '../../src/partition/index.js';

/** Counters of a machine on which nothing was looked up. */
export function idleCounters(tables: readonly ReportedTable[], devices: number, capacity: number | null): Counters {
  const held = Array.from({ length: devices }, () => ({ tables: 0, slots: 0, host: 0 }));
  for (const { layout, slots } of tables) {
    for (const shard of layout.shards) held[shard.device]![shard.inHost ? 'host' : 'tables'] += 4 * shardSize(shard);
    for (const { columns } of slots) {
      for (const shard of slotLayout(layout, columns).shards) {
        held[shard.device]![shard.inHost ? 'host' : 'slots'] += 4 * shardSize(shard);
      }
    }
  }
  const none = (): number[][] => Array.from({ length: devices }, () => new Array<number>(devices).fill(0));
  return {
    lookUps: 0,
    updates: 0,
    bags: 0,
    links: { bytes: none(), ids: none() },
    devices: held.map((memory) => ({
      ids: 0,
      uniqueIds: 0,
      elements: 0,
      bytesOut: 0,
      bytesIn: 0,
      memory: { ...memory, exchange: 0, peak: memory.tables + memory.slots, capacity },
    })),
    seconds: { lookUp: 0, update: 0 },
  };
}

/** The source of a machine of `request.worldSize` devices that holds the tables of one plan, each with the slots. */
export function sourceOf(
  request: PlanEmbeddingArgs,
  changes: Partial<ReportSource> & { slots?: ReportedTable['slots']; plan?: Partial<ReportedPlan> } = {},
): ReportSource {
  const { slots = [], plan: planChanges = {}, ...rest } = changes;
  const plan = planEmbedding(request);
  const sizes = request.tables.map(({ inputDim, outputDim }) => ({ rows: inputDim, columns: outputDim }));
  const tables: ReportedTable[] = tableLayouts(plan, sizes).map((layout, table) => ({
    name: request.tables[table]!.name ?? `table ${table}`,
    layout,
    slots,
    counts: { ids: 0, linkBytes: 0 },
  }));
  const source = {
    chips: request.worldSize,
    coresPerChip: 1,
    hbmBytesPerChip: null,
    kind: 'worker' as const,
    inlineBecause: null,
    host: 'tensorflow',
    tables,
    plans: [{ name: 'embeddings', request, plan, ...planChanges }],
    ...rest,
  };
  const capacity =
    source.hbmBytesPerChip === null ? null : Math.floor((source.hbmBytesPerChip as number) / source.coresPerChip);
  return { counters: idleCounters(source.tables, request.worldSize, capacity), ...source };
}

/** The counters after `calls` calls and as many updates, in which links and devices get different loads. */
export function busyCounters(counters: Counters, calls: number, bags: number): Counters {
  const { length } = counters.devices;
  const bytes = (from: number, to: number): number =>
    from === to ? 0 : calls * (40_000 + 9_000 * ((5 * from + 3 * to) % 7) + (to === 1 ? 60_000 : 0));
  const row = (from: number): number[] => Array.from({ length }, (_, to) => bytes(from, to));
  const links = Array.from({ length }, (_, from) => row(from));
  return {
    lookUps: calls,
    updates: calls,
    bags: calls * bags,
    links: { bytes: links, ids: links.map((line) => line.map((value) => value / 40)) },
    devices: counters.devices.map((device, number) => {
      const ids = calls * (9000 + 1500 * ((3 * number) % 5));
      const exchange = 400_000 + 30_000 * number;
      return {
        ids,
        uniqueIds: Math.round(ids * 0.6),
        elements: ids * 16,
        bytesOut: links[number]!.reduce((sum, value) => sum + value, 0),
        bytesIn: links.reduce((sum, line) => sum + line[number]!, 0),
        memory: { ...device.memory, exchange, peak: device.memory.tables + device.memory.slots + exchange },
      };
    }),
    seconds: { lookUp: 0.0123 * calls, update: 0.021 * calls },
  };
}
