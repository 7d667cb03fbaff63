/** A graph of ONNX as a message, without nodes that nothing needs. */
import type { OnnxGraphMessage, OnnxNode } from '../../../base/protobuf/onnx_messages.js';
import type { Value } from '../../saved_model/graph/value.js';
import { valueInfo, type OnnxGraph } from './onnx_graph.js';

/** All values that a node reads, those of graphs in it too. */
export function readBy({ input, attribute = [] }: OnnxNode): string[] {
  return [...input, ...attribute.flatMap(({ g }) => (g?.node ?? []).flatMap(readBy))];
}

function needed(nodes: readonly OnnxNode[], names: readonly string[]): OnnxNode[] {
  const wanted = new Set(names);
  const kept = [...nodes].reverse().filter((node) => {
    if (!node.output.some((name) => wanted.has(name))) return false;
    for (const name of readBy(node)) wanted.add(name);
    return true;
  });
  return kept.reverse();
}

/** `names`: of the results. */
export function finishedGraph(
  graph: OnnxGraph,
  results: readonly Value[],
  names: readonly string[],
  name: string,
): OnnxGraphMessage {
  // A result that is an input, or is there twice, needs a node of its own.
  const ends = results.map((value, i): OnnxNode => {
    return { name: graph.free(`${names[i]!}/Identity`), opType: 'Identity', input: [value.ref], output: [names[i]!] };
  });
  return {
    node: needed([...graph.nodes, ...ends], names),
    name,
    input: graph.inputs,
    output: results.map(({ dtype, shape }, i) => valueInfo(names[i]!, dtype, shape)),
  };
}
