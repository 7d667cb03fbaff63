/** TensorArray: arguments, errors, lifetime, and a layer of a model that uses one. Values are in kernels.spec.ts. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { expectError } from '../../helpers/errors.js';
import { expectClose, expectNoLeak, expectNoLeakAsync } from '../../helpers/tensors.js';

const numbers = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());
const wrong = (value: unknown): never => value as never;

/** What a user writes, without the types of the package. */
function made(args: unknown): emb.TensorArray {
  return new emb.TensorArray(wrong(args));
}

const tidily = (body: () => void) => (): void => expectNoLeak(() => tf.tidy(body));

describe('TensorArray, arguments', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('refuses what is no object of arguments, and says how the call is written', () => {
    expectError(() => made(3), 'TypeError', 'args');
    expectError(() => made(undefined), 'TypeError', 'args');
  });

  it('refuses a missing, fractional, negative or textual size', () => {
    expectError(() => made({}), 'TypeError', 'size');
    expectError(() => made({ size: 1.5 }), 'ValueError', 'size', '1.5');
    expectError(() => made({ size: -1 }), 'ValueError', 'size', '-1');
    expectError(() => made({ size: '3' }), 'TypeError', 'size');
  });

  it(
    'takes the size as an int32 scalar',
    tidily(() => expect(made({ size: tf.scalar(2, 'int32') }).size()).toBe(2)),
  );

  it('refuses unknown fields, dtypes, flags, shapes and names', () => {
    expectError(() => made({ size: 1, dynamic_size: true }), 'ValueError', 'dynamic_size');
    expectError(() => made({ size: 1, dtype: 'float16' }), 'ValueError', 'dtype', 'float16');
    expectError(() => made({ size: 1, dtype: 4 }), 'TypeError', 'dtype');
    expectError(() => made({ size: 1, clearAfterRead: 1 }), 'TypeError', 'clearAfterRead');
    expectError(() => made({ size: 1, elementShape: 3 }), 'TypeError', 'elementShape');
    expectError(() => made({ size: 1, elementShape: ['a'] }), 'TypeError', 'elementShape');
    expectError(() => made({ size: 1, elementShape: [-2] }), 'ValueError', 'elementShape');
    expectError(() => made({ size: 1, name: 7 }), 'TypeError', 'name');
  });

  it('reads -1, null and nothing in an element shape as unknown', () => {
    expect(made({ size: 0, elementShape: [-1, null, 2] }).elementShape).toEqual([null, null, 2]);
    expect(made({ size: 0 }).elementShape).toBeNull();
  });

  it('wrong index: whole numbers and int32 scalars only', () => {
    const ta = made({ size: 2 });
    expectError(() => ta.read(wrong('0')), 'TypeError', 'index');
    expectError(() => ta.read(0.5), 'ValueError', 'index', '0.5');
    expectError(() => ta.read(NaN), 'ValueError', 'index');
    tf.tidy(() => {
      expectError(() => ta.read(wrong(tf.scalar(0))), 'TypeError', 'index');
      expectError(() => ta.read(wrong(tf.tensor1d([0], 'int32'))), 'ValueError', 'index');
      expectError(() => ta.write(5, [1]), 'ValueError', 'index', '5');
      expectError(() => ta.gather([7]), 'ValueError', 'index', '7');
      for (const indices of ['0', { 0: 1 }, undefined]) {
        expectError(() => ta.gather(wrong(indices)), 'TypeError', 'indices');
        expectError(() => ta.scatter(wrong(indices), [[1]]), 'TypeError', 'indices');
        expectError(() => ta.split([1, 2], wrong(indices)), 'TypeError', 'lengths');
      }
      expectError(() => ta.gather([0.5]), 'ValueError', 'indices', '0.5');
      expectError(() => ta.write(0, wrong('text')), 'TypeError', 'value', '"text"');
    });
  });

  it('wrong dtype and kind of values', () => {
    const ta = made({ size: 2 });
    expectNoLeak(() =>
      tf.tidy(() => {
        expectError(() => ta.write(0, tf.scalar(1, 'int32')), 'ValueError', 'value', 'dtype int32');
        for (const rows of [3, tf.scalar(3)]) {
          expectError(() => ta.unstack(rows), 'ValueError', 'value', 'shape []');
          expectError(() => ta.scatter([0], rows), 'ValueError', 'value', 'shape []');
          expectError(() => ta.split(rows, [1]), 'ValueError', 'value', 'shape []');
        }
        expectError(() => ta.stack({ elementShape: [3], dtype: 'int32' }), 'ValueError', 'dtype', 'dtype int32');
        expectError(() => ta.concat({ dtype: 'bool' }), 'ValueError', 'dtype', 'dtype bool');
        expectError(() => ta.gather([0], wrong({ axis: 0 })), 'ValueError', 'axis');
        expectError(() => ta.read(0, wrong({ elementShape: [1] })), 'ValueError', 'elementShape');
        expectError(() => ta.unstack(tf.tensor1d([1, 2], 'int32')), 'ValueError', 'value', 'dtype int32');
        expectError(() => ta.read(0, { dtype: 'int32' }), 'ValueError', 'dtype', 'dtype int32');
        expectError(() => ta.read(0, wrong({ shape: [] })), 'ValueError', 'shape');
        expectError(() => ta.write(0, wrong(null)), 'TypeError', 'value');
        expectError(() => ta.split([1, 2], [3, -1]), 'ValueError', 'lengths');
        for (const lengths of [[2], [1, 1, 0]]) expectError(() => ta.split([1, 2], lengths), 'ValueError', 'lengths', JSON.stringify(lengths).replaceAll(',', ', ')); // prettier-ignore
      }),
    );
  });

  it('unstack of more rows than elements names the value', () => {
    expectNoLeak(() => expectError(() => made({ size: 1 }).unstack([1, 2]), 'ValueError', 'value', 'shape [2]'));
  });

  it(
    'complex numbers are cut into rows and pieces',
    tidily(() => {
      const complex = (): tf.Tensor => tf.complex([[1], [2], [3]], [[4], [5], [6]]);
      const array = (): emb.TensorArray => made({ size: 3, dtype: 'complex64', clearAfterRead: false });
      for (const ta of [
        array().unstack(complex()),
        array().scatter([0, 1, 2], complex()),
        array().split(complex(), [1, 1, 1]),
      ]) {
        expect(numbers(ta.read(1))).toEqual([2, 5]);
      }
      expect(array().split(complex(), [1, 0, 2]).read(1).shape).toEqual([0, 1]);
    }),
  );

  it('handles: anything else is a TypeError', () => {
    const ta = made({ size: 1 });
    expect(emb.tensorArray(ta.handle)).toBe(ta);
    for (const handle of [undefined, null, 3, ta, { name: ta.handle.name }]) {
      expectError(() => emb.tensorArray(wrong(handle)), 'TypeError', 'handle');
      expectError(() => emb.tensorArrayGrad(wrong(handle), 0, 'gradients'), 'TypeError', 'handle');
    }
  });

  it('texts and truths at one index of an array of gradients are not added', () => {
    for (const [dtype, value] of [
      ['string', 'a'],
      ['bool', true],
      ['float32', 1],
    ] as const) {
      expectNoLeak(() =>
        tf.tidy(() => {
          const ta = made({ size: 1, dtype });
          const sums = emb.tensorArray(emb.tensorArrayGrad(ta.handle, ta.flow, 'g').gradHandle);
          const write = (): emb.TensorArray => sums.write(0, tf.scalar(value as number, dtype));
          write();
          if (dtype === 'float32') expect(numbers(write().read(0))).toEqual([2]);
          else expectError(write, 'ValueError', 'value', `a ${dtype} tensor`);
        }),
      );
    }
  });

  it('tensorArrayGrad refuses a missing flow, a flow that is none, and a source that is no string', () => {
    const ta = made({ size: 1 });
    expectError(() => emb.tensorArrayGrad(ta.handle, undefined, 'gradients'), 'TypeError', 'flow');
    tf.tidy(() => {
      expectError(() => emb.tensorArrayGrad(ta.handle, tf.scalar(0, 'int32'), 'g'), 'TypeError', 'flow');
      expectError(() => emb.tensorArrayGrad(ta.handle, tf.zeros([1]), 'g'), 'ValueError', 'flow');
    });
    expectError(() => emb.tensorArrayGrad(ta.handle, 0, wrong(undefined)), 'TypeError', 'source');
  });

  it('tensorArrayGradWithShape refuses what is no vector of sizes', () => {
    const ta = made({ size: 1 });
    expectError(() => emb.tensorArrayGradWithShape(ta.handle, 0, wrong(2), 'g'), 'ValueError', 'shapeToPrepend');
    expectError(() => emb.tensorArrayGradWithShape(ta.handle, 0, [-2], 'g'), 'ValueError', 'shapeToPrepend');
    expectError(() => emb.tensorArrayGradWithShape(ta.handle, 0, wrong('2'), 'g'), 'TypeError', 'shapeToPrepend');
  });

  it('errors name the array', () => {
    const ta = made({ size: 1, name: 'visits' }).write(0, 1);
    expectNoLeak(() => {
      try {
        ta.write(0, 1);
        fail('a second write');
      } catch (error) {
        expect((error as Error).message).toMatch(/TensorArray visits_\d+/);
      }
    });
    ta.close();
  });
});

