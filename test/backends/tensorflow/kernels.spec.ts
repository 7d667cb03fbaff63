import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { backendInfo, currentBackend } from '../../../src/backends/registry.js';
import { embeddingBag } from '../../../src/lookup/embedding_bag.js';
import { sparseApply } from '../../../src/lookup/sparse_apply.js';
import { itEqualsTensorFlow, itEqualsTheReference } from '../../helpers/kernel_set_suite.js';
import { tensorKernelSet } from '../../helpers/tensor_kernel_set.js';
import { describeTensorFlow } from './tensorflow_backend.js';
import { stepVariable } from '../../helpers/kernel_calls.js';

describeTensorFlow('kernels', () => {
  itEqualsTensorFlow(() => tensorKernelSet);
  itEqualsTheReference(() => tensorKernelSet);

  it('say which instruction set and how many threads they use', () => {
    for (const { instructionSet, threads } of Object.values(backendInfo().kernels)) {
      expect(['avx512', 'avx2', 'sse2', 'neon', 'scalar']).toContain(instructionSet);
      expect(threads).toBeGreaterThanOrEqual(1);
    }
  });

  it('take one column per row as the slot of row-wise Adagrad', () => {
    const table = tf.tidy(() => tf.variable(tf.ones([4, 3])));
    const slot = tf.tidy(() => tf.variable(tf.zeros([4, 1])));
    tf.tidy(() => {
      const bags = { values: tf.tensor1d([2], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32'), weights: null };
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
      const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
      stepVariable(currentBackend(), 'rowWiseAdagrad', table, [slot], tf.tensor2d([[1, 1, 1]]), bags, options, hyper);
    });
    expect([...slot.dataSync()]).toEqual([0, 0, 1, 0]);
    tf.dispose([table, slot]);
  });

  it('read ids that another thread may write from a copy', () => {
    // TensorFlow may share a typed array with JavaScript, depending on its alignment, so many are tried.
    for (let i = 0; i < 24; i++) {
      const shared = new Int32Array(new SharedArrayBuffer(400), 0, 100).fill(1);
      tf.tidy(() => {
        const table = tf.tensor2d([[1], [2]]);
        const values = tf.tensor1d(shared, 'int32');
        const rowSplits = tf.tensor1d([0, 100], 'int32');
        const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
        const look = (): number =>
          (tf.engine().runKernel('EmbeddingBag', { table, values, rowSplits }, options) as tf.Tensor).dataSync()[0]!;
        expect(look()).toBe(200);
        shared.fill(1000);
        expect(look()).toBe(200);
      });
    }
  });

  it('run by their names while tfjs is asked to look at each, with the same numbers as past its registry', async () => {
    const ids = { values: [1, 3, 1], rowSplits: [0, 2, 3], weights: [1, -2, 0.5], combiner: 'mean' } as const;
    const run = (): Float32Array[] =>
      tf.tidy(() => {
        const [table, slot] = [tf.ones([4, 3]).div(3), tf.ones([4, 3])].map((each) => tf.variable(each)) as [
          tf.Variable<tf.Rank.R2>,
          tf.Variable,
        ];
        const gradient = tf.tensor2d([1, 2, 3, -4, 5, 6], [2, 3]);
        const { values, rowSplits, ...options } = ids;
        sparseApply('adagrad', { table, slots: [slot], gradient, ...ids, learningRate: 0.5 });
        const pooled = embeddingBag(table, values, rowSplits, options);
        const read = [table, slot, pooled].map((each) => Float32Array.from(each.dataSync()));
        tf.dispose([table, slot]);
        return read;
      });
    const past = run();
    let watched: Float32Array[] = [];
    const profile = await tf.profile(() => {
      watched = run();
      return undefined as never;
    });
    expect(watched).toEqual(past);
    expect(profile.kernelNames).toEqual(jasmine.arrayContaining(['SparseApplyAdagrad', 'EmbeddingBag']));
  });
});
