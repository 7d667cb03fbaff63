/** The JSON of a graph leaves numbers of 0 out, and tfjs-converter takes a size that is not there for NaN. */
import type { GraphDef, GraphNodeDef } from '../../../tfjs/graph_models/graph_loading.js';
import { withNodes } from './graph_nodes.js';

interface Shape {
  readonly dim?: readonly { readonly size?: string | number }[];
}

interface ShapeAttribute {
  readonly shape?: Shape | null;
  readonly list?: { readonly shape?: readonly Shape[] | null } | null;
}

const whole = (shape: Shape): Shape =>
  shape.dim ? { ...shape, dim: shape.dim.map((dim) => ({ ...dim, size: dim.size ?? '0' })) } : shape;

function wholeAttribute(attribute: unknown): unknown {
  const { shape, list } = (attribute ?? {}) as ShapeAttribute;
  if (shape) return { ...(attribute as object), shape: whole(shape) };
  if (list?.shape) return { ...(attribute as object), list: { ...list, shape: list.shape.map(whole) } };
  return attribute;
}

function withSizes(node: GraphNodeDef): GraphNodeDef {
  const { attr } = node;
  if (attr === undefined) return node;
  return {
    ...node,
    attr: Object.fromEntries(Object.entries(attr).map(([name, each]) => [name, wholeAttribute(each)])),
  };
}

/** The same graph, with all sizes of all shapes. */
export function withEmptySizes(graph: GraphDef): GraphDef {
  return withNodes(graph, (nodes) => nodes.map(withSizes));
}
