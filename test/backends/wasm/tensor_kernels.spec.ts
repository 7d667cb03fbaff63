import * as tf from '@tensorflow/tfjs';
import { SPARSE_APPLY } from '../../../src/backends/bag_tensors.js';
import { IdOutOfRange } from '../../../src/backends/kernel_set.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { backendInfo, currentBackend, setThreads } from '../../../src/backends/registry.js';
import { ValueError } from '../../../src/base/errors.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { copyOf, expectClose, generatedCase, usualHyper, usualSlots, type GeneratedCase } from './generated_case.js';
import { describeWasm, wasmBackend } from './wasm_backend.js';
import { lookUpInto, stepOne, stepVariable } from '../../helpers/kernel_calls.js';

const SEEDS = Array.from({ length: 120 }, (_, seed) => 1000 + seed);

function tensorsOf({ table, bags, gradient }: GeneratedCase) {
  const { values, rowSplits, weights } = bags;
  const batch = rowSplits.length - 1;
  return {
    table: tf.tensor2d(table.data, [table.rows, table.dim]),
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    gradient: tf.tensor2d(gradient, [batch, table.dim]),
    weights: weights === null ? null : tf.tensor1d(weights),
  };
}

function run(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): tf.Tensor[] {
  const given = Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null));
  const outputs = tf.engine().runKernel(name, given as never, { ...attrs } as never);
  return Array.isArray(outputs) ? outputs : [outputs as tf.Tensor];
}

