import { halfValue, stochasticHalf } from '../../src/codecs/half.js';

describe('a number rounded to a half by chance', () => {
  it('goes up in exactly as many of all random words as the number is above the half below', () => {
    // All 13 bits that are looked at; the others do not matter.
    const words = Array.from({ length: 2 ** 13 }, (_, i) => ((i << 19) | 0x5a5a5) >> 0);
    for (const thousandths of [1, 17, 4096, 8191]) {
      const value = 1 + (thousandths / 2 ** 13) * 2 ** -10;
      const up = words.filter((word) => halfValue(stochasticHalf(value, word)) > 1).length;
      expect(up).toBe(thousandths);
    }
  });

  it('leaves halves as they are, whatever is drawn', () => {
    for (let bits = 0; bits < 2 ** 16; bits++) {
      const value = halfValue(bits);
      for (const word of [0, -1, 0x7fffffff]) {
        const rounded = stochasticHalf(value, word);
        if (Number.isNaN(value)) expect(rounded).toBe(0x7e00);
        else if (rounded !== bits) fail(`${value} becomes ${halfValue(rounded)}`);
      }
    }
    expect(stochasticHalf(Infinity, -1)).toBe(0x7c00);
  });

  it('keeps finite numbers finite', () => {
    for (const value of [65504, 65505, 65520, 70000, 3e38]) {
      for (const word of [0, -1]) {
        expect(stochasticHalf(value, word)).toBe(0x7bff);
        expect(stochasticHalf(-value, word)).toBe(0xfbff);
      }
    }
  });
});
