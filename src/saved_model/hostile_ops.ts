/** Graphs are programs. Those that would do more than compute are not run. */
import { ValueError, described } from '../errors.js';
import { Message, many, one } from '../protobuf/message.js';

interface OpOnly {
  op?: string;
}

const Node = new Message<OpOnly>({ op: one(2, 'string') });
const Definition = new Message<{ nodes?: readonly OpOnly[] }>({ nodes: many(3, () => Node) });
const Library = new Message<{ functions?: readonly { nodes?: readonly OpOnly[] }[] }>({
  functions: many(1, () => Definition),
});
const Ops = new Message<{
  nodes?: readonly OpOnly[];
  library?: { functions?: readonly { nodes?: readonly OpOnly[] }[] };
}>({
  nodes: many(1, () => Node),
  library: one(2, () => Library),
});

/** Ops that read or write files of their own choice, run code of others, or talk to the network. */
const REFUSED =
  /^(WriteFile|ReadFile|MatchingFiles|(Stateless)?(Eager)?PyFunc(Stateless)?|.*(ReaderV?2?|RecordWriter|DatasetToTFRecord(V2)?)|(Create|Import)Summary.*|WriteSummary|Write.*Summary|Debug(Identity|NanCount|NumericSummary).*|Rpc.*|.*Rpc(Call|Client|Server).*|Send|Recv|_HostSend|_HostRecv|(Save|LoadAndRemap).*Dataset.*|SaveSlices|Save|FileSystem.*|PrintV2|Copy(Host)?|Abort|XlaLaunch)$/;

/** Throws ValueError for a graph with an op that acts on the machine. */
export function checkOps(path: string, graph: Uint8Array): void {
  const { nodes = [], library } = Ops.decode(graph);
  const all = [...nodes, ...(library?.functions ?? []).flatMap((each) => each.nodes ?? [])];
  const found = all.find(({ op = '' }) => REFUSED.test(op));
  if (found === undefined) return;
  const received = described(`${path}, whose graph holds ${found.op!}`);
  throw new ValueError('directory', 'a SavedModel whose ops compute and do nothing else', received);
}
