/**
 * Gradients of TensorArrays: every line of upstream's tests (tensor_array_ops_test.py of TensorFlow 2.21) by its name,
 * and the values that tf.gradients gives.
 *
 * Of upstream's lines these do not apply. GetGradSource and GradYsInCorrectScope: a source is the name scope of a
 * gradient in a graph; here it is an argument, and gradients of tfjs need none. GradGrad of TensorList arrays: lists
 * are another kind; what the V3 kernels do, a refusal, is tested. Of the dtypes float64 and complex128 do not exist
 * in tfjs, and tfjs differentiates real numbers only.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectClose, expectNoLeak } from '../../helpers/tensors.js';

const numbers = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());
const array = (size: number, args: Partial<emb.TensorArrayArgs> = {}): emb.TensorArray =>
  new emb.TensorArray({ size, ...args });
const kept = (size: number, args: Partial<emb.TensorArrayArgs> = {}): emb.TensorArray =>
  array(size, { clearAfterRead: false, ...args });

/** The sum of products, so that `weights` are the gradients that come in. */
function weighed(...terms: readonly (readonly [tf.Tensor, tf.TensorLike])[]): tf.Scalar {
  return tf.addN(terms.map(([value, weights]) => value.mul(tf.tensor(weights, value.shape)).sum())) as tf.Scalar;
}

/** Gradients of `f` with respect to tensors made of `values`, as numbers. */
function gradients(f: (...xs: tf.Tensor[]) => tf.Tensor, ...values: tf.TensorLike[]): number[][] {
  return expectNoLeak(() => {
    const xs = values.map((value) => tf.tensor(value));
    const found = tf.grads(f)(xs);
    const all = found.map(numbers);
    tf.dispose([...xs, ...found]);
    return all;
  });
}

function expectGradients(actual: number[][], ...expected: number[][]): void {
  expect(actual.length).toBe(expected.length);
  expected.forEach((values, i) => expectClose(actual[i]!, values, 0, `gradient ${i}`));
}

const ROWS = [
  [1, 2],
  [3, 4],
  [5, 6],
];

