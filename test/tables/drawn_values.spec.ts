/** Values of the initializers of tfjs, a few rows at a time. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../src/node.js';
import { drawnBy } from '../../src/tables/drawn_values.js';
import type { Initializer } from '../../src/tables/initializers.js';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { FLOAT32 } from '../../src/codecs/float32.js';
import { convertedRows } from '../../src/tables/storage.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { expectNoLeak } from '../helpers/tensors.js';

const { initializers } = tf;
const SEEDS = [1, 42, -3, 0.25, 2 ** 53 - 1, 1e-7, 1e21];

/** Every stock initializer that draws. */
function drawing(seed?: number): Initializer[] {
  const given = (seed === undefined ? {} : { seed }) as { seed: number };
  return [
    initializers.randomUniform(given),
    initializers.randomUniform({ minval: 3, maxval: -2, ...given }),
    initializers.randomNormal(given),
    initializers.randomNormal({ mean: 2, stddev: 1.5, ...given }),
    initializers.truncatedNormal(given),
    initializers.truncatedNormal({ mean: -1, stddev: 0.3, ...given }),
    initializers.glorotUniform(given),
    initializers.glorotNormal(given),
    initializers.heUniform(given),
    initializers.heNormal(given),
    initializers.leCunUniform(given),
    initializers.leCunNormal(given),
    initializers.varianceScaling({ scale: 4, mode: 'fanOut', distribution: 'uniform', ...given }),
    initializers.varianceScaling({ scale: 0, mode: 'fanAvg', distribution: 'normal', ...given }),
  ];
}

function fromTfjs(initializer: Initializer, rows: number, columns: number): Float32Array {
  const values = initializer.apply([rows, columns], 'float32') as tf.Tensor;
  try {
    return values.dataSync<'float32'>().slice();
  } finally {
    values.dispose();
  }
}

/** All values, drawn in pieces of many lengths. */
function inPieces(initializer: Initializer, rows: number, columns: number, random: Random): Float32Array {
  const draw = drawnBy(initializer, { rows, columns, name: 'users' })!;
  const values = new Float32Array(rows * columns).fill(NaN);
  for (let at = 0; at < values.length;) {
    const length = Math.min(values.length - at, random.whole(0, 700));
    draw(values.subarray(at, at + length));
    at += length;
  }
  return values;
}

/** The first place where bits differ, or -1; jasmine takes seconds for an array of a million numbers. */
function firstOther(values: Float32Array, wanted: Float32Array): number {
  if (values.length !== wanted.length) return Math.min(values.length, wanted.length);
  const [a, b] = [values, wanted].map((each) => new Int32Array(each.buffer, each.byteOffset, each.length));
  for (let i = 0; i < values.length; i++) if (a![i] !== b![i]) return i;
  return -1;
}

describe('drawnBy', () => {
  beforeEach(async () => {
    await tf.setBackend('cpu');
  });

  it('draws the bits of tfjs, however a table is cut', () => {
    const random = new Random(5);
    for (const seed of SEEDS) {
      const [rows, columns] = [random.whole(1, 900), random.whole(1, 9)];
      for (const initializer of drawing(seed)) {
        const wanted = fromTfjs(initializer, rows, columns);
        expect(firstOther(inPieces(initializer, rows, columns, random), wanted))
          .withContext(`${initializer.getClassName()} ${JSON.stringify(initializer.getConfig())}`)
          .toBe(-1);
      }
    }
  });

  it('draws others each time without a seed, and the same with the seed 0', () => {
    const draw = (initializer: Initializer): string => {
      const values = new Float32Array(8);
      drawnBy(initializer, { rows: 4, columns: 2, name: 'users' })!(values);
      return values.join();
    };
    const isConstant = (initializer: Initializer): boolean => initializer.getConfig()['scale'] === 0;
    for (const each of drawing()) expect(draw(each) === draw(each)).toBe(isConstant(each));
    for (const each of drawing(0)) expect(draw(each)).toBe(draw(each));
  });

  it('keeps a truncated normal within two deviations, whatever their sign', () => {
    const values = new Float32Array(5000);
    drawnBy(initializers.truncatedNormal({ mean: 1, stddev: -0.5, seed: 3 }), { rows: 1, columns: 1, name: 'users' })!(
      values,
    );
    expect(Math.min(...values)).toBeLessThan(0.1);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeGreaterThan(1.9);
    expect(Math.max(...values)).toBeLessThanOrEqual(2);
  });

  it('leaves what it cannot give as tfjs does', () => {
    const misread = { scale: 1, mode: 'fanIn', distribution: 'truncatedNormal' } as const;
    class Mine extends (initializers.zeros().constructor as unknown as new () => Initializer) {
      override apply(shape: number[]): tf.Tensor {
        return tf.ones(shape);
      }
    }
    for (const other of [
      initializers.zeros(),
      initializers.constant({ value: 3 }),
      initializers.identity({}),
      initializers.orthogonal({ seed: 1 } as never),
      initializers.varianceScaling(misread),
      new Mine(),
    ]) {
      expect(drawnBy(other, { rows: 3, columns: 3, name: 'users' })).toBeNull();
    }
  });
});

describeForBackends('tables of stock initializers', () => {
  /** More than one block. */
  const [ROWS, COLUMNS] = [210_000, 5];
  const all = (): Initializer[] => [
    initializers.randomUniform({ seed: 11 }),
    initializers.randomNormal({ seed: 12 }),
    initializers.glorotNormal({ seed: 13 }),
    initializers.constant({ value: -0.7 }),
    initializers.varianceScaling({ scale: 1, mode: 'fanIn', distribution: 'truncatedNormal', seed: 2 }),
  ];

  it('begin with the bits of tfjs', () => {
    expectNoLeak(() => {
      for (const embeddingsInitializer of all()) {
        const layer = emb.layers.embedding({ inputDim: ROWS, outputDim: COLUMNS, embeddingsInitializer });
        (layer.apply([[0]]) as tf.Tensor).dispose();
        const values = layer.getWeights()[0]!.dataSync<'float32'>() as Float32Array;
        const wanted = fromTfjs(embeddingsInitializer, ROWS, COLUMNS);
        expect(firstOther(values, wanted)).withContext(embeddingsInitializer.getClassName()).toBe(-1);
        layer.dispose();
      }
    });
  });

  it('are packed from those', () => {
    expectNoLeak(() => {
      for (const embeddingsInitializer of [...all().slice(0, 2), initializers.zeros()]) {
        const [rows, dim] = [300_000, 4];
        const layer = emb.layers.embedding({
          ...{ inputDim: rows, outputDim: dim, storage: 'float16', seed: 1 },
          embeddingsInitializer,
        });
        (layer.apply([[0]]) as tf.Tensor).dispose();
        tf.tidy(() => {
          const [words] = layer.getWeights();
          const kept = convertedRows(words!, { codec: FLOAT16, dim }, { codec: FLOAT32, dim }, 'kept');
          const wanted = tf.tensor2d(fromTfjs(embeddingsInitializer, rows, dim), [rows, dim]);
          const worst = tf.max(tf.abs(tf.sub(kept, wanted))).dataSync()[0]!;
          // Half a unit in the last of 11 places, of values up to 3.
          expect(worst).toBeLessThanOrEqual(2 ** -10);
          expect(worst > 0).toBe(embeddingsInitializer.getClassName() !== 'Zeros');
        });
        layer.dispose();
      }
    });
  });
});
