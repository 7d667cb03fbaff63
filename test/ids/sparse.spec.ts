import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import { reorder } from '../../src/ids/sparse.js';
import type { SparseInput } from '../../src/ids/sparse_values.js';
import { parseIds } from '../../src/ids/parse_ids.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

describe('sparse.reorder', () => {
  it('sorts entries row by row and keeps those of one place in their order', () => {
    const sorted = reorder({
      indices: [
        [1, 0],
        [0, 1],
        [1, 0],
        [0, 0],
      ],
      values: [5, 7, 6, 8],
      denseShape: [2, 2],
    });
    expect(Array.from(sorted.indices)).toEqual([0, 0, 0, 1, 1, 0, 1, 0]);
    expect(Array.from(sorted.values)).toEqual([8, 7, 5, 6]);
    expect(sorted.denseShape).toEqual([2, 2]);
  });

  it('makes any order acceptable to lookups', () => {
    const random = new Random(11);
    for (let i = 0; i < 30; i++) {
      const count = random.whole(0, 12);
      const entries = Array.from({ length: count }, () => [random.whole(0, 3), random.whole(0, 2), random.whole(0, 4)]);
      const sparse = { indices: entries, values: entries.map(() => random.whole(0, 99)), denseShape: [3, 2, 4] };
      const { values, rowSplits } = parseIds(reorder(sparse));
      const bags = new Map<number, number[]>();
      const sorted = entries.map((_, at) => at).sort((a, b) => entries[a]![2]! - entries[b]![2]!);
      for (const at of sorted) {
        const [x, y] = entries[at] as [number, number, number];
        bags.set(2 * x + y, [...(bags.get(2 * x + y) ?? []), sparse.values[at]!]);
      }
      for (let bag = 0; bag < 6; bag++) {
        const own = Array.from((values as Int32Array).slice(rowSplits![bag], rowSplits![bag + 1]));
        expect(own).toEqual(bags.get(bag) ?? []);
      }
    }
  });

  it('refuses what is not sparse', () => {
    expectError(() => reorder(undefined as unknown as SparseInput), 'TypeError', 'sparse');
    expectError(() => reorder({ indices: [], values: [] } as unknown as SparseInput), 'TypeError', 'sparse.denseShape');
    expectError(() => reorder({ indices: [[2, 0]], values: [1], denseShape: [2, 2] }), 'ValueError', 'sparse.indices');
    const bad = { indices: [[0, 0]], values: ['a'] as never, denseShape: [2, 2] };
    expectError(() => reorder(bad), 'TypeError', 'sparse.values', 'string');
  });
});

describe('RaggedTensor.fromSparse', () => {
  it('refuses gaps, disorder and other ranks', () => {
    const from = (indices: number[][], denseShape: number[]): unknown =>
      RaggedTensor.fromSparse({ indices, values: indices.map(() => 1), denseShape });
    expectError(() => from([[0, 1]], [1, 2]), 'ValueError', 'sparse.indices', 'column 1');
    expectError(
      () =>
        from(
          [
            [0, 0],
            [0, 0],
          ],
          [1, 2],
        ),
      'ValueError',
      'sparse.indices',
    );
    expectError(
      () =>
        from(
          [
            [1, 0],
            [0, 0],
          ],
          [2, 2],
        ),
      'ValueError',
      'sparse.indices',
    );
    expectError(() => from([[0, 0, 0]], [1, 1, 1]), 'ValueError', 'sparse.denseShape');
  });

  it('keeps trailing empty rows', () => {
    const ragged = RaggedTensor.fromSparse({ indices: [[0, 0]], values: [7], denseShape: [3, 2] });
    expect(ragged.toRows()).toEqual([[7], [], []]);
  });
});

describe('sparse ids', () => {
  it('take indices nested, flat and as tensors', () => {
    tf.tidy(() => {
      const nested = [
        [0, 0],
        [0, 1],
        [2, 0],
      ];
      const forms = [nested, nested.flat(), Int32Array.from(nested.flat()), tf.tensor2d(nested, [3, 2], 'int32')];
      for (const indices of forms) {
        const { kind, values, rowSplits, batchShape } = parseIds({ indices, values: [5, 6, 7], denseShape: [4, 2] });
        expect(kind).toBe('sparse');
        expect(values).toEqual(Int32Array.of(5, 6, 7));
        expect(rowSplits).toEqual(Int32Array.of(0, 2, 2, 3, 3));
        expect([...batchShape]).toEqual([4]);
      }
    });
  });

  it('have one bag per place of all axes but the last', () => {
    const ids = {
      indices: [
        [0, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [1, 1, 0],
      ],
      values: [1, 2, 3, 4],
      denseShape: [2, 2, 2],
    };
    const { rowSplits, batchShape } = parseIds(ids);
    expect(rowSplits).toEqual(Int32Array.of(0, 2, 3, 3, 4));
    expect([...batchShape]).toEqual([2, 2]);
    expect(parseIds({ indices: [], values: [], denseShape: [2, 0] }).rowSplits).toEqual(Int32Array.of(0, 0, 0));
    expect(parseIds({ indices: [], values: [], denseShape: [0, 5] }).rowSplits).toEqual(Int32Array.of(0));
  });

  it('count duplicates', () => {
    const ids = parseIds({
      indices: [
        [0, 0],
        [0, 0],
      ],
      values: [3, 3],
      denseShape: [1, 1],
    });
    expect(ids.rowSplits).toEqual(Int32Array.of(0, 2));
  });

  it('are refused out of order, out of shape or incomplete', () => {
    const read = (sparse: object): unknown => parseIds(sparse as SparseInput);
    const good = {
      indices: [
        [0, 0],
        [0, 1],
      ],
      values: [1, 2],
      denseShape: [1, 2],
    };
    expectError(
      () =>
        read({
          ...good,
          indices: [
            [0, 1],
            [0, 0],
          ],
        }),
      'ValueError',
      'ids.indices',
      'position 1',
    );
    expectError(
      () =>
        read({
          ...good,
          indices: [
            [0, 0],
            [1, 0],
          ],
        }),
      'ValueError',
      'ids.indices',
      '1 at position 1',
    );
    expectError(
      () =>
        read({
          ...good,
          indices: [
            [0, 0],
            [0, -1],
          ],
        }),
      'ValueError',
      'ids.indices',
      '-1 at position 1',
    );
    expectError(() => read({ ...good, indices: [[0, 0]] }), 'ValueError', 'ids.indices');
    expectError(() => read({ ...good, indices: [[0], [0]] }), 'ValueError', 'ids.indices');
    expectError(
      () =>
        read({
          ...good,
          indices: [
            [0, 0.5],
            [0, 1],
          ],
        }),
      'ValueError',
      'ids.indices',
      '0.5',
    );
    expectError(() => read({ ...good, denseShape: [2] }), 'ValueError', 'ids.indices');
    expectError(() => read({ indices: [[0]], values: [1], denseShape: [2] }), 'ValueError', 'ids.denseShape');
    expectError(() => read({ ...good, denseShape: [-1, 2] }), 'ValueError', 'ids.denseShape', '-1');
    expectError(() => read({ ...good, denseShape: 'x' }), 'TypeError', 'ids.denseShape');
    expectError(() => read({ ...good, denseShape: [2 ** 31, 2] }), 'ValueError', 'ids.denseShape');
    expectError(() => read({ ...good, values: 'x' }), 'TypeError', 'ids.values');
    expectError(() => read({ ...good, values: [1, 0.5] }), 'ValueError', 'ids.values', '0.5 at position 1');
  });
});
