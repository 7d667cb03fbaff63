/** Initializers as fills, and custom ones in blocks. */
import * as tf from '@tensorflow/tfjs';
import type { Fill } from '../../src/backends/fill.js';
import { readInitializer, type Initializer } from '../../src/tables/initializers.js';
import { applyInBlocks, fillOf, withSeed } from '../../src/tables/table_fill.js';
import { expectError } from '../helpers/errors.js';
import { expectNoLeak } from '../helpers/tensors.js';

const SIZE = { rows: 30, columns: 6, name: 'users' };
const ARGUMENT = 'embeddingsInitializer';
/** What each error tells. */
const TABLE = /table users\b/;

/** An initializer of the user's own. */
function custom(apply: (shape: number[], dtype?: string) => unknown, className = 'Custom'): Initializer {
  return { apply, getClassName: () => className, getConfig: () => ({}) } as unknown as Initializer;
}

/** Everything that is written, and how many values came at once. */
function written(initializer: Initializer, size = SIZE, blockElements?: number): [Float32Array, number[]] {
  const table = new Float32Array(size.rows * size.columns).fill(NaN);
  const lengths: number[] = [];
  expectNoLeak(() =>
    applyInBlocks(
      initializer,
      size,
      (firstRow, values) => {
        table.set(values, firstRow * size.columns);
        lengths.push(values.length);
      },
      blockElements,
    ),
  );
  return [table, lengths];
}

function variance(values: ArrayLike<number>): number {
  const list = Array.from(values);
  const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
  return list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length;
}

