/** Products and sums of matrices by our kernels, beside those of tfjs in the same numbers. */
import * as tf from '@tensorflow/tfjs';
import { backendInfo, kernelSet, setKernels } from '../../src/backends/registry.js';
import { perProcess } from '../../src/base/per_process.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';

type Values = ArrayLike<number>;

/** As while a model of this package runs. */
const runs = perProcess('runs of this package', () => ({ depth: 0 }));

/** Each number of a product with the sum of the sizes of its terms, in double. */
function naive(
  [a, b]: readonly [tf.Tensor, tf.Tensor],
  turnA: boolean,
  turnB: boolean,
): { values: number[]; sizes: number[] } {
  const [rowsA, columnsA] = a.shape.slice(-2) as [number, number];
  const [rowsB, columnsB] = b.shape.slice(-2) as [number, number];
  const [m, k, n] = [turnA ? columnsA : rowsA, turnA ? rowsA : columnsA, turnB ? rowsB : columnsB];
  const [x, y] = [a.dataSync() as Values, b.dataSync() as Values];
  const batch = Math.max(x.length / (m * k || 1), y.length / (k * n || 1), 1);
  const [values, sizes]: [number[], number[]] = [[], []];
  for (let item = 0; item < batch; item++) {
    const [ofA, ofB] = [x.length === m * k ? 0 : item * m * k, y.length === k * n ? 0 : item * k * n];
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let [sum, size] = [0, 0];
        for (let p = 0; p < k; p++) {
          const term = x[ofA + (turnA ? p * m + i : i * k + p)]! * y[ofB + (turnB ? j * k + p : p * n + j)]!;
          sum += term;
          size += Math.abs(term);
        }
        values.push(sum);
        sizes.push(size);
      }
    }
  }
  return { values, sizes };
}

function expectProduct(found: tf.Tensor, expected: ReturnType<typeof naive>, context: string): void {
  const values = found.dataSync();
  expect(values.length).withContext(context).toBe(expected.values.length);
  const wrong = Array.from(values).findIndex(
    (value, i) => !(Math.abs(value - expected.values[i]!) <= 1e-6 * expected.sizes[i]!),
  );
  expect(wrong).withContext(`${context}: ${values[wrong]} for ${expected.values[wrong]}`).toBe(-1);
}

describeForBackends(
  'Products of matrices',
  ({ backend }) => {
    let tensors = 0;
    beforeEach(() => {
      runs.depth++;
      tensors = tf.memory().numTensors;
    });
    afterEach(() => {
      runs.depth--;
      expect(tf.memory().numTensors).toBe(tensors);
    });

    it('are left to tfjs where nothing of this package runs', () => {
      if (backend !== 'cpu') return;
      const matMul = spyOn(kernelSet() as unknown as { matMul(): void }, 'matMul').and.callThrough();
      const multiply = (): void => tf.tidy(() => void tf.matMul(tf.ones([2, 3]), tf.ones([2, 3]), true));
      multiply();
      expect(matMul).toHaveBeenCalledTimes(1);
      runs.depth--;
      multiply();
      runs.depth++;
      expect(matMul).toHaveBeenCalledTimes(1);
    });

    it('are told by backendInfo where they run', () => {
      const { kernels } = backendInfo();
      expect(kernels['BatchMatMul']).toEqual(kernels['EmbeddingBag']!);
      if (backend !== 'cpu') return;
      setKernels('reference');
      expect(backendInfo().kernels['BatchMatMul']).toBeUndefined();
      setKernels('native');
    });

    it('are those of plain sums, transposed or not, of batches and of single matrices', () => {
      const random = new Random(3);
      for (let round = 0; round < 120; round++) {
        tf.tidy(() => {
          const size = (): number => random.pick([1, 2, 3, 4, 7, 8, 9, 16, 17, 33, 40]);
          const [m, n, k] = [size(), size(), random.pick([1, 2, 5, 32, 63, 300])];
          const [turnA, turnB] = [random.chance(0.5), random.chance(0.5)];
          const batch = random.pick([[], [1], [3], [2, 2]]);
          const [outerA, outerB] = [random.chance(0.2) ? [] : batch, random.chance(0.2) ? [] : batch];
          const tensor = (outer: number[], rows: number, columns: number): tf.Tensor => {
            const shape = [...outer, rows, columns];
            return tf.tensor(random.floats(tf.util.sizeFromShape(shape)), shape);
          };
          const a = turnA ? tensor(outerA, k, m) : tensor(outerA, m, k);
          const b = turnB ? tensor(outerB, n, k) : tensor(outerB, k, n);
          const what = `[${a.shape}] ${turnA}, [${b.shape}] ${turnB}`;
          const found = tf.matMul(a, b, turnA, turnB);
          const outer = outerA.length > outerB.length ? outerA : outerB;
          expect(found.shape)
            .withContext(what)
            .toEqual([...outer, m, n]);
          expectProduct(found, naive([a, b], turnA, turnB), what);
        });
      }
    });

    it('keep NaN and infinity, and are 0 where there is nothing to sum', () => {
      tf.tidy(() => {
        const a = tf.tensor2d([0, 1, NaN, 0, Infinity, 0], [3, 2]);
        const b = tf.tensor2d([Infinity, 1, 2, 3], [2, 2]);
        for (const turned of [false, true]) {
          const found = tf.matMul(a, turned ? b.transpose<tf.Tensor2D>() : b, false, turned);
          expect(Array.from(found.dataSync())).toEqual([NaN, 3, NaN, NaN, Infinity, Infinity]);
        }
        if (backend === 'cpu') {
          const empty = tf.matMul(tf.zeros([2, 0]), tf.zeros([0, 3]));
          expect(Array.from(empty.dataSync())).toEqual([0, 0, 0, 0, 0, 0]);
        }
      });
    });

    if (backend === 'cpu') {
      it('keep what is no number through relu, and give 0 for what is below', () => {
        tf.tidy(() => {
          for (const size of [1, 5, 40]) {
            const row = Array.from({ length: 3 * size }, (_, i) => [NaN, -1.5, 2][i % 3]!);
            const a = tf.tensor2d([1, 1], [2, 1]);
            const b = tf.tensor2d(row, [1, 3 * size]);
            const found = tf.fused.matMul({ a, b, bias: tf.zeros([3 * size]), activation: 'relu' }).dataSync();
            const expected = row.map((value) => (value < 0 ? 0 : value));
            expect([...found])
              .withContext(`${size}`)
              .toEqual([...expected, ...expected]);
          }
        });
      });
    }

    it('are the same on any number of threads, with a bias and an activation', async () => {
      const { setThreads } = await import('../../src/backends/registry.js');
      tf.tidy(() => {
        const random = new Random(8);
        const a = tf.tensor2d(random.floats(517 * 130), [517, 130]);
        const b = tf.tensor2d(random.floats(130 * 67), [130, 67]);
        const bias = tf.tensor1d(random.floats(67));
        for (const activation of ['linear', 'relu', 'sigmoid', 'elu'] as const) {
          const run = (): Float32Array => tf.fused.matMul({ a, b, bias, activation }).dataSync<'float32'>().slice();
          setThreads(1);
          const one = run();
          setThreads(2);
          expect(run()).withContext(activation).toEqual(one);
          const plain = tf.matMul(a, b).add(bias);
          const applied = { linear: plain, relu: plain.relu(), sigmoid: plain.sigmoid(), elu: plain.elu() }[activation];
          tf.test_util.expectArraysClose(one, applied.dataSync(), 1e-5);
        }
      });
    });

    it('have the gradients of plain ones, and refuse what tfjs refuses', () => {
      tf.tidy(() => {
        const random = new Random(9);
        const a = tf.tensor2d(random.floats(40 * 12), [40, 12]);
        const b = tf.tensor2d(random.floats(12 * 5), [12, 5]);
        const [ofA, ofB] = tf.grads((x: tf.Tensor, y: tf.Tensor) => tf.matMul(x, y).square().sum())([a, b]);
        const twice = tf.matMul(a, b).mul<tf.Tensor2D>(2);
        expectProduct(ofA!, naive([twice, b], false, true), 'of a');
        expectProduct(ofB!, naive([a, twice], true, false), 'of b');
        expect(() => tf.matMul(a, a)).toThrowError(/inner shapes/i);
      });
    });
  },
  ['cpu native', 'wasm'],
);

