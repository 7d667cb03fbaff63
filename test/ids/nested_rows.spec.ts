import { readNestedRows } from '../../src/ids/nested_rows.js';
import { expectError } from '../helpers/errors.js';

/** Arrays in arrays, so many deep, around one value. */
function deep(depth: number, value: unknown = 7): unknown {
  return depth === 0 ? value : [deep(depth - 1, value)];
}

function read(rows: unknown): { flat: number[]; depth: number; splits: number[][]; shape: number[] | null } {
  const { flat, depth, nestedRowSplits, shape } = readNestedRows(rows, 'rows');
  return { flat: [...flat], depth, splits: nestedRowSplits.map((each) => [...each]), shape: shape && [...shape] };
}

describe('readNestedRows', () => {
  it('reads numbers at any depth that people mean', () => {
    expect(read(5)).toEqual({ flat: [5], depth: 0, splits: [], shape: [] });
    expect(read([])).toEqual({ flat: [], depth: 1, splits: [], shape: [0] });
    expect(read([[1, 2], []])).toEqual({ flat: [1, 2], depth: 2, splits: [[0, 2, 2]], shape: null });
    expect(read([[[1], [2]], []])).toEqual({ flat: [1, 2], depth: 3, splits: [[0, 2, 2], [0, 1, 2]], shape: null }); // prettier-ignore
    expect(read([[1], [2]]).shape).toEqual([2, 1]);
    expect(read(deep(32)).depth).toBe(32);
    expectError(() => read(deep(33)), 'ValueError', 'rows', 'deeper ones');
  });

  it('takes empty arrays above the numbers and nowhere else', () => {
    expect(read([[], [[1]]]).splits).toEqual([[0, 0, 1], [0, 1]]); // prettier-ignore
    expect(read([[[1]], []]).depth).toBe(3);
    expectError(() => read([[1], [[]]]), 'ValueError', 'rows', 'an array beside numbers');
    expectError(() => read([1, []]), 'ValueError', 'rows', 'an array beside numbers');
    expectError(() => read([[], 1]), 'ValueError', 'rows', 'a number beside arrays');
    expectError(() => read([[[]], [1]]), 'ValueError', 'rows', 'a number beside arrays');
    expectError(() => read([[1], 2]), 'ValueError', 'rows', 'a number beside arrays');
    expectError(() => read([[[1]], [2]]), 'ValueError', 'rows', 'a number beside arrays');
  });

  it('names what is neither', () => {
    const others: [unknown, string][] = [
      [null, 'null'],
      [undefined, 'undefined'],
      ['a', 'string'],
      [true, 'boolean'],
      [{}, 'object'],
      [3n, 'bigint'],
      [Int32Array.of(1), 'Int32Array'],
    ];
    for (const [other, name] of others) {
      for (const rows of [other, [other], [[1], [other]]]) {
        expectError(() => read(rows), 'TypeError', 'rows', new RegExp(`^${name}$`));
      }
    }
  });
});
