/** What differs between the tables on the servers and a checkpoint: the servers compare, changed rows come here. */
import { rowsAtOnce } from '../../../base/row_blocks.js';
import { addedChecksums, checksumOf, NO_ELEMENTS, type Checksum } from '../../table_checksum.js';
import type { DeltaPart, TableDelta } from '../../table_delta.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import type { ServerVariable } from '../variables.js';
import { attribute, constant, INT32, node, OF_FLOATS, placeholder } from '../server_graph.js';
import { currentTables, type StoredTable } from './current_tables.js';
import { checked, savedTables } from './restore.js';
import { collecting, feedRows, rowNodes, tensorOf, type SavedAt, type SavedTensor, type Target } from './saved_rows.js';
import {
  admitAll,
  Progress,
  ServerFailure,
  workLater,
  type Round,
  type Rounds,
  type WorkOptions,
} from './server_work.js';
import { blocksOf, type Block } from './slices.js';

/** Blocks that a server compares at the same time. */
const AT_ONCE = 2;

/** What was found in a block of a shard: its changed rows, and its part of both checksums. */
interface Compared extends DeltaPart {
  readonly base: Checksum;
  readonly now: Checksum;
}

/** Takes what was found. */
type Take = (found: Compared) => void;

/** The rows of all tables that differ from those of a checkpoint. Each block is compared as it is at one moment. */
export async function deltas(cluster: RunningCluster, since: string, options: WorkOptions): Promise<TableDelta[]> {
  const { machine, settings } = cluster;
  machine.finish(); // Throws where tables do not count.
  const manifest = await savedTables(cluster, since, options, 'since');
  const tables = (await currentTables(cluster, options)).map(({ table }) => table);
  admitAll(
    cluster,
    tables.map(({ name }) => name),
  );
  const found = new Map<StoredTable, Compared[]>(tables.map((table) => [table, []]));
  const sources = tables.map((table) => {
    const saved = checked(table, manifest.get(table.name), manifest, since, 'since');
    return [table, { prefix: since, saved }] as const;
  });
  const numbers = tables.reduce((sum, { layout: { rows, columns } }) => sum + rows * columns, 0);
  const work = settings.devices.map(({ session }, device): Rounds => {
    const isStock = settings.servers[device]!.info.ops === 'stock';
    return (function* () {
      for (const [table, source] of sources) {
        const { kind, shards } = table.layout;
        // One of several copies is enough.
        for (const place of (kind === 'replicated' ? shards.slice(0, 1) : shards).keys()) {
          const shard = shards[place]!;
          if (shard.device !== device) continue;
          const target = { session, isStock, variable: table.variables[place]!, shard };
          yield* comparing(target, source, (part) => found.get(table)!.push(part));
        }
      }
    })();
  });
  try {
    await workLater(cluster, work, options, new Progress(numbers, options.onProgress));
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    throw error.toError(`a server that reads ${since}`);
  }
  return tables.map((table) => deltaOf(table, found.get(table)!));
}

function deltaOf({ name, layout: { rows, columns } }: StoredTable, found: readonly Compared[]): TableDelta {
  const parts = found
    .filter(({ ids }) => ids.length > 0)
    .map(({ firstColumn, ids, values }) => ({ firstColumn, ids, values }))
    .sort((a, b) => a.firstColumn - b.firstColumn || a.ids[0]! - b.ids[0]!);
  const sum = (of: 'base' | 'now'): Checksum => found.map((part) => part[of]).reduce(addedChecksums, NO_ELEMENTS);
  return { name, rows, columns, base: sum('base'), result: sum('now'), parts };
}

/** The rounds that compare a shard. */
function* comparing(target: Target, source: SavedAt, take: Take): Generator<Round> {
  const { variable, isStock } = target;
  const tensor = tensorOf(target, source.saved);
  const isThere = tensor !== null && !isStock;
  const blocks = isThere ? blocksOf(variable) : blocksOf(variable, rowsAtOnce(variable.columns));
  for (let done = 0; done < blocks.length; done += AT_ONCE) {
    const some = blocks.slice(done, done + AT_ONCE);
    const weight = some.reduce((sum, { count }) => sum + count * variable.columns, 0);
    if (isThere) yield { calls: some.map((block) => compareThere(target, source.prefix, tensor, block, take)), weight };
    else for (const block of some) yield* compareHere(target, source, tensor, block, take, weight / some.length);
  }
}

/** Its place in the table, as checksums need it. */
function placeOf({ shard: { rows, columns } }: Target, { first, count }: Block) {
  const [firstColumn, end] = columns;
  const firstRow = rows.first + rows.step * first;
  return { firstRow, rowStep: rows.step, rows: count, firstColumn, columns: end - firstColumn };
}

/** Turns places within a block into ids. */
function idsOf(places: Int32Array, { firstRow, rowStep }: { firstRow: number; rowStep: number }): Int32Array {
  return places.map((place) => firstRow + rowStep * place);
}

