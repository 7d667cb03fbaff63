/** Tables and slots from a checkpoint, however they were cut when it was saved. */
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { readOnlyError } from '../read_only.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import { attribute, node, placeholder, STRING } from '../server_graph.js';
import { ServerError } from '../server_session.js';
import { currentTables, slotOf, type StoredTable, type TableGroup } from './current_tables.js';
import { MANIFEST, readManifest, type SavedTable } from './manifest.js';
import { restoring, type Source } from './restored_part.js';
import type { Target } from './saved_rows.js';
import { oneCall, Progress, ServerFailure, workLater, type Rounds, type WorkOptions } from './server_work.js';

/** Gives all tables and slots the values of a checkpoint. Returns the names of those that were restored. */
export async function restore(cluster: RunningCluster, prefix: string, options: WorkOptions): Promise<string[]> {
  const { machine, settings } = cluster;
  const { membership } = settings;
  if (membership.mode === 'readOnly') throw readOnlyError();
  settle(cluster);
  const manifest = await savedTables(cluster, prefix, options, 'prefix');
  const { sources, added } = match(cluster, await currentTables(cluster, options), manifest, prefix);
  // Rows that were looked up ahead are those of before.
  for (const device of settings.beside) device.drain();
  cluster.devices.forgetAhead();
  // From here on every client is refused, on all servers, until all of them have all values.
  machine.distrust('tables that are being restored');
  try {
    const token = membership.close(settings.devices.map(({ variables }) => variables.entries()));
    for (const slot of added.keys()) addSlot(cluster, slot);
    const all = new Map([...sources, ...added]);
    ensure(cluster, [...all.keys()]);
    const numbers = [...all.keys()].reduce((sum, { layout }) => sum + numbersOf(layout.shards), 0);
    await workLater(cluster, roundsOf(cluster, all), options, new Progress(numbers, options.onProgress));
    membership.open(token, new Set([...sources.keys()].map(({ name }) => name)));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    machine.distrust(`tables that were restored in part: ${message}`);
    if (error instanceof ServerFailure) throw error.toError(`a server that reads ${prefix}`, machine.form.afterFault);
    if (!(error instanceof ServerError)) throw error;
    throw new RuntimeError('prefix', 'servers that answer', described(message), machine.form.afterFault);
  }
  for (const device of [...settings.devices, ...settings.beside]) device.revive();
  machine.isStepUnknown = false;
  machine.recover(() => undefined);
  return [...sources.keys()].map(({ name }) => name);
}

/** A slot of the checkpoint that no client has made yet: whose optimizer needs it finds it with its values. */
function addSlot({ settings }: RunningCluster, { layout, variables, first }: StoredTable): void {
  layout.shards.forEach(({ device }, place) => {
    const { known, rows, columns } = variables[place]!;
    settings.membership.addSlot(device, known!, [rows, columns], first);
  });
}

/** Makes what servers have lost, and what is new. */
function ensure({ settings }: RunningCluster, tables: readonly StoredTable[]): void {
  settings.devices.forEach(({ variables }, device) => {
    const own = tables.flatMap((table) =>
      table.variables.filter((_, place) => table.layout.shards[place]!.device === device),
    );
    if (own.length > 0) variables.ensure(own);
  });
}

/** Waits for steps that are under way. What became of them does not matter: all tables are written anew. */
function settle({ machine }: RunningCluster): void {
  if (machine.isFaulty) return;
  try {
    machine.finish();
  } catch (error) {
    if (!machine.isFaulty) throw error;
  }
}

function numbersOf(shards: StoredTable['layout']['shards']): number {
  return shards.reduce((sum, { rows, columns }) => sum + rows.count * (columns[1] - columns[0]), 0);
}