describe("TensorArray, upstream's lines about states", () => {
  it(
    'ReadTwice: only without clearAfterRead',
    tidily(() => {
      const ta = made({ size: 1 }).write(0, [1]);
      ta.read(0);
      expectError(() => ta.read(0), 'ValueError', 'index', 'was cleared when it was read before');
      const kept = made({ size: 1, clearAfterRead: false }).write(0, [1]);
      expect([kept.read(0), kept.read(0)].map(numbers)).toEqual([[1], [1]]);
    }),
  );

  it(
    'EvalEmpty: an empty array has a size and, with an element shape, a stack',
    tidily(() => {
      expect(made({ size: 0 }).size()).toBe(0);
      expect(made({ size: 0, elementShape: [2, 3] }).stack().shape).toEqual([0, 2, 3]);
      expect(made({ size: 0, elementShape: [null, 3] }).concat().value.shape).toEqual([0, 3]);
      expectError(() => made({ size: 0 }).stack(), 'RuntimeError', 'elementShape', '<unknown>');
      expectError(() => made({ size: 0 }).concat(), 'RuntimeError', 'elementShape', '<unknown>');
    }),
  );

  it(
    'EvalEmptyWithDefault: elements that nobody wrote are zeros of the element shape',
    tidily(() => {
      expect(numbers(made({ size: 2, elementShape: [2] }).stack())).toEqual([0, 0, 0, 0]);
      expect(numbers(made({ size: 1, elementShape: [1], dtype: 'int32' }).read(0))).toEqual([0]);
      expect(numbers(made({ size: 1, elementShape: [1], dtype: 'bool' }).read(0))).toEqual([0]);
      expect(
        made({ size: 1, elementShape: [1], dtype: 'string' })
          .read(0)
          .dataSync() as unknown,
      ).toEqual(['']);
    }),
  );

  it(
    'elements that nobody wrote are read once too, where what is read is cleared',
    tidily(() => {
      const ta = made({ size: 3, elementShape: [1] }).write(1, [5]);
      expect(numbers(ta.stack())).toEqual([0, 5, 0]);
      expectError(() => ta.stack(), 'ValueError', 'index', '0, which was cleared');
      expectError(() => ta.read(2), 'ValueError', 'index', '2, which was cleared');
      const kept = made({ size: 2, elementShape: [1], clearAfterRead: false });
      expect([kept.stack(), kept.stack()].map(numbers)).toEqual([
        [0, 0],
        [0, 0],
      ]);
    }),
  );

  it(
    'what is joined has one shape, and what is scattered one index a row: the errors say which',
    tidily(() => {
      const uneven = (): emb.TensorArray =>
        made({ size: 2 })
          .write(0, [[1, 2]])
          .write(1, [[3]]);
      expectError(() => uneven().stack(), 'ValueError', 'indices', '[1,1] at index 1');
      expectError(() => uneven().concat(), 'ValueError', 'elements', '[1] at index 1');
      expectError(() => made({ size: 1 }).write(0, 3).concat(), 'ValueError', 'elements', 'a scalar at index 0');
      expectError(() => made({ size: 2 }).scatter([0], [[1], [2]]), 'ValueError', 'indices', '1');
      expectError(() => made({ size: 2 }).scatter([0, 2], [[1], [2]]), 'ValueError', 'indices', '2');
      expectError(() => made({ size: 2 }).scatter([-1, 1], [[1], [2]]), 'ValueError', 'indices', '-1');
    }),
  );

  it(
    'sizes that are not known are shown as question marks',
    tidily(() => {
      const ta = made({ size: 2, elementShape: [null, 3] });
      expect(() => ta.write(0, [1])).toThrowError(/the element shape \[\?,3\]/);
      expect(() => ta.read(1)).toThrowError(/not fully defined: \[\?,3\]/);
    }),
  );

  it(
    'scatter into existing elements: unwritten ones only',
    tidily(() => {
      const ta = made({ size: 4 }).write(1, [9]);
      ta.scatter([0, 3], [[1], [2]]);
      expectError(() => ta.scatter([2, 1], [[3], [4]]), 'ValueError', 'index', '1, which has been written');
    }),
  );

  it('Close, Size, WriteClose: a closed array answers nothing, and closes again', () => {
    const ta = made({ size: 2 }).write(0, [1]);
    expect(ta.size()).toBe(2);
    ta.close();
    ta.close();
    const calls: (() => unknown)[] = [
      ...[() => ta.size(), () => ta.flow, () => ta.write(1, [1]), () => ta.read(0), () => ta.stack()],
      ...[() => ta.gather([0]), () => ta.concat(), () => ta.scatter([0], [[1]]), () => ta.split([1], [1])],
      ...[() => ta.unstack([1]), () => emb.tensorArrayGrad(ta.handle, 0, 'gradients')],
    ];
    for (const call of calls) expectNoLeak(() => expectError(call, 'ValueError', 'handle', 'which is closed'));
  });
});

