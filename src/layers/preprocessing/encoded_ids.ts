/** Ids as they are, or as vectors with one place for each id: the output modes of Keras's preprocessing layers. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import type { PlainMode } from '../../preprocessing/cells/output_mode.js';

/** The shape of the one input of a layer. Throws ValueError for several. */
export function onlyShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape {
  const shapes = shapesOf(inputShape);
  if (shapes.length !== 1) throw new ValueError('inputs', 'one input', described(`${shapes.length} inputs`));
  return shapes[0]!;
}

export function onlyTensor(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
  return Array.isArray(inputs) ? inputs[0]! : inputs;
}

/** The shape of encoded ids. Throws ValueError where Keras itself does not agree on one. */
export function encodedShape(ids: SymbolicShape, mode: PlainMode, depth: number): SymbolicShape {
  if (mode === 'int') return ids;
  if (mode === 'oneHot') return [...(ids.length > 1 && ids.at(-1) === 1 ? ids.slice(0, -1) : ids), depth];
  if (ids.length === 2) return [ids[0]!, depth];
  throw new ValueError('inputs', `ids [batch, length] for outputMode ${mode}`, described(`rank ${ids.length}`));
}

/**
 * Returns int32 ids in the mode: themselves, or float32 vectors of `depth`. Ids outside [0, depth) stand for nothing.
 *
 * Ids are compared with all places, which no backend computes in another way; `tf.oneHot` of wasm trusts its ids.
 */
export function encodeIds(ids: tf.Tensor, mode: PlainMode, depth: number): tf.Tensor {
  if (mode === 'int') return ids;
  return tf.tidy(() => {
    const shape = encodedShape(ids.shape, mode, depth) as number[];
    if (ids.size === 0) return tf.zeros(shape);
    const places = tf.range(0, depth, 1, 'int32');
    const hits = ids.expandDims(-1).equal(places).cast('float32');
    if (mode === 'oneHot') return hits.reshape(shape);
    return mode === 'count' ? hits.sum(1) : hits.max(1);
  });
}
