import { int32Vector, hostArray, type HostArray } from '../../../../src/formats/graph_models/host_array.js';
import { uniqueWithCounts } from '../../../../src/formats/graph_models/reference/unique.js';

function strings(shape: readonly number[], ...texts: string[]): HostArray {
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  return hostArray('string', shape, bytes);
}

describe('uniqueWithCounts', () => {
  const countsOf = (x: HostArray, axis: number): number[] =>
    Array.from(uniqueWithCounts(x, int32Vector([axis], 'axis'))[2]!.values as Int32Array);

  it('tells strings apart whose bytes have the same digits', () => {
    expect(countsOf(strings([3], '\x01\x0c', '\x0b\x02', '\x70'), 0)).toEqual([1, 1, 1]);
  });

  it('tells rows of strings apart that differ in where one string ends', () => {
    expect(countsOf(strings([2, 2], '\x01', '\x0c', '\x0b', '\x02'), 0)).toEqual([1, 1]);
    expect(countsOf(strings([2, 2], '', 'a', 'a', ''), 0)).toEqual([1, 1]);
    expect(countsOf(strings([2, 2], 'ab', 'c', 'a', 'bc'), 0)).toEqual([1, 1]);
    expect(countsOf(strings([2, 2], 'ab', 'c', 'ab', 'c'), 0)).toEqual([2]);
  });

  it('tells rows of numbers apart that have the same digits', () => {
    expect(countsOf(hostArray('int32', [2, 2], Int32Array.of(1, 12, 11, 2)), 0)).toEqual([1, 1]);
    expect(countsOf(hostArray('float32', [2], Float32Array.of(0, -0)), 0)).toEqual([2]);
  });
});