describe('TensorArray, lifetime of elements', () => {
  it('close frees what was written, read, summed, and the flow', () => {
    expectNoLeak(() => {
      const ta = made({ size: 3, multipleWritesAggregate: true }).write(0, [1]).write(0, [2]).write(1, [3]);
      tf.dispose([ta.flow, ta.flow, ta.read(1)]);
      const { gradHandle } = emb.tensorArrayGrad(made({ size: 1 }).handle, ta.flow, 'gradients');
      emb.tensorArray(gradHandle).write(0, [1]).close();
      ta.close();
    });
  });

  it('a write that fails frees its copy, and rows that were not stored', () => {
    const ta = made({ size: 3, elementShape: [2] }).write(1, [1, 1]);
    const rows = tf.ones([3, 2]);
    expectNoLeak(() => expectError(() => ta.write(0, rows), 'ValueError', 'value'));
    const before = tf.memory().numTensors;
    expectError(() => ta.scatter([0, 1, 2], rows), 'ValueError', 'index');
    expect(tf.memory().numTensors - before).toBe(1); // row 0 is stored
    ta.close();
    rows.dispose();
  });

  it('what is written may be disposed; what is read is a copy', () => {
    expectNoLeak(() => {
      const value = tf.tensor1d([1, 2]);
      const ta = made({ size: 1, clearAfterRead: false }).write(0, value);
      value.dispose();
      const first = ta.read(0);
      first.dispose();
      const second = ta.read(0);
      expect(numbers(second)).toEqual([1, 2]);
      second.dispose();
      ta.close();
    });
  });

  it('elements outlive an inner tidy, and go with the one in which the array was made', () => {
    expectNoLeak(() => {
      tf.tidy(() => {
        const ta = made({ size: 1 });
        tf.tidy(() => void ta.write(0, tf.tensor1d([1, 2])));
        tf.tidy(() => void ta.flow);
        expect(numbers(ta.read(0))).toEqual([1, 2]);
      });
    });
  });

  it('an array that outlives its tidy says so', () => {
    const ta = tf.tidy(() => {
      const inner = made({ size: 1 }).write(0, [1]);
      return { leak: inner } as never;
    }) as unknown as { leak: emb.TensorArray };
    expectError(() => ta.leak.read(0), 'RuntimeError', 'handle', 'in a tf.tidy that has ended');
  });

  it('elements outlive any tidy where the array was made outside', () => {
    expectNoLeak(() => {
      const ta = made({ size: 2 });
      tf.tidy(() => void ta.unstack([[1], [2]]));
      tf.tidy(() => expect(numbers(ta.stack())).toEqual([1, 2]));
      ta.close();
    });
  });
});

