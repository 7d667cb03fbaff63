/** The calls that bring a shard back: its server reads the checkpoint and writes the rows where they are. */
import { rowsAtOnce } from '../../../base/row_blocks.js';
import type { LayoutShard } from '../../../partition/table_layout.js';
import { ServerCall } from '../server_call.js';
import { attribute, constant, FLOAT, INT32, node, OF_FLOATS, placeholder, STRING } from '../server_graph.js';
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import type { ServerSession } from '../server_session.js';
import type { ServerVariable } from '../variables.js';
import { pieceName, pieceRows, type SavedTable } from './manifest.js';
import type { Round, Rounds } from './server_work.js';
import { blocksOf, sliceText, type Block } from './slices.js';

/** Blocks that a server reads at the same time. */
const AT_ONCE = 2;
const OF_FLOAT = { T: attribute.type(FLOAT) };

/** A shard on its server. */
export interface Target {
  readonly session: ServerSession;
  readonly isStock: boolean;
  readonly variable: ServerVariable;
  readonly shard: LayoutShard;
}

/** What is in each number of a shard, or where a checkpoint has it. */
export type Source = number | { readonly prefix: string; readonly saved: SavedTable };

/** The rounds that give a shard its values. */
export function restoring(target: Target, source: Source): Rounds {
  if (typeof source === 'number') return inBlocks(target, (block) => fillCall(target, source, block));
  const { prefix, saved } = source;
  const { first, step } = target.shard.rows;
  // What was saved as one tensor has all rows in order: those of a modulo are every step-th of them.
  if (saved.modulo === 1) return inBlocks(target, (block) => copyCall(target, prefix, saved, block));
  if (saved.modulo !== step) return throughClient(target, prefix, saved);
  const size = { rows: pieceRows(saved.rows, first, step), columns: saved.columns };
  const piece = { ...size, name: pieceName(saved.name, first, step) };
  const whole = { ...target, shard: { ...target.shard, rows: { first: 0, step: 1, count: size.rows } } };
  return inBlocks(target, (block) => copyCall(whole, prefix, piece, block));
}

function* inBlocks({ variable }: Target, callOf: (block: Block) => ServerCall): Generator<Round> {
  const blocks = blocksOf(variable);
  for (let done = 0; done < blocks.length; done += AT_ONCE) {
    const some = blocks.slice(done, done + AT_ONCE);
    yield { calls: some.map(callOf), weight: weightOf(some, variable) };
  }
}

function weightOf(blocks: readonly Block[], { columns }: ServerVariable): number {
  return blocks.reduce((sum, { count }) => sum + count * columns, 0);
}

/** The nodes that write `values` into rows of the variable from `first` on, in place: others hold it. */
function writing(m: string, { variable, isStock }: Target, values: string): NodeMessage[] {
  const { node: n, columns } = variable;
  const first = placeholder(`${m}/first`, INT32);
  const form = Int32Array.from(isStock ? [-1, columns] : [-1]);
  const shaped = [
    constant(`${m}/form`, INT32, [form.length], form),
    node(`${m}/rows`, 'Reshape', [values, `${m}/form`], { ...OF_FLOAT, Tshape: attribute.type(INT32) }),
  ];
  if (!isStock) {
    return [first, ...shaped, node(m, 'EmbeddingWriteRows', [variable.values, `${m}/rows`, `${m}/first`])];
  }
  return [
    first,
    ...shaped,
    placeholder(`${m}/end`, INT32),
    constant(`${m}/one`, INT32, [], Int32Array.of(1)),
    node(`${m}/ids`, 'Range', [`${m}/first`, `${m}/end`, `${m}/one`], { Tidx: attribute.type(INT32) }),
    node(m, 'ResourceScatterUpdate', [n, `${m}/ids`, `${m}/rows`], { ...OF_FLOATS, Tindices: attribute.type(INT32) }),
  ];
}

function feedPlace(call: ServerCall, n: string, { isStock }: Target, { first, count }: Block): void {
  call.feed(`${n}/first`, Int32Array.of(first), []);
  if (isStock) call.feed(`${n}/end`, Int32Array.of(first + count), []);
  call.target(n);
}

/** Reads a slice of a checkpoint; feed `prefix`, `name` and `slice`. */
function reading(m: string): NodeMessage[] {
  const feeds = ['prefix', 'name', 'slice'];
  return [
    ...feeds.map((feed) => placeholder(`${m}/${feed}`, STRING)),
    node(
      `${m}/read`,
      'RestoreV2',
      feeds.map((feed) => `${m}/${feed}`),
      { dtypes: attribute.types([FLOAT]) },
    ),
  ];
}