/** The server reads both, and sends what differs. */
function compareThere(target: Target, prefix: string, tensor: SavedTensor, block: Block, take: Take): ServerCall {
  const { session, variable, shard } = target;
  const place = placeOf(target, block);
  const n = session.graph.once(`compare ${variable.node} ${tensor.step}`, (m) => {
    const base = `${m}/saved/rows`;
    return [
      ...rowNodes(`${m}/saved`, tensor),
      ...['first', 'count', 'part'].map((feed) => placeholder(`${m}/${feed}`, INT32)),
      node(`${m}/now`, 'EmbeddingReadRows', [variable.values, `${m}/first`, `${m}/count`]),
      node(m, 'EmbeddingChangedRows', [`${m}/now`, base]),
      node(`${m}/sum`, 'EmbeddingChecksum', [`${m}/now`, `${m}/part`]),
      node(`${m}/base_sum`, 'EmbeddingChecksum', [base, `${m}/part`]),
      ...(variable.gate?.after(m, [`${m}/now`]) ?? []),
    ];
  });
  const call = new ServerCall();
  guard(call, n, variable);
  feedRows(call, `${n}/saved`, prefix, tensor, block, shard.columns);
  call.feed(`${n}/first`, Int32Array.of(block.first), []);
  call.feed(`${n}/count`, Int32Array.of(block.count), []);
  call.feed(`${n}/part`, Int32Array.of(place.firstRow, place.rowStep, place.firstColumn), [3]);
  const parts: { ids: Int32Array; values: Float32Array; now: Checksum; base: Checksum } = {
    ids: new Int32Array(0),
    values: new Float32Array(0),
    now: NO_ELEMENTS,
    base: NO_ELEMENTS,
  };
  const unsigned = ([a, b]: Int32Array): Checksum => [a! >>> 0, b! >>> 0];
  call.fetch(n, (places: Int32Array) => (parts.ids = idsOf(places, place)));
  call.fetch(`${n}:1`, (values: Float32Array) => (parts.values = values));
  call.fetch(`${n}/sum`, (sums: Int32Array) => (parts.now = unsigned(sums)));
  call.fetch(`${n}/base_sum`, (sums: Int32Array) => (parts.base = unsigned(sums)));
  call.after(() => take({ ...parts, firstColumn: place.firstColumn }));
  return call;
}

/** Both come here: where the server has no ops of ours, and where rows are dealt out otherwise than they were. */
function* compareHere(
  target: Target,
  { prefix, saved }: SavedAt,
  tensor: SavedTensor | null,
  block: Block,
  take: Take,
  weight: number,
): Generator<Round> {
  const { session, shard, variable } = target;
  const place = placeOf(target, block);
  let base: Float32Array = new Float32Array(block.count * place.columns);
  let now: Float32Array = new Float32Array(0);
  const calls = [currentRows(target, block, (values) => (now = values))];
  if (tensor === null) {
    calls.push(...collecting(target, { prefix, saved }, block, base));
  } else {
    const n = session.graph.once(`read saved rows of ${variable.node} ${tensor.step}`, (m) => rowNodes(m, tensor));
    const call = new ServerCall();
    feedRows(call, n, prefix, tensor, block, shard.columns);
    call.fetch(`${n}/rows`, (values: Float32Array) => (base = values));
    calls.push(call);
  }
  yield { calls, weight };
  take({ ...changedRows(now, base, place), base: checksumOf(base, place), now: checksumOf(now, place) });
}

function currentRows(
  { session, variable, isStock }: Target,
  { first, count }: Block,
  take: (values: Float32Array) => void,
): ServerCall {
  const n = session.graph.once(`read rows of ${variable.node}`, (m) => {
    const feeds = ['first', 'count'].map((feed) => placeholder(`${m}/${feed}`, INT32));
    const still = variable.gate?.after(m, [m]) ?? [];
    if (!isStock) {
      return [...feeds, node(m, 'EmbeddingReadRows', [variable.values, `${m}/first`, `${m}/count`]), ...still];
    }
    return [
      ...feeds,
      ...still,
      constant(`${m}/one`, INT32, [], Int32Array.of(1)),
      node(`${m}/end`, 'AddV2', [`${m}/first`, `${m}/count`], { T: attribute.type(INT32) }),
      node(`${m}/ids`, 'Range', [`${m}/first`, `${m}/end`, `${m}/one`], { Tidx: attribute.type(INT32) }),
      node(m, 'ResourceGather', [variable.node, `${m}/ids`], { ...OF_FLOATS, Tindices: attribute.type(INT32) }),
    ];
  });
  const call = new ServerCall();
  guard(call, n, variable);
  call.feed(`${n}/first`, Int32Array.of(first), []);
  call.feed(`${n}/count`, Int32Array.of(count), []);
  call.fetch(n, take);
  return call;
}

/** The table is the one that was meant, also when its rows have been read. */
function guard(call: ServerCall, n: string, { gate }: ServerVariable): void {
  if (gate === null) return;
  gate.use(call);
  call.target(`${n}/still`);
}

/** The rows whose bits differ. */
function changedRows(now: Float32Array, base: Float32Array, place: ReturnType<typeof placeOf>): DeltaPart {
  const { rows, columns, firstColumn } = place;
  const bits = (of: Float32Array): Int32Array => new Int32Array(of.buffer, of.byteOffset, of.length);
  const [a, b] = [bits(now), bits(base)];
  const places: number[] = [];
  for (let row = 0; row < rows; row++) {
    let at = row * columns;
    const end = at + columns;
    while (at < end && a[at] === b[at]) at++;
    if (at < end) places.push(row);
  }
  const values = new Float32Array(places.length * columns);
  places.forEach((row, i) => values.set(now.subarray(row * columns, (row + 1) * columns), i * columns));
  return { firstColumn, ids: idsOf(Int32Array.from(places), place), values };
}
