import { hostArray, int32Array, int32Vector, type HostArray } from '../../../../src/formats/graph_models/host_array.js';
import { sparseSegmentReduce, unsortedSegmentReduce } from '../../../../src/formats/graph_models/reference/segments.js';
import { expectError } from '../../../helpers/errors.js';

const vector = (...numbers: number[]): HostArray => int32Vector(numbers, 'numbers');
const count = (number: number): HostArray => int32Array([], [number], 'number');

describe('segments of which a graph says how many there are', () => {
  const data = hostArray('float32', [3, 1], Float32Array.of(1, 2, 4));
  const rows = vector(0, 2);
  const ids = vector(0, 1);

  it('are as many as it says, more than the ids name or just as many', () => {
    const sparse = (number: HostArray | null): number[] =>
      Array.from(sparseSegmentReduce('sum', data, rows, ids, number).values as Float32Array);
    expect(sparse(null)).toEqual([1, 4]);
    expect(sparse(count(2))).toEqual([1, 4]);
    expect(sparse(count(4))).toEqual([1, 4, 0, 0]);
  });

  it('are never fewer than none: an error that names num_segments', () => {
    expectError(() => sparseSegmentReduce('sum', data, rows, ids, count(-1)), 'ValueError', 'num_segments', '-1');
    const all = vector(0, 0, 1);
    expectError(() => unsortedSegmentReduce('sum', data, all, count(-1)), 'ValueError', 'num_segments', '-1');
    const none = [hostArray('float32', [0, 1]), vector(), vector()] as const;
    expect(sparseSegmentReduce('sum', ...none, count(0)).shape).toEqual([0, 1]);
  });

  it('are never fewer than the ids name: an error that names segment_ids', () => {
    expectError(() => sparseSegmentReduce('sum', data, rows, ids, count(1)), 'ValueError', 'segment_ids', '1');
  });
});
