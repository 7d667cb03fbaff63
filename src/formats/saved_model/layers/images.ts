/** Layers that prepare images and categories. */
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';
import { resize } from './shapes.js';

const rescaling: Emitter = ({ o, input, config }) => {
  return o.add(o.mul(o.cast(input, 'float32'), config['scale'] as number), config['offset'] as number);
};

/** Images [batch, height, width, channels]; without a batch one is added meanwhile. */
function onImages({ o, input }: LayerCall, run: (x: Value) => Value): Value {
  if (input.shape.length === 4) return run(input);
  return o.squeeze(run(o.expandDims(input, 0)), [0]);
}

const resizing: Emitter = (call) => {
  const { o, config } = call;
  const size = [config['height'] as number, config['width'] as number] as const;
  const alignCorners = config['cropToAspectRatio'] !== true;
  return onImages(call, (x) => resize(o, o.cast(x, 'float32'), size, config['interpolation'], alignCorners));
};

/** Where tfjs begins to cut along an axis; it moves columns by at least one where any are cut. */
function bufferOf(size: number, wanted: number, isWidth: boolean): number {
  const buffer = size === wanted ? 0 : Math.floor((size - wanted) / 2);
  return isWidth && buffer === 0 && size !== wanted ? 1 : buffer;
}

/** The pixels of an axis that `cropAndResize` of tfjs takes for a part of it, the nearest ones to places in the part. */
function placesIn(size: number, before: number, length: number): number[] {
  const [from, to] = [Math.fround(before / size), Math.fround((before + length) / size)];
  const step = length > 1 ? ((to - from) * (size - 1)) / (length - 1) : 0;
  const first = length > 1 ? from * (size - 1) : 0.5 * (from + to) * (size - 1);
  return Array.from({ length }, (_, i) => Math.round(first + i * step));
}

const centerCrop: Emitter = (call) => {
  const { o, config } = call;
  const [height, width] = [config['height'] as number, config['width'] as number];
  return onImages(call, (x) => {
    const [, rows, columns] = x.shape;
    if (rows === null || rows === undefined || columns === null || columns === undefined) {
      throw call.refuse('whose images have no known size');
    }
    const [top, left] = [bufferOf(rows, height, false), bufferOf(columns, width, true)];
    if (top < 0 || left < 0) return resize(o, x, [height, width], 'bilinear');
    const at = [placesIn(rows, top, height), placesIn(columns, left, width)];
    return at.reduce((each, places, i) => o.gather(each, o.ints(places), i + 1), x);
  });
};

/** Numbers outside the tokens, which tfjs refuses, count nowhere. */
const categoryEncoding: Emitter = (call) => {
  const { o, config } = call;
  const mode = config['outputMode'];
  const depth = config['numTokens'] as number;
  const ids = o.cast(call.input, 'int32');
  if (mode === 'int') return ids;
  if (ids.shape.length > 2) throw call.refuse('whose input has more than two axes');
  if (mode === 'tfIdf') throw call.refuse('which wants weights that no model passes');
  const rows = mode === 'oneHot' && ids.shape.at(-1) !== 1 ? o.expandDims(ids, -1) : ids;
  if (rows.shape.length > 2) throw call.refuse('whose input has more than one axis');
  const counts = o.reduce(mode === 'count' ? 'Sum' : 'Max', o.oneHot(rows, depth), [-2]);
  return counts;
};

export const IMAGE_LAYERS: Readonly<Record<string, Emitter>> = {
  Rescaling: rescaling,
  Resizing: resizing,
  CenterCrop: centerCrop,
  CategoryEncoding: categoryEncoding,
};
