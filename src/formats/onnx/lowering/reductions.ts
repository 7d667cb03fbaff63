/** Ops that make one number of many. */
import type { Lowering } from '../graph/lowering.js';

const reduced =
  (op: string): Lowering =>
  (g, [x, at], { attr, dtype, shape }) => {
    const axes = g.numbersOf(at);
    // No axes would be all of them.
    if (axes.length === 0) return g.op('Identity', [x], { dtype, shape });
    const keepdims = { i: attr['keep_dims']?.b === true ? 1 : 0 };
    return g.op(op, [x, g.int64s(axes)], { dtype, shape }, { keepdims });
  };

/** Truths are counted: there is no such op for them. */
const counted =
  (isAll: boolean): Lowering =>
  (g, [x, at, ...rest], parts) => {
    const counts = isAll ? g.op('Not', [x], { dtype: 'bool', shape: x.shape }) : x;
    const sum = reduced('ReduceSum')(g, [g.cast(counts, 'int32'), at, ...rest], { ...parts, dtype: 'int32' });
    return g.op(isAll ? 'Equal' : 'Greater', [sum, g.scalar(0, 'int32')], parts);
  };

export const REDUCTIONS: Readonly<Record<string, Lowering>> = {
  Sum: reduced('ReduceSum'),
  Mean: reduced('ReduceMean'),
  Max: reduced('ReduceMax'),
  Min: reduced('ReduceMin'),
  Prod: reduced('ReduceProd'),
  Any: counted(false),
  All: counted(true),
};
