/** What is taken for exact, and what is not. */
import * as tf from '@tensorflow/tfjs';
import { isExact, type Op, type TwoWays } from '../../../src/capture/fewer_ops/exact.js';
import { asNodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import { describeSteps } from '../training.js';

let count = 0;

/** An op on one tensor of floats, beside itself with something done to its bits. */
function ways(op: Op, change: (bits: Int32Array) => Int32Array, size = 6): TwoWays {
  return {
    key: `specs ${count++}`,
    shapes: [[size]],
    size,
    terms: 4,
    stock: (run, given) => run(op, given),
    own: (run, given) => change(run(op, given)),
  };
}

describeSteps('isExact', () => {
  const square = (): Op => {
    const { binding } = asNodeBackend(tf.backend());
    return { name: 'Square', attributes: [{ name: 'T', type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }] };
  };

  it('is true of the same bits, and looks once', () => {
    let looks = 0;
    const same = ways(square(), (bits) => {
      looks += 1;
      return bits;
    });
    expect(isExact(same)).toBeTrue();
    // Zeros, and six numbers at a time until there are 64.
    expect(looks).toBe(12);
    expect(isExact(same)).toBeTrue();
    expect(looks).toBe(12);
  });

  it('is false of one bit in one number of the last ones, of a zero with another sign, and of fewer numbers', () => {
    let numbers = 0;
    const lastBit = ways(square(), (bits) => bits.map((each) => (each !== 0 && ++numbers === 61 ? each ^ 1 : each)));
    expect(isExact(lastBit)).toBeFalse();
    const sign = ways(square(), (bits) => bits.map((each) => (each === 0 ? 0x80000000 | 0 : each)));
    expect(isExact(sign)).toBeFalse();
    expect(isExact(ways(square(), (bits) => bits.slice(1)))).toBeFalse();
  });

  it('is true of nothing', () => {
    expect(isExact(ways(square(), (bits) => bits, 0))).toBeTrue();
  });
});
