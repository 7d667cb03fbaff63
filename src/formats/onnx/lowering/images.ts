/** Images of another size. */
import type { Value } from '../../saved_model/graph/value.js';
import type { Lowering } from '../graph/lowering.js';
import { RefusedOp } from '../../saved_model/graph/refused_op.js';
import type { Parts } from '../graph/onnx_graph.js';
import { bytesOfText, type OnnxGraph } from '../graph/onnx_graph.js';
import { channelsFirst, channelsLast } from './convolution.js';
import { gather } from './shapes.js';

/** Rows and columns at places that are known. */
function picked(g: OnnxGraph, x: Value, places: readonly (readonly number[])[]): Value {
  return places.reduce((each, at, i) => {
    const shape = each.shape.map((size, axis) => (axis === i + 1 ? at.length : size));
    return gather(g, each, g.int64s(at), i + 1, shape);
  }, x);
}

/** The nearest pixels, by the arithmetic of TensorFlow, which is of float32. */
function nearestPlaces(from: number, to: number, alignsCorners: boolean): number[] {
  const isAligned = alignsCorners && to > 1;
  const scale = Math.fround(isAligned ? (from - 1) / (to - 1) : from / to);
  return Array.from({ length: to }, (_, i) => {
    const at = Math.fround(i * scale);
    return Math.min(from - 1, isAligned ? Math.round(at) : Math.floor(at));
  });
}

const resized =
  (isBilinear: boolean): Lowering =>
  (g, [x, size], parts) => {
    const alignsCorners = parts.attr['align_corners']?.b === true;
    const [from, to] = [x.shape.slice(1, 3), parts.shape.slice(1, 3)];
    const isKnown = [...from, ...to].every((each) => each !== null);
    if (!isBilinear && isKnown) {
      return picked(
        g,
        x,
        from.map((each, i) => nearestPlaces(each!, to[i]!, alignsCorners)),
      );
    }
    if (!isBilinear && alignsCorners) throw new RefusedOp('whose images have no known size');
    return byResize(g, x, size, parts, { isBilinear, alignsCorners });
  };

function byResize(
  g: OnnxGraph,
  x: Value,
  size: Value,
  { shape }: Parts,
  { isBilinear, alignsCorners }: { readonly isBilinear: boolean; readonly alignsCorners: boolean },
): Value {
  const first = channelsFirst(g, x);
  const lead = g.op('Shape', [first], { dtype: 'int64', shape: [2] }, { start: { i: 0 }, end: { i: 2 } });
  const sizes = g.op('Concat', [lead, g.wide(size)], { dtype: 'int64', shape: [4] }, { axis: { i: 0 } });
  const settings = {
    mode: { s: bytesOfText(isBilinear ? 'linear' : 'nearest') },
    nearest_mode: { s: bytesOfText('floor') },
    coordinate_transformation_mode: { s: bytesOfText(alignsCorners ? 'align_corners' : 'asymmetric') },
  };
  const made = [shape[0]!, shape[3]!, shape[1]!, shape[2]!];
  return channelsLast(
    g,
    g.op('Resize', [first, null, null, sizes], { dtype: 'float32', shape: made }, settings),
    shape,
  );
}

export const IMAGES: Readonly<Record<string, Lowering>> = {
  ResizeBilinear: resized(true),
  ResizeNearestNeighbor: resized(false),
};
