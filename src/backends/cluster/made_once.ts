/** Nodes that give a variable its first values where it has none, under a lock: of several clients one makes it. */
import type { NodeMessage } from '../../base/protobuf/graph_messages.js';
import { attribute, INT32, node, OF_FLOATS } from './server_graph.js';
import type { ServerVariable } from './variables.js';

/**
 * `values`: the nodes that make values of a shape, `m/shape`, which comes from the place they are given; the first is
 * called as they are told. Target `m/once`.
 */
export function madeOnce(
  { node: n, name }: ServerVariable,
  container: string,
  m: string,
  values: (name: string, shape: string) => readonly NodeMessage[],
): NodeMessage[] {
  const shape = { T: attribute.type(INT32) };
  return [
    node(`${m}/mutex`, 'MutexV2', [], {
      container: attribute.text(container),
      shared_name: attribute.text(`${name}~mutex`),
    }),
    node(`${m}/lock`, 'MutexLock', [`${m}/mutex`]),
    node(`${m}/there`, 'VarIsInitializedOp', [n, `^${m}/lock`]),
    node(`${m}/branch`, 'Switch', [`${m}/shape`, `${m}/there`], shape),
    ...values(`${m}/new`, `${m}/branch`),
    node(`${m}/assign`, 'AssignVariableOp', [n, `${m}/new`], OF_FLOATS),
    node(`${m}/made`, 'Identity', [`${m}/branch`, `^${m}/assign`], shape),
    node(`${m}/either`, 'Merge', [`${m}/made`, `${m}/branch:1`], { ...shape, N: attribute.int(2) }),
    node(`${m}/once`, 'ConsumeMutexLock', [`${m}/lock`, `^${m}/either`]),
  ];
}
