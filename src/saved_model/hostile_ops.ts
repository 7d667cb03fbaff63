/** Graphs are programs. Those that would do more than compute are not run. */
import { ValueError, described } from '../errors.js';
import { Message, many, map, one } from '../protobuf/message.js';
import type { MetaGraphMessage } from './wire/saved_model_messages.js';

interface Called {
  name?: string;
}

interface NodeOutline {
  name?: string;
  op?: string;
  inputs?: readonly string[];
  attributes?: Readonly<Record<string, { func?: Called; list?: { funcs?: readonly Called[] } }>>;
}

interface FunctionOutline {
  signature?: { name?: string };
  nodes?: readonly NodeOutline[];
}

interface GraphOutline {
  nodes?: readonly NodeOutline[];
  library?: { functions?: readonly FunctionOutline[] };
}

const Function = new Message<Called>({ name: one(1, 'string') });
const List = new Message<{ funcs?: readonly Called[] }>({ funcs: many(9, () => Function) });
const Attribute = new Message<{ func?: Called; list?: { funcs?: readonly Called[] } }>({
  list: one(1, () => List),
  func: one(10, () => Function),
});
const Node = new Message<NodeOutline>({
  name: one(1, 'string'),
  op: one(2, 'string'),
  inputs: many(3, 'string'),
  attributes: map(5, () => Attribute),
});
const Signature = new Message<{ name?: string }>({ name: one(1, 'string') });
const Definition = new Message<FunctionOutline>({ signature: one(1, () => Signature), nodes: many(3, () => Node) });
const Library = new Message<{ functions?: readonly FunctionOutline[] }>({ functions: many(1, () => Definition) });
const Outline = new Message<GraphOutline>({ nodes: many(1, () => Node), library: one(2, () => Library) });

/** Ops that read or write files of their own choice, run code of others, or talk to the network. */
const REFUSED =
  /^(WriteFile|ReadFile|MatchingFiles|RecordInput|(Stateless)?(Eager)?PyFunc(Stateless)?|.*(ReaderV?2?|RecordWriter)|.*Dataset.*|DistributedSave|(Create|Import)Summary.*|WriteSummary|Write.*Summary|Debug(Identity|NanCount|NumericSummary).*|Rpc.*|.*Rpc(Call|Client|Server).*|RemoteCall|Collective.*|Send|Recv|_HostSend|_HostRecv|SaveSlices|Save|FileSystem.*|Print|PrintV2|Copy(Host)?|Abort|XlaLaunch)$/;

/** Every SavedModel of TensorFlow can save itself again; that must not be among what loading or a signature runs. */
const REFUSED_WHERE_IT_RUNS = /^(SaveV2|MergeV2Checkpoints)$/;

/** The node that an input or a tensor names, whatever its output. */
function nodeName(tensor: string): string {
  return tensor.replace(/^\^/, '').replace(/:.*$/, '');
}

/** The functions that a node calls. */
function calledBy({ op = '', attributes = {} }: NodeOutline): string[] {
  const named = Object.values(attributes).flatMap(({ func, list }) => [func, ...(list?.funcs ?? [])]);
  return [op, ...named.flatMap((each) => each?.name ?? [])];
}

/** What the loader and the signatures ask for: their nodes. */
function roots({ signatures = {}, saver, collections = {} }: MetaGraphMessage<Uint8Array>): string[] {
  const outputs = Object.values(signatures).flatMap((each) => Object.values(each.outputs ?? {}));
  const collected = Object.values(collections).flatMap(({ nodeList }) => nodeList?.value ?? []);
  return [...outputs.map(({ name = '' }) => name), saver?.restoreOpName ?? '', ...collected].map(nodeName);
}

/** The ops that run when any of these nodes is asked for, those of called functions among them. */
function opsThatRun({ nodes = [], library }: GraphOutline, asked: readonly string[]): Set<string> {
  const byName = new Map(nodes.map((node) => [node.name ?? '', node]));
  const functions = new Map((library?.functions ?? []).map((each) => [each.signature?.name ?? '', each]));
  const [ops, seen, entered] = [new Set<string>(), new Set<NodeOutline>(), new Set<string>()];
  const open = asked.flatMap((name) => byName.get(name) ?? []);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    ops.add(node.op ?? '');
    for (const input of node.inputs ?? []) {
      const found = byName.get(nodeName(input));
      if (found !== undefined) open.push(found);
    }
    for (const name of calledBy(node)) {
      if (entered.has(name)) continue;
      entered.add(name);
      // All of a function counts: what its results do not need may run for its effects.
      for (const inner of functions.get(name)?.nodes ?? []) open.push(inner);
    }
  }
  return ops;
}

/** Throws ValueError for a graph with an op that acts on the machine. */
export function checkOps(path: string, meta: MetaGraphMessage<Uint8Array>): void {
  const graph = Outline.decode(meta.graph ?? new Uint8Array(0));
  const all = [...(graph.nodes ?? []), ...(graph.library?.functions ?? []).flatMap((each) => each.nodes ?? [])];
  const anywhere = all.find(({ op = '' }) => REFUSED.test(op))?.op;
  const found = anywhere ?? [...opsThatRun(graph, roots(meta))].find((op) => REFUSED_WHERE_IT_RUNS.test(op));
  if (found === undefined) return;
  const received = described(`${path}, whose graph holds ${found}`);
  throw new ValueError('directory', 'a SavedModel whose ops compute and do nothing else', received);
}