function feedSlice(call: ServerCall, n: string, prefix: string, name: string, slice: string): void {
  call.feed(`${n}/prefix`, [prefix], []);
  call.feed(`${n}/name`, [name], [1]);
  call.feed(`${n}/slice`, [slice], [1]);
}

type SavedPiece = Pick<SavedTable, 'name' | 'rows' | 'columns'>;

/** Rows of the variable from those of a tensor that has them in order, or every step-th of these. */
function copyCall(target: Target, prefix: string, saved: SavedPiece, block: Block): ServerCall {
  const { session, variable, shard } = target;
  const { first, step } = shard.rows;
  const n = session.graph.once(`restore ${variable.node} ${step}`, (m) => {
    const given = step === 1 ? [] : everyRow(m, step);
    return [...reading(m), ...given, ...writing(m, target, step === 1 ? `${m}/read` : `${m}/every`)];
  });
  const spanned = { first: first + step * block.first, count: step * (block.count - 1) + 1 };
  const call = new ServerCall();
  feedSlice(call, n, prefix, saved.name, sliceText(saved, spanned, shard.columns));
  feedPlace(call, n, target, block);
  return call;
}

function everyRow(m: string, step: number): NodeMessage[] {
  const number = (name: string, value: number): NodeMessage =>
    constant(`${m}/${name}`, INT32, [1], Int32Array.of(value));
  return [
    number('begin', 0),
    number('end', 0),
    number('step', step),
    node(`${m}/every`, 'StridedSlice', [`${m}/read`, `${m}/begin`, `${m}/end`, `${m}/step`], {
      ...OF_FLOAT,
      Index: attribute.type(INT32),
      begin_mask: attribute.int(1),
      end_mask: attribute.int(1),
      ellipsis_mask: attribute.int(0),
      new_axis_mask: attribute.int(0),
      shrink_axis_mask: attribute.int(0),
    }),
  ];
}

/** All numbers of some rows become one number. */
function fillCall(target: Target, value: number, block: Block): ServerCall {
  const { session, variable } = target;
  const n = session.graph.once(`refill ${variable.node}`, (m) => [
    placeholder(`${m}/size`, INT32),
    placeholder(`${m}/value`, FLOAT),
    node(`${m}/values`, 'Fill', [`${m}/size`, `${m}/value`], { ...OF_FLOAT, index_type: attribute.type(INT32) }),
    ...writing(m, target, `${m}/values`),
  ]);
  const call = new ServerCall();
  call.feed(`${n}/size`, Int32Array.of(block.count * variable.columns), [1]);
  call.feed(`${n}/value`, Float32Array.of(value), []);
  feedPlace(call, n, target, block);
  return call;
}

/** Rows that are dealt out otherwise come here from the pieces that have some, and go back in order. */
function* throughClient(target: Target, prefix: string, saved: SavedTable): Generator<Round> {
  const { session, variable, shard } = target;
  const { columns } = variable;
  const atOnce = rowsAtOnce(columns);
  for (let done = 0; done < variable.rows; done += atOnce) {
    const block = { first: done, count: Math.min(atOnce, variable.rows - done) };
    const values = new Float32Array(block.count * columns);
    yield { calls: collecting(session, prefix, saved, shard, block, values), weight: 0 };
    const n = session.graph.once(`rewrite ${variable.node}`, (m) => [
      placeholder(`${m}/values`, FLOAT),
      ...writing(m, target, `${m}/values`),
    ]);
    const call = new ServerCall();
    call.feed(`${n}/values`, values, [values.length]);
    feedPlace(call, n, target, block);
    yield { calls: [call], weight: weightOf([block], variable) };
  }
}

/** The calls that collect some rows of a shard from all pieces of a table: into `values`, in the order of the shard. */
function collecting(
  session: ServerSession,
  prefix: string,
  saved: SavedTable,
  { rows, columns: [from, to] }: LayoutShard,
  block: Block,
  values: Float32Array,
): ServerCall[] {
  const { modulo } = saved;
  const width = to - from;
  const rowOf = (place: number): number => rows.first + rows.step * (block.first + place);
  const [least, most] = [rowOf(0), rowOf(block.count - 1)];
  return Array.from({ length: modulo }, (_, piece) => {
    const start = pieceRows(least, piece, modulo);
    const count = pieceRows(most + 1, piece, modulo) - start;
    if (count <= 0) return null;
    const call = new ServerCall();
    const n = session.graph.once(`read a slice #${piece}`, reading);
    const size = { rows: pieceRows(saved.rows, piece, modulo), columns: saved.columns };
    const name = pieceName(saved.name, piece, modulo);
    feedSlice(call, n, prefix, name, sliceText(size, { first: start, count }, [from, to]));
    call.fetch(`${n}/read`, (found: Float32Array) => {
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
