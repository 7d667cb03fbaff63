/** Tables and slots into a checkpoint: each server writes what it holds, then one of them joins the parts. */
import type { RuntimeError } from '../../../base/errors.js';
import type { RunningCluster } from '../register.js';
import { ServerCall } from '../server_call.js';
import { attribute, constant, FLOAT, INT32, node, placeholder, STRING, type ServerGraph } from '../server_graph.js';
import type { ServerVariable } from '../variables.js';
import { currentTables, type StoredTable, type TableGroup } from './current_tables.js';
import { MANIFEST, moduloOf, pieceName, writeManifest, type SavedTable } from './manifest.js';
import { oneCall, Progress, ServerFailure, workLater, type Round, type WorkOptions } from './server_work.js';
import { blocksOf, sliceText, type Block } from './slices.js';

/** Parts that a server writes at the same time. */
const AT_ONCE = 4;

/** A shard, as it is written. */
interface Piece {
  readonly variable: ServerVariable;
  readonly blocks: readonly Block[];
  /** The tensor of the checkpoint. */
  readonly name: string;
  /** The slice of it that each block is. */
  readonly slices: readonly string[];
}

/** What a server holds of a table and its slots: written by one call, as it is at one moment. */
interface Part {
  readonly device: number;
  readonly pieces: readonly Piece[];
}

/** Writes all tables and slots. Returns what it wrote. */
export async function save(cluster: RunningCluster, prefix: string, options: WorkOptions): Promise<SavedTable[]> {
  cluster.machine.finish(); // Throws where tables do not count.
  const groups = await currentTables(cluster, options);
  for (const { table } of groups) cluster.settings.membership.admit(table.name);
  const saved = groups.flatMap(savedTables);
  const parts = groups.flatMap((group) => partsOf(cluster, group));
  const names = Array.from({ length: parts.length + 1 }, (_, i) => `${prefix}_temp/${i}`);
  const progress = new Progress(parts.length, options.onProgress);
  try {
    // First, so that what cannot be written at all is known early.
    await oneCall(cluster, 0, manifestCall(cluster, names[0]!, saved), options);
    const work = cluster.settings.devices.map((_, device) => {
      return roundsOf(parts, device, (place) => partCall(cluster, parts[place]!, names[place + 1]!));
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
function partsOf({ settings }: RunningCluster, { table, slots }: TableGroup): Part[] {
  return settings.devices.flatMap((_, device) => {
    const pieces = [table, ...slots].flatMap((each) => {
      const { shards, kind } = each.layout;
      // One of several copies is enough.
      const places = [...(kind === 'replicated' ? shards.slice(0, 1) : shards).keys()];
      return places.filter((place) => shards[place]!.device === device).map((place) => pieceOf(each, place));
    });
    return pieces.length === 0 ? [] : [{ device, pieces }];
  });
}

function pieceOf({ name, layout, variables }: StoredTable, place: number): Piece {
  const variable = variables[place]!;
  const { rows, columns } = layout.shards[place]!;
  const isSlice = rows.step === 1;
  const size = { rows: isSlice ? layout.rows : rows.count, columns: layout.columns };
  const blocks = blocksOf(variable);
  const slices = blocks.map(({ first, count }) => {
    return sliceText(size, { first: isSlice ? rows.first + first : first, count }, columns);
  });
  return { variable, blocks, name: pieceName(name, rows.first, rows.step), slices };
}

function* roundsOf(parts: readonly Part[], device: number, callOf: (place: number) => ServerCall): Generator<Round> {
  const own = [...parts.keys()].filter((place) => parts[place]!.device === device);
  for (let done = 0; done < own.length; done += AT_ONCE) {
    const calls = own.slice(done, done + AT_ONCE).map(callOf);
    yield { calls, weight: calls.length };
  }
}

function partCall({ settings }: RunningCluster, { device, pieces }: Part, prefix: string): ServerCall {
  const { session } = settings.devices[device]!;
  const isStock = settings.servers[device]!.info.ops === 'stock';
  const names = pieces.flatMap(({ name, slices }) => slices.map(() => name));
  const slices = pieces.flatMap((piece) => piece.slices);
  const n = savingNodes(session.graph, pieces, isStock);
  const call = new ServerCall();
  call.feed(`${n}/prefix`, [prefix], []);
  call.feed(`${n}/names`, names, [names.length]);
  call.feed(`${n}/slices`, slices, [slices.length]);
  call.target(n);
  const [{ variable }] = pieces as [Piece];
  if (variable.gate !== null) {
    variable.gate.use(call);
    call.target(`${n}/still`);
  }
  return call;
}

/** Nodes that write some variables. They are held together, so that no step of theirs is saved in half. */
function savingNodes(graph: ServerGraph, pieces: readonly Piece[], isStock: boolean): string {
  const variables = pieces.map(({ variable }) => variable);
  return graph.once(`save ${variables.map((each) => each.node).join()}`, (m) => {
    const held = variables.map(({ values }, i) => (isStock ? values : i === 0 ? `${m}/held` : `${m}/held:${i}`));
    const hold = node(
      `${m}/held`,
      'EmbeddingHold',
      variables.map(({ values }) => values),
      { N: attribute.int(variables.length) },
    );
    const cuts = pieces.flatMap(({ blocks }, i) => {
      if (blocks.length === 1) return [];
      const sizes = Int32Array.from(blocks, ({ count }) => count);
      return [
        constant(`${m}/${i}/sizes`, INT32, [sizes.length], sizes),
        node(`${m}/${i}`, 'SplitV', [held[i]!, `${m}/${i}/sizes`, `${m}/axis`], {
          T: attribute.type(FLOAT),
          Tlen: attribute.type(INT32),
          num_split: attribute.int(sizes.length),
        }),
      ];
    });
    const written = pieces.flatMap(({ blocks }, i) => {
      return blocks.length === 1 ? [held[i]!] : blocks.map((_, k) => (k === 0 ? `${m}/${i}` : `${m}/${i}:${k}`));
    });
    return [
      ...['prefix', 'names', 'slices'].map((feed) => placeholder(`${m}/${feed}`, STRING)),
      constant(`${m}/axis`, INT32, [], new Int32Array(1)),
      ...(isStock ? [] : [hold]),
      ...cuts,
      node(m, 'SaveV2', [`${m}/prefix`, `${m}/names`, `${m}/slices`, ...written], {
        dtypes: attribute.types(written.map(() => FLOAT)),
      }),
      ...(variables[0]!.gate?.after(m, [m]) ?? []),
    ];
  });
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
