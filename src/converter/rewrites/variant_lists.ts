/**
 * Lists of ragged tensors. tfjs-converter knows no variants and cannot make a list of them. The tensors that stand for
 * them here hold numbers (`resources/ragged_variants`), so their lists are lists of int32.
 */
import type { GraphDef, GraphNodeDef } from '../../tfjs_patches/graph_models/graph_loading.js';
import { withNodes } from './graph_nodes.js';

interface TypeAttribute {
  readonly type?: string;
}

function ofNumbers(node: GraphNodeDef): GraphNodeDef {
  const { attr, op } = node;
  const { type } = (attr?.['element_dtype'] ?? {}) as TypeAttribute;
  if (type !== 'DT_VARIANT' || !/^(Empty)?TensorList/.test(op)) return node;
  return { ...node, attr: { ...attr, element_dtype: { type: 'DT_INT32' } } };
}

/** The same graph, with lists of variants as lists of int32. */
export function withNumberedVariants(graph: GraphDef): GraphDef {
  return withNodes(graph, (nodes) => nodes.map(ofNumbers));
}
