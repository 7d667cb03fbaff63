import { FunctionBuilder } from '../../../../src/formats/saved_model/graph/function_builder.js';
import { Operations } from '../../../../src/formats/saved_model/graph/operations.js';

describe('stock ops of a graph', () => {
  let builder: FunctionBuilder;
  let ops: Operations;

  beforeEach(() => {
    builder = new FunctionBuilder('serve');
    ops = new Operations(builder);
  });

  it('slice the first axes and leave the others, of known and of open sizes', () => {
    const x = builder.argument('float32', [8, null, 5, null]);
    expect(ops.slice(x, [2], [6]).shape).toEqual([4, null, 5, null]);
    expect(ops.slice(x, [0, 1], [-3, null]).shape).toEqual([5, null, 5, null]);
    expect(ops.slice(x, [0, 0, 1], [null, 0, null]).shape).toEqual([8, 0, 4, null]);
  });

  it('put vectors of oneHot behind the axes of the ids', () => {
    const ids = builder.argument('int32', [null, 3]);
    const result = ops.oneHot(ids, 7);
    expect(result.shape).toEqual([null, 3, 7]);
    const { node = [] } = builder.finish([result]);
    const made = node.find(({ op }) => op === 'OneHot');
    // Of any rank: the axis is counted from the back.
    expect(made?.attr?.['axis']).toEqual({ i: -1 });
    expect(made?.input?.[0]).toBe(ids.ref);
  });
});
