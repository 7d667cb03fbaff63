/** Ragged rows in a graph. */
import { text } from '../graph/function_builder.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';

/** Values and row splits as a padded matrix [rows, longest], or [rows, length], where a longer row is an error. */
export function paddedRows(
  o: Operations,
  values: Value,
  rowSplits: Value,
  padding: number,
  length: number | null = null,
): Value {
  const dtype = values.dtype as 'float32' | 'int32';
  const shape = o.graph.constant([-1, -1], 'int32', [2]);
  const number = { float32: 1, int32: 3 }[dtype];
  const padded = o.graph.node('RaggedTensorToTensor', [shape, values, o.graph.scalar(padding, dtype), rowSplits], {
    attr: {
      T: { type: number },
      Tindex: { type: 3 },
      Tshape: { type: 3 },
      num_row_partition_tensors: { i: 1 },
      row_partition_types: { list: { s: [text('ROW_SPLITS').s!] } },
    },
    dtype,
    shape: [null, null],
    output: 'result',
  });
  if (length === null) return padded;
  const missing = [o.sizeAt(padded, 0), o.sub(length, o.sizeAt(padded, 1))];
  return { ...o.concat([padded, o.cast(o.fill(missing, padding), dtype)], 1), shape: [null, length] };
}
