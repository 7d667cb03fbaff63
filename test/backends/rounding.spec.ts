import { randomWords } from '../../src/backends/counter_random.js';
import { keyOf, roundingKey } from '../../src/backends/rounding.js';
import { halfValue, stochasticHalf } from '../../src/codecs/half.js';

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
