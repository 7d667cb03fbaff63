/** Tables and slots into a checkpoint: each server writes what it holds, then one of them joins the parts. */
import type { RuntimeError } from '../../../base/errors.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import { attribute, node, placeholder, STRING } from '../server_graph.js';
import { currentTables, type StoredTable, type TableGroup } from './current_tables.js';
import { MANIFEST, moduloOf, pieceName, writeManifest, type SavedTable } from './manifest.js';
import { admitAll, oneCall, Progress, ServerFailure, workLater, type Round, type WorkOptions } from './server_work.js';
import { savingCall, type SavedPart, type SavedPiece } from './saving_call.js';
import { blocksOf, sliceText, type Block } from './slices.js';
import { removeUnfinished, temporaryFolder } from './unfinished.js';

/** Parts that a server writes at the same time, at most. */
const AT_ONCE = 4;

/** Writes all tables and slots. Returns what it wrote. */
export async function save(cluster: RunningCluster, prefix: string, options: WorkOptions): Promise<SavedTable[]> {
  cluster.machine.finish(); // Throws where tables do not count.
  const groups = await currentTables(cluster, options);
  admitAll(
    cluster,
    groups.map(({ table }) => table.name),
  );
  const saved = groups.flatMap(savedTables);
  const parts = groups.flatMap((group) => partsOf(cluster, group));
  const folder = temporaryFolder(prefix);
  let files = 1; // the first has the manifest
  const prefixes = parts.map(({ blocks }) => blocks.map(() => `${folder}/${files++}`));
  const names = Array.from({ length: files }, (_, i) => `${folder}/${i}`);
  const progress = new Progress(
    parts.reduce((sum, part) => sum + numbersOf(part), 0),
    options.onProgress,
  );
  try {
    await removeUnfinished(cluster, prefix, options);
    // First, so that what cannot be written at all is known early.
    await oneCall(cluster, 0, manifestCall(cluster, names[0]!, saved), options);
    const work = cluster.settings.devices.map((_, device) => {
      const { session } = cluster.settings.devices[device]!;
      const isStock = cluster.settings.servers[device]!.info.ops === 'stock';
      return roundsOf(cluster, parts, device, (place) =>
        savingCall(session, isStock, parts[place]!, prefix, prefixes[place]!),
      );
    });
    await workLater(cluster, work, options, progress);
    await oneCall(cluster, 0, joinCall(cluster, names, prefix), options);
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    throw failed(error, prefix);
  }
  return saved;
}

function failed(error: ServerFailure, prefix: string): RuntimeError {
  const note = `The folder above ${prefix} must be there, and all servers must see it. What was written so far lies in ${prefix}_temp; the next save to this prefix replaces it.`;
  return error.toError(`a server that writes a checkpoint to ${prefix}`, note);
}

function savedTables({ table, slots }: TableGroup): SavedTable[] {
  const form = ({ name, layout }: StoredTable, slotOf: string | null): SavedTable => {
    return { name, rows: layout.rows, columns: layout.columns, slotOf, modulo: moduloOf(layout) };
  };
  return [form(table, null), ...slots.map((slot) => form(slot, table.name))];
}

/** The part of a group on each server that holds some of it. */
function partsOf({ settings }: RunningCluster, { table, slots }: TableGroup): SavedPart[] {
  return settings.devices.flatMap((_, device) => {
    // One of several copies is enough.
    const { shards, kind } = table.layout;
    const places = [...(kind === 'replicated' ? shards.slice(0, 1) : shards).keys()];
    return places
      .filter((place) => shards[place]!.device === device)
      .map((place): SavedPart => {
        // Rows of a table and of its slots are the same ones.
        const blocks = blocksOf(table.variables[place]!);
        return { device, blocks, pieces: [table, ...slots].map((each) => pieceOf(each, place, blocks)) };
      });
  });
}

function pieceOf({ name, layout, variables }: StoredTable, place: number, blocks: readonly Block[]): SavedPiece {
  const variable = variables[place]!;
  const { rows, columns } = layout.shards[place]!;
  const isSlice = rows.step === 1;
  const size = { rows: isSlice ? layout.rows : rows.count, columns: layout.columns };
  const slices = blocks.map(({ first, count }) => {
    return sliceText(size, { first: isSlice ? rows.first + first : first, count }, columns);
  });
  return { variable, name: pieceName(name, rows.first, rows.step), slices };
}

function numbersOf({ pieces }: SavedPart): number {
  return pieces.reduce((sum, { variable: { rows, columns } }) => sum + rows * columns, 0);
}

/** Several at a time where the server has threads for them and for the calls of others. */
function* roundsOf(
  { settings }: RunningCluster,
  parts: readonly SavedPart[],
  device: number,
  callOf: (place: number) => ServerCall,
): Generator<Round> {
  const { threads } = settings.servers[device]!.info.kernels;
  const atOnce = Math.max(1, Math.min(AT_ONCE, threads >> 1));
  const own = [...parts.keys()].filter((place) => parts[place]!.device === device);
  for (let done = 0; done < own.length; done += atOnce) {
    const some = own.slice(done, done + atOnce);
    yield { calls: some.map(callOf), weight: some.reduce((sum, place) => sum + numbersOf(parts[place]!), 0) };
  }
}

function manifestCall({ settings }: RunningCluster, prefix: string, saved: readonly SavedTable[]): ServerCall {
  const feeds = ['prefix', 'names', 'slices', 'manifest'];
  const n = settings.devices[0]!.session.graph.once('save the manifest', (m) => [
    ...feeds.map((feed) => placeholder(`${m}/${feed}`, STRING)),
    node(
      m,
      'SaveV2',
      feeds.map((feed) => `${m}/${feed}`),
      { dtypes: attribute.types([STRING]) },
    ),
  ]);
  const call = new ServerCall();
  call.feed(`${n}/prefix`, [prefix], []);
  call.feed(`${n}/names`, [MANIFEST], [1]);
  call.feed(`${n}/slices`, [''], [1]);
  call.feed(`${n}/manifest`, [writeManifest(saved)], []);
  call.target(n);
  return call;
}

function joinCall({ settings }: RunningCluster, parts: readonly string[], prefix: string): ServerCall {
  const n = settings.devices[0]!.session.graph.once('join checkpoints', (m) => [
    placeholder(`${m}/parts`, STRING),
    placeholder(`${m}/prefix`, STRING),
    node(m, 'MergeV2Checkpoints', [`${m}/parts`, `${m}/prefix`], {
      delete_old_dirs: attribute.flag(true),
      allow_missing_files: attribute.flag(false),
    }),
  ]);
  const call = new ServerCall();
  call.feed(`${n}/parts`, parts, [parts.length]);
  call.feed(`${n}/prefix`, [prefix], []);
  call.target(n);
  return call;
}
