/** Messages of servers, sessions and their graphs, for tests. */
import { Graph, type Attribute, type NodeMessage } from '../../../src/base/protobuf/graph_messages.js';
import { Message, many, one } from '../../../src/base/protobuf/message.js';

const Config = new Message<{ deviceFilters: readonly string[]; operationTimeout: number }>({
  deviceFilters: many(4, 'string'),
  operationTimeout: one(11, 'int64'),
});
const Options = new Message<{ timeout?: number }>({ timeout: one(2, 'int64') });

/** A ConfigProto whose calls beside runs end after so long. */
export function sessionConfig(timeoutMs: number): Uint8Array {
  return Config.encode({ deviceFilters: ['/job:ps/task:0'], operationTimeout: timeoutMs });
}

/** RunOptions; without a time there is no deadline. */
export function runOptions(timeoutMs?: number): Uint8Array {
  return Options.encode(timeoutMs === undefined ? {} : { timeout: timeoutMs });
}

export function graphDefinition(...node: NodeMessage[]): Uint8Array {
  return Graph.encode({ node, versions: { producer: 1882 } });
}

/** TensorFlow's numbers of types. */
export const DT = {
  float: 1,
  double: 2,
  int32: 3,
  uint8: 4,
  string: 7,
  int64: 9,
  bool: 10,
  half: 19,
  resource: 20,
} as const;

export function node(
  name: string,
  op: string,
  input: readonly string[] = [],
  attr: Readonly<Record<string, Attribute>> = {},
): NodeMessage {
  return { name, op, input, attr };
}

/** A node that is fed. */
export function placeholder(name: string, dtype: number): NodeMessage {
  return node(name, 'Placeholder', [], { dtype: { type: dtype }, shape: { shape: { unknownRank: true } } });
}
