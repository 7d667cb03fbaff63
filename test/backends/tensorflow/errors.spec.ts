import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { IdOutOfRange, type BagOptions } from '../../../src/backends/kernel_set.js';
import { currentBackend } from '../../../src/backends/registry.js';
import { RuntimeError, ValueError } from '../../../src/base/errors.js';
import { fromTensorFlow } from '../../../src/backends/tensorflow/op_errors.js';
import { describeTensorFlow } from './tensorflow_backend.js';
import { stepVariable } from '../../helpers/kernel_calls.js';

const OPTIONS: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

function caught(run: () => unknown): unknown {
  try {
    tf.tidy(() => {
      run();
    });
  } catch (error) {
    return error;
  }
  return undefined;
}

function lookUp(
  ids: number[],
  splits: number[],
  rest: Record<string, tf.Tensor> = {},
  options: object = OPTIONS,
): tf.Tensor {
  const inputs = {
    table: tf.tensor2d([
      [1, 2],
      [3, 4],
      [5, 6],
    ]),
    values: tf.tensor1d(ids, 'int32'),
    rowSplits: tf.tensor1d(splits, 'int32'),
    ...rest,
  };
  return tf.engine().runKernel('EmbeddingBag', inputs, options as never) as tf.Tensor;
}

/** Of two bags, [0] and [2], of a table of three rows. */
const BAGS = (): Record<string, tf.Tensor> => ({
  values: tf.tensor1d([0, 2], 'int32'),
  rowSplits: tf.tensor1d([0, 1, 2], 'int32'),
});

function gradientOf(inputs: Record<string, tf.Tensor>, attributes: object = {}): unknown {
  const given = { gradient: tf.ones([2, 2]), ...BAGS(), ...inputs };
  return tf.engine().runKernel('EmbeddingBagGrad', given, { ...OPTIONS, rows: 3, ...attributes } as never);
}

function weightsGradientOf(weights: tf.Tensor): unknown {
  const given = { table: tf.ones([3, 2]), gradient: tf.ones([2, 2]), ...BAGS(), weights };
  return tf.engine().runKernel('EmbeddingBagWeightsGrad', given, OPTIONS as never);
}

