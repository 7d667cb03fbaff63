import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/ids/ragged_tensor.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { expectNoLeak } from '../helpers/tensors.js';

type Rows = number[][];

/** Rows of random lengths, empty ones included. */
function randomRows(random: Random): Rows {
  const rows = random.whole(0, 6);
  return Array.from({ length: rows }, () =>
    Array.from({ length: random.pick([0, 0, 1, 2, 5]) }, () => random.whole(-9, 99)),
  );
}

describe('RaggedTensor', () => {
  it('holds values, splits and shape', () => {
    const ragged = RaggedTensor.fromRows([[3, 1], [], [4]]);
    expect(ragged.values).toEqual(Int32Array.of(3, 1, 4));
    expect(ragged.rowSplits).toEqual(Int32Array.of(0, 2, 2, 3));
    expect(ragged.nestedRowSplits).toEqual([ragged.rowSplits]);
    expect(ragged.rowLengths()).toEqual(Int32Array.of(2, 0, 1));
    expect([...ragged.shape]).toEqual([3, null]);
    expect([ragged.rank, ragged.raggedRank, ragged.dtype]).toEqual([2, 1, 'int32']);
    expect(RaggedTensor.fromRows([[0.5]]).values).toEqual(Float32Array.of(0.5));
  });

  it('comes back from every form that it goes to', () => {
    const random = new Random(5);
    for (let i = 0; i < 60; i++) {
      const rows = randomRows(random);
      const ragged = RaggedTensor.fromRows(rows);
      expect(ragged.toRows()).toEqual(rows);
      expect(RaggedTensor.fromRowSplits(ragged.values, ragged.rowSplits).toRows()).toEqual(rows);
      expect(RaggedTensor.fromRowLengths(ragged.values, ragged.rowLengths()).toRows()).toEqual(rows);
      const { indices, values, denseShape } = ragged.toSparse();
      if (values.length > 0) expect(RaggedTensor.fromSparse({ indices, values, denseShape }).toRows()).toEqual(rows);
      expectNoLeak(() => {
        const padded = ragged.toPadded({ defaultValue: -100 });
        expect(padded.shape).toEqual([rows.length, Math.max(0, ...rows.map((row) => row.length))]);
        expect(RaggedTensor.fromPadded(padded, { padding: -100 }).toRows()).toEqual(rows);
        expect(RaggedTensor.fromPadded(padded, { lengths: ragged.rowLengths() }).toRows()).toEqual(rows);
        padded.dispose();
      });
    }
  });

  it('nests to any depth', () => {
    const rows = [[[3, 1], []], [], [[4], [1, 5, 9]]];
    const ragged = RaggedTensor.fromRows(rows);
    expect(ragged.nestedRowSplits).toEqual([Int32Array.of(0, 2, 2, 4), Int32Array.of(0, 2, 2, 3, 6)]);
    expect([...ragged.shape]).toEqual([3, null, null]);
    expect(ragged.toRows()).toEqual(rows);
    const [outer, inner] = ragged.nestedRowSplits as [Int32Array, Int32Array];
    expect(RaggedTensor.fromNestedRowSplits(ragged.values, [outer, inner]).toRows()).toEqual(rows);
    expect(RaggedTensor.fromRowSplits(RaggedTensor.fromRowSplits(ragged.values, inner), outer).toRows()).toEqual(rows);
    expect(RaggedTensor.fromRows([[[[7]]], []]).toRows()).toEqual([[[[7]]], []]);
    const sparse = ragged.toSparse();
    expect(sparse.denseShape).toEqual([3, 2, 3]);
    expect(Array.from(sparse.indices)).toEqual([0, 0, 0, 0, 0, 1, 2, 0, 0, 2, 1, 0, 2, 1, 1, 2, 1, 2]);
  });

  it('keeps the shape of its innermost values', () => {
    expectNoLeak(() => {
      const values = tf.tensor2d([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
      const ragged = RaggedTensor.fromRowSplits(values, [0, 1, 1, 3]);
      expect([...ragged.shape]).toEqual([3, null, 2]);
      expect(ragged.dtype).toBe('float32');
      expect(ragged.toRows()).toEqual([
        [[1, 2]],
        [],
        [
          [3, 4],
          [5, 6],
        ],
      ]);
      expect(RaggedTensor.fromRowSplits(ragged.values, [0, 1, 1, 3], [2]).toRows()).toEqual(ragged.toRows());
      const padded = ragged.toPadded({ defaultValue: 9 });
      expect(padded.arraySync()).toEqual([
        [
          [1, 2],
          [9, 9],
        ],
        [
          [9, 9],
          [9, 9],
        ],
        [
          [3, 4],
          [5, 6],
        ],
      ]);
      expect(RaggedTensor.fromPadded(padded, { padding: 9 }).toRows()).toEqual(ragged.toRows());
      expect(ragged.toSparse().denseShape).toEqual([3, 2, 2]);
      tf.dispose([values, padded]);
    });
  });

  it('does not change when what it was made from does', () => {
    const values = Int32Array.of(3, 1);
    const splits = Int32Array.of(0, 2);
    const ragged = RaggedTensor.fromRowSplits(values, splits);
    values[0] = 9;
    splits[1] = 0;
    expect(ragged.toRows()).toEqual([[3, 1]]);
    expect(() => ((ragged as { values: unknown }).values = values)).toThrowError(TypeError);
    expect(() => (ragged.nestedRowSplits as Int32Array[]).push(splits)).toThrowError(TypeError);
    ragged.toSparse().values[0] = 7;
    expect(ragged.toRows()).toEqual([[3, 1]]);
  });

  it('pads to a length, and cuts only where told to', () => {
    const ragged = RaggedTensor.fromRows([[1, 2, 3], [4]]);
    const rowsOf = (options?: Parameters<typeof ragged.toPadded>[0]): unknown =>
      expectNoLeak(() => tf.tidy(() => ragged.toPadded(options).arraySync()));
    expect(rowsOf()).toEqual([
      [1, 2, 3],
      [4, -1, -1],
    ]);
    expect(rowsOf({ defaultValue: 0, maxLength: 4 })).toEqual([
      [1, 2, 3, 0],
      [4, 0, 0, 0],
    ]);
    expect(rowsOf({ maxLength: 2 })).toEqual([
      [1, 2],
      [4, -1],
    ]);
    expect(rowsOf({ maxLength: [2] })).toEqual([
      [1, 2],
      [4, -1],
    ]);
    const nested = RaggedTensor.fromRows([[[1, 2], [3]], []]);
    const padded = tf.tidy(() => nested.toPadded({ maxLength: [1, null], defaultValue: -1 }).arraySync());
    expect(padded).toEqual([[[1, 2]], [[-1, -1]]]);
    const empty = RaggedTensor.fromRows([]);
    expect([...empty.shape]).toEqual([0, null]);
    expect(tf.tidy(() => empty.toPadded().shape)).toEqual([0, 0]);
    tf.tidy(() => expect(ragged.toPadded().dtype).toBe('int32'));
  });

  it('takes padding off the ends only', () => {
    expect(
      RaggedTensor.fromPadded(
        [
          [1, -1, 2],
          [-1, -1, -1],
        ],
        { padding: -1 },
      ).toRows(),
    ).toEqual([[1, -1, 2], []]);
    expect(
      RaggedTensor.fromPadded([
        [1, 2],
        [3, 4],
      ]).toRows(),
    ).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(
      RaggedTensor.fromPadded(
        [
          [1, 2],
          [3, 4],
        ],
        { lengths: [0, 1] },
      ).toRows(),
    ).toEqual([[], [3]]);
  });

  it('refuses bad splits', () => {
    const make = (splits: unknown): unknown => RaggedTensor.fromRowSplits([1, 2, 3], splits as number[]);
    expectError(() => make([]), 'ValueError', 'rowSplits');
    expectError(() => make([1, 3]), 'ValueError', 'rowSplits', '1');
    expectError(() => make([0, 2, 1, 3]), 'ValueError', 'rowSplits', '1 after 2 at position 2');
    expectError(() => make([0, 2]), 'ValueError', 'rowSplits', '2');
    expectError(() => make([0, 1.5, 3]), 'ValueError', 'rowSplits', '1.5 at position 1');
    expectError(() => make('0,3'), 'TypeError', 'rowSplits');
    tf.tidy(() => expectError(() => make(tf.tensor2d([[0, 3]], [1, 2], 'int32')), 'ValueError', 'rowSplits', '[1, 2]'));
    expectError(() => make(undefined), 'TypeError', 'rowSplits');
    const nested = (splits: unknown): unknown => RaggedTensor.fromNestedRowSplits([1, 2], splits as number[][]);
    expectError(() => nested([]), 'ValueError', 'nestedRowSplits');
    expectError(
      () =>
        nested([
          [0, 3],
          [0, 1, 2],
        ]),
      'ValueError',
      'nestedRowSplits[0]',
      '3',
    );
    expectError(
      () =>
        nested([
          [0, 2],
          [0, 1, 3],
        ]),
      'ValueError',
      'nestedRowSplits[1]',
      '3',
    );
    expectError(() => nested([[0, 0], []]), 'ValueError', 'nestedRowSplits[1]');
    expectError(() => nested(5), 'TypeError', 'nestedRowSplits');
    expectError(() => RaggedTensor.fromRowLengths([1, 2], [1]), 'ValueError', 'lengths', 'sum of 1');
    expectError(() => RaggedTensor.fromRowLengths([1, 2], [3, -1]), 'ValueError', 'lengths', '-1 at position 1');
  });

  it('refuses rows and values that are no numbers of one depth', () => {
    const from = (rows: unknown): unknown => RaggedTensor.fromRows(rows as Rows);
    expectError(() => from([[1], 2]), 'ValueError', 'rows');
    expectError(() => from([1, 2]), 'ValueError', 'rows');
    expectError(() => from([[1], [[2]]]), 'ValueError', 'rows');
    expectError(() => from([['a']]), 'TypeError', 'rows');
    for (const rows of ['abc', 7, Int32Array.of(7)]) expectError(() => from(rows), 'TypeError', 'rows');
    expectError(() => from([[2147483648]]), 'ValueError', 'rows', '2147483648');
    expectError(() => RaggedTensor.fromRows([[0.5]], { dtype: 'int32' }), 'ValueError', 'rows', '0.5');
    expectError(() => RaggedTensor.fromRows([[1]], { dtype: 'bool' as 'int32' }), 'ValueError', 'dtype');
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expectError(() => from(cyclic), 'ValueError', 'rows');
    expectError(() => RaggedTensor.fromRowSplits([1, 2, 3], [0, 1], [2]), 'ValueError', 'values');
    expectError(() => RaggedTensor.fromRowSplits({} as number[], [0]), 'TypeError', 'values');
    tf.tidy(() => {
      expectError(() => RaggedTensor.fromRowSplits(tf.tensor1d(['a']), [0, 1]), 'TypeError', 'values');
      expectError(() => RaggedTensor.fromRowSplits(tf.scalar(1), [0, 1]), 'ValueError', 'values');
    });
  });

  it('refuses bad padding', () => {
    const ragged = RaggedTensor.fromRows([[1]]);
    expectError(() => ragged.toPadded({ defaultValue: 0.5 }), 'ValueError', 'defaultValue', '0.5');
    expectError(() => ragged.toPadded({ defaultValue: '0' as never }), 'TypeError', 'defaultValue');
    expectError(() => ragged.toPadded({ maxLength: -1 }), 'ValueError', 'maxLength', '-1');
    expectError(() => ragged.toPadded({ maxLength: [1, 1] }), 'ValueError', 'maxLength');
    expectError(() => ragged.toPadded({ maxLength: '3' as never }), 'TypeError', 'maxLength');
    const from = (padded: unknown, options?: object): unknown => RaggedTensor.fromPadded(padded as Rows, options);
    expectError(() => from([[1], [2, 3]]), 'ValueError', 'padded');
    expectError(() => from([1, 2]), 'ValueError', 'padded');
    expectError(() => from(7), 'TypeError', 'padded');
    expectError(() => from([[1]], { lengths: [2] }), 'ValueError', 'lengths', '2 at position 0');
    expectError(() => from([[1]], { lengths: [1, 1] }), 'ValueError', 'lengths');
    expectError(() => from([[1]], { lengths: [1], padding: 0 }), 'ValueError', 'options');
    expectError(() => from([[1]], { padding: 0.5 }), 'ValueError', 'padding');
  });

  it('shows itself as text, rows included while they are few', () => {
    const rows = (count: number, length: number): RaggedTensor =>
      RaggedTensor.fromRows(Array.from({ length: count }, () => new Array<number>(length).fill(1)));
    const head = 'RaggedTensor(int32, shape';
    expect(String(RaggedTensor.fromRows([[3, 1], []]))).toBe(`${head} [2, ragged]) [[3,1],[]]`);
    expect(String(rows(500, 1))).toBe(`${head} [500, ragged]) 500 rows`);
    expect(String(rows(20, 1))).toBe(`${head} [20, ragged]) 20 rows`);
    expect(String(rows(19, 1))).toBe(`${head} [19, ragged]) ${JSON.stringify(rows(19, 1).toRows())}`);
    expect(String(rows(2, 50))).toBe(`${head} [2, ragged]) ${JSON.stringify(rows(2, 50).toRows())}`);
    expect(String(rows(1, 101))).toBe(`${head} [1, ragged])`);
    const pairs = RaggedTensor.fromRowSplits(Float32Array.of(0.5, 1), [0, 1], [2]);
    expect(String(pairs)).toBe('RaggedTensor(float32, shape [1, ragged, 2]) [[[0.5,1]]]');
  });

  it('knows whether another one has its rows', () => {
    const ragged = RaggedTensor.fromRows([[[1, 2], [3]], []]);
    expect(ragged.hasSplitsOf(RaggedTensor.fromRows([[[7, 7], [0]], []]))).toBeTrue();
    for (const rows of [
      [[1, 2], [3]],
      [[[1], [2, 3]], []],
      [[[1, 2]], [[3]]],
      [[[1, 2], [3]]],
      [[[[9], [9]], [[9]]], []],
    ]) {
      const other = RaggedTensor.fromRows(rows as Rows);
      expect(ragged.hasSplitsOf(other)).withContext(String(other)).toBeFalse();
      expect(other.hasSplitsOf(ragged)).withContext(String(other)).toBeFalse();
    }
  });

  it('gives rows of values with several inner axes', () => {
    const values = Array.from({ length: 18 }, (_, i) => i);
    const ragged = RaggedTensor.fromRowSplits(values, [0, 1, 1, 3], [2, 3]);
    expect(ragged.toRows()).toEqual([
      [[[0, 1, 2], [3, 4, 5]]],
      [],
      [[[6, 7, 8], [9, 10, 11]], [[12, 13, 14], [15, 16, 17]]],
    ]); // prettier-ignore
    const { indices, denseShape } = ragged.toSparse();
    expect(denseShape).toEqual([3, 2, 2, 3]);
    expect(Array.from(indices.subarray(0, 8))).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    expect(Array.from(indices.subarray(4 * 11, 4 * 13))).toEqual([2, 0, 1, 2, 2, 1, 0, 0]);
    expect(Array.from(indices.subarray(4 * 17))).toEqual([2, 1, 1, 2]);
  });

  it('gets one more axis around one that is ragged, inner axes kept', () => {
    const inner = RaggedTensor.fromRowSplits([1, 2, 3, 4, 5, 6], [0, 1, 3], [2]);
    const outer = RaggedTensor.fromRowLengths(inner, [0, 2]);
    expect(outer.toRows()).toEqual([[], [[[1, 2]], [[3, 4], [5, 6]]]]); // prettier-ignore
    expect([...outer.shape]).toEqual([2, null, null, 2]);
    expectError(() => RaggedTensor.fromRowLengths(inner, [1]), 'ValueError', 'lengths', 'sum of 1');
    expectError(() => RaggedTensor.fromRowLengths(inner, []), 'ValueError', 'lengths', 'sum of 0');
    expect(RaggedTensor.fromRowLengths([1, 2, 3, 4], [2], [2]).toRows()).toEqual([[[1, 2], [3, 4]]]); // prettier-ignore
  });

  it('holds values that are empty', () => {
    expect(RaggedTensor.fromRowSplits([], [0], [0]).toRows()).toEqual([]);
    tf.tidy(() => {
      const none = RaggedTensor.fromRowSplits(tf.zeros([3, 0]), [0, 1, 3]);
      expect(none.nestedRowSplits).toEqual([Int32Array.of(0, 1, 3)]);
      expect([...none.shape]).toEqual([2, null, 0]);
    });
  });

  it('never shares the values that it is made of', () => {
    const values = Int32Array.of(3, 1);
    const made = [
      RaggedTensor.fromRowSplits(values, [0, 2]),
      RaggedTensor.fromSparse({ indices: [[0, 0], [0, 1]], values, denseShape: [1, 2] }), // prettier-ignore
    ];
    values.fill(9);
    for (const ragged of made) expect(ragged.toRows()).toEqual([[3, 1]]);
    const { values: copies } = made[0]!.toSparse();
    copies.fill(9);
    expect(made[0]!.toRows()).toEqual([[3, 1]]);
  });

  it('reads values as the dtype that is asked for', () => {
    const dtypeOf = (values: unknown): string => RaggedTensor.fromRowSplits(values as number[], [0, 2]).dtype;
    expect([
      dtypeOf([1, 2]),
      dtypeOf([1, 2.5]),
      dtypeOf(Float64Array.of(1, 2)),
      dtypeOf(Float64Array.of(1, 0.5)),
    ]).toEqual(['int32', 'float32', 'int32', 'float32']);
    expect([dtypeOf(Float32Array.of(1, 2)), dtypeOf(Int8Array.of(1, 2)), dtypeOf(BigInt64Array.of(1n, 2n))]).toEqual([
      'float32',
      'int32',
      'int32',
    ]);
    const whole = [[1, 2], [3]];
    expect(RaggedTensor.fromRows(whole, { dtype: 'float32' }).dtype).toBe('float32');
    expect(RaggedTensor.fromRows(whole, { dtype: 'int32' }).dtype).toBe('int32');
    expectError(() => RaggedTensor.fromRows([[Infinity]], {}), 'ValueError', 'rows', 'Infinity');
    expect(RaggedTensor.fromRows([[Infinity, 0.5]]).toRows()).toEqual([[Infinity, 0.5]]);
    const sparse = { indices: [[0, 0]], values: ['a'] as never, denseShape: [1, 1] };
    expectError(() => RaggedTensor.fromSparse(sparse), 'TypeError', 'sparse.values', 'string');
  });

  it('refuses values that do not fit an inner shape', () => {
    const from = (values: unknown, innerShape: unknown): unknown =>
      RaggedTensor.fromRowSplits(values as number[], [0, 1], innerShape as number[]);
    expectError(() => from([1, 2, 3], [2]), 'ValueError', 'values', '3 numbers');
    expectError(() => from([1], [0]), 'ValueError', 'values', '1 numbers');
    expectError(() => from([1, 2], 2), 'TypeError', 'innerShape', '2');
    expectError(() => from([1, 2], Int32Array.of(2)), 'TypeError', 'innerShape', 'Int32Array');
    expectError(() => from([1, 2], [-2]), 'ValueError', 'innerShape', '-2');
    tf.tidy(() => {
      expectError(() => from(tf.ones([1, 2]), [3]), 'ValueError', 'values', '2 numbers');
      expectError(() => from(tf.scalar(1), undefined), 'ValueError', 'values', '[]');
    });
  });
});
