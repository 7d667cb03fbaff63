/** The tables that lie on the servers now, each with its slots, whichever client made those. */
import { RuntimeError, described } from '../../../base/errors.js';
import { slotLayout, type TableLayout } from '../../../partition/table_layout.js';
import { DeviceTable, partName, widthOf } from '../../devices/machine/device_table.js';
import type { RunningCluster } from '../register.js';
import type { ServerVariable } from '../variables.js';
import { failureOf, ServerFailure, type WorkOptions } from './server_work.js';

/** A table or a slot on the servers. */
export interface StoredTable {
  readonly name: string;
  readonly layout: TableLayout;
  /** What it is on the server of each shard. */
  readonly variables: readonly ServerVariable[];
  /** What all numbers of a new slot are; null: not known, or it is a table. */
  readonly first: number | null;
}

/** A table and its slots. */
export interface TableGroup {
  readonly table: StoredTable;
  readonly slots: readonly StoredTable[];
}

/** Throws RuntimeError where there is no table, where two have one name, and where a server does not answer. */
export async function currentTables(cluster: RunningCluster, { timeoutMs }: WorkOptions): Promise<TableGroup[]> {
  const { machine, settings, devices } = cluster;
  devices.placeAssigned();
  // Who held the values of a table before a step has a copy of them, which was made before the table's own.
  const byOwner = new Map<object, DeviceTable>();
  for (const each of machine.tables) {
    if (each instanceof DeviceTable && each.role === 'tables') byOwner.set(each.owner, each);
  }
  const tables = [...byOwner.values()];
  if (tables.length === 0) throw new RuntimeError('tables', 'tables on the servers: build a model', described('none'));
  const names = tables.map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) < place && !isShared(cluster, tables, name));
  if (twice !== undefined) {
    const note = 'Give layers of embeddings names of their own, and dispose models that are not used any more.';
    throw new RuntimeError('tables', 'tables with names of their own', described(`two called ${twice}`), note);
  }
  // What belongs to tables others may have made.
  const work = settings.membership.stores.map(async (store, device) => {
    try {
      await store.readLater(timeoutMs);
    } catch (error) {
      throw failureOf(error, cluster, device);
    }
  });
  const failed = (await Promise.allSettled(work)).find((end) => end.status === 'rejected');
  if (failed !== undefined) {
    const error: unknown = failed.reason;
    throw error instanceof ServerFailure ? error.toError('a server that answers', machine.form.afterFault) : error;
  }
  return [...new Map(tables.map((each) => [each.name, each])).values()].map((each) => groupOf(cluster, each));
}

/** Whether all tables of a name are the same on the servers, as those of two models of one reader. */
function isShared({ settings }: RunningCluster, tables: readonly DeviceTable[], name: string): boolean {
  const variables = tables
    .filter((each) => each.name === name)
    .map((each) => settings.devices[each.layout.shards[0]!.device]!.variables.of(each.buffer(0)).name);
  return new Set(variables).size === 1;
}

function groupOf(cluster: RunningCluster, { name, layout }: DeviceTable): TableGroup {
  const { membership } = cluster.settings;
  const entries = layout.shards.map(({ device }) => membership.entry(device, name));
  const slots = Object.entries(entries[0]?.slots ?? {})
    .map(([slot, { columns, value }]) => slotOf(cluster, name, layout, slot, columns, value))
    // One that another client is making is not there yet.
    .filter((slot) => {
      return slot.variables.every((part, i) => part.name in (entries[i]?.slots[slot.name]?.parts ?? {}));
    });
  const variables = variablesOf(cluster, name, null, layout);
  return { table: { name, layout, variables, first: null }, slots };
}

/** A slot as it lies on the servers, or would lie there. */
export function slotOf(
  cluster: RunningCluster,
  table: string,
  layout: TableLayout,
  name: string,
  columns: number,
  first: number | null,
): StoredTable {
  const own = slotLayout(layout, columns);
  return { name, layout: own, variables: variablesOf(cluster, name, table, own), first };
}

function variablesOf(
  { settings }: RunningCluster,
  table: string,
  slotOf: string | null,
  { columns, kind, shards }: TableLayout,
): ServerVariable[] {
  return shards.map((shard) => {
    const name = partName(table, shard);
    const known = { name, table, slotOf, columns, isCopy: kind === 'replicated' };
    return settings.devices[shard.device]!.variables.declare(name, shard.rows.count, widthOf(shard), known);
  });
}
