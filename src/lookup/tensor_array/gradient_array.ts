/** Arrays that collect the gradients of a TensorArray. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { readInt32 } from '../../ids/values.js';
import type { IndicesInput } from './arguments.js';
import { ElementStore } from './element_store.js';
import type { TensorArrayHandle } from './handle.js';
import { TensorArray, tensorArray } from './tensor_array.js';

/** What `tensorArrayGrad` returns. */
export interface TensorArrayGradient {
  readonly gradHandle: TensorArrayHandle;
  /** A float32 scalar 0, which `close` of the gradients' array frees. */
  readonly flowOut: tf.Scalar;
}

/** By forward array, then by source. */
const gradients = (): WeakMap<ElementStore, Map<string, TensorArray>> =>
  perProcess('gradients of TensorArrays', () => new WeakMap());

/**
 * Returns the array that collects the gradients of a forward array for one source; the same source gives the same array.
 *
 * The forward array is never resized again. The array of gradients has its size and dtype; values written to one index
 * are added, each index is read once, and one that was never written reads as zeros of the forward element's shape. A
 * read past the end is zeros of the element shape, where that is known, and makes the array as long.
 * `flow` says when the size is taken: after whatever made it; calls are ordered here, so it is only checked.
 * Source: tf.raw_ops.TensorArrayGradV3 (TensorFlow 2.21).
 *
 * @param handle - The handle of the forward array.
 * @param flow - Says when the size is taken; only checked, since calls are ordered here.
 * @param source - The name of the gradient.
 * @returns The handle of the array of gradients, and the flow.
 * @throws TypeError for a wrong handle or source; ValueError for a closed array, for the handle of an array of
 * gradients, and for an array in which several writes were added.
 *
 * @example
 * const rows = new emb.TensorArray({ size: 2 }).write(0, [1, 2]).write(1, [3, 4]);
 * const { gradHandle } = emb.tensorArrayGrad(rows.handle, rows.flow, 'gradients');
 * const gradient = emb.tensorArray(gradHandle).write(0, [10, 10]).write(0, [1, 1]);
 * gradient.stack().print(); // [[11, 11], [0, 0]]
 */
export function tensorArrayGrad(handle: TensorArrayHandle, flow: unknown, source: string): TensorArrayGradient {
  return gradientOf(handle, flow, [], source);
}

/**
 * Returns what `tensorArrayGrad` does, with elements that have `shapeToPrepend` before the forward element's shape, as
 * gradients of several values at once need. ValueError unless `shapeToPrepend` is a vector of sizes.
 * Source: tf.raw_ops.TensorArrayGradWithShape (TensorFlow 2.21).
 *
 * @param handle - The handle of the forward array.
 * @param flow - Says when the size is taken; only checked, since calls are ordered here.
 * @param shapeToPrepend - Axes that come before those of the elements.
 * @param source - The name of the gradient.
 * @returns The handle of the array of gradients, and the flow.
 *
 * @example
 * const rows = new emb.TensorArray({ size: 1, elementShape: [3] });
 * const { gradHandle } = emb.tensorArrayGradWithShape(rows.handle, rows.flow, [2], 'gradients');
 * emb.tensorArray(gradHandle).read(0).shape; // [2, 3]
 */
export function tensorArrayGradWithShape(
  handle: TensorArrayHandle,
  flow: unknown,
  shapeToPrepend: IndicesInput,
  source: string,
): TensorArrayGradient {
  if (typeof shapeToPrepend === 'number') throw new ValueError('shapeToPrepend', 'a vector of sizes', shapeToPrepend);
  const sizes = Array.from(readInt32(shapeToPrepend, 'shapeToPrepend'));
  if (sizes.some((size) => size < 0)) throw new ValueError('shapeToPrepend', 'sizes of at least 0', sizes);
  return gradientOf(handle, flow, sizes, source);
}

function gradientOf(
  handle: TensorArrayHandle,
  flow: unknown,
  prepended: readonly number[],
  source: string,
): TensorArrayGradient {
  const { store } = tensorArray(handle);
  if (typeof source !== 'string') throw new ArgumentTypeError('source', 'a string', source);
  checkFlow(flow);
  if (store.isGradient) {
    throw new ValueError('handle', 'a forward TensorArray', described(`${store.name}, an array of gradients`));
  }
  store.freeze();
  const size = store.size();
  if (!store.allowsGradients) {
    const note = 'A gradient would have to go to each of several writes.';
    throw new ValueError(
      'handle',
      'a TensorArray without sums',
      described(`${store.name}, where writes were added`),
      note,
    );
  }
  const known = gradients();
  const bySource = known.get(store) ?? new Map<string, TensorArray>();
  known.set(store, bySource);
  const array = bySource.get(source) ?? makeGradients(store, size, prepended, source);
  bySource.set(source, array);
  return {
    gradHandle: array.handle,
    get flowOut() {
      return array.flow;
    },
  };
}

function makeGradients(forward: ElementStore, size: number, prepended: readonly number[], source: string): TensorArray {
  const store = new ElementStore({
    name: `${forward.name}@${source}`,
    dtype: forward.dtype,
    size,
    elementShape: forward.elementShape === null ? null : [...prepended, ...forward.elementShape],
    dynamicSize: false,
    clearAfterRead: true,
    identicalElementShapes: forward.identicalElementShapes,
    multipleWritesAggregate: true,
    isGradient: true,
  });
  store.copyShapes(forward, prepended);
  store.pieces = forward.pieces;
  return new TensorArray({ size }, store);
}

/** Whatever ordered the call: a flow, or an array that a write returned. */
function checkFlow(flow: unknown): void {
  if (!(flow instanceof tf.Tensor)) {
    if (flow === undefined) throw new ArgumentTypeError('flow', 'a flow', flow);
    return;
  }
  if (flow.dtype !== 'float32') throw new ArgumentTypeError('flow', 'a float32 scalar', flow);
  if (flow.rank !== 0) throw new ValueError('flow', 'a float32 scalar', flow);
}
