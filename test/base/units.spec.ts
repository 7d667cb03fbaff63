/** Quantities as text. */
import {
  alignedBytesText,
  alignedSecondsText,
  bytesText,
  countText,
  counted,
  ratioText,
  secondsText,
  wholeText,
} from '../../src/base/units.js';

describe('Units of reports', () => {
  it('writes bytes in steps of 1000', () => {
    expect([0, 1, 999, 1000, 1234, 99_950, 999_499, 999_500, 12e6, 1e9, 102e9, 5e15, 7e18].map(bytesText)).toEqual([
      ...['0 B', '1 B', '999 B', '1.00 kB', '1.23 kB', '100 kB', '999 kB', '1.00 MB', '12.0 MB', '1.00 GB'],
      ...['102 GB', '5.00 PB', '7000 PB'],
    ]);
  });

  it('writes what stands below each other with as many digits', () => {
    expect([0, 999, 999.6, 1000, 99_940, 100_000, 999_940, 999_960, 5e15, 999.95e15].map(alignedBytesText)).toEqual([
      ...['0 B', '999 B', '1.00 kB', '1.00 kB', '99.9 kB', '100.0 kB', '999.9 kB', '1.00 MB', '5.00 PB', '1000 PB'],
    ]);
    expect([0, 2e-10, 1.5e-9, 0.9999, 999, 1234].map(alignedSecondsText)).toEqual([
      ...['0.00 s', '0.200 ns', '1.50 ns', '1.00 s', '999 s', '1234 s'],
    ]);
  });

  it('writes counts, seconds and ratios', () => {
    expect([0, 7, 1000, 99_999, 100_000, 1_234_567, 2e9].map(countText)).toEqual([
      ...['0', '7', '1,000', '99,999', '100 k', '1.23 M', '2.00 G'],
    ]);
    expect([0, 2e-10, 1.5e-9, 2.5e-6, 0.0421, 0.9999, 12].map(secondsText)).toEqual([
      ...['0 s', '0.20 ns', '1.50 ns', '2.50 us', '42.1 ms', '1.00 s', '12.0 s'],
    ]);
    expect([null, 1, 1.239].map(ratioText)).toEqual(['-', '1.00', '1.24']);
    expect(wholeText(1234567)).toBe('1,234,567');
    expect([counted(1, 'chip'), counted(2000, 'chip')]).toEqual(['1 chip', '2,000 chips']);
  });
});
