/** Ragged rows in a graph. */
import { text } from '../graph/function_builder.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';

/** Values and row splits as a padded matrix [rows, longest]. */
export function paddedRows(o: Operations, values: Value, rowSplits: Value, padding: number): Value {
  const dtype = values.dtype as 'float32' | 'int32';
  const shape = o.graph.constant([-1, -1], 'int32', [2]);
  const number = { float32: 1, int32: 3 }[dtype];
  return o.graph.node('RaggedTensorToTensor', [shape, values, o.graph.scalar(padding, dtype), rowSplits], {
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
}
