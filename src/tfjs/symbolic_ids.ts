/** Ids in a symbolic graph. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, described } from '../base/errors.js';
import { FLOAT32_WHOLE_MAX } from '../ids/whole_ids.js';

/** Whether a model is fed this tensor. A symbolic tensor that was made by hand has no source layer. */
export function isModelInput(tensor: tf.SymbolicTensor): boolean {
  const source = tensor.sourceLayer as tf.layers.Layer | null | undefined;
  return source?.getClassName() === 'InputLayer';
}

/** Throws where a float32 input of a model could not hold all ids of a table. */
export function checkSymbolicIds(ids: tf.SymbolicTensor, inputDim: number, argument: string): void {
  if (!isModelInput(ids) || ids.dtype === 'int32' || inputDim <= FLOAT32_WHOLE_MAX + 1) return;
  const expected = `an int32 input, tf.input({..., dtype: 'int32'}), because the table has more than 2^24 rows`;
  throw new ArgumentTypeError(argument, expected, described(`a ${ids.dtype} input`));
}