describeWasm('kernels of the wasm backend', () => {
  it('say what runs', () => {
    setThreads(2);
    const { backend, kernels } = backendInfo();
    expect(backend).toBe('wasm');
    for (const info of Object.values(kernels)) {
      const oneThreadBecause = 'the memory of tfjs is not shared: it is in pages that are cross-origin isolated';
      expect(info).toEqual({ implementation: 'wasm', instructionSet: 'simd128', threads: 1, oneThreadBecause });
    }
  });

  it('pool as the reference does', () => {
    for (const seed of SEEDS) {
      tf.tidy(() => {
        const generated = generatedCase(seed);
        const { name, table, bags, options } = generated;
        const { table: t, values, rowSplits, weights } = tensorsOf(generated);
        const [pooled] = run('EmbeddingBag', { table: t, values, rowSplits, weights }, options);
        const expected = new Float32Array((bags.rowSplits.length - 1) * table.dim);
        lookUpInto(referenceKernels, table, bags, options, expected);
        expect(pooled!.shape).toEqual([bags.rowSplits.length - 1, table.dim]);
        expectClose(pooled!.dataSync(), expected, 4e-6, name);
      });
    }
  });

  it('give gradients as the reference does', () => {
    for (const seed of SEEDS) {
      tf.tidy(() => {
        const generated = generatedCase(seed);
        const { name, table, bags, options, gradient } = generated;
        const { table: t, values, rowSplits, weights, gradient: g } = tensorsOf(generated);
        const inputs = { gradient: g, values, rowSplits, weights, table: options.maxNorm > 0 ? t : null };
        const [uniqueIds, rowGradients] = run('EmbeddingBagGrad', inputs, { ...options, rows: table.rows });
        const expected = referenceKernels.rowGradients(gradient, bags, table, options);
        expect(Array.from(uniqueIds!.dataSync()))
          .withContext(name)
          .toEqual([...expected.uniqueIds]);
        expect(rowGradients!.shape).toEqual([expected.uniqueIds.length, table.dim]);
        expectClose(rowGradients!.dataSync(), expected.rowGradients, 1e-5, name);
        if (bags.weights === null) return;
        const [toWeights] = run('EmbeddingBagWeightsGrad', { ...inputs, table: t }, options);
        const expectedWeights = new Float32Array(bags.values.length);
        referenceKernels.weightsGradient(table, gradient, bags, options, expectedWeights);
        expectClose(toWeights!.dataSync(), expectedWeights, 2e-5, name);
      });
    }
  });

  for (const optimizer of UPDATE_NAMES) {
    it(`step as the reference does: ${optimizer}`, () => {
      for (const seed of SEEDS) {
        const generated = generatedCase(seed);
        const { name, table, bags, options, gradient } = generated;
        const expected = { table: copyOf(table), slots: usualSlots(optimizer, table, seed) };
        const hyper = usualHyper(optimizer);
        tf.engine().startScope();
        const tensors = tensorsOf(generated);
        const variable = tf.variable(tensors.table) as unknown as tf.Variable;
        const slots = expected.slots.map((values) => {
          const shape = values.length === table.rows * table.dim ? [table.rows, table.dim] : [table.rows];
          return tf.variable(tf.tensor(values, shape));
        });
        for (let step = 0; step < 2; step++) {
          stepOne(referenceKernels, optimizer, expected.table, expected.slots, gradient, bags, options, hyper);
          stepVariable(currentBackend(), optimizer, variable, slots, tensors.gradient, tensors, options, hyper);
        }
        expectClose(variable.dataSync(), expected.table.data, 5e-5, name);
        slots.forEach((slot, i) => expectClose(slot.dataSync(), expected.slots[i]!, 5e-5, `${name}, slot ${i}`));
        expect(Array.from(tensors.table.dataSync()))
          .withContext(name)
          .toEqual([...table.data]);
        tf.dispose([variable, ...slots]);
        tf.engine().endScope();
      }
    });
  }

  it('name an id out of range, its position and the rows, and keep no memory', () => {
    const table = tf.tensor2d([1, 2, 3, 4], [2, 2]);
    const values = tf.tensor1d([0, 5], 'int32');
    const rowSplits = tf.tensor1d([0, 2], 'int32');
    const gradient = tf.ones([1, 2]);
    const weights = tf.ones([2]);
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
    const { rows, hyper } = { rows: 2, hyper: Array.from(usualHyper('sgd')) };
    const buffers = wasmBackend().numDataIds();
    for (const name of ['EmbeddingBag', 'EmbeddingBagGrad', 'EmbeddingBagWeightsGrad', SPARSE_APPLY.sgd]) {
      let error: unknown;
      try {
        run(name, { table, values, rowSplits, gradient, weights }, { ...options, rows, hyper });
      } catch (caught) {
        error = caught;
      }
      expect(error).withContext(name).toBeInstanceOf(IdOutOfRange);
      const { id, position } = error as IdOutOfRange;
      expect([id, position, (error as IdOutOfRange).rows])
        .withContext(name)
        .toEqual([5, 1, 2]);
    }
    expect(wasmBackend().numDataIds()).toBe(buffers);
    expect(Array.from(table.dataSync())).toEqual([1, 2, 3, 4]);
    tf.dispose([table, values, rowSplits, gradient, weights]);
  });

  it('refuse tensors of other sizes and dtypes than the rest says', () => {
    const attrs = { combiner: 'sum', outOfRange: 'error', maxNorm: 0, rows: 2, hyper: Array.from(usualHyper('adam')) };
    tf.tidy(() => {
      const right = {
        table: tf.tensor2d([1, 2, 3, 4], [2, 2]),
        values: tf.tensor1d([0, 1], 'int32'),
        rowSplits: tf.tensor1d([0, 2], 'int32'),
        weights: tf.ones([2]),
        gradient: tf.ones([1, 2]),
        slot0: tf.zeros([2, 2]),
        slot1: tf.zeros([2, 2]),
      };
      const wrong: Record<string, tf.Tensor[]> = {
        table: [tf.zeros([4]), tf.zeros([2, 2], 'bool')],
        values: [tf.zeros([2]), tf.zeros([2, 1], 'int32')],
        rowSplits: [tf.zeros([0], 'int32'), tf.tensor1d([0, 2])],
        weights: [tf.ones([1]), tf.ones([2], 'int32')],
        gradient: [tf.ones([0, 2]), tf.ones([1, 1]), tf.ones([2])],
        slot0: [tf.zeros([1, 2]), tf.zeros([2])],
        slot1: [tf.zeros([2, 1])],
      };
      const takes: Record<string, string[]> = {
        EmbeddingBag: ['table', 'values', 'rowSplits', 'weights'],
        EmbeddingBagGrad: ['values', 'rowSplits', 'weights', 'gradient'],
        EmbeddingBagWeightsGrad: ['table', 'values', 'rowSplits', 'weights', 'gradient'],
        [SPARSE_APPLY.adam]: Object.keys(right),
      };
      let refused = 0;
      for (const [name, argument] of Object.entries(takes).flatMap(([n, all]) => all.map((a) => [n, a] as const))) {
        for (const tensor of wrong[argument]!) {
          const inputs = { ...right, [argument]: tensor };
          const what = `${name} ${argument} ${tensor.dtype} [${tensor.shape}]`;
          if (name === 'EmbeddingBagGrad' && argument === 'gradient' && tensor.shape[1] === 1) continue; // tells the width
          expect(() => run(name, inputs, attrs))
            .withContext(what)
            .toThrowError(ValueError);
          refused++;
        }
      }
      expect(refused).toBeGreaterThan(25);
      expect([...right.table.dataSync()]).toEqual([1, 2, 3, 4]);
    });
  });
});
