/** Sums of rows by segment by an op of ours: with all threads, and the same bits as TensorFlow's. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../../backends/tensorflow/node_backend.js';
import { rowsAttribute } from '../../backends/tensorflow/op_inputs.js';
import type { SegmentSum } from '../overrides/segment_sums.js';

/** The sums of the rows of a matrix; null for other tensors, and for an id that TensorFlow refuses: it says which. */
export function nativeSegmentSum({ x, segmentIds, numSegments }: SegmentSum): tf.TensorInfo | null {
  const isOfRows = x.dtype === 'float32' && x.shape.length === 2;
  if (!isOfRows || segmentIds.dtype !== 'int32' || segmentIds.shape.length !== 1) return null;
  const backend = asNodeBackend(tf.backend());
  try {
    return backend.executeSingleOutput('EmbeddingSegmentSum', [rowsAttribute(backend, numSegments)], [x, segmentIds]);
  } catch {
    return null;
  }
}
