/** The calls that bring a shard back: its server reads the checkpoint and writes the rows where they are. */
import { rowsAtOnce } from '../../../base/row_blocks.js';
import { ServerCall } from '../server_call.js';
import { attribute, constant, FLOAT, INT32, node, OF_FLOATS, placeholder } from '../server_graph.js';
import type { NodeMessage } from '../../../base/protobuf/graph_messages.js';
import { ownerOf, type ServerVariable } from '../variables.js';
import { collecting, feedRows, rowNodes, tensorOf, type SavedAt, type SavedTensor, type Target } from './saved_rows.js';
import type { Round, Rounds } from './server_work.js';
import { blocksOf, type Block } from './slices.js';

/** Blocks that a server reads at the same time. */
const AT_ONCE = 2;
const OF_FLOAT = { T: attribute.type(FLOAT) };

/** What is in each number of a shard, or where a checkpoint has it. */
export type Source = number | SavedAt;

/** The rounds that give a shard its values. */
export function restoring(target: Target, source: Source): Rounds {
  if (typeof source === 'number') return inBlocks(target, (block) => fillCall(target, source, block));
  const tensor = tensorOf(target, source.saved);
  if (tensor === null) return throughClient(target, source);
  return inBlocks(target, (block) => copyCall(target, source.prefix, tensor, block));
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
function writing(m: string, target: Target, values: string): NodeMessage[] {
  const { gate, known } = target.variable;
  const nodes = writingNodes(m, target, values);
  return gate === null ? nodes : gate.alone(m, ownerOf(known!), nodes);
}

function writingNodes(m: string, { variable, isStock }: Target, values: string): NodeMessage[] {
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

function feedPlace(call: ServerCall, n: string, { isStock, variable }: Target, { first, count }: Block): void {
  if (variable.gate !== null) {
    variable.gate.use(call);
    call.target(`${n}/freed`);
  }
  call.feed(`${n}/first`, Int32Array.of(first), []);
  if (isStock) call.feed(`${n}/end`, Int32Array.of(first + count), []);
  call.target(n);
}

/** Rows of the variable from those of one tensor. */
function copyCall(target: Target, prefix: string, tensor: SavedTensor, block: Block): ServerCall {
  const { session, variable, shard } = target;
  const n = session.graph.once(`restore ${variable.node} ${tensor.step}`, (m) => [
    ...rowNodes(`${m}/saved`, tensor),
    ...writing(m, target, `${m}/saved/rows`),
  ]);
  const call = new ServerCall();
  feedRows(call, `${n}/saved`, prefix, tensor, block, shard.columns);
  feedPlace(call, n, target, block);
  return call;
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
function* throughClient(target: Target, source: SavedAt): Generator<Round> {
  const { session, variable } = target;
  const { columns } = variable;
  const atOnce = rowsAtOnce(columns);
  for (let done = 0; done < variable.rows; done += atOnce) {
    const block = { first: done, count: Math.min(atOnce, variable.rows - done) };
    const values = new Float32Array(block.count * columns);
    yield { calls: collecting(target, source, block, values), weight: 0 };
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