describe('fillOf', () => {
  beforeEach(async () => {
    await tf.setBackend('cpu');
  });

  it('reads every stock initializer whose values stand alone', () => {
    const { initializers } = tf;
    const of = (scale: number, fan: number, distribution: 'normal' | 'uniform'): Fill => {
      const seed = 5;
      if (distribution === 'normal')
        return { kind: 'truncatedNormal', mean: 0, deviation: Math.sqrt(scale / fan), seed };
      const limit = Math.sqrt((3 * scale) / fan);
      return { kind: 'uniform', min: -limit, max: limit, seed };
    };
    const seed = 5;
    const cases: [Initializer, Fill][] = [
      [initializers.zeros(), { kind: 'constant', value: 0 }],
      [initializers.ones(), { kind: 'constant', value: 1 }],
      [initializers.constant({ value: -2.5 }), { kind: 'constant', value: -2.5 }],
      [initializers.randomUniform({ seed }), { kind: 'uniform', min: -0.05, max: 0.05, seed }],
      [initializers.randomUniform({ minval: 1, maxval: 2, seed }), { kind: 'uniform', min: 1, max: 2, seed }],
      [initializers.randomUniform({ minval: 2, maxval: 1, seed }), { kind: 'uniform', min: 1, max: 2, seed }],
      [initializers.randomNormal({ mean: 3, stddev: 2, seed }), { kind: 'normal', mean: 3, deviation: 2, seed }],
      [
        initializers.truncatedNormal({ mean: 3, stddev: 2, seed }),
        { kind: 'truncatedNormal', mean: 3, deviation: 2, seed },
      ],
      [initializers.glorotUniform({ seed }), of(1, 18, 'uniform')],
      [initializers.glorotNormal({ seed }), of(1, 18, 'normal')],
      [initializers.heUniform({ seed }), of(2, 30, 'uniform')],
      [initializers.heNormal({ seed }), of(2, 30, 'normal')],
      [initializers.leCunUniform({ seed }), of(1, 30, 'uniform')],
      [initializers.leCunNormal({ seed }), of(1, 30, 'normal')],
      [initializers.varianceScaling({ scale: 4, mode: 'fanOut', distribution: 'uniform', seed }), of(4, 6, 'uniform')],
      [
        initializers.varianceScaling({ scale: 4, mode: 'fanOut', distribution: 'truncatedNormal', seed }),
        of(4, 6, 'normal'),
      ],
    ];
    for (const [initializer, expected] of cases) {
      expect(fillOf(initializer, SIZE, null)).toEqual(expected);
      expect(
        fillOf(readInitializer({ className: initializer.getClassName(), config: initializer.getConfig() }), SIZE, 9),
      )
        .withContext('from its config')
        .toEqual(expected);
    }
  });

  it('has the bounds and the variance of what tfjs gives', () => {
    const { initializers } = tf;
    const size = { ...SIZE, rows: 300, columns: 40 };
    for (const initializer of [
      initializers.glorotUniform({ seed: 3 }),
      initializers.glorotNormal({ seed: 3 }),
      initializers.heNormal({ seed: 3 }),
      initializers.varianceScaling({ scale: 1, mode: 'fanOut', distribution: 'uniform', seed: 3 }),
    ]) {
      const fill = fillOf(initializer, size, null)!;
      const [values] = written(initializer, size);
      const spread =
        fill.kind === 'uniform'
          ? fill.max ** 2 / 3
          : fill.kind === 'truncatedNormal'
            ? 0.7737413 * fill.deviation ** 2
            : NaN;
      expect(Math.abs(variance(values) / spread - 1)).toBeLessThan(0.05);
    }
  });

  it("takes the initializer's seed, else the table's, else a new one", () => {
    const seedOf = (initializer: Initializer, seed: number | null): number =>
      (fillOf(initializer, SIZE, seed) as Fill & { seed: number }).seed;
    const { randomNormal } = tf.initializers;
    expect(seedOf(randomNormal({ seed: 4 }), 9)).toBe(4);
    expect(seedOf(randomNormal({ seed: 0 }), 9)).toBe(0);
    expect(seedOf(randomNormal({}), 9)).toBe(9);
    const drawn = [1, 2, 3].map(() => seedOf(randomNormal({}), null));
    expect(new Set(drawn).size).toBe(3);
    // Any number is a seed in tfjs.
    const odd = [-1, -2, 0.5, 1.5, 3, 1e300, -1e300, 2 ** 60].map((seed) => seedOf(randomNormal({ seed }), null));
    expect(new Set(odd).size).toBe(odd.length);
    for (const seed of [...drawn, ...odd]) expect(Number.isSafeInteger(seed) && seed >= 0).toBeTrue();
    expect(seedOf(randomNormal({ seed: -1 }), null)).toBe(odd[0]!);
  });

  it('gives a seed to Orthogonal alone, and to it where it has none', () => {
    const { orthogonal, randomNormal } = tf.initializers;
    const seedOf = (seed: unknown): unknown =>
      (withSeed(orthogonal({ gain: 2, seed } as never), 9).getConfig() as { seed: unknown }).seed;
    expect([undefined, null, 0, 4].map(seedOf)).toEqual([9, 9, 0, 4]);
    expect(withSeed(orthogonal({ gain: 2 } as never), 9).getConfig()['gain']).toBe(2);
    const [plain, normal] = [orthogonal({} as never), randomNormal({})];
    expect(withSeed(plain, null)).toBe(plain);
    expect(withSeed(normal, 9)).toBe(normal);
  });

  it('leaves the others to the host, stock names on classes of the user included', () => {
    const { initializers } = tf;
    const apply = (shape: number[]): tf.Tensor => tf.zeros(shape);
    const changed = Object.assign(initializers.zeros(), { apply });
    for (const other of [
      initializers.identity({}),
      initializers.orthogonal({ seed: 1 } as never),
      custom(apply),
      custom(apply, 'RandomUniform'),
      changed,
    ]) {
      expect(fillOf(other, SIZE, 1)).toBeNull();
    }
  });

  it('refuses numbers that tfjs lets through', () => {
    const { initializers } = tf;
    const refuse = (initializer: Initializer, name: 'ValueError' | 'TypeError', received: string): void => {
      expectError(() => fillOf(initializer, SIZE, null), name, ARGUMENT, received);
      expect(() => fillOf(initializer, SIZE, null)).toThrowError(TABLE);
      const named = { ...SIZE, argument: 'initializer' };
      expectError(() => fillOf(initializer, named, null), name, 'initializer', received);
    };
    refuse(initializers.randomUniform({ maxval: Infinity }), 'ValueError', 'Infinity');
    refuse(initializers.randomNormal({ stddev: 1e39 }), 'ValueError', '1e+39');
    refuse(initializers.constant({ value: NaN }), 'ValueError', 'NaN');
    refuse(initializers.constant({ value: '1' as never }), 'TypeError', '1');
    refuse(initializers.randomNormal({ seed: 'x' as never }), 'TypeError', 'x');
    refuse(initializers.varianceScaling({ scale: NaN } as never), 'ValueError', 'NaN');
  });
});

