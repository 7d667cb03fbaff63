/** Initial values of tables: their distribution, and that they do not depend on how a table is cut. */
import { randomKey, randomWords, type FilledPart } from '../../src/backends/counter_random.js';
import { fillPart, type Fill } from '../../src/backends/fill.js';
import { quantile, quantileTable, upperTail } from '../../src/backends/normal_quantile.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { naiveQuantile, naiveTail, naiveValue, naiveWord, threefry } from './naive_fill.js';

const FILLS: readonly Fill[] = [
  { kind: 'constant', value: 0.25 },
  { kind: 'uniform', min: -0.05, max: 0.05, seed: 7 },
  { kind: 'normal', mean: 1, deviation: 0.5, seed: 7 },
  { kind: 'truncatedNormal', mean: -1, deviation: 2, seed: 2 ** 53 - 1 },
];

/** Of the fills above, for two rows and two columns: whoever trains from a seed relies on them. */
const FIRST_VALUES: readonly number[][] = [
  [0.25, 0.25, 0.25, 0.25],
  [0.0408480241894722, 0.023528024554252625, 0.019031722098588943, -0.018927644938230515],
  [0.33427274227142334, 0.6855690479278564, 0.751625120639801, 1.2469003200531006],
  [-0.6948485374450684, -3.218855381011963, -4.205351829528809, 1.874113917350769],
];

function whole(rows: number, columns: number): FilledPart {
  return { firstRow: 0, rowStep: 1, rows, firstColumn: 0, columns };
}

function made(fill: Fill, part: FilledPart): Float32Array {
  const values = new Float32Array(part.rows * part.columns);
  fillPart(values, part, fill);
  return values;
}

function words(seed: number, part: FilledPart): Int32Array {
  const room = new Int32Array(2 * part.rows * part.columns);
  randomWords(room, randomKey(seed), part);
  return room.slice(0, part.rows * part.columns);
}

/** What a part must hold, from the whole table. */
function cut(values: Float32Array, columns: number, part: FilledPart): Float32Array {
  const cells = new Float32Array(part.rows * part.columns);
  for (let r = 0; r < part.rows; r++) {
    const from = (part.firstRow + part.rowStep * r) * columns + part.firstColumn;
    cells.set(values.subarray(from, from + part.columns), r * part.columns);
  }
  return cells;
}

function moments(values: ArrayLike<number>): { mean: number; variance: number; skew: number; kurtosis: number } {
  const n = values.length;
  let [mean, second, third, fourth] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) mean += values[i]! / n;
  for (let i = 0; i < n; i++) {
    const d = values[i]! - mean;
    second += (d * d) / n;
    third += d ** 3 / n;
    fourth += d ** 4 / n;
  }
  return { mean, variance: second, skew: third / second ** 1.5, kurtosis: fourth / second ** 2 };
}

