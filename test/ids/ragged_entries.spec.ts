/** Ragged tensors put together, taken apart and made of other descriptions of rows, beside nested arrays. */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from 'tfjs-embeddings';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

const CASES = 30;

/** Rows of so many axes, the innermost of values of a shape. */
function drawn(random: Random, axes: number, inner: readonly number[]): RaggedTensor {
  const size = inner.reduce((a, b) => a * b, 1);
  const splits: Int32Array[] = [];
  let entries = random.whole(0, 5);
  for (let axis = 0; axis < axes; axis++) {
    const own = [0];
    for (let i = 0; i < entries; i++) own.push(own[i]! + random.whole(0, 4));
    splits.push(Int32Array.from(own));
    entries = own.at(-1)!;
  }
  const values = Int32Array.from({ length: entries * size }, () => random.whole(-9, 10));
  return RaggedTensor.fromNestedRowSplits(values, splits, inner);
}

interface Drawn {
  readonly random: Random;
  readonly a: RaggedTensor;
  readonly rows: unknown[];
}

/** Runs over generated tensors of one to three ragged axes, with and without inner ones. */
function forDrawn(check: (drawn: Drawn, axes: number, inner: readonly number[]) => void): void {
  for (let seed = 0; seed < CASES; seed++) {
    const random = new Random(seed);
    const [axes, inner] = [1 + (seed % 3), seed % 4 === 3 ? [2] : []];
    const a = drawn(random, axes, inner);
    check({ random, a, rows: a.toRows() }, axes, inner);
  }
}

const rowsOf = (ragged: RaggedTensor): unknown[] => ragged.toRows();

