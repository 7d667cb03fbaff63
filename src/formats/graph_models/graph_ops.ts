/** All ops that this package registers. */
import { runOperation } from './run_operation.js';
import { CHECK_OPS } from './graph_checks.js';
import { EMBEDDING_OPS } from './embedding_ops.js';
import { GRADIENT_OPS } from './gradient_ops.js';
import type { GraphOp } from './graph_op.js';
import { ARITHMETIC_OPS } from './mended/arithmetic.js';
import { CAST_OPS } from './mended/casts.js';
import { withNumberTypes } from './mended/number_types.js';
import { MOVING_OPS } from './mended/moves.js';
import { OTHER_MENDED_OPS } from './mended/others.js';
import { PRODUCT_OPS } from './mended/products.js';
import { REDUCTION_OPS } from './mended/reductions.js';
import { TEXT_OPS } from './mended/texts.js';
import { OPERATIONS } from './operations.js';
import { LIST_SUM_OPS } from './resources/list_sums.js';
import { LOOKUP_OPS } from './resources/lookup_ops.js';
import { RAGGED_VARIANT_OPS } from './resources/ragged_variants.js';
import { STACK_OPS } from './resources/stack_ops.js';
import { TENSOR_ARRAY_OPS } from './resources/tensor_array_ops.js';
import { TENSOR_LIST_OPS } from './resources/tensor_list_ops.js';
import { VARIABLE_OPS } from './resources/variable_ops.js';

const plainOps = [...OPERATIONS.values()].map((op): GraphOp => ({
  signature: op.signature,
  run: (inputs, node) => runOperation(op, inputs, node.attrs),
}));

/** By name. */
export const GRAPH_OPS: ReadonlyMap<string, GraphOp> = new Map(
  withNumberTypes([
    ...plainOps,
    ...TENSOR_ARRAY_OPS,
    ...TENSOR_LIST_OPS,
    ...LIST_SUM_OPS,
    ...STACK_OPS,
    ...EMBEDDING_OPS,
    ...VARIABLE_OPS,
    ...LOOKUP_OPS,
    ...RAGGED_VARIANT_OPS,
    ...CHECK_OPS,
    ...GRADIENT_OPS,
    ...ARITHMETIC_OPS,
    ...REDUCTION_OPS,
    ...CAST_OPS,
    ...MOVING_OPS,
    ...PRODUCT_OPS,
    ...TEXT_OPS,
    ...OTHER_MENDED_OPS,
  ]).map((op) => [op.signature.name, op]),
);