/** Correlation of a table with itself, so many rows and columns away, or of two tables. */
function correlation(a: Float32Array, b: Float32Array, columns: number, down: number, right: number): number {
  const rows = a.length / columns;
  let [ab, aa, bb] = [0, 0, 0];
  for (let r = 0; r + down < rows; r++) {
    for (let c = 0; c + right < columns; c++) {
      const [x, y] = [a[r * columns + c]!, b[(r + down) * columns + c + right]!];
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
  }
  return ab / Math.sqrt(aa * bb);
}

/** So many standard deviations are allowed everywhere: the numbers are fixed, so what passes once passes always. */
const SIGMAS = 4.5;

describe('counter-based random words', () => {
  it('are those of Threefry, by its published vectors', () => {
    const vectors: [bigint, bigint, bigint, bigint, bigint, bigint][] = [
      [0n, 0n, 0n, 0n, 0x6b200159n, 0x99ba4efen],
      [0xffffffffn, 0xffffffffn, 0xffffffffn, 0xffffffffn, 0x1cb996fcn, 0xbb002be7n],
      [0x13198a2en, 0x03707344n, 0x243f6a88n, 0x85a308d3n, 0xc4923a9cn, 0x483df7a0n],
    ];
    for (const [k0, k1, c0, c1, a, b] of vectors) expect(threefry([k0, k1], [c0, c1])).toEqual([a, b]);
    expect(Array.from(words(0, whole(1, 2)), (word) => word >>> 0)).toEqual([0x6b200159, 0x99ba4efe]);
  });

  it('are those of the plain version, up to the largest seed, row and column', () => {
    const random = new Random(1);
    for (const seed of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
      for (const firstRow of [0, 3, 2 ** 31 - 4]) {
        for (const firstColumn of [0, 1, 2 ** 31 - 8]) {
          const [rows, columns] = [random.whole(1, 4), random.whole(1, 8)];
          const part = { firstRow, rowStep: 1, rows, firstColumn, columns };
          const expected = Array.from({ length: rows * columns }, (_, i) =>
            naiveWord(seed, firstRow + Math.floor(i / columns), firstColumn + (i % columns)),
          );
          expect(Array.from(words(seed, part), (word) => word >>> 0)).toEqual(expected);
        }
      }
    }
  });

  it('have even bits and bytes, for neighbouring seeds, rows and columns', () => {
    for (const seed of [0, 1, 2]) {
      for (const shape of [whole(2 ** 16, 1), whole(1, 2 ** 16), whole(2 ** 8, 2 ** 8)]) {
        const sample = words(seed, shape);
        const bits = new Float64Array(32);
        const bytes = new Float64Array(4 * 256);
        for (const word of sample) {
          for (let bit = 0; bit < 32; bit++) bits[bit]! += (word >>> bit) & 1;
          for (let byte = 0; byte < 4; byte++) bytes[byte * 256 + ((word >>> (8 * byte)) & 255)]! += 1;
        }
        const half = sample.length / 2;
        bits.forEach((count) => expect(Math.abs(count - half)).toBeLessThan(SIGMAS * Math.sqrt(half / 2)));
        const each = sample.length / 256;
        for (let byte = 0; byte < 4; byte++) {
          const counts = bytes.subarray(byte * 256, byte * 256 + 256);
          const chiSquare = counts.reduce((sum, count) => sum + (count - each) ** 2 / each, 0);
          expect(Math.abs(chiSquare - 255)).toBeLessThan(SIGMAS * Math.sqrt(2 * 255));
        }
      }
    }
  });

  it('change in half their bits when one bit of seed, row or column changes', () => {
    const ones = (word: number): number => word.toString(2).replaceAll('0', '').length;
    for (const what of ['seed', 'row', 'column'] as const) {
      const top = what === 'seed' ? 53 : 31;
      for (let bit = 0; bit < top; bit++) {
        let changed = 0;
        for (let i = 0; i < 64; i++) {
          const place = { seed: 1000 * i, row: 77 * i, column: 13 * i };
          const other = { ...place, [what]: Number(BigInt(place[what]) ^ (1n << BigInt(bit))) };
          const [a, b] = [place, other].map(({ seed, row, column }) =>
            words(seed, { firstRow: row, rowStep: 1, rows: 1, firstColumn: column, columns: 1 }),
          );
          changed += ones((a![0]! ^ b![0]!) >>> 0);
        }
        const bits = 64 * 32;
        expect(Math.abs(changed - bits / 2))
          .withContext(`${what}, bit ${bit}`)
          .toBeLessThan(SIGMAS * Math.sqrt(bits / 4));
      }
    }
  });
});

describe('quantiles of the normal distribution', () => {
  it('agree with the integral of its density', () => {
    for (const x of [0, 0.1, 1, 2, 2.4999, 2.5001, 4, 6, 7]) {
      expect(Math.abs(upperTail(x) / naiveTail(x) - 1)).toBeLessThan(5e-9);
    }
    const table = quantileTable();
    const random = new Random(2);
    for (let octave = 0; octave < 32; octave++) {
      for (let i = 0; i < 8; i++) {
        const n = Math.min(2 ** 32 - 1, Math.floor(2 ** octave * (1 + random.next())));
        expect(Math.abs(quantile(table, n) - naiveQuantile(n / 2 ** 33))).toBeLessThan(1e-8);
      }
    }
  });

  it('agree with printed tables', () => {
    const printed: [number, number][] = [
      [0.25, 0.6744897501960817],
      [0.025, 1.959963984540054],
      [0.001, 3.090232306167813],
      [1e-6, 4.753424308822899],
      [1e-9, 5.997807015007687],
    ];
    for (const [probability, expected] of printed) {
      const n = Math.round(probability * 2 ** 33);
      // Rounding n moves the probability by up to 1 / (2 n).
      expect(Math.abs(quantile(quantileTable(), n) - expected)).toBeLessThan(1e-8 + 1 / n);
    }
  });
});

describe('fillPart', () => {
  it('gives each value as the plain version does', () => {
    const part = { firstRow: 5, rowStep: 3, rows: 6, firstColumn: 1, columns: 9 };
    for (const fill of FILLS) {
      const values = made(fill, part);
      values.forEach((value, i) => {
        const expected = naiveValue(fill, 5 + 3 * Math.floor(i / 9), 1 + (i % 9));
        expect(Math.abs(value - expected)).toBeLessThan(3e-7 * Math.max(1, Math.abs(expected)));
      });
    }
  });

  it('gives the same first values for ever', () => {
    const firsts = FILLS.map((fill) => [...made(fill, whole(2, 2))]);
    expect(firsts).toEqual(FIRST_VALUES);
  });

  it('is equal to the bit however a table is cut', () => {
    const random = new Random(3);
    for (const [rows, columns] of [
      [40, 1],
      [33, 2],
      [37, 19],
      [1, 5000],
      [3, 9001],
      [3000, 7],
    ] as const) {
      for (const fill of FILLS) {
        const table = made(fill, whole(rows, columns));
        for (let i = 0; i < 12; i++) {
          const rowStep = random.whole(1, 5);
          const firstRow = random.whole(0, Math.min(rows, rowStep));
          const firstColumn = random.whole(0, columns);
          const part: FilledPart = {
            firstRow,
            rowStep,
            rows: random.whole(0, Math.ceil((rows - firstRow) / rowStep) + 1),
            firstColumn,
            columns: random.whole(0, columns - firstColumn + 1),
          };
          expect(made(fill, part)).toEqual(cut(table, columns, part));
        }
      }
    }
  });

  it('counts rows and columns up to 2^31', () => {
    for (const fill of FILLS) {
      const [row, column] = [2 ** 31 - 1, 2 ** 31 - 3];
      const part = { firstRow: row, rowStep: 8, rows: 1, firstColumn: column, columns: 3 };
      made(fill, part).forEach((value, i) => {
        expect(value).toBeCloseTo(naiveValue(fill, row, column + i), 5);
      });
    }
  });

  it('writes to the start of a longer array, shared or not, and nothing else', () => {
    for (const fill of FILLS) {
      const target = new Float32Array(new SharedArrayBuffer(40), 4, 8).fill(9);
      fillPart(target, whole(2, 3), fill);
      expect([...target]).toEqual([...made(fill, whole(2, 3)), 9, 9]);
    }
  });

  it('refuses an array that is too short', () => {
    expectError(() => fillPart(new Float32Array(5), whole(2, 3), FILLS[1]!), 'ValueError', 'target', '5');
  });

  it('tells of its progress about every million values', () => {
    for (const fill of FILLS) {
      for (const [rows, columns] of [
        [150, 20000],
        [3_000_000, 1],
      ] as const) {
        let told = 0;
        fillPart(new Float32Array(rows * columns), whole(rows, columns), fill, () => told++);
        expect(told).toBe(2);
      }
    }
  });
});

describe('distributions of initial values', () => {
  const [ROWS, COLUMNS] = [2 ** 12, 64];
  const COUNT = ROWS * COLUMNS;
  const within = (actual: number, expected: number, sigma: number, what: string): void =>
    expect(Math.abs(actual - expected))
      .withContext(`${what}: ${actual}, expected ${expected}`)
      .toBeLessThan(SIGMAS * sigma);

  it('are uniform in [min, max)', () => {
    for (const [min, max] of [
      [0, 1],
      [-0.05, 0.05],
      [3, 1e6],
      [-3e38, 3e38],
    ] as const) {
      for (const seed of [0, 1, 2]) {
        const values = made({ kind: 'uniform', min, max, seed }, whole(ROWS, COLUMNS));
        const inBins = new Float64Array(256);
        const unit = Float64Array.from(values, (value) => (value - min) / (max - min));
        for (let i = 0; i < COUNT; i++) {
          if (!(values[i]! >= min && values[i]! < max)) fail(`${values[i]} is not in [${min}, ${max})`);
          inBins[Math.floor(unit[i]! * 256)]! += 1;
        }
        const { mean, variance } = moments(unit);
        within(mean, 1 / 2, Math.sqrt(1 / 12 / COUNT), 'mean');
        within(variance, 1 / 12, Math.sqrt(1 / 180 / COUNT), 'variance');
        const each = COUNT / 256;
        const chiSquare = inBins.reduce((sum, count) => sum + (count - each) ** 2 / each, 0);
        within(chiSquare, 255, Math.sqrt(2 * 255), 'chi-square');
      }
    }
  });

  it('are uniform over the few float32 of a narrow range, without its end', () => {
    const step = 2 ** -23;
    const seen = (min: number, max: number): Set<number> =>
      new Set(made({ kind: 'uniform', min, max, seed: 1 }, whole(100, 10)));
    expect([...seen(1, 1 + 3 * step)].sort()).toEqual([1, 1 + step, 1 + 2 * step]);
    expect([...seen(1 + step / 3, 1 + 2.5 * step)].sort()).toEqual([1 + step, 1 + 2 * step]);
    expect([...seen(-2 * step, -step)].every((value) => value < -step)).toBeTrue();
    expect([...seen(-1, 0)].every((value) => value < 0)).toBeTrue();
    expect([...seen(1, 1 + step)]).toEqual([1]);
    expect([...seen(0.1, 0.1)]).toEqual([Math.fround(0.1)]);
    // No float32 lies between these: the nearest stands for them.
    expect([...seen(1 + step / 4, 1 + step / 3)]).toEqual([1]);
  });

  it('are normal, tails included', () => {
    for (const seed of [0, 1, 2]) {
      const values = made({ kind: 'normal', mean: 2, deviation: 3, seed }, whole(ROWS, COLUMNS));
      const { mean, variance, skew, kurtosis } = moments(values);
      within(mean, 2, 3 / Math.sqrt(COUNT), 'mean');
      within(variance, 9, 9 * Math.sqrt(2 / COUNT), 'variance');
      within(skew, 0, Math.sqrt(6 / COUNT), 'skew');
      within(kurtosis, 3, Math.sqrt(24 / COUNT), 'kurtosis');
      for (let x = 0; x <= 4; x += 0.25) {
        const expected = naiveTail(x);
        const sigma = Math.sqrt((expected * (1 - expected)) / COUNT);
        within(values.filter((value) => value > 2 + 3 * x).length / COUNT, expected, sigma, `above ${x}`);
        within(values.filter((value) => value < 2 - 3 * x).length / COUNT, expected, sigma, `below ${-x}`);
      }
    }
  });

  it('are normal between two deviations', () => {
    for (const seed of [0, 1, 2]) {
      for (const [center, deviation] of [
        [0, 0.05],
        [0, 1],
        [-4, 3],
      ] as const) {
        const fill: Fill = { kind: 'truncatedNormal', mean: center, deviation, seed };
        const values = made(fill, whole(ROWS, COLUMNS));
        const outside = values.findIndex((value) => Math.abs(value - center) > 2 * deviation);
        expect(outside).toBe(-1);
        const unit = Float64Array.from(values, (value) => (value - center) / deviation);
        const { mean, variance, kurtosis } = moments(unit);
        const expected = 0.7737413035499232;
        within(mean, 0, Math.sqrt(expected / COUNT), 'mean');
        within(variance, expected, Math.sqrt(((kurtosis - 1) * expected ** 2) / COUNT), 'variance');
        const kept = 1 - 2 * naiveTail(2);
        for (let x = 0; x < 2; x += 0.25) {
          const above = (naiveTail(x) - naiveTail(2)) / kept;
          const sigma = Math.sqrt((above * (1 - above)) / COUNT);
          within(unit.filter((value) => value > x).length / COUNT, above, sigma, `above ${x}`);
        }
        expect(Math.max(...unit.subarray(0, 1e5))).toBeGreaterThan(1.999);
      }
    }
  });

  it('have no correlation along rows, along columns, or between seeds', () => {
    const tables = [0, 1, 2, 2 ** 32, 2 ** 52].map((seed) =>
      made({ kind: 'normal', mean: 0, deviation: 1, seed }, whole(ROWS, COLUMNS)),
    );
    const limit = SIGMAS / Math.sqrt(COUNT / 2);
    for (const [down, right] of [
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 0],
      [2, 0],
      [4, 0],
      [1, 1],
      [256, 0],
      [0, 32],
    ] as const) {
      for (const table of tables) {
        expect(Math.abs(correlation(table, table, COLUMNS, down, right)))
          .withContext(`${down} rows, ${right} columns`)
          .toBeLessThan(limit);
      }
    }
    tables.forEach((a, i) => {
      for (const b of tables.slice(i + 1)) expect(Math.abs(correlation(a, b, COLUMNS, 0, 0))).toBeLessThan(limit);
    });
  });
});
