import { joinIds, type HostIds } from '../../../src/tpu/features/host_ids.js';
import { expectError } from '../../helpers/errors.js';

/** Ids of so many rows, one in each. */
function ids(kind: HostIds['kind'], shape: readonly number[], first: number): HostIds {
  const values = Int32Array.from({ length: shape[0]! }, (_, row) => first + row);
  const rowSplits = Int32Array.from({ length: values.length + 1 }, (_, row) => row);
  return { kind, shape: [...shape], values, weights: null, rowSplits, columns: null };
}

describe('ids of several cores', () => {
  it('are one batch, of sparse ids as wide as the widest', () => {
    const joined = joinIds([ids('sparse', [2, 5], 1), ids('sparse', [1, 7], 9)], 'features');
    expect(joined.shape).toEqual([3, 7]);
    expect([...joined.values]).toEqual([1, 2, 9]);
    expect([...joined.rowSplits]).toEqual([0, 1, 2, 3]);
    expect(joinIds([ids('sparse', [1, 4, 5], 1), ids('sparse', [2, 4, 3], 9)], 'features').shape).toEqual([3, 4, 5]);
    expect(joinIds([ids('dense', [2, 4], 1), ids('dense', [1, 4], 9)], 'features').shape).toEqual([3, 4]);
  });

  it('go together, in kind and in all axes but the first, and the last of sparse ones', () => {
    const first = ids('sparse', [2, 4, 5], 1);
    const others = [ids('sparse', [2, 3, 5], 1), ids('dense', [2, 4, 5], 1), ids('sparse', [2, 4], 1)];
    for (const other of others)
      expectError(() => joinIds([first, other], 'features'), 'ValueError', 'features', `[${other.shape.join(', ')}]`);
    const dense = [ids('dense', [2, 4], 1), ids('dense', [2, 5], 1)];
    expectError(() => joinIds(dense, 'features'), 'ValueError', 'features', 'dense ids of shape [2, 5]');
  });
});
