/** Stock ops and stock optimizers on tables that lie on devices: what they give for a tensor of the host. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/index.js';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';
import { HOSTS, describeEmulator, emulator } from './describe_emulator.js';
import { LAYOUT_NAMES, layoutOf, numbersOf, place } from './tables.js';

const SIZE = { rows: 6, columns: 4 };
const VALUES = new Random(11).floats(24);

type Op = (x: tf.Tensor2D) => tf.Tensor | tf.Tensor[];

const OPS: Readonly<Record<string, Op>> = {
  gather: (x) => x.gather(tf.tensor1d([5, 0, 0], 'int32')),
  'gather columns': (x) => x.gather(tf.tensor1d([3, 1], 'int32'), 1),
  gatherND: (x) => tf.gatherND(x, tf.tensor2d([[1, 2], [5, 0]], [2, 2], 'int32')), // prettier-ignore
  matMul: (x) => [x.matMul(tf.ones([4, 2])), tf.matMul(tf.ones([2, 6]), x), tf.matMul(x, x, false, true)],
  dot: (x) => x.dot(tf.tensor1d([1, 2, 3, 4])),
  'fused matMul': (x) =>
    tf.fused.matMul({ a: tf.ones([3, 6]), b: x, bias: tf.tensor1d([1, 2, 3, 4]), activation: 'relu' }),
  'fused matMul with a bias that is a row': (x) =>
    tf.fused.matMul({ a: x, b: tf.ones([4, 4]), bias: x.slice([1, 0], [1, 4]).flatten() }),
  concat: (x) => [tf.concat([x, x]), tf.concat([tf.ones([6, 1]), x, tf.zeros([6, 2])], 1)],
  stack: (x) => [tf.stack([x, tf.ones([6, 4]), x]), tf.stack([x], 2)],
  unstack: (x) => tf.unstack(x, 1),
  split: (x) => [...tf.split(x, 3), ...tf.split(x, [1, 3], 1)],
  slice: (x) => x.slice([2, 1], [3, 2]),
  stridedSlice: (x) => tf.stridedSlice(x, [0, 1], [6, 4], [2, 2]),
  reshape: (x) => [x.reshape([2, 12]), x.flatten(), x.expandDims(1), x.reshape([6, 4])],
  cast: (x) => [x.cast('int32'), x.cast('bool'), x.cast('float32')],
  sum: (x) => [
    x.sum(),
    x.sum(0),
    x.sum(1, true),
    x.mean(),
    x.max(1),
    x.min(0),
    x.prod(),
    x.norm(),
    x.norm('euclidean', 1),
  ],
  argMax: (x) => [x.argMax(1), x.argMin(0)],
  binary: (x) => [
    x.add(x),
    x.sub(1),
    x.mul(tf.ones([4])),
    tf.div(1, x),
    x.maximum(0),
    x.squaredDifference(x.neg()),
    x.pow(2),
  ],
  addN: (x) => tf.addN([x, x.neg(), x]),
  'ops with arrays': (x) => [x.add([1, 2, 3, 4]), tf.mul([[2]], x), tf.gather(x, [1, 2], 0)],
  unary: (x) => [
    x.neg(),
    x.abs(),
    x.square(),
    x.sigmoid(),
    x.tanh(),
    x.relu(),
    x.exp(),
    x.clipByValue(-0.5, 0.5),
    x.softmax(),
    x.logSoftmax(),
  ],
  where: (x) => [tf.where(x.greater(0), x, tf.zerosLike(x)), tf.where(x.greater(0).toBool(), tf.ones([6, 4]), x)],
  comparisons: (x) => [x.equal(x), x.greater(0), x.lessEqual(x.mean())],
  transpose: (x) => x.transpose(),
  tile: (x) => [x.tile([2, 1]), tf.broadcastTo(x.expandDims(0), [2, 6, 4])],
  pad: (x) => [x.pad([[1, 0], [0, 2]]), tf.mirrorPad(x, [[1, 1], [0, 0]], 'reflect')], // prettier-ignore
  reverse: (x) => x.reverse(0),
  'conv2d of the table': (x) => tf.conv2d(x.reshape([1, 6, 4, 1]) as tf.Tensor4D, tf.ones([2, 2, 1, 3]), 1, 'same'),
  'conv1d by the table': (x) =>
    tf.conv1d(tf.ones([1, 9, 3]) as tf.Tensor3D, x.reshape([2, 3, 4]) as tf.Tensor3D, 1, 'valid'),
  pool: (x) => [
    tf.maxPool(x.reshape([1, 6, 4, 1]) as tf.Tensor4D, 2, 2, 'same'),
    tf.avgPool(x.reshape([1, 6, 4, 1]) as tf.Tensor4D, 2, 1, 'valid'),
  ],
  einsum: (x) => tf.einsum('ij,ij->i', x, x),
  topk: (x) => { const { values, indices } = tf.topk(x, 2); return [values, indices]; }, // prettier-ignore
  unsortedSegmentSum: (x) => tf.unsortedSegmentSum(x, tf.tensor1d([0, 1, 0, 1, 2, 2], 'int32'), 3),
  scatter: (x) => [tf.scatterND(tf.tensor2d([[5], [4], [3], [2], [1], [0]], [6, 1], 'int32'), x, [7, 4]), tf.tensorScatterUpdate(x, tf.tensor2d([[1]], [1, 1], 'int32'), tf.ones([1, 4]))], // prettier-ignore
  cumsum: (x) => x.cumsum(0),
  zerosLike: (x) => [tf.zerosLike(x), tf.onesLike(x)],
  complex: (x) => [tf.real(tf.complex(x, x)), tf.imag(tf.complex(x, x.neg()))],
  oneHot: (x) => tf.oneHot(x.argMax(1).cast('int32') as tf.Tensor1D, 4),
  logicalAnd: (x) => x.greater(0).logicalAnd(x.less(0.5)),
  'moments and batchNorm': (x) => { const { mean, variance } = tf.moments(x, 0); return [mean, variance, tf.batchNorm(x, mean as never, variance as never)]; }, // prettier-ignore
};

/** Wasm has no kernels for them, or refuses a bias that was reshaped. */
/** What tfjs's wasm backend lacks, and the kernel that others may have registered there. */
const NOT_IN_WASM: Readonly<Record<string, string | null>> = {
  'fused matMul with a bias that is a row': null,
  einsum: tf.Einsum,
  unsortedSegmentSum: tf.UnsortedSegmentSum,
  complex: tf.Complex,
};

