/** Rows of a checkpoint on a server: those of a shard, however they were cut when they were saved. */
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import type { LayoutShard } from '../../../partition/table_layout.js';
import { ServerCall } from '../server_call.js';
import { attribute, constant, FLOAT, INT32, node, placeholder, STRING } from '../server_graph.js';
import type { ServerSession } from '../server_session.js';
import type { ServerVariable } from '../variables.js';
import { pieceName, pieceRows, type SavedTable } from './manifest.js';
import { sliceText, type Block } from './slices.js';

/** A shard on its server. */
export interface Target {
  readonly session: ServerSession;
  readonly isStock: boolean;
  readonly variable: ServerVariable;
  readonly shard: LayoutShard;
}

/** Where a checkpoint has a table. */
export interface SavedAt {
  readonly prefix: string;
  readonly saved: SavedTable;
}

/** A tensor of a checkpoint that has the rows of a shard in order: all of it, or every so manieth row. */
export interface SavedTensor {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** Row i of the shard is row first + step * i of it. */
  readonly first: number;
  readonly step: number;
}

/** null: rows of the shard lie in several tensors. */
export function tensorOf({ shard }: Target, saved: SavedTable): SavedTensor | null {
  const { first, step } = shard.rows;
  if (saved.modulo === 1) return { ...saved, first, step };
  if (saved.modulo !== step) return null;
  const rows = pieceRows(saved.rows, first, step);
  return { name: pieceName(saved.name, first, step), rows, columns: saved.columns, first: 0, step: 1 };
}

/** Nodes that read rows of a tensor; the last of them is `m/rows`. */
export function rowNodes(m: string, { step }: SavedTensor): NodeMessage[] {
  if (step === 1) return [...sliceNodes(m, `${m}/rows`)];
  const number = (name: string, value: number): NodeMessage =>
    constant(`${m}/${name}`, INT32, [1], Int32Array.of(value));
  const masks = { begin_mask: 1, end_mask: 1, ellipsis_mask: 0, new_axis_mask: 0, shrink_axis_mask: 0 };
  return [
    ...sliceNodes(m, `${m}/span`),
    number('begin', 0),
    number('end', 0),
    number('step', step),
    node(`${m}/rows`, 'StridedSlice', [`${m}/span`, `${m}/begin`, `${m}/end`, `${m}/step`], {
      T: attribute.type(FLOAT),
      Index: attribute.type(INT32),
      ...Object.fromEntries(Object.entries(masks).map(([name, value]) => [name, attribute.int(value)])),
    }),
  ];
}

/** Feeds the nodes with what reads a block of a shard. */
export function feedRows(
  call: ServerCall,
  m: string,
  prefix: string,
  tensor: SavedTensor,
  { first, count }: Block,
  columns: LayoutShard['columns'],
): void {
  const span = { first: tensor.first + tensor.step * first, count: tensor.step * (count - 1) + 1 };
  feedSlice(call, m, prefix, tensor.name, sliceText(tensor, span, columns));
}

function sliceNodes(m: string, name: string): NodeMessage[] {
  const feeds = ['prefix', 'name', 'slice'].map((feed) => `${m}/${feed}`);
  return [
    ...feeds.map((feed) => placeholder(feed, STRING)),
    node(name, 'RestoreV2', feeds, { dtypes: attribute.types([FLOAT]) }),
  ];
}

function feedSlice(call: ServerCall, m: string, prefix: string, name: string, slice: string): void {
  call.feed(`${m}/prefix`, [prefix], []);
  call.feed(`${m}/name`, [name], [1]);
  call.feed(`${m}/slice`, [slice], [1]);
}

/** The calls that collect some rows of a shard from all pieces of a table: into `values`, in the order of the shard. */
export function collecting(
  { session, shard }: Target,
  { prefix, saved }: SavedAt,
  block: Block,
  values: Float32Array,
): ServerCall[] {
  const { modulo } = saved;
  const {
    rows,
    columns: [from, to],
  } = shard;
  const width = to - from;
  const rowOf = (place: number): number => rows.first + rows.step * (block.first + place);
  const [least, most] = [rowOf(0), rowOf(block.count - 1)];
  return Array.from({ length: modulo }, (_, piece) => {
    const start = pieceRows(least, piece, modulo);
    const count = pieceRows(most + 1, piece, modulo) - start;
    if (count <= 0) return null;
    const call = new ServerCall();
    const n = session.graph.once(`read a slice #${piece}`, (m) => sliceNodes(m, `${m}/rows`));
    const size = { rows: pieceRows(saved.rows, piece, modulo), columns: saved.columns };
    const name = pieceName(saved.name, piece, modulo);
    feedSlice(call, n, prefix, name, sliceText(size, { first: start, count }, [from, to]));
    call.fetch(`${n}/rows`, (found: Float32Array) => {
      for (let place = 0; place < block.count; place++) {
        const row = rowOf(place);
        if (row % modulo !== piece) continue;
        const at = (Math.floor(row / modulo) - start) * width;
        values.set(found.subarray(at, at + width), place * width);
      }
    });
    return call;
  }).filter((call) => call !== null);
}
