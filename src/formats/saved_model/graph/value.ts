/** A tensor in a graph that is being written. */
import type { ShapeMessage } from '../../../base/protobuf/graph_messages.js';
import type { DataTypeName } from '../wire/data_types.js';

/** Sizes of axes; null where a size is known only when the graph runs. */
export type Shape = readonly (number | null)[];

export interface Value {
  /** How nodes of the same function name it as an input. */
  readonly ref: string;
  readonly dtype: DataTypeName;
  readonly shape: Shape;
  /** Where it holds keys one after the other that are rows of a matrix: the splits of those. */
  readonly rowSplits?: Value;
}

export function shapeMessage(shape: Shape): ShapeMessage {
  return { dim: shape.map((size) => ({ size: size ?? -1 })) };
}

/** The number of elements; null where an axis is unknown. */
export function sizeOf(shape: Shape): number | null {
  return shape.reduce<number | null>((size, axis) => (size === null || axis === null ? null : size * axis), 1);
}

/** The shape of an elementwise result. Axes that are unknown are taken for equal. */
export function broadcastShape(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const [m, n] = [a, b].map((shape) => {
      const own = axis - rank + shape.length;
      return own < 0 ? 1 : shape[own]!;
    });
    if (m === 1) return n!;
    return n === 1 ? m! : (m ?? n!);
  });
}

/** The number of an axis, counted from the front. */
export function frontAxis(axis: number, rank: number): number {
  return axis < 0 ? axis + rank : axis;
}