describe('RaggedTensor', () => {
  it('gathers and slices rows as arrays do', () => {
    forDrawn(({ random, a, rows }) => {
      const order = Array.from({ length: rows.length === 0 ? 0 : 5 }, () => random.whole(0, rows.length));
      expect(rowsOf(a.gather(order))).toEqual(order.map((row) => rows[row]));
      for (const [start, end] of [[1], [0, 2], [-2], [-3, -1], [2, 1], [0, 99], [-99, 1]] as const) {
        expect(rowsOf(a.slice(start, end))).toEqual(rows.slice(start, end));
      }
      expect(rowsOf(a.slice())).toEqual(rows);
    });
  });

  it('is put together with others, end to end, side by side and as rows of one', () => {
    forDrawn(({ random, a, rows }, axes, inner) => {
      const b = drawn(random, axes, inner);
      expect(rowsOf(RaggedTensor.concat([a, b, a]))).toEqual([...rows, ...b.toRows(), ...rows]);
      expect(rowsOf(RaggedTensor.stack([a, b]))).toEqual([rows, b.toRows()]);
      expect(RaggedTensor.stack([a]).innerShape).toEqual(inner);
      const order = Array.from({ length: rows.length }, () => (b.shape[0] === 0 ? -1 : random.whole(0, b.shape[0]!)));
      if (order.includes(-1)) return;
      const beside = b.gather(order);
      const joined = rows.map((row, i) => [...(row as unknown[]), ...(beside.toRows()[i] as unknown[])]);
      expect(rowsOf(RaggedTensor.concat([a, beside], 1))).toEqual(joined);
    });
  });

  it('keeps what a mask says, rows or values', () => {
    forDrawn(({ random, a, rows }) => {
      const flags = rows.map(() => random.chance(0.5));
      const wanted = rows.filter((_, i) => flags[i]);
      expect(rowsOf(a.booleanMask(flags))).toEqual(wanted);
      expect(rowsOf(a.booleanMask(Int32Array.from(flags, Number)))).toEqual(wanted);
      tf.tidy(() => expect(rowsOf(a.booleanMask(tf.tensor1d(flags, 'bool')))).toEqual(wanted));
    });
    const deep = RaggedTensor.fromRows([[[1, 2], []], [], [[3], [4, 5, 6]]]);
    const mask = deep.map((value) => value % 2);
    expect(rowsOf(deep.booleanMask(mask))).toEqual([[[1], []], [], [[3], [5]]]);
    const vectors = RaggedTensor.fromRowSplits([1, 2, 3, 4, 5, 6], [0, 1, 3], [2]);
    const flags = RaggedTensor.fromRowSplits([0, 1, 1], [0, 1, 3]);
    expect(rowsOf(vectors.booleanMask(flags))).toEqual([
      [],
      [
        [3, 4],
        [5, 6],
      ],
    ]);
  });

  it('maps values, and keeps their rows and dtype as far as they fit', () => {
    const ragged = RaggedTensor.fromRows([[1, 2], [], [3]]);
    expect(ragged.map((value, place) => value * 10 + place).toRows()).toEqual([[10, 21], [], [32]]);
    expect(ragged.map((value) => value).dtype).toBe('int32');
    expect(ragged.map((value) => value / 2).dtype).toBe('float32');
    expect(ragged.map((value) => value, { dtype: 'float32' }).dtype).toBe('float32');
    expect(ragged.toRows()).toEqual([[1, 2], [], [3]]);
  });

  it('prints its rows', () => {
    const log = spyOn(console, 'log');
    RaggedTensor.fromRows([[1], []]).print();
    expect(log).toHaveBeenCalledOnceWith('RaggedTensor(int32, shape [2, ragged]) [[1],[]]');
  });

  it('is made of the row of each value, of starts, of limits and of one length', () => {
    forDrawn(({ a, rows }, axes, inner) => {
      if (axes !== 1) return;
      const { values, rowSplits } = a;
      const ids = rows.flatMap((row, i) => (row as unknown[]).map(() => i));
      const made = [
        RaggedTensor.fromValueRowIds(values, ids, rows.length, inner),
        RaggedTensor.fromRowStarts(values, rowSplits.slice(0, -1), inner),
        RaggedTensor.fromRowLimits(values, rowSplits.slice(1), inner),
      ];
      for (const each of made) expect(rowsOf(each)).toEqual(rows);
      // TensorFlow leaves trailing empty rows out where nothing tells of them.
      expect(RaggedTensor.fromValueRowIds(values, ids, null, inner).shape[0]).toBe(
        ids.length === 0 ? 0 : ids.at(-1)! + 1,
      );
      if (ids.length > 0) {
        expect(rowsOf(RaggedTensor.fromValueRowIds(a.values, ids, rows.length + 2, inner))).toEqual([...rows, [], []]);
      }
    });
    expect(rowsOf(RaggedTensor.fromUniformRowLength([1, 2, 3, 4], 2))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(rowsOf(RaggedTensor.fromUniformRowLength([], 0, 3))).toEqual([[], [], []]);
    expect(rowsOf(RaggedTensor.fromUniformRowLength([], 0))).toEqual([]);
    expect(rowsOf(RaggedTensor.fromUniformRowLength(RaggedTensor.fromRows([[1], [2, 3]]), 2))).toEqual([[[1], [2, 3]]]);
  });

  it('is made of a million starts and limits', () => {
    const rows = Int32Array.from({ length: 1e6 }, (_, row) => row);
    expect(RaggedTensor.fromRowStarts(rows, rows).rowSplits.length).toBe(1e6 + 1);
    expect(
      RaggedTensor.fromRowLimits(
        rows,
        rows.map((row) => row + 1),
      )
        .rowLengths()
        .every((length) => length === 1),
    ).toBeTrue();
  });

  const ragged = RaggedTensor.fromRows([[1, 2], [], [3]]);
  const other = RaggedTensor.fromRows([[[1]]]);
  const floats = ragged.map((value) => value, { dtype: 'float32' });
  const REFUSED: Record<string, [() => unknown, 'ValueError' | 'TypeError', string]> = {
    'a row that is not there': [() => ragged.gather([0, 3]), 'ValueError', 'rows'],
    'a negative row': [() => ragged.gather([-1]), 'ValueError', 'rows'],
    'a fraction of a row': [() => ragged.gather([0.5]), 'ValueError', 'rows'],
    'a slice from a text': [() => ragged.slice('1' as never), 'TypeError', 'start'],
    'a slice to a fraction': [() => ragged.slice(0, 1.5), 'ValueError', 'end'],
    'nothing to concatenate': [() => RaggedTensor.concat([]), 'ValueError', 'tensors'],
    'what is no list': [() => RaggedTensor.concat(ragged as never), 'TypeError', 'tensors'],
    'arrays among tensors': [() => RaggedTensor.concat([ragged, [[1]] as never]), 'TypeError', 'tensors[1]'],
    'other axes': [() => RaggedTensor.concat([ragged, other]), 'ValueError', 'tensors[1]'],
    'other dtypes': [() => RaggedTensor.stack([ragged, floats]), 'TypeError', 'tensors[1]'],
    'another number of rows': [() => RaggedTensor.concat([ragged, ragged.slice(1)], 1), 'ValueError', 'tensors[1]'],
    'a third axis': [() => RaggedTensor.concat([ragged], 2 as never), 'ValueError', 'axis'],
    'a mask of another length': [() => ragged.booleanMask([true]), 'ValueError', 'mask'],
    'a mask of numbers': [() => ragged.booleanMask([2, 0, 1]), 'ValueError', 'mask'],
    'a mask of other rows': [() => ragged.booleanMask(RaggedTensor.fromRows([[1], [1], [1]])), 'ValueError', 'mask'],
    'a mask of ragged numbers': [() => ragged.booleanMask(ragged), 'ValueError', 'mask'],
    'a mask that is none': [() => ragged.booleanMask({} as never), 'TypeError', 'mask'],
    'a map of nothing': [() => ragged.map(null as never), 'TypeError', 'f'],
    'rows that fall': [() => RaggedTensor.fromValueRowIds([1, 2], [1, 0]), 'ValueError', 'valueRowIds'],
    'negative rows': [() => RaggedTensor.fromValueRowIds([1], [-1]), 'ValueError', 'valueRowIds'],
    'too few rows': [() => RaggedTensor.fromValueRowIds([1], [2], 2), 'ValueError', 'rows'],
    'rows of other values': [() => RaggedTensor.fromValueRowIds([1], [0, 0]), 'ValueError', 'valueRowIds'],
    'starts behind the values': [() => RaggedTensor.fromRowStarts([1], [0, 2]), 'ValueError', 'rowStarts'],
    'starts after the first value': [() => RaggedTensor.fromRowStarts([1], [1]), 'ValueError', 'rowStarts'],
    'values without a row': [() => RaggedTensor.fromRowStarts([1], []), 'ValueError', 'rowStarts'],
    'limits before the last value': [() => RaggedTensor.fromRowLimits([1, 2], [1]), 'ValueError', 'rowLimits'],
    'limits that fall': [() => RaggedTensor.fromRowLimits([1, 2], [2, 1, 2]), 'ValueError', 'rowLimits'],
    'rows that are not full': [() => RaggedTensor.fromUniformRowLength([1, 2, 3], 2), 'ValueError', 'rowLength'],
    'a negative length': [() => RaggedTensor.fromUniformRowLength([1], -1), 'ValueError', 'rowLength'],
    'other rows of one length': [() => RaggedTensor.fromUniformRowLength([1, 2], 1, 3), 'ValueError', 'rowLength'],
  };
  for (const [what, [run, name, argument]] of Object.entries(REFUSED)) {
    it(`refuses ${what}`, () => expectError(run, name, argument));
  }
});
