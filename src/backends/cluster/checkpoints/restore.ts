/** Tables and slots from a checkpoint, however they were cut when it was saved. */
import { ValueError, described } from '../../../base/errors.js';
import type { DeviceTable } from '../../devices/machine/device_table.js';
import { readOnlyError } from '../read_only.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import { attribute, node, placeholder, STRING } from '../server_graph.js';
import { currentTables } from './current_tables.js';
import { MANIFEST, readManifest, type SavedTable } from './manifest.js';
import { restoring, type Source } from './restored_part.js';
import type { SavedAt, Target } from './saved_rows.js';
import { oneCall, Progress, ServerFailure, workLater, workNow, type Rounds, type WorkOptions } from './server_work.js';

/** Gives all tables and slots the values of a checkpoint. Returns the names of those that were restored. */
export async function restore(cluster: RunningCluster, prefix: string, options: WorkOptions): Promise<string[]> {
  const { machine, settings } = cluster;
  if (settings.settings.tables === 'readOnly') throw readOnlyError();
  settle(cluster);
  const manifest = await savedTables(cluster, prefix, options, 'prefix');
  const { sources, waiting } = match(cluster, manifest, prefix);
  const numbers = [...sources.keys()].reduce((sum, { layout }) => sum + numbersOf(layout.shards), 0);
  const progress = new Progress(numbers, options.onProgress);
  const work = roundsOf(cluster, sources);
  machine.distrust('tables that are being restored');
  // Rows that were looked up ahead are those of before.
  for (const device of settings.beside) device.drain();
  cluster.devices.forgetAhead();
  try {
    await workLater(cluster, work, options, progress);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    machine.distrust(`tables that were restored in part: ${message}`);
    if (error instanceof ServerFailure) throw error.toError(`a server that reads ${prefix}`, machine.form.afterFault);
    throw error;
  }
  for (const device of [...settings.devices, ...settings.beside]) device.revive();
  machine.recover(() => undefined);
  const restoreNow = (slot: DeviceTable, saved: SavedTable): void => {
    restoreLate(cluster, slot, { prefix, saved }, options);
  };
  settings.slots.await(new Map(waiting.map((saved) => [saved.name, (slot) => restoreNow(slot, saved)])));
  return [...sources.keys()].map(({ name }) => name);
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

function numbersOf(shards: DeviceTable['layout']['shards']): number {
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
  readonly sources: Map<DeviceTable, Source>;
  /** Slots that are not there yet. */
  readonly waiting: readonly SavedTable[];
}

/** Throws ValueError for the first table that is not in the checkpoint, or has another size there. */
function match({ machine, settings }: RunningCluster, manifest: Map<string, SavedTable>, prefix: string): Matched {
  const sources = new Map<DeviceTable, Source>();
  const groups = currentTables(machine);
  for (const table of groups.flatMap((group) => [group.table, ...group.slots])) {
    const saved = manifest.get(table.name);
    // Saved before the first step: the slot was not there, and would begin anew.
    const first = table.role === 'slots' && saved === undefined ? settings.slots.firstValue(table.name) : undefined;
    sources.set(table, first ?? { prefix, saved: checked(table, saved, manifest, prefix, 'prefix') });
  }
  const names = new Set(groups.map(({ table }) => table.name));
  const there = new Set([...sources.keys()].map(({ name }) => name));
  const waiting = [...manifest.values()].filter(({ name, slotOf }) => {
    return slotOf !== null && names.has(slotOf) && !there.has(name);
  });
  return { sources, waiting };
}

/** What is saved of a table, which has its size. */
export function checked(
  { name, layout: { rows, columns } }: Pick<DeviceTable, 'name' | 'layout'>,
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
function roundsOf({ settings }: RunningCluster, sources: ReadonlyMap<DeviceTable, Source>): Rounds[] {
  return settings.devices.map(({ session, variables }, device) => {
    const isStock = settings.servers[device]!.info.ops === 'stock';
    const targets = [...sources].flatMap(([table, source]) =>
      table.layout.shards.flatMap((shard, place): [Target, Source][] => {
        if (shard.device !== device) return [];
        return [[{ session, isStock, variable: variables.of(table.buffer(place)), shard }, source]];
      }),
    );
    return (function* () {
      for (const [target, source] of targets) yield* restoring(target, source);
    })();
  });
}

/** The values of a slot that an optimizer makes now; the step that needs it waits. */
function restoreLate(cluster: RunningCluster, slot: DeviceTable, source: SavedAt, { timeoutMs }: WorkOptions): void {
  const { machine } = cluster;
  const { prefix, saved } = source;
  checked(slot, saved, new Map(), prefix, 'prefix');
  machine.finish();
  try {
    workNow(cluster, roundsOf(cluster, new Map([[slot, source]])), timeoutMs);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    machine.distrust(`slots that were not restored: ${error.message}`);
    throw error.toError(`a server that reads ${slot.name} of ${prefix}`, machine.form.afterFault);
  }
}
