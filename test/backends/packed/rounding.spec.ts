import { randomWords } from '../../../src/backends/counter_random.js';
import { halfValue } from '../../../src/backends/packed/half.js';
import { keyOf, roundingKey, stochasticHalf } from '../../../src/backends/packed/rounding.js';

/** Random words as the columns of a row get them. */
function wordsOf(seed: number, step: number, row: number, columns: number): Int32Array {
  const words = new Int32Array(columns + 2);
  const key = keyOf(roundingKey({ seed, step, rows: 100, dim: columns }));
  randomWords(words, key, { firstRow: row, rowStep: 1, rows: 1, firstColumn: 0, columns });
  return words.subarray(0, columns);
}

describe('stochastic rounding', () => {
  it('gives the number itself as its mean, and both halves next to it', () => {
    const draws = 2 ** 15;
    const words = wordsOf(11, 1, 0, draws);
    for (const [value, unit] of [
      [1.0003, 2 ** -10],
      [-0.7501, 2 ** -11],
      [1 + 2 ** -11, 2 ** -10],
      [0.05 + 1e-6, 2 ** -15],
      [60001.3, 32],
      [3.3 * 2 ** -24, 2 ** -24],
      [-(2 ** -26), 2 ** -24],
      [1023.25 * 2 ** -24, 2 ** -24],
    ].map(([value, unit]) => [Math.fround(value!), unit!] as const)) {
      const rounded = Float64Array.from(words, (word) => halfValue(stochasticHalf(value, word)));
      expect(new Set(rounded).size).withContext(`${value}`).toBe(2);
      for (const each of new Set(rounded)) expect(Math.abs(each - value)).toBeLessThan(unit);
      // Five standard deviations of a share of 1/2 and this many draws are 0.014 of a unit.
      const mean = rounded.reduce((sum, each) => sum + each, 0) / draws;
      expect(Math.abs(mean - value) / unit)
        .withContext(`${value}`)
        .toBeLessThan(0.014);
    }
  });

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

  it('draws other words for other seeds, steps, rows and shapes', () => {
    const base = { seed: 1, step: 1, rows: 10, dim: 4 };
    const keys = [
      base,
      { ...base, seed: 2 },
      { ...base, seed: 2 ** 32 + 1 },
      { ...base, step: 2 },
      { ...base, rows: 11 },
    ]
      .concat({ ...base, dim: 6 })
      .map((each) => JSON.stringify(roundingKey(each)));
    expect(new Set(keys).size).toBe(keys.length);
    expect(roundingKey(base)).toEqual(roundingKey({ ...base }));
    for (const part of Object.values(roundingKey(base))) expect(part).toBe(Math.fround(part) & 0xffff);
    expect(wordsOf(1, 1, 0, 8)).not.toEqual(wordsOf(1, 1, 1, 8));
    const { low, high } = keyOf(roundingKey(base));
    expect([low, high].every(Number.isInteger)).toBeTrue();
  });

  it('draws bits that are 1 in half of all columns, rows and steps', () => {
    const counts = new Array<number>(32).fill(0);
    let words = 0;
    for (let step = 1; step <= 32; step++) {
      for (let row = 0; row < 16; row++) {
        for (const word of wordsOf(3, step, row, 64)) {
          words++;
          for (let bit = 0; bit < 32; bit++) counts[bit]! += (word >>> bit) & 1;
        }
      }
    }
    // Five standard deviations of 32768 draws.
    for (const count of counts) expect(Math.abs(count / words - 0.5)).toBeLessThan(0.0138);
  });
});
