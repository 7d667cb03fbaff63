import { withEmptyLists } from '../../../src/converter/rewrites/split_lists.js';

const SPLIT = { name: 'split', op: 'TensorListSplit', input: ['t', 'shape', 'lengths', '^before'], attr: { a: 1 } };

describe('lists that a tensor is split into', () => {
  it('have an empty list that tells their shape and dtype', () => {
    const other = { name: 'neg', op: 'Neg', input: ['t'] };
    expect(withEmptyLists({ node: [other, SPLIT] }).node).toEqual([
      other,
      { name: 'split/size', op: 'Size', input: ['lengths'], attr: {} },
      { name: 'split/empty', op: 'EmptyTensorList', input: ['shape', 'split/size'], attr: { a: 1 } },
      { ...SPLIT, input: ['t', 'split/empty', 'lengths', '^before'] },
    ]);
  });

  it('call its outputs by name in functions', () => {
    const graph = withEmptyLists({ library: { function: [{ signature: { name: 'f' }, nodeDef: [SPLIT] }] } });
    const [, empty, split] = graph.library!.function![0]!.nodeDef!;
    expect(empty!.input).toEqual(['shape', 'split/size:output:0']);
    expect(split!.input).toEqual(['t', 'split/empty:handle:0', 'lengths', '^before']);
  });
});