describe('applyInBlocks', () => {
  beforeEach(async () => {
    await tf.setBackend('cpu');
  });

  it('keeps to blocks where all rows are alike', () => {
    for (const most of [3, 2]) {
      let largest = 0;
      const alike = custom((shape) => {
        largest = Math.max(largest, shape[0]!);
        return tf.fill(shape, 7);
      });
      const [table, lengths] = written(alike, SIZE, most * SIZE.columns);
      expect(table.every((value) => value === 7)).toBeTrue();
      expect(largest).toBe(most);
      expect(Math.max(...lengths)).toBe(most * SIZE.columns);
    }
  });

  it('runs a custom initializer in blocks of whole rows', () => {
    const shapes: number[][] = [];
    let drawn = 0;
    const counting = custom((shape, dtype) => {
      shapes.push([...shape]);
      expect(dtype).toBe('float32');
      return tf.tensor2d(
        Float32Array.from({ length: shape[0]! * shape[1]! }, () => drawn++),
        shape as [number, number],
      );
    });
    const [table, lengths] = written(counting, SIZE, 50);
    expect(table).toEqual(Float32Array.from({ length: 180 }, (_, i) => i));
    expect(lengths).toEqual([48, 48, 48, 36]);
    expect(shapes).toEqual([
      [8, 6],
      [8, 6],
      [8, 6],
      [6, 6],
    ]);
    drawn = 0;
    expect(written(counting)[1]).toEqual([180]);
    drawn = 0;
    expect(written(counting, SIZE, 1)[1]).toEqual(new Array<number>(30).fill(6));
  });

  it('applies to the whole shape what repeats itself in every block', () => {
    const fixedSeed = custom((shape) => tf.randomNormal(shape, 0, 1, 'float32', 42));
    const [table, lengths] = written(fixedSeed, SIZE, 60);
    const expected = tf.tidy(() => tf.randomNormal([30, 6], 0, 1, 'float32', 42).dataSync());
    expect(table).toEqual(expected as Float32Array);
    expect(Math.max(...lengths)).toBe(60);

    // Values that depend on the row.
    const positions = custom(([rows, columns]) =>
      tf.tidy(() => tf.range(0, rows!).reshape([-1, 1]).tile([1, columns!])),
    );
    expect(Array.from(written(positions, SIZE, 60)[0]).filter((_, i) => i % 6 === 0)).toEqual([...Array(30).keys()]);
  });

  it('applies in blocks what gives equal rows', () => {
    let calls = 0;
    const constant = custom((shape) => (calls++, tf.fill(shape, 3)));
    expect(written(constant, SIZE, 60)[0]).toEqual(new Float32Array(180).fill(3));
    expect(calls).toBe(3);
  });

  it('applies Identity and Orthogonal to the whole shape', () => {
    const square = { ...SIZE, rows: 7, columns: 7 };
    const [identity, lengths] = written(tf.initializers.identity({ gain: 2 }), square, 14);
    expect(lengths).toEqual([14, 14, 14, 7]);
    identity.forEach((value, i) => expect(value).toBe(i % 8 === 0 ? 2 : 0));

    const [orthogonal] = written(tf.initializers.orthogonal({ seed: 1 } as never), { ...SIZE, rows: 9, columns: 3 }, 6);
    for (let a = 0; a < 3; a++) {
      for (let b = 0; b < 3; b++) {
        let product = 0;
        for (let r = 0; r < 9; r++) product += orthogonal[r * 3 + a]! * orthogonal[r * 3 + b]!;
        expect(product).toBeCloseTo(a === b ? 1 : 0, 5);
      }
    }
    expectError(() => written(tf.initializers.identity({})), 'ValueError', ARGUMENT, 'Identity');
    expect(() => written(tf.initializers.identity({}))).toThrowError(TABLE);
  });

  it('refuses results of another kind, and leaves no tensor behind', () => {
    const refuse = (give: (shape: number[]) => unknown, name: 'ValueError' | 'TypeError', received: string): void => {
      expectNoLeak(() => expectError(() => applyInBlocks(custom(give), SIZE, () => {}), name, ARGUMENT, received));
      expectNoLeak(() => expect(() => applyInBlocks(custom(give), SIZE, () => {})).toThrowError(TABLE));
    };
    refuse((shape) => tf.zeros(shape, 'int32'), 'TypeError', 'int32');
    refuse(() => new Float32Array(180), 'TypeError', 'Float32Array');
    refuse(() => undefined, 'TypeError', 'undefined');
    refuse(async (shape) => Promise.resolve(tf.keep(tf.zeros(shape)).dispose()), 'TypeError', 'Promise');
    refuse(() => tf.zeros([6, 30]), 'ValueError', '[6, 30]');
    refuse(() => tf.zeros([180]), 'ValueError', '[180]');
    refuse(
      (shape) => {
        const gone = tf.zeros(shape);
        gone.dispose();
        return gone;
      },
      'ValueError',
      'disposed',
    );
  });
});
