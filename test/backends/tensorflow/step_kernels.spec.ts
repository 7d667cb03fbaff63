/** Ops of a step beside lookups: each against the stock ops that it stands for. */
import * as tf from '@tensorflow/tfjs';
import { STEP_OPS } from '../../../src/backends/tensorflow/step_kernels.js';
import { TensorFlowTables } from '../../../src/backends/tensorflow/tensorflow_tables.js';
import { FLOAT16 } from '../../../src/codecs/float16.js';
import { INT8 } from '../../../src/codecs/int8.js';
import { currentBackend } from '../../../src/backends/registry.js';
import { ValueError } from '../../../src/base/errors.js';
import { unmaskedIds } from '../../../src/layers/embedding/feature_lookup.js';
import { Random } from '../../helpers/random.js';
import { describeTensorFlow } from './tensorflow_backend.js';
import { tableOf } from '../../../src/backends/table.js';

const HYPER = Float32Array.of(0.1, 0.9, 0, 0.9, 0.1, 0.999, 0.001, 1e-7);

describeTensorFlow('STEP_OPS', () => {
  const ints = (...ids: number[]): tf.Tensor1D => tf.tensor1d(ids, 'int32');

  it('are offered by the part of the backend, which registers them first', () => {
    expect(currentBackend()).toBeInstanceOf(TensorFlowTables);
    expect(currentBackend().ops).toBe(STEP_OPS);
  });

  describe('touchedRows', () => {
    it('gives distinct ids that name rows, ascending, of all lists', () => {
      tf.tidy(() => {
        const touched = STEP_OPS.touchedRows([ints(4, 0, -1, 4), ints(), ints(5, 2, -7, 100, 0)], 5);
        expect(Array.from(touched.dataSync())).toEqual([0, 2, 4]);
        expect(touched.dtype).toBe('int32');
      });
    });

    it('agrees with a set, for tables much larger and much smaller than the batch', () => {
      const random = new Random(7);
      for (const rows of [1, 63, 64, 65, 1000, 100_000, 50_000_000]) {
        for (const count of [0, 1, 50, 3000]) {
          const ids = Int32Array.from({ length: count }, () => random.whole(-2, rows + 2));
          const expected = [...new Set(ids)].filter((id) => id >= 0 && id < rows).sort((a, b) => a - b);
          tf.tidy(() => {
            const touched = STEP_OPS.touchedRows([tf.tensor1d(ids, 'int32')], rows);
            expect(Array.from(touched.dataSync())).withContext(`${count} ids, ${rows} rows`).toEqual(expected);
          });
        }
      }
    });
  });

  it('touchedRows names a row once that comes again, whether rows are marked or ids sorted', () => {
    const ids = [7, 3, 7, 7, -1, 2 ** 20, 3, 40, 2 ** 20, 3];
    for (const [rows, expected] of [
      [50, [3, 7, 40]],
      [2 ** 20 + 1, [3, 7, 40, 2 ** 20]],
      [2 ** 31 - 1, [3, 7, 40, 2 ** 20]],
    ] as const) {
      tf.tidy(() => {
        const touched = STEP_OPS.touchedRows([ints(...ids), ints(40, 3)], rows);
        expect(Array.from(touched.dataSync()))
          .withContext(`${rows} rows`)
          .toEqual([...expected]);
      });
    }
  });

  describe('presentIds', () => {
    it('agrees with the plain function for bags of any length', () => {
      const random = new Random(11);
      for (let round = 0; round < 60; round++) {
        const splits = [0];
        for (let bag = random.whole(0, 9); bag > 0; bag--) splits.push(splits.at(-1)! + random.whole(0, 6));
        const ids = Int32Array.from({ length: splits.at(-1)! }, () => random.whole(-2, 4));
        const skip = { zero: random.chance(0.5), negative: random.chance(0.5) };
        const expected = unmaskedIds(ids, Int32Array.from(splits), skip);
        tf.tidy(() => {
          const { values, rowSplits } = STEP_OPS.presentIds(tf.tensor1d(ids, 'int32'), ints(...splits), skip);
          expect(Array.from(values.dataSync())).toEqual(Array.from(expected.values));
          expect(Array.from(rowSplits.dataSync())).toEqual(Array.from(expected.rowSplits));
        });
      }
    });

    it('refuses splits that do not start at 0, fall, or end elsewhere than the ids', () => {
      const skip = { zero: true, negative: true };
      tf.tidy(() => {
        for (const splits of [[1, 3], [0, 2, 1, 3], [0, 2], [0, 4], [0, -1, 3], []]) {
          expect(() => STEP_OPS.presentIds(ints(1, 2, 3), ints(...splits), skip))
            .withContext(splits.join())
            .toThrowError(/row_splits/);
        }
      });
    });
  });

  describe('presentWeights and spreadWeights', () => {
    it('agree with the plain function, there and back', () => {
      const random = new Random(12);
      for (let round = 0; round < 60; round++) {
        const ids = Int32Array.from({ length: random.whole(0, 12) }, () => random.whole(-2, 4));
        const skip = { zero: random.chance(0.5), negative: random.chance(0.5) };
        const { positions } = unmaskedIds(ids, Int32Array.of(0, ids.length), skip);
        const kept = Array.from(positions ?? ids.keys());
        tf.tidy(() => {
          const of = tf.tensor1d(ids, 'int32');
          const weights = tf.tensor1d(random.floats(ids.length));
          const present = STEP_OPS.presentWeights(of, weights, skip);
          const all = Array.from(weights.dataSync());
          expect(Array.from(present.dataSync())).toEqual(kept.map((at) => all[at]!));
          const spread = STEP_OPS.spreadWeights(of, present, skip);
          expect(Array.from(spread.dataSync())).toEqual(all.map((weight, at) => (kept.includes(at) ? weight : 0)));
        });
      }
    });

    it('refuse other numbers than there are ids, or ids that count', () => {
      const skip = { zero: true, negative: true };
      tf.tidy(() => {
        const two = tf.tensor1d([1, 2]);
        expect(() => STEP_OPS.presentWeights(ints(1, 0, 3), two, skip)).toThrowError(ValueError, /weights.*3.*2/);
        expect(Array.from(STEP_OPS.spreadWeights(ints(1, 0, 3), two, skip).dataSync())).toEqual([1, 0, 2]);
        expect(() => STEP_OPS.spreadWeights(ints(1, -1, 0), two, skip)).toThrowError(ValueError, /present.*1.*2/);
      });
    });
  });

  it('checkWeights refuses NaN of either sign, wherever it is, and nothing else', () => {
    tf.tidy(() => {
      const weights = Float32Array.of(0, -0, Infinity, -Infinity, 1e-45, -3.4e38);
      expect(() => STEP_OPS.checkWeights(tf.tensor2d(weights, [2, 3]))).not.toThrow();
      expect(() => STEP_OPS.checkWeights(tf.zeros([0]))).not.toThrow();
      for (const [at, bits] of [0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x7fffffff].entries()) {
        const bad = weights.slice();
        new Uint32Array(bad.buffer)[at] = bits;
        expect(() => STEP_OPS.checkWeights(tf.tensor1d(bad)))
          .withContext(bits.toString(16))
          .toThrowError(ValueError, new RegExp(`weights.*NaN at position ${at}`));
      }
    });
  });

  describe('featureRows', () => {
    it('gives the rows of ids, feature by feature', () => {
      tf.tidy(() => {
        const rows = STEP_OPS.featureRows(ints(0, 0, 0, 2, 4, 0), Int32Array.of(3, 5, 1));
        expect(Array.from(rows.dataSync())).toEqual([0, 3, 8, 2, 7, 8]);
        expect(rows.dtype).toBe('int32');
        expect(STEP_OPS.featureRows(ints(), Int32Array.of(3)).size).toBe(0);
      });
    });

    it('refuses ids outside of their features, ids without a feature, and impossible sizes', () => {
      tf.tidy(() => {
        for (const [ids, sizes, message] of [
          [[0, 5], [3, 5], /\[0, 5\) for feature 1, received 5/],
          [[-1, 0], [3, 5], /\[0, 3\) for feature 0, received -1/],
          [[0, 1, 2], [3, 5], /one per feature \(2\)/],
          [[0], [], /one per feature \(0\)/],
          [[0, 0], [3, 0], /sizes/],
          [[0, 0], [2 ** 31 - 1, 1], /sizes/],
        ] as const) {
          expect(() => STEP_OPS.featureRows(ints(...ids), Int32Array.from(sizes)))
            .withContext(`${ids.join()} of ${sizes.join()}`)
            .toThrowError(ValueError, message);
        }
      });
    });
  });

  it('singleSplits counts from 0 to the number of ids', () => {
    tf.tidy(() => {
      expect(Array.from(STEP_OPS.singleSplits(ints(7, 7, 1)).dataSync())).toEqual([0, 1, 2, 3]);
      expect(Array.from(STEP_OPS.singleSplits(ints()).dataSync())).toEqual([0]);
    });
  });

  for (const { l1, l2 } of [
    { l1: 0, l2: 0.5 },
    { l1: 0.25, l2: 0 },
    { l1: 0.125, l2: 0.75 },
  ]) {
    it(`rowPenalty and its gradient are those of the stock regularizer over the rows: l1 ${l1}, l2 ${l2}`, () => {
      const random = new Random(3);
      const values = random.floats(20 * 5);
      values.fill(0, 10, 14);
      const table = tf.tidy(() => tf.variable(tf.tensor2d(values, [20, 5])));
      tf.tidy(() => {
        const ids = ints(1, 2, 7, 19);
        const rows = tf.gather(table as unknown as tf.Tensor2D, ids);
        const upstream = tf.scalar(1.5);
        const stock = (x: tf.Tensor): tf.Scalar =>
          tf.regularizers.l1l2({ l1, l2 }).apply(x).mul(upstream) as unknown as tf.Scalar;
        const { value, grad } = tf.valueAndGrad(stock)(rows);
        const factors = Float32Array.of(l1, l2);
        const penalty = STEP_OPS.rowPenalty(tableOf(table), ids, factors).dataSync()[0]!;
        expect(Math.abs(penalty * 1.5 - value.dataSync()[0]!)).toBeLessThan(1e-6 * (1 + penalty));
        const gradient = STEP_OPS.rowPenaltyGradient(tableOf(table), ids, factors, upstream);
        expect(gradient.shape).toEqual([4, 5]);
        expect(gradient.dataSync()).toEqual(grad.dataSync() as Float32Array);
      });
      table.dispose();
    });
  }

  for (const dim of [1, 2, 5, 16]) {
    it(`rowPenalty and its gradient are the same for rows of float16 as for their numbers, ${dim} columns`, () => {
      const random = new Random(8);
      const numbers = random.floats(9 * dim).map((value, i) => (i % 7 === 0 ? value * 1e-6 : value));
      const words = new Int32Array(9 * FLOAT16.words(dim));
      FLOAT16.pack(numbers, dim, words);
      const [packed, plain] = tf.tidy(() => [
        tf.variable(tf.tensor2d(words, [9, FLOAT16.words(dim)], 'int32')),
        tf.variable(tf.tensor2d(FLOAT16.unpack(words, dim), [9, dim])),
      ]);
      tableOf(packed!).setForm({ codec: FLOAT16, dim });
      tf.tidy(() => {
        const [ids, factors, upstream] = [ints(0, 3, 8), Float32Array.of(0.25, 0.5), tf.scalar(1.5)];
        const of = (table: tf.Variable): Float32Array[] => [
          STEP_OPS.rowPenalty(tableOf(table), ids, factors).dataSync<'float32'>(),
          STEP_OPS.rowPenaltyGradient(tableOf(table), ids, factors, upstream).dataSync<'float32'>(),
        ];
        expect(of(packed!)).toEqual(of(plain!));
        expect(() => STEP_OPS.rowPenalty(tableOf(packed!), ints(9), factors)).toThrowError(/values\[0\] = 9/);
        tableOf(packed!).setForm({ codec: FLOAT16, dim: dim + 2 });
        expect(() => STEP_OPS.rowPenalty(tableOf(packed!), ids, factors)).toThrowError(ValueError, /table.*words/);
        tableOf(packed!).setForm({ codec: INT8, dim });
        expect(() => STEP_OPS.rowPenalty(tableOf(packed!), ids, factors)).toThrowError(ValueError, /storage/);
      });
      tf.dispose([packed!, plain!]);
    });
  }

  it('rowPenalty refuses ids that name no row, and factors that are not two', () => {
    const table = tf.tidy(() => tf.variable(tf.ones([3, 2])));
    tf.tidy(() => {
      expect(() => STEP_OPS.rowPenalty(tableOf(table), ints(0, 3), Float32Array.of(1, 1))).toThrowError(
        /values\[1\] = 3/,
      );
      const one = tf.scalar(1);
      expect(() => STEP_OPS.rowPenaltyGradient(tableOf(table), ints(-1), Float32Array.of(1, 1), one)).toThrowError(
        /= -1/,
      );
      expect(() => STEP_OPS.rowPenalty(tableOf(table), ints(0), Float32Array.of(1))).toThrowError(
        ValueError,
        /factors/,
      );
    });
    table.dispose();
  });

  describe('dropout', () => {
    const seed = (a: number, b = 0): Int32Array => Int32Array.of(a, b);
    const rate = (share: number): Float32Array => Float32Array.of(share);

    it('drops about its share, scales the rest, and keeps the same elements for the same seed', () => {
      tf.tidy(() => {
        const x = tf.ones([100, 1000]);
        for (const share of [0.1, 0.5, 0.9]) {
          const y = STEP_OPS.dropout(x, rate(share), seed(5)).dataSync();
          const dropped = y.filter((each) => each === 0).length / y.length;
          expect(Math.abs(dropped - share))
            .withContext(`share ${share}`)
            .toBeLessThan(0.005);
          const scaled = Math.fround(1 / Math.fround(1 - Math.fround(share)));
          expect([...new Set(y)].sort()).toEqual([0, scaled]);
          expect(STEP_OPS.dropout(x, rate(share), seed(5)).dataSync()).toEqual(y as Float32Array);
        }
      });
    });

    it('keeps other elements for seeds that differ in either number, in rows and columns without a pattern', () => {
      tf.tidy(() => {
        const x = tf.ones([256, 256]);
        const masks = [seed(1), seed(2), seed(1, 1)].map((each) => STEP_OPS.dropout(x, rate(0.5), each).greater(0));
        for (const [i, mask] of masks.entries()) {
          for (const other of masks.slice(i + 1)) {
            const same = mask.equal(other).mean().dataSync()[0]!;
            expect(Math.abs(same - 0.5)).toBeLessThan(0.02);
          }
          for (const axis of [0, 1]) {
            const shares = mask.toFloat().mean(axis).dataSync();
            expect(Math.max(...shares)).toBeLessThan(0.7);
            expect(Math.min(...shares)).toBeGreaterThan(0.3);
          }
        }
      });
    });

    it('gives all elements at rate 0, and refuses rates outside of [0, 1)', () => {
      tf.tidy(() => {
        const x = tf.tensor1d([1, -2, 3]);
        expect(Array.from(STEP_OPS.dropout(x, rate(0), seed(1)).dataSync())).toEqual([1, -2, 3]);
        for (const share of [1, -0.1, NaN]) {
          expect(() => STEP_OPS.dropout(x, rate(share), seed(1))).toThrowError(ValueError, /rate/);
        }
      });
    });
  });

  describe('denseApply', () => {
    it('refuses gradients and slots of another size, and other numbers than it has', () => {
      const [w, slot] = [[3], [2]].map((shape) => tf.tidy(() => tf.variable(tf.ones(shape))));
      const step = { optimizer: 'sgd', variables: [w!], slots: [], powers: [], hyper: HYPER } as const;
      tf.tidy(() => {
        expect(() => STEP_OPS.denseApply({ ...step, gradients: [tf.ones([2])] })).toThrowError(ValueError, /gradients/);
        const withSlot = { ...step, optimizer: 'adagrad', slots: [[slot!]], gradients: [tf.ones([3])] } as const;
        expect(() => STEP_OPS.denseApply(withSlot)).toThrowError(ValueError, /gradients/);
        const few = { ...step, gradients: [tf.ones([3])], hyper: HYPER.slice(1) };
        expect(() => STEP_OPS.denseApply(few)).toThrowError(ValueError, /hyper/);
      });
      expect(Array.from(w!.dataSync())).toEqual([1, 1, 1]);
      tf.dispose([w!, slot!]);
    });

    it('takes a gradient that is the variable itself, and leaves snapshots as they were', () => {
      const w = tf.tidy(() => tf.variable(tf.tensor1d([1, 2])));
      const before = w.clone();
      const step = {
        optimizer: 'sgd',
        slots: [],
        powers: [],
        hyper: Float32Array.of(0.5, 0, 0, 0, 0, 0, 0, 0),
      } as const;
      STEP_OPS.denseApply({ ...step, variables: [w], gradients: [w] });
      expect(Array.from(w.dataSync())).toEqual([0.5, 1]);
      expect(Array.from(before.dataSync())).toEqual([1, 2]);
      tf.dispose([w, before]);
    });
  });
});
