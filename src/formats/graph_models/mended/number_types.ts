/**
 * Sums and products of numbers whose types tfjs lacks. What int32 gives is right but for multiples of 2^32: narrow integers
 * wrap, and of wider ones float32 tells whether the result fits. Halves are rounded.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import { nodeName, typeAttribute } from '../../../tfjs/graph_models/graph_run.js';
import type { GraphOp } from '../graph_op.js';
import { countOf } from '../signature.js';
import { FLOATS, NARROW_INTEGERS } from './casts.js';

/** Ops whose result may be beyond the type of their numbers, `T`. */
const OPS: ReadonlySet<string> = new Set(
  `
  Add AddN AddV2 BatchMatMul BatchMatMulV2 Cumprod Cumsum DenseBincount Div Einsum FloorDiv Invert LeftShift MatMul Mul Neg
  Pow Prod ScatterNd SegmentProd SegmentSum SparseSegmentSum SparseSegmentSumWithNumSegments SparseTensorDenseMatMul Square
  SparseDenseCwiseAdd SparseDenseCwiseMul SparseReduceSum SquaredDifference Sub Sum TensorScatterAdd TensorScatterSub TruncateDiv UnsortedSegmentProd UnsortedSegmentSum
  `
    .trim()
    .split(/\s+/),
);

const WIDE: readonly string[] = ['DT_INT64', 'DT_UINT32', 'DT_UINT64'];
/** Less than 2^32 by more than float32 errs. */
const FAR = 2 ** 30;

function checkFits(result: tf.Tensor, type: string, inputs: tf.Tensor[], op: GraphOp, node: tf.GraphNode): void {
  const types = op.signature.inputs.flatMap((argument) =>
    new Array<string>(countOf(argument, node.attrs)).fill(argument.type),
  );
  tf.tidy(() => {
    const floats = inputs.map((input, at) => (types[at] === 'T' ? tf.cast(input, 'float32') : input));
    const near = op.run(floats, node)[0]!.dataSync();
    // Without a sign they would be large.
    const least = type === 'DT_INT64' ? -Infinity : 0;
    const stray = result
      .dataSync()
      .findIndex((value: number, at: number) => !(value >= least && Math.abs(value - near[at]!) < FAR));
    if (stray < 0) return;
    result.dispose();
    const received = described(`about ${near[stray]}`);
    throw new ValueError(nodeName(node), `results of ${type} that fit int32, the only integers of tfjs`, received);
  });
}

function ofTypes(op: GraphOp): GraphOp {
  return {
    ...op,
    run: (inputs, node) => {
      const results = op.run(inputs, node);
      const type = typeAttribute(node, 'T');
      const [result] = results as [tf.Tensor];
      const { dtype, shape } = result;
      if (dtype === 'int32' && WIDE.includes(type)) checkFits(result, type, inputs, op, node);
      const fitted = dtype === 'int32' ? NARROW_INTEGERS[type] : dtype === 'float32' ? FLOATS[type] : undefined;
      if (fitted === undefined) return results;
      const values = Array.from(result.dataSync(), fitted);
      result.dispose();
      return [tf.tensor(values, shape, dtype)];
    },
  };
}

/** The same ops, those of sums and products with all numbers of TensorFlow. */
export function withNumberTypes(ops: readonly GraphOp[]): GraphOp[] {
  return ops.map((op) => (OPS.has(op.signature.name) ? ofTypes(op) : op));
}
