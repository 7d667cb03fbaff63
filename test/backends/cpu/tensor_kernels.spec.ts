import * as tf from '@tensorflow/tfjs';
import { backendInfo, currentBackend } from '../../../src/backends/registry.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { copyOf, expectClose, generatedCase, usualHyper, usualSlots } from '../wasm/generated_case.js';
import { describeImplementations } from './implementations.js';
import { lookUpInto, stepOne, stepVariable } from '../../helpers/kernel_calls.js';

const SEEDS = Array.from({ length: 60 }, (_, seed) => 2000 + seed);

function run(name: string, inputs: Record<string, tf.Tensor | null>, attrs: object): tf.Tensor[] {
  const given = Object.fromEntries(Object.entries(inputs).filter(([, tensor]) => tensor !== null));
  const outputs = tf.engine().runKernel(name, given as never, { ...attrs } as never);
  return Array.isArray(outputs) ? outputs : [outputs as tf.Tensor];
}

describeImplementations('kernels of the cpu backend', (implementation) => {
  it('say what runs', () => {
    const { backend, kernels } = backendInfo();
    expect(backend).toBe('cpu');
    for (const info of Object.values(kernels)) expect(info.implementation).toBe(implementation);
  });

  it('give pooled rows and gradients as the reference does', () => {
    for (const seed of SEEDS) {
      tf.tidy(() => {
        const { name, table, bags, options, gradient } = generatedCase(seed);
        const batch = bags.rowSplits.length - 1;
        const lookup = {
          table: tf.tensor2d(table.data, [table.rows, table.dim]),
          values: tf.tensor1d(bags.values, 'int32'),
          rowSplits: tf.tensor1d(bags.rowSplits, 'int32'),
          weights: bags.weights === null ? null : tf.tensor1d(bags.weights),
        };
        const [pooled] = run('EmbeddingBag', lookup, options);
        const expected = new Float32Array(batch * table.dim);
        lookUpInto(referenceKernels, table, bags, options, expected);
        expect(pooled!.shape).toEqual([batch, table.dim]);
        expectClose(pooled!.dataSync(), expected, 4e-6, name);

        const backward = { ...lookup, gradient: tf.tensor2d(gradient, [batch, table.dim]) };
        const withoutTable = { ...backward, table: options.maxNorm > 0 ? lookup.table : null };
        const [uniqueIds, rowGradients] = run('EmbeddingBagGrad', withoutTable, { ...options, rows: table.rows });
        const grouped = referenceKernels.rowGradients(gradient, bags, table, options);
        expect(Array.from(uniqueIds!.dataSync()))
          .withContext(name)
          .toEqual([...grouped.uniqueIds]);
        expect([uniqueIds!.dtype, rowGradients!.shape[1]]).toEqual(['int32', table.dim]);
        expectClose(rowGradients!.dataSync(), grouped.rowGradients, 1e-5, name);

        if (bags.weights === null) return;
        const [toWeights] = run('EmbeddingBagWeightsGrad', backward, options);
        const expectedWeights = new Float32Array(bags.values.length);
        referenceKernels.weightsGradient(table, gradient, bags, options, expectedWeights);
        expectClose(toWeights!.dataSync(), expectedWeights, 2e-5, name);
      });
    }
  });

  for (const optimizer of UPDATE_NAMES) {
    it(`step as the reference does: ${optimizer}`, () => {
      for (const seed of SEEDS) {
        const { name, table, bags, options, gradient } = generatedCase(seed);
        const expected = { table: copyOf(table), slots: usualSlots(optimizer, table, seed) };
        const hyper = usualHyper(optimizer);
        tf.engine().startScope();
        const variable = tf.variable(
          tf.tensor2d(table.data.slice(), [table.rows, table.dim]),
        ) as unknown as tf.Variable;
        const slots = expected.slots.map((values) => {
          const shape = values.length === table.rows * table.dim ? [table.rows, table.dim] : [table.rows];
          return tf.variable(tf.tensor(values.slice(), shape));
        });
        const tensors = {
          values: tf.tensor1d(bags.values, 'int32'),
          rowSplits: tf.tensor1d(bags.rowSplits, 'int32'),
          weights: bags.weights === null ? null : tf.tensor1d(bags.weights),
        };
        const pooled = tf.tensor2d(gradient, [bags.rowSplits.length - 1, table.dim]);
        for (let step = 0; step < 2; step++) {
          stepOne(referenceKernels, optimizer, expected.table, expected.slots, gradient, bags, options, hyper);
          stepVariable(currentBackend(), optimizer, variable, slots, pooled, tensors, options, hyper);
        }
        expectClose(variable.dataSync(), expected.table.data, 5e-5, name);
        slots.forEach((slot, i) => expectClose(slot.dataSync(), expected.slots[i]!, 5e-5, `${name}, slot ${i}`));
        tf.dispose([variable, ...slots]);
        tf.engine().endScope();
      }
    });
  }
});
