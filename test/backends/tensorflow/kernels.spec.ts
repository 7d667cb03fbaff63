import * as tf from '@tensorflow/tfjs';
import { SPARSE_APPLY } from '../../../src/backends/bag_tensors.js';
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../../src/backends/hyper.js';
import { referenceKernels } from '../../../src/backends/reference/register.js';
import { backendInfo, backendPart } from '../../../src/backends/registry.js';
import { OPTIMIZER_NAMES, SLOT_NAMES, type OptimizerName } from '../../../src/types.js';
import { allCases, expectClose, makeCase, tensorsOf } from './generated_case.js';
import { describeTensorFlow } from './tensorflow_backend.js';

const HYPER: Record<OptimizerName, Partial<Hyper>> = {
  sgd: { learningRate: 0.3, weightDecay: 0.01 },
  adagrad: { learningRate: 0.3, epsilon: 1e-7, clipGradientMin: -0.5, clipGradientMax: 0.5 },
  rowWiseAdagrad: { learningRate: 0.3, epsilon: 1e-7 },
  adagradMomentum: { learningRate: 0.1, momentum: 0.9, useNesterov: 1, beta2: 0.9, epsilon: 1e-6 },
  adam: { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, correction1: 0.1, correction2: 0.01 },
  ftrl: { learningRate: 0.2, l1: 0.01, l2: 0.02, beta: 0.1 },
};

function run<T>(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): T {
  const given = Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null));
  return tf.engine().runKernel(name, given as tf.NamedTensorMap, attrs as never) as unknown as T;
}

describeTensorFlow('tensorflow kernels', () => {
  it('run as TensorFlow ops', () => {
    for (const info of Object.values(backendInfo().kernels)) expect(info.implementation).toBe('tensorflow');
  });

  it('EmbeddingBag equals the reference', () => {
    for (const example of allCases()) {
      const { table, bags, options } = example;
      const expected = new Float32Array((bags.rowSplits.length - 1) * table.dim);
      referenceKernels.embeddingBag(table, bags, options, expected);
      tf.tidy(() => {
        const { gradient: _, ...inputs } = tensorsOf(example);
        const pooled = run<tf.Tensor2D>('EmbeddingBag', inputs, options);
        expect(pooled.shape).toEqual([bags.rowSplits.length - 1, table.dim]);
        expectClose(pooled.dataSync(), expected, 10, example.title);
      });
    }
  });

  it('EmbeddingBagGrad equals the reference', () => {
    for (const example of allCases()) {
      const { table, bags, options, gradient } = example;
      const expected = referenceKernels.embeddingBagGrad(gradient, bags, table, options);
      tf.tidy(() => {
        const { table: rows, ...rest } = tensorsOf(example);
        const inputs = { ...rest, table: options.maxNorm > 0 ? rows : null };
        const attrs = { ...options, rows: table.rows };
        const [ids, rowGradients] = run<[tf.Tensor1D, tf.Tensor2D]>('EmbeddingBagGrad', inputs, attrs);
        expect(ids.dtype).toBe('int32');
        expect([...ids.dataSync()])
          .withContext(example.title)
          .toEqual([...expected.uniqueIds]);
        expect(rowGradients.shape).toEqual([expected.uniqueIds.length, table.dim]);
        expectClose(rowGradients.dataSync(), expected.rowGradients, 10, example.title);
      });
    }
  });

  it('EmbeddingBagWeightsGrad equals the reference', () => {
    for (const example of allCases()) {
      const { table, bags, options, gradient } = example;
      if (bags.weights === null) continue;
      const expected = new Float32Array(bags.values.length);
      referenceKernels.embeddingBagWeightsGrad(table, gradient, bags, options, expected);
      tf.tidy(() => {
        const weightsGradient = run<tf.Tensor1D>('EmbeddingBagWeightsGrad', tensorsOf(example), options);
        // The weighted mean divides by a sum that may be close to 0.
        const scale = Math.max(10, ...expected.map(Math.abs));
        expectClose(weightsGradient.dataSync(), expected, scale, example.title);
      });
    }
  });

  for (const optimizer of OPTIMIZER_NAMES) {
    it(`${SPARSE_APPLY[optimizer]} equals the reference over three steps`, () => {
      for (const [seed, weighted] of [
        [1, false],
        [2, true],
        [3, true],
      ] as const) {
        const example = makeCase(seed, { combiner: 'mean', outOfRange: 'zero', maxNorm: 0 }, weighted, 5);
        const { table, bags, options, gradient } = example;
        if (weighted) bags.weights!.forEach((weight, i) => (bags.weights![i] = Math.abs(weight) + 0.1));
        const hyper = packHyper({ ...NEUTRAL_HYPER, ...HYPER[optimizer] });
        const slotShape = optimizer === 'rowWiseAdagrad' ? [table.rows] : [table.rows, table.dim];
        const slots = SLOT_NAMES[optimizer].map(() => new Float32Array(tf.util.sizeFromShape(slotShape)).fill(0.1));
        const expected = { ...table, data: table.data.slice() };
        const given = tensorsOf(example);
        const variable = tf.variable(given.table);
        const slotVariables = slots.map((slot) => tf.tidy(() => tf.variable(tf.tensor(slot.slice(), slotShape))));
        for (let step = 0; step < 3; step++) {
          referenceKernels.sparseApply(optimizer, expected, slots, gradient, bags, options, hyper);
          backendPart().sparseApply(optimizer, variable, slotVariables, given.gradient, given, options, hyper);
        }
        expectClose(variable.dataSync(), expected.data, 10, `table, case ${seed}`);
        slots.forEach((slot, i) => expectClose(slotVariables[i]!.dataSync(), slot, 10, `slot ${i}, case ${seed}`));
        expect([...given.table.dataSync()])
          .withContext('the tensor the variable was made from')
          .toEqual([...table.data]);
        tf.dispose([given.table, given.gradient, given.values, given.rowSplits, variable, ...slotVariables]);
        given.weights?.dispose();
      }
    });
  }

  it('take one column per row as the slot of row-wise Adagrad', () => {
    const table = tf.tidy(() => tf.variable(tf.ones([4, 3])));
    const slot = tf.tidy(() => tf.variable(tf.zeros([4, 1])));
    tf.tidy(() => {
      const bags = { values: tf.tensor1d([2], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32'), weights: null };
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
      const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
      backendPart().sparseApply('rowWiseAdagrad', table, [slot], tf.tensor2d([[1, 1, 1]]), bags, options, hyper);
    });
    expect([...slot.dataSync()]).toEqual([0, 0, 1, 0]);
    tf.dispose([table, slot]);
  });
});