describeForBackends(
  'Broadcasts',
  () => {
    beforeEach(() => runs.depth++);
    afterEach(() => runs.depth--);

    const OPS = { add: tf.add, sub: tf.sub, mul: tf.mul, div: tf.div };
    const shapes: [number[], number[]][] = [
      [
        [4, 3, 5],
        [4, 3, 1],
      ],
      [
        [4, 3, 1],
        [4, 3, 5],
      ],
      [[6, 5], [5]],
      [[5], [6, 5]],
      [[7, 2], []],
      [[], [7, 2]],
      [
        [1, 4],
        [3, 1],
      ],
      [
        [2, 3, 4],
        [2, 1, 4],
      ],
      [
        [2, 0],
        [1, 1],
      ],
      [
        [3, 4],
        [3, 4],
      ],
      [[1, 1], [1]],
    ];
    for (const [name, op] of Object.entries(OPS)) {
      it(`${name} gives each number that of its own place`, () => {
        const before = tf.memory().numTensors;
        tf.tidy(() => {
          const random = new Random(4);
          for (const [ofA, ofB] of shapes) {
            const draw = (shape: number[]): tf.Tensor => tf.tensor(random.floats(tf.util.sizeFromShape(shape)), shape);
            const [a, b] = [draw(ofA), draw(ofB)];
            const found = op(a, b);
            const tiled = tf.broadcast_util.assertAndGetBroadcastShape(ofA, ofB);
            // tile, not broadcast: both sides are then as large as the result, and tfjs goes straight through them.
            const expected = op(tf.broadcastTo(a, tiled), tf.broadcastTo(b, tiled));
            expect(found.shape).toEqual(tiled);
            expect(found.dataSync()).withContext(`[${ofA}] [${ofB}]`).toEqual(expected.dataSync());
          }
        });
        expect(tf.memory().numTensors).toBe(before);
      });
    }

    it('leave other types to tfjs', () => {
      tf.tidy(() => {
        const sum = tf.tensor2d([1, 2, 3, 4], [2, 2], 'int32').add(tf.tensor1d([1, 1], 'int32'));
        expect(sum.dtype).toBe('int32');
        expect(Array.from(sum.dataSync())).toEqual([2, 3, 4, 5]);
        setKernels('reference');
        expect(Array.from(tf.matMul(tf.ones([1, 2]), tf.ones([2, 1])).dataSync())).toEqual([2]);
        setKernels('native');
      });
    });
  },
  ['cpu native'],
);