/** What a checkpoint holds. Throws ValueError where there is none, with what the server said. */
export async function savedTables(
  cluster: RunningCluster,
  prefix: string,
  options: WorkOptions,
  argument: string,
): Promise<Map<string, SavedTable>> {
  const { graph } = cluster.settings.devices[0]!.session;
  const feeds = ['prefix', 'names', 'slices'];
  const n = graph.once('read the manifest', (m) => [
    ...feeds.map((feed) => placeholder(`${m}/${feed}`, STRING)),
    node(
      m,
      'RestoreV2',
      feeds.map((feed) => `${m}/${feed}`),
      { dtypes: attribute.types([STRING]) },
    ),
  ]);
  let text = '';
  const call = new ServerCall();
  call.feed(`${n}/prefix`, [prefix], []);
  call.feed(`${n}/names`, [MANIFEST], [1]);
  call.feed(`${n}/slices`, [''], [1]);
  call.fetch(n, ([found]: readonly string[]) => (text = found!));
  try {
    await oneCall(cluster, 0, call, options);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    if (error.cause.isSilence) throw error.toError('a server that answers', cluster.machine.form.afterFault);
    const received = `${prefix}, of which ${error.server} says: ${error.message}`;
    throw new ValueError(argument, 'a checkpoint that emb.cluster().save wrote', described(received));
  }
  return readManifest(text, prefix, argument);
}

interface Matched {
  /** Where the values of each table and slot are. */
  readonly sources: Map<StoredTable, Source>;
  /** Those of slots that are not there yet. */
  readonly added: Map<StoredTable, Source>;
}

/** Throws ValueError for the first table that is not in the checkpoint, or has another size there. */
function match(
  cluster: RunningCluster,
  groups: readonly TableGroup[],
  manifest: Map<string, SavedTable>,
  prefix: string,
): Matched {
  const sources = new Map<StoredTable, Source>();
  for (const { table, slots } of groups) {
    sources.set(table, { prefix, saved: checked(table, manifest.get(table.name), manifest, prefix, 'prefix') });
    for (const slot of slots) {
      const saved = manifest.get(slot.name);
      // Saved before the first step: the slot was not there, and begins anew.
      const first = saved === undefined ? slot.first : null;
      sources.set(slot, first ?? { prefix, saved: checked(slot, saved, manifest, prefix, 'prefix') });
    }
  }
  const there = new Set([...sources.keys()].map(({ name }) => name));
  const added = new Map<StoredTable, Source>();
  for (const saved of manifest.values()) {
    const owner = groups.find(({ table }) => table.name === saved.slotOf)?.table;
    if (owner === undefined || there.has(saved.name)) continue;
    added.set(slotOf(cluster, owner.name, owner.layout, saved.name, saved.columns, null), { prefix, saved });
  }
  return { sources, added };
}

/** What is saved of a table, which has its size. */
export function checked(
  { name, layout: { rows, columns } }: Pick<StoredTable, 'name' | 'layout'>,
  saved: SavedTable | undefined,
  manifest: ReadonlyMap<string, SavedTable>,
  prefix: string,
  argument: string,
): SavedTable {
  const expected = `a checkpoint with ${name}, [${rows}, ${columns}]`;
  if (saved === undefined) {
    const names = [...manifest.keys()];
    const listed = `${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`;
    throw new ValueError(argument, expected, described(`${prefix}, which has ${listed}`));
  }
  if (saved.rows === rows && saved.columns === columns) return saved;
  throw new ValueError(argument, expected, described(`${prefix}, where it is [${saved.rows}, ${saved.columns}]`));
}

/** The rounds of each server. */
function roundsOf({ settings }: RunningCluster, sources: ReadonlyMap<StoredTable, Source>): Rounds[] {
  return settings.devices.map(({ session }, device) => {
    const isStock = settings.servers[device]!.info.ops === 'stock';
    const targets = [...sources].flatMap(([{ layout, variables }, source]) =>
      layout.shards.flatMap((shard, place): [Target, Source][] => {
        return shard.device === device ? [[{ session, isStock, variable: variables[place]!, shard }, source]] : [];
      }),
    );
    return (function* () {
      for (const [target, source] of targets) yield* restoring(target, source);
    })();
  });
}