/** Sums over time, one step after the other, through a TensorArray. */
class RunningSum extends tf.layers.Layer {
  static readonly className = 'RunningSumOfTensorArraySpec';
  override computeOutputShape(shape: tf.Shape): tf.Shape {
    return shape;
  }
  override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return tf.tidy(() => {
      const [x] = Array.isArray(inputs) ? inputs : [inputs];
      const steps = tf.unstack(x!, 1);
      const ta = new emb.TensorArray({ size: steps.length, clearAfterRead: false });
      steps.forEach((step, t) => ta.write(t, t === 0 ? step : step.add(ta.read(t - 1))));
      return tf.stack(tf.unstack(ta.stack()), 1);
    });
  }
}

describe('TensorArray in a model', () => {
  it('trains inside model.fit as stock ops do', async () => {
    await expectNoLeakAsync(async () => {
      const xs = tf.tensor2d([
        [1, 2, 3],
        [0, -1, 2],
      ]);
      const ys = tf.tensor2d([[1], [0]]);
      const trained: number[][] = [];
      for (const summed of [new RunningSum({}), null]) {
        const model = tf.sequential();
        const kernelInitializer = tf.initializers.constant({ value: 0.5 });
        model.add(tf.layers.dense({ units: 3, inputShape: [3], kernelInitializer, useBias: false }));
        if (summed !== null) model.add(summed);
        const triangle = tf.tensor2d([1, 1, 1, 0, 1, 1, 0, 0, 1], [3, 3]);
        if (summed === null) {
          model.add(tf.layers.dense({ units: 3, useBias: false, trainable: false, weights: [triangle] }));
        }
        model.add(tf.layers.dense({ units: 1, kernelInitializer, useBias: false }));
        const optimizer = tf.train.sgd(0.01);
        model.compile({ optimizer, loss: 'meanSquaredError' });
        await model.fit(xs, ys, { epochs: 3, verbose: 0, shuffle: false });
        trained.push(numbers(model.layers[0]!.getWeights()[0]!));
        model.dispose();
        optimizer.dispose();
        triangle.dispose();
      }
      expect(trained[0]).not.toEqual(new Array(9).fill(0.5));
      expectClose(trained[0]!, trained[1]!, 1, 'weights after three steps');
      tf.dispose([xs, ys]);
    });
  });
});
