/** Ids that come as float32, which is what `tf.tensor2d` makes of numbers. */
import * as tf from '@tensorflow/tfjs';
import { currentBackend } from '../../backends/registry.js';
import { checkTensor } from '../../ids/values.js';

/**
 * float32 ids as int32 by an op, which never shows them to JavaScript. They come back as they are where the backend has
 * none, and where it refuses them: whoever reads them says which one is no id, and where it stands. Call inside a tidy.
 */
export function asWholeIds(ids: unknown): unknown {
  const { ops } = currentBackend();
  if (ops === null || !(ids instanceof tf.Tensor) || ids.dtype !== 'float32') return ids;
  try {
    checkTensor(ids, 'ids');
    return ops.wholeIds(ids);
  } catch {
    return ids;
  }
}