describeTensorFlow('errors of tensorflow kernels', () => {
  it('tell id, position and rows', () => {
    for (const id of [3, -1, 2147483647, -2147483648]) {
      const error = caught(() => lookUp([0, id], [0, 2])) as IdOutOfRange;
      expect(error).toBeInstanceOf(IdOutOfRange);
      expect([error.id, error.position, error.rows]).toEqual([id, 1, 3]);
    }
  });

  it('name the argument at fault', () => {
    const wrong: readonly [string, () => unknown][] = [
      ['row_splits', () => lookUp([0, 1], [0, 3])],
      ['row_splits', () => lookUp([0, 1], [1, 2])],
      ['row_splits', () => lookUp([0, 1], [0, 2, 1, 2])],
      ['row_splits', () => lookUp([0, 1], [0, -2147483648, 2])],
      ['row_splits', () => lookUp([0, 1], [])],
      ['weights', () => lookUp([0, 1], [0, 2], { weights: tf.tensor1d([1]) })],
      ['table', () => lookUp([0], [0, 1], { table: tf.tensor1d([1, 2]) })],
      ['combiner', () => lookUp([0], [0, 1], {}, { ...OPTIONS, combiner: 'max' })],
      ['max_norm', () => lookUp([0], [0, 1], {}, { ...OPTIONS, maxNorm: -1 })],
      ['max_norm', () => lookUp([0], [0, 1], {}, { ...OPTIONS, maxNorm: Infinity })],
      ['out_of_range', () => lookUp([0], [0, 1], {}, { ...OPTIONS, outOfRange: 'wrap' })],
      ['out_of_range', () => lookUp([0], [0, 1], {}, { ...OPTIONS, outOfRange: 'errors' })],
      ['combiner', () => lookUp([0], [0, 1], {}, { ...OPTIONS, combiner: 'summ' })],
      ['combiner', () => lookUp([0], [0, 1], {}, { ...OPTIONS, combiner: 'mea' })],
      ['max_norm', () => lookUp([0], [0, 1], {}, { ...OPTIONS, maxNorm: NaN })],
      ['table', () => lookUp([0], [0, 1], { table: tf.zeros([3, 0]) })],
      ['table', () => lookUp([0], [0, 1], { table: tf.zeros([3, 2, 1]) })],
      ['values', () => lookUp([0], [0, 1], { values: tf.zeros([1, 1], 'int32') })],
      ['row_splits', () => lookUp([0], [0, 1], { rowSplits: tf.zeros([2, 1], 'int32') })],
      ['weights', () => lookUp([0], [0, 1], { weights: tf.zeros([1, 1]) })],
      ['weights', () => lookUp([0, 1], [0, 2], { weights: tf.zeros([3]) })],
      ['gradient', () => gradientOf({ gradient: tf.ones([2, 2, 1]) })],
      ['gradient', () => gradientOf({ gradient: tf.ones([3, 2]) })],
      ['gradient', () => gradientOf({ gradient: tf.ones([2, 3]), table: tf.ones([3, 2]) }, { maxNorm: 1 })],
      ['rows', () => gradientOf({}, { rows: -1 })],
      ['table', () => gradientOf({ table: tf.ones([4, 2]) }, { maxNorm: 1 })],
      ['weights', () => weightsGradientOf(tf.zeros([0]))],
      ['weights', () => weightsGradientOf(tf.ones([1]))],
    ];
    for (const [argument, run] of wrong) {
      const error = caught(run) as ValueError;
      expect(error).withContext(argument).toBeInstanceOf(ValueError);
      expect(error.argument).toBe(argument);
      expect(error.received).not.toBe('');
    }
  });

  it('leave table and slots as they were', () => {
    const table = tf.tidy(() => tf.variable(tf.ones([3, 2])));
    const slot = tf.tidy(() => tf.variable(tf.ones([3, 2])));
    const short = tf.tidy(() => tf.variable(tf.ones([2, 2])));
    const others = [tf.ones([3, 1]), tf.ones([3]), tf.ones([4, 2]), tf.ones([3, 2, 1])].map((ones) => {
      const variable = tf.variable(ones);
      ones.dispose();
      return variable;
    });
    const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
    const step = (ids: number[], gradient: tf.Tensor2D, slots: tf.Variable[], numbers = hyper): void => {
      const bags = {
        values: tf.tensor1d(ids, 'int32'),
        rowSplits: tf.tensor1d([0, ids.length], 'int32'),
        weights: null,
      };
      stepVariable(currentBackend(), 'adagrad', table, slots, gradient, bags, OPTIONS, numbers);
    };
    expect(caught(() => step([0, 3], tf.ones([1, 2]), [slot]))).toBeInstanceOf(IdOutOfRange);
    expect((caught(() => step([0], tf.ones([2, 2]), [slot])) as ValueError).argument).toBe('gradient');
    for (const wrong of [short, ...others]) {
      expect((caught(() => step([0], tf.ones([1, 2]), [wrong])) as ValueError).argument).toBe('slot0');
    }
    expect((caught(() => step([0], tf.ones([1, 2]), [slot], new Float32Array(3))) as ValueError).argument).toBe(
      'hyper',
    );
    expect(caught(() => step([0], tf.ones([1, 2]), [table]))).toBeInstanceOf(RuntimeError);
    expect([...table.dataSync(), ...slot.dataSync()]).toEqual(new Array(12).fill(1));
    tf.dispose([table, slot, short, ...others]);
  });

  it('leave no handle behind', () => {
    const { binding } = tf.backend() as unknown as { binding: { getNumOfTensors(): number } };
    const fail = (): unknown => caught(() => lookUp([0, 9], [0, 2]));
    fail();
    const before = binding.getNumOfTensors();
    for (let i = 0; i < 10; i++) expect(fail()).toBeInstanceOf(IdOutOfRange);
    expect(binding.getNumOfTensors()).toBe(before);
  });

  it('keep errors that are not from TensorFlow, and show the text of those that are', () => {
    const other = new Error('something else');
    expect(fromTensorFlow('EmbeddingBag', other)).toBe(other);
    const translated = fromTensorFlow('EmbeddingBag', new Error('Invalid TF_Status: 8\nMessage: no memory')) as Error;
    expect(translated).toBeInstanceOf(RuntimeError);
    expect(translated.message).toContain('no memory');
    expect(translated.message).not.toContain('TF_Status');
  });
});
