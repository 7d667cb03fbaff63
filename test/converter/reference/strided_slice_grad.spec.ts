import { int32Vector, hostArray, type HostArray } from '../../../src/converter/host_array.js';
import { stridedSliceGrad } from '../../../src/converter/reference/strided_slice_grad.js';
import { expectError } from '../../helpers/errors.js';

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
});
