/** The ops of ours that multiply and add: what they refuse, and shapes at the edges. */
import { OWN_PRODUCTS } from '../../../src/capture/overrides/own_products.js';
import { withOverrides } from '../../../src/tfjs/training/substitute.js';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { asNodeBackend, type OpAttribute } from '../../../src/backends/tensorflow/node_backend.js';
import { opsRun } from '../overrides/ops_run.js';
import { takeAllForExact } from './all_exact.js';
import { describeSteps, modelOf } from '../training.js';

const count = (name: string, value: number): OpAttribute => {
  return { name, type: asNodeBackend(tf.backend()).binding.TF_ATTR_INT, value };
};

function multiply(a: tf.Tensor, b: tf.Tensor, transposeA = 0, transposeB = 0): tf.Tensor {
  const attributes = [count('N', 1), count('transpose_a', transposeA), count('transpose_b', transposeB)];
  return asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingProducts', attributes, [a, b]);
}

function productSum(starts: tf.Tensor[], a: tf.Tensor[], b: tf.Tensor[]): tf.Tensor {
  const attributes = [
    count('S', starts.length),
    count('N', a.length),
    count('transpose_a', 0),
    count('transpose_b', 0),
  ];
  const inputs = [...starts, ...a, ...b];
  return asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingProductSum', attributes, inputs);
}

function sum(terms: tf.Tensor[]): tf.Tensor {
  return asNodeBackend(tf.backend()).executeSingleOutput('EmbeddingSum', [count('N', terms.length)], terms);
}

describeSteps('Products and sums as ops', () => {
  takeAllForExact();
  it('refuse factors that do not fit, and tensors of other ranks', () => {
    tf.tidy(() => {
      const [a, b] = [tf.ones([2, 3]), tf.ones([4, 5])];
      expect(() => multiply(a, b)).toThrowError(/b: expected 3 numbers to sum over, received 4/);
      expect(() => multiply(a, b, 1, 0)).toThrowError(/expected 2 numbers to sum over, received 4/);
      expect(() => multiply(a, b, 0, 1)).toThrowError(/expected 3 numbers to sum over, received 5/);
      expect(() => multiply(tf.ones([3]), b)).toThrowError(/expected one matrix each, received a tensor of rank 1/);
      expect(() => multiply(tf.ones([2, 2, 4]), b)).toThrowError(/received a tensor of rank 3/);
      expect(() => productSum([], [a, tf.ones([1, 4])], [tf.ones([3, 5]), b])).toThrowError(/of one shape.*number 1/);
      expect(() => productSum([tf.ones([2, 4])], [a], [tf.ones([3, 5])])).toThrowError(
        /a product has \(10\), received 8/,
      );
      expect(() => sum([a, tf.ones([3, 3])])).toThrowError(/of one shape, received another for number 1/);
      expect(() => sum([a, tf.ones([6])])).toThrowError(/terms: expected rank 2, received rank 1/);
    });
  });

  it('give zeros for sums over nothing, and nothing for no rows', () => {
    tf.tidy(() => {
      expect(multiply(tf.zeros([2, 0]), tf.zeros([0, 3])).arraySync()).toEqual([[0, 0, 0], [0, 0, 0]]); // prettier-ignore
      expect(multiply(tf.zeros([0, 2]), tf.ones([2, 3])).shape).toEqual([0, 3]);
      expect(productSum([tf.ones([1, 2])], [tf.zeros([1, 0])], [tf.zeros([0, 2])]).arraySync()).toEqual([[1, 1]]);
      expect(sum([tf.zeros([0]), tf.zeros([0])]).shape).toEqual([0]);
      expect(sum([tf.scalar(1), tf.scalar(2), tf.scalar(4)]).arraySync()).toBe(7);
    });
  });

  it('keep NaN and infinity', () => {
    tf.tidy(() => {
      const product = multiply(tf.tensor2d([[NaN, 0], [Infinity, 1]]), tf.tensor2d([[1, 0], [1, 1]])); // prettier-ignore
      expect(product.arraySync()).toEqual([[NaN, NaN], [Infinity, NaN]]); // prettier-ignore
    });
  });

  it('are part of the steps of a model before its graph is there, and of no model that is never captured', async () => {
    for (const isCaptured of [true, false]) {
      const model = modelOf();
      emb.setCapture(isCaptured, model);
      const optimizer = emb.train.sgd({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const [x, y] = [tf.ones([4, 2], 'int32'), tf.ones([4, 1])];
      const names = await opsRun(/Product|MatMul/, () => model.trainOnBatch(x, y));
      expect(names.includes('EmbeddingProducts')).toBe(isCaptured);
      expect(names.includes('BatchMatMulV2')).toBe(!isCaptured);
      optimizer.dispose();
      model.dispose();
      tf.dispose([x, y]);
    }
  });

  it('take the place of small products of floats alone, in batches of one too, while they are asked for', () => {
    const backend = asNodeBackend(tf.backend());
    const names: string[] = [];
    const { executeSingleOutput } = backend;
    backend.executeSingleOutput = (name, ...rest) => {
      names.push(name);
      return executeSingleOutput.call(backend, name, ...rest);
    };
    const seen = (f: () => tf.Tensor): string[] => {
      names.length = 0;
      tf.tidy(() => void withOverrides([OWN_PRODUCTS], f));
      return names.filter((name) => /Product|MatMul/.test(name));
    };
    try {
      const ones = (shape: number[], dtype: 'float32' | 'int32' = 'float32'): tf.Tensor => tf.ones(shape, dtype);
      expect(seen(() => ones([2, 3]).matMul(ones([3, 2])))).toEqual(['EmbeddingProducts']);
      expect(seen(() => ones([1, 2, 3]).matMul(ones([1, 3, 2])))).toEqual(['EmbeddingProducts']);
      expect(seen(() => ones([2, 2, 3]).matMul(ones([2, 3, 2])))).toEqual(['BatchMatMulV2']);
      expect(seen(() => ones([2, 3], 'int32').matMul(ones([3, 2], 'int32')))).toEqual(['BatchMatMulV2']);
      expect(seen(() => ones([128, 128]).matMul(ones([128, 64])))).toEqual(['EmbeddingProducts']);
      expect(seen(() => ones([128, 128]).matMul(ones([128, 65])))).toEqual(['BatchMatMulV2']);
      expect(seen(() => ones([128, 128]).matMul(ones([65, 128]), false, true))).toEqual(['BatchMatMulV2']);
      names.length = 0;
      tf.tidy(() => void ones([2, 3]).matMul(ones([3, 2])));
      expect(names).toContain('BatchMatMulV2');
    } finally {
      backend.executeSingleOutput = executeSingleOutput;
    }
  });
});
