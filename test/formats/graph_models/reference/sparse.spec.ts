import { hostArray, int32Array, int32Vector } from '../../../../src/formats/graph_models/host_array.js';
import { sparseSlice } from '../../../../src/formats/graph_models/reference/sparse.js';

describe('sparseSlice', () => {
  const indices = int32Array([3, 2], [0, 1, 2, 3, 3, 4], 'indices');
  const values = hostArray('float32', [3], Float32Array.of(5, 6, 7));
  const slice = (start: number[], size: number[]): number[][] =>
    sparseSlice(
      indices,
      values,
      int32Vector([4, 5], 'shape'),
      int32Vector(start, 'start'),
      int32Vector(size, 'size'),
    ).map((output) => Array.from(output.values as Float32Array));

  it('is cut off at the end', () => {
    expect(slice([2, 3], [9, 9])).toEqual([
      [0, 0, 1, 1],
      [6, 7],
      [2, 2],
    ]);
    expect(slice([3, 0], [1, 9])).toEqual([[0, 4], [7], [1, 5]]);
  });

  it('holds nothing beyond the end', () => {
    expect(slice([4, 0], [2, 5])).toEqual([[], [], [0, 5]]);
    expect(slice([7, 9], [2, 2])).toEqual([[], [], [0, 0]]);
  });
});
