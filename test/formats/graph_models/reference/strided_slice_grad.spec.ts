import { int32Vector, hostArray, type HostArray } from '../../../../src/formats/graph_models/host_array.js';
import { stridedSliceGrad } from '../../../../src/formats/graph_models/reference/strided_slice_grad.js';
import { expectError } from '../../../helpers/errors.js';

const MASKS = { begin: 0, end: 0, ellipsis: 0, newAxis: 0, shrink: 0 };
const vector = (...numbers: number[]): HostArray => int32Vector(numbers, 'numbers');

describe('stridedSliceGrad', () => {
  const run = (begin: HostArray, end: HostArray, strides: HostArray, dy: HostArray): HostArray =>
    stridedSliceGrad(vector(4, 5), begin, end, strides, dy, MASKS);

  it('wants as many entries in begin as in end and as in strides', () => {
    // The gradient fits what the entries of begin alone would say.
    const [rows, block] = [hostArray('float32', [2, 5]), hostArray('float32', [2, 3])];
    const [one, two] = [vector(1), vector(1, 0)];
    const [oneEnd, twoEnds] = [vector(3), vector(3, 3)];
    const [oneStep, twoSteps] = [vector(1), vector(1, 1)];
    expect(run(one, oneEnd, oneStep, rows).shape).toEqual([4, 5]);
    expect(run(two, twoEnds, twoSteps, block).shape).toEqual([4, 5]);
    expectError(() => run(one, twoEnds, oneStep, rows), 'ValueError', 'begin', '1');
    expectError(() => run(one, oneEnd, twoSteps, rows), 'ValueError', 'begin', '1');
    expectError(() => run(one, twoEnds, twoSteps, rows), 'ValueError', 'begin', '1');
    expectError(() => run(two, oneEnd, twoSteps, block), 'ValueError', 'begin', '2');
    expectError(() => run(two, twoEnds, oneStep, block), 'ValueError', 'begin', '2');
  });

  it('wants a gradient of the shape of the slice, and says which that is', () => {
    const wrong = (): unknown => run(vector(1, 0), vector(3, 3), vector(1, 1), hostArray('float32', [2, 4]));
    expectError(wrong, 'ValueError', 'dy', '[2, 4]');
    expect(wrong).toThrowError(/expected the gradient of a slice of shape \[2, 3\]/);
  });

  it('wants places that are there where an axis is taken away', () => {
    const row = hostArray('float32', [5]);
    const taken = (at: number): HostArray =>
      stridedSliceGrad(vector(4, 5), vector(at), vector(at + 1), vector(1), row, { ...MASKS, shrink: 1 });
    for (const at of [0, 3, -1, -4]) expect(taken(at).shape).toEqual([4, 5]);
    for (const at of [4, -5]) expectError(() => taken(at), 'ValueError', 'begin', String(at));
  });

  /** The nonzero places of the gradient, as [row, column, value]. */
  const places = ({ values }: HostArray): number[][] =>
    Array.from(values as Float32Array, (value, i) => [Math.floor(i / 5), i % 5, value]).filter(
      ([, , value]) => value !== 0,
    );

  it('goes backwards where a step is negative', () => {
    // x[3:0:-1, 4:1:-2]
    const dy = hostArray('float32', [3, 2], Float32Array.of(1, 2, 3, 4, 5, 6));
    const some = [[1, 2, 6], [1, 4, 5], [2, 2, 4], [2, 4, 3], [3, 2, 2], [3, 4, 1]]; // prettier-ignore
    expect(places(run(vector(3, 4), vector(0, 1), vector(-1, -2), dy))).toEqual(some);
  });

  it('goes backwards over all where begin and end lie outside, or do not count', () => {
    const dy = hostArray('float32', [4, 1], Float32Array.of(1, 2, 3, 4));
    const whole = [[0, 0, 4], [1, 0, 3], [2, 0, 2], [3, 0, 1]]; // prettier-ignore
    expect(places(run(vector(100, 0), vector(-100, 1), vector(-1, 1), dy))).toEqual(whole);
    const masks = { ...MASKS, begin: 1, end: 1 };
    const open = stridedSliceGrad(vector(4, 5), vector(2, 0), vector(2, 1), vector(-1, 1), dy, masks);
    expect(places(open)).toEqual(whole);
  });
});