/** What an op gives, or the text of its error. */
function attempt(op: Op, x: tf.Tensor2D): tf.Tensor[] | string {
  try {
    return [op(x)].flat();
  } catch (error) {
    return (error as Error).message;
  }
}

describeEmulator(
  'stock ops on tables of 3 devices',
  { chips: 3, coresPerChip: 1 },
  (host) => {
    for (const [name, op] of Object.entries(OPS)) {
      it(`give what they give on the host: ${name}`, () => {
        const random = new Random(1);
        let done = 0;
        for (const layout of LAYOUT_NAMES) {
          tf.tidy(() => {
            const table = place(layoutOf(layout, SIZE, 3, random), VALUES);
            const expected = attempt(op, tf.tensor2d(VALUES.slice(), [6, 4]));
            const onDevices = attempt(op, table as unknown as tf.Tensor2D);
            if (typeof expected === 'string' || typeof onDevices === 'string') {
              expect(onDevices).withContext('what the host cannot do').toEqual(expected);
              table.dispose();
              return;
            }
            done++;
            expect(onDevices.length).toBe(expected.length);
            onDevices.forEach((tensor, i) => {
              expect([tensor.dtype, ...tensor.shape]).toEqual([expected[i]!.dtype, ...expected[i]!.shape]);
              expect(numbersOf(tensor)).withContext(`${layout} ${i}`).toEqual(numbersOf(expected[i]!));
            });
            expect(numbersOf(table)).toEqual([...VALUES]);
            expect(emulator().layoutOf(table as unknown as tf.Tensor))
              .withContext('the table stays')
              .not.toBeNull();
            table.dispose();
          });
        }
        const kernel = NOT_IN_WASM[name];
        const missing =
          host === 'wasm' && kernel !== undefined && (kernel === null || tf.getKernel(kernel, 'wasm') === undefined);
        expect(done).toBe(missing ? 0 : LAYOUT_NAMES.length);
      });
    }

    it('leave no tensor and no memory behind when they fail', () => {
      const table = place(layoutOf('range', SIZE, 3, new Random(1)), VALUES);
      const before = tf.memory();
      const run = (): tf.Tensor => tf.tidy(() => tf.matMul(table as unknown as tf.Tensor2D, tf.ones([5, 2])));
      expect(run).toThrowError();
      expect(tf.memory().numTensors).toBe(before.numTensors);
      expect(tf.memory().numDataBuffers).toBe(before.numDataBuffers);
      table.dispose();
    });

    it('leave no local copy behind outside a tidy', () => {
      const table = place(layoutOf('columns', SIZE, 3, new Random(1)), VALUES);
      const before = tf.memory();
      for (const run of [
        (x: tf.Tensor) => x.add(1),
        (x: tf.Tensor) => x.reshape([24]),
        (x: tf.Tensor) => x.slice([0, 0]),
      ]) {
        const result = run(table as unknown as tf.Tensor);
        expect(tf.memory().numTensors).toBe(before.numTensors + 1);
        expect(tf.memory().numDataBuffers).toBe(before.numDataBuffers + 1);
        result.dispose();
        expect(tf.memory().numDataBuffers).toBe(before.numDataBuffers);
      }
      table.dispose();
    });

    it('leave the counts of tfjs as they were', () => {
      const table = place(layoutOf('modulo', SIZE, 3, new Random(1)), VALUES);
      const before = tf.memory();
      for (const op of Object.values(OPS)) tf.tidy(() => void attempt(op, table as unknown as tf.Tensor2D));
      const after = tf.memory();
      expect([after.numTensors, after.numDataBuffers, after.numBytes]).toEqual([
        before.numTensors,
        before.numDataBuffers,
        before.numBytes,
      ]);
      table.dispose();
    });

    it('give gradients through a table', () => {
      for (const layout of LAYOUT_NAMES) {
        tf.tidy(() => {
          const table = place(layoutOf(layout, SIZE, 3, new Random(2)), VALUES) as unknown as tf.Tensor2D;
          const plain = tf.tensor2d(VALUES, [6, 4]);
          const losses: ((x: tf.Tensor) => tf.Tensor)[] = [
            // The gradient of gather needs a kernel that wasm lacks.
            ...(host === 'wasm'
              ? []
              : [
                  (x: tf.Tensor) =>
                    x
                      .gather(tf.tensor1d([1, 1, 4], 'int32'))
                      .square()
                      .sum(),
                ]),
            (x) =>
              tf
                .matMul(tf.ones([2, 6]), x as tf.Tensor2D)
                .sigmoid()
                .sum(),
            (x) =>
              tf
                .concat([x, x.mul(2)], 1)
                .square()
                .mean(),
            (x) =>
              emb.ops
                .embeddingBag(x as tf.Tensor2D, [1, 5, 1], [0, 2, 3], { combiner: 'mean' })
                .square()
                .sum(),
          ];
          for (const loss of losses) {
            expectClose(tf.grad(loss)(table).dataSync(), tf.grad(loss)(plain).dataSync(), 1, layout);
          }
          table.dispose();
        });
      }
    });

    for (const optimizer of ['stock', 'emb'] as const) {
      it(`train a table that is also the last layer's weight: ${optimizer} optimizer`, () => {
        const ids = [1, 4, 4, 0];
        const finals = [...LAYOUT_NAMES, null].map((layout) => {
          const tensors = tf.memory().numTensors;
          const table =
            layout === null
              ? tf.tidy(() => tf.variable(tf.tensor2d(VALUES, [6, 4])) as unknown as tf.Variable)
              : place(layoutOf(layout, SIZE, 3, new Random(3)), VALUES);
          const made = optimizer === 'stock' ? tf.train.sgd(0.5) : emb.train.adagrad({ learningRate: 0.5 });
          for (let i = 0; i < 3; i++) {
            made.minimize(
              () => {
                const rows = emb.ops.embeddingBag(table, ids, [0, 2, 4], { combiner: 'sum' });
                return tf
                  .matMul(rows, table as unknown as tf.Tensor2D, false, true)
                  .square()
                  .mean() as tf.Scalar;
              },
              false,
              [table],
            );
          }
          const values = numbersOf(table);
          made.dispose();
          table.dispose();
          expect(tf.memory().numTensors).withContext(String(layout)).toBe(tensors);
          return values;
        });
        const expected = finals.pop()!;
        expect(expected[0]).not.toBe(VALUES[0]!);
        for (const values of finals) expectClose(values, expected, 4);
      });
    }
  },
  HOSTS,
);