describeForBackends(
  'TensorArray, gradients through tf.grads',
  () => {
    it('GradientWriteRead: single, double and joint gradients', () => {
      const build = (a: tf.Tensor, b: tf.Tensor): emb.TensorArray => kept(3).write(0, a).write(1, b);
      const [a, b] = [[[4, 5]], 3];
      const once = gradients((x, y) => weighed([build(x, y).read(0), [2, 3]]), a, b);
      expectGradients(once, [2, 3], [0]);
      const twice = (x: tf.Tensor, y: tf.Tensor): tf.Scalar => {
        const ta = build(x, y);
        return weighed([ta.read(0), [2, 3]], [ta.read(0), [1, -1]]);
      };
      expectGradients(gradients(twice, a, b), [3, 2], [0]);
      const joint = (x: tf.Tensor, y: tf.Tensor): tf.Scalar => {
        const ta = build(x, y);
        return weighed([ta.read(0), [2, 3]], [ta.read(0), [1, -1]], [ta.read(1), [-2]]);
      };
      expectGradients(gradients(joint, a, b), [3, 2], [-2]);
    });

    it('values before the last one that was written, and never read, have zeros too', () => {
      const f = (a: tf.Tensor, b: tf.Tensor, c: tf.Tensor): tf.Scalar => {
        const ta = kept(3).write(0, a).write(1, b).write(2, c);
        return weighed([ta.read(2), [2, 3]]);
      };
      expectGradients(gradients(f, [4, 5], 3, [6, 7]), [0, 0], [0], [2, 3]);
    });

    it('what was written before the tape began is a constant on it', () => {
      const ta = kept(1).write(0, [4, 5]);
      const f = (x: tf.Tensor): tf.Scalar => tf.tidy(() => ta.read(0).mul(x).sum());
      expectGradients(gradients(f, [1, 1]), [4, 5]);
      ta.close();
    });

    it('GradientWritePackConcatAndRead: gradients of stack, read and concat add', () => {
      const f = (a: tf.Tensor, b: tf.Tensor): tf.Scalar => {
        const ta = kept(2).write(0, a).write(1, b);
        return weighed([ta.stack(), [2, 3, 4, 5]], [ta.read(0), [-0.5, 1.5]], [ta.concat().value, [20, 30, 40, 50]]);
      };
      expectGradients(gradients(f, [-1, 1], [-10, 10]), [21.5, 34.5], [44, 55]);
    });

    it('GradientUnpackRead: repeated reads add', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const ta = kept(2).unstack(x);
        return weighed([ta.read(0), [2, 3]], [ta.read(0), [-1.5, 1.5]], [ta.read(1), [4, 5]]);
      };
      expectGradients(
        gradients(f, [
          [1, -1],
          [10, -10],
        ]),
        [0.5, 4.5, 4, 5],
      );
    });

    it('GradientDynamicUnpackRead: a dynamic array that unstack makes longer', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const ta = array(0, { dynamicSize: true }).unstack(x);
        return weighed([ta.read(0), [2, 3]], [ta.read(1), [4, 5]]);
      };
      expectGradients(
        gradients(f, [
          [1, -1],
          [10, -10],
        ]),
        [2, 3, 4, 5],
      );
    });

    it('GradientSplitConcat: pieces of different lengths', () => {
      const f = (x: tf.Tensor): tf.Scalar =>
        weighed([array(2).split(x, [2, 1]).concat().value, [2, -2, 20, -20, 200, -200]]);
      expectGradients(
        gradients(f, [
          [1, -1],
          [10, -10],
          [100, -100],
        ]),
        [2, -2, 20, -20, 200, -200],
      );
    });

    it('UnpackDynamic: a write after unstack makes the array longer', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const stacked = array(3, { dynamicSize: true }).unstack(x).write(3, 4).stack();
        expect(numbers(stacked)).toEqual([1, 2, 3, 4]);
        return weighed([stacked, [1, 1, 1, 1]]);
      };
      expectGradients(gradients(f, [1, 2, 3]), [1, 1, 1]);
    });

    it('SplitDynamic: a write after split makes the array longer', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const { value } = array(3, { dynamicSize: true }).split(x, [1, 1, 1]).write(3, [4]).concat();
        expect(numbers(value)).toEqual([1, 2, 3, 4]);
        return weighed([value, [1, 1, 1, 1]]);
      };
      expectGradients(gradients(f, [1, 2, 3]), [1, 1, 1]);
    });

    for (const dynamicSize of [false, true]) {
      it(`WhileLoopWritePackGradients, ${dynamicSize ? 'dynamic' : 'static'}`, () => {
        const f = (v: tf.Tensor, state: tf.Tensor, bias: tf.Tensor): tf.Scalar => {
          const ta = array(dynamicSize ? 0 : 3, { dynamicSize });
          const rows = tf.unstack(v);
          let last = state;
          for (let t = 0; t < 3; t++) {
            ta.write(t, tf.addN([rows[t]!, last, bias]));
            last = rows[t]!;
          }
          return weighed([ta.stack(), [1, 2, 3, 4, 5, 6]]);
        };
        expectGradients(gradients(f, ROWS, [1, 1], [7, 8]), [4, 6, 8, 10, 5, 6], [1, 2], [9, 12]);
      });
    }

    it('GradSerialTwoLoops: 1 + 2 + 4 + 8 + 16 = 31', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const ta = kept(100, { elementShape: [] });
        for (let i = 0; i < 5; i++) ta.write(i, i === 0 ? x : ta.read(i - 1).mul(2));
        let sum: tf.Tensor = tf.scalar(0);
        for (let i = 0; i < 5; i++) sum = sum.add(ta.read(i));
        return sum as tf.Scalar;
      };
      expectGradients(gradients(f, 2), [31]);
    });

    it('SumOfTwoReadVariablesWithoutRepeatGrad: each value gets its gradient once', () => {
      const f = (a: tf.Tensor, b: tf.Tensor): tf.Scalar => {
        const ta = kept(2).write(0, a).write(1, b);
        return weighed([ta.read(0).add(ta.read(1)), [-1, -2, -3, -4, -5, -6]]);
      };
      expectGradients(gradients(f, ROWS, ROWS), [-1, -2, -3, -4, -5, -6], [-1, -2, -3, -4, -5, -6]);
    });

    it('GradientWhenNotAllComponentsRead: [1, 0]', () => {
      expectGradients(
        gradients((x) => array(2).unstack(x).read(0), [2, 3]),
        [1, 0],
      );
    });

    it('WriteButNotAllComponentsReadGrad: 1 and 0', () => {
      expectGradients(
        gradients((a, b) => array(2).write(0, a).write(1, b).read(0), 5, 10),
        [1],
        [0],
      );
    });

    it('ScatterReadAndGradients', () => {
      const f = (x: tf.Tensor): tf.Scalar => {
        const ta = array(0, { dynamicSize: true }).scatter([1, 8], x);
        return weighed([ta.read(1), [2, 3]], [ta.read(8), [4, 5]]);
      };
      expectGradients(
        gradients(f, [
          [1, -1],
          [10, -10],
        ]),
        [2, 3, 4, 5],
      );
    });

    it('ScatterPartialReadAndGradients: rows that nobody read have zeros', () => {
      const f = (x: tf.Tensor): tf.Scalar =>
        weighed([array(0, { dynamicSize: true }).scatter([1, 8], x).read(8), [4, 5]]);
      expectGradients(
        gradients(f, [
          [1, -1],
          [10, -10],
        ]),
        [0, 0, 4, 5],
      );
    });

    it('WriteGatherAndGradients: 8 of 10 rows have zeros', () => {
      const f = (x: tf.Tensor): tf.Scalar =>
        weighed([array(0, { dynamicSize: true }).unstack(x).gather([1, 8]), [2, 3, 4, 5]]);
      const expected = new Array<number>(20).fill(0);
      expected.splice(2, 2, 2, 3);
      expected.splice(16, 2, 4, 5);
      expectGradients(
        gradients(
          f,
          tf.util.createShuffledIndices(10).reduce<number[][]>((rows, i) => [...rows, [i, -i]], []),
        ),
        expected,
      );
    });

    it('unstack and reads of one row, in products', () => {
      const f = (x: tf.Tensor): tf.Tensor => {
        const ta = kept(3).unstack(x);
        return ta
          .read(0)
          .mul(2)
          .add(ta.read(2).mul(3).mul(ta.read(2)))
          .add(ta.read(0));
      };
      expectGradients(gradients(f, ROWS), [3, 3, 0, 0, 30, 36]);
    });

    it('scatter then stack in another order', () => {
      const f = (x: tf.Tensor): tf.Scalar => weighed([array(3).scatter([2, 0, 1], x).stack(), [1, 2, 3, 4, 5, 6]]);
      expectGradients(gradients(f, ROWS), [5, 6, 1, 2, 3, 4]);
    });

    it('split and concat with a zero length', () => {
      const f = (x: tf.Tensor): tf.Scalar => weighed([array(3).split(x, [2, 0, 4]).concat().value, [1, 2, 3, 4, 5, 6]]);
      expectGradients(gradients(f, [[0], [1], [2], [3], [4], [5]]), [1, 2, 3, 4, 5, 6]);
    });

    it('a second gradient of the same values is not doubled', () => {
      const f = (x: tf.Tensor): tf.Tensor => kept(3).unstack(x).stack().pow(tf.scalar(3, 'int32')).sum();
      for (let i = 0; i < 2; i++) expectGradients(gradients(f, ROWS), [3, 12, 27, 48, 75, 108]);
    });

    it('a dynamic array written in a loop: cumulative products', () => {
      const f = (x: tf.Tensor, start: tf.Tensor): tf.Tensor => {
        const ta = array(0, { dynamicSize: true, elementShape: [1] });
        tf.unstack(x).reduce((state, row, i) => {
          const next = state.mul(row);
          ta.write(i, next);
          return next;
        }, start);
        return ta.stack();
      };
      expectGradients(gradients(f, [[1], [3], [5]], [1]), [19, 6, 3], [19]);
    });

    it('second derivatives', () => {
      const cube = (x: tf.Tensor): tf.Tensor => {
        const ta = kept(1).write(0, x);
        return ta.read(0).mul(ta.read(0)).mul(ta.read(0));
      };
      expectGradients(
        gradients((x) => tf.grad((y) => cube(y))(x), [2, 3]),
        [12, 18],
      );
    });

    it('variableGrads, with an array that lives on', () => {
      expectNoLeak(() => {
        const w = tf.tidy(() => tf.variable(tf.tensor1d([1, 2, 3])));
        const ta = new emb.TensorArray({ size: 3 });
        const { value, grads } = tf.variableGrads(() => ta.unstack(w.square()).gather([0, 2]).sum() as tf.Scalar);
        expectClose(numbers(grads[w.name]!), [2, 0, 6]);
        ta.close();
        tf.dispose([value, w, ...Object.values(grads)]);
      });
    });

    it('are there of arrays of one row, and of one piece', () => {
      const row = (x: tf.Tensor): tf.Tensor => weighed([array(1).unstack(x).read(0), [2, 3]]);
      expectGradients(gradients(row, [[1, 2]]), [2, 3]);
      const scattered = (x: tf.Tensor): tf.Tensor => weighed([array(1).scatter([0], x).stack(), [[2, 3]]]);
      expectGradients(gradients(scattered, [[1, 2]]), [2, 3]);
      const piece = (x: tf.Tensor): tf.Tensor => weighed([array(1).split(x, [2]).read(0), [2, 3, 4, 5]]);
      expectGradients(
        gradients(piece, [
          [1, 2],
          [3, 4],
        ]),
        [2, 3, 4, 5],
      );
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
