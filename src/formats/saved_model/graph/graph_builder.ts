/** What a graph that is being written takes: ops of TensorFlow by name, whatever the runtime that it is for. */
import type { Attributes } from '../../../base/protobuf/graph_messages.js';
import type { FunctionBuilder, GraphVariable, NodeParts } from './function_builder.js';
import type { Value } from './value.js';

export interface GraphBuilder {
  /** Nodes that `make` adds are named after a layer. */
  within<T>(scope: string, make: () => T): T;
  /** The handle of a variable. */
  resource(variable: GraphVariable): Value;
  /** A node with one result. */
  node(op: string, inputs: readonly Value[], parts: NodeParts): Value;
  /** A node whose one output is a list, or one with several outputs, by their names. */
  nodeOfMany(
    op: string,
    inputs: readonly Value[],
    attr: Attributes,
    output: string | readonly string[],
    parts: readonly NodeParts[],
  ): Value[];
  /** Ids of which those outside of so many rows are errors when the graph runs. */
  checkedIds(ids: Value, rows: number): Value;
  constant(...given: Parameters<FunctionBuilder['constant']>): Value;
  scalar(value: number, dtype?: 'float32' | 'int32' | 'bool' | 'int64'): Value;
}
