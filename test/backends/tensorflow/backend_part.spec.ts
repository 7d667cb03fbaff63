import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../src/backends/hyper.js';
import { genericKernel } from '../../../src/backends/generic/register.js';
import { referenceKernels } from '../../../src/backends/reference/register.js';
import { TensorFlowPart } from '../../../src/backends/tensorflow/backend_part.js';
import { expectClose, makeCase, tensorsOf } from './generated_case.js';
import { describeTensorFlow } from './tensorflow_backend.js';

describeTensorFlow('the tensorflow backend without custom ops', () => {
  const example = makeCase(5, { combiner: 'mean', outOfRange: 'error', maxNorm: 0 }, false, 4);

  it('says that stock ops run', () => {
    expect(new TensorFlowPart().info('EmbeddingBag').implementation).toBe('generic');
  });

  it('says why once, and uses the ops as soon as they are there', () => {
    const said = spyOn(console, 'warn');
    const part = new TensorFlowPart();
    const answers = ['a reason of this spec', 'a reason of this spec', 'registered'];
    part.connect({ registerTensorFlow: () => answers.shift() ?? 'not asked again' });
    expect(part.hasOps()).toBe(false);
    expect(part.hasOps()).toBe(false);
    expect(said.calls.allArgs().flat().join()).toContain('a reason of this spec');
    expect(said.calls.count()).toBe(1);
    expect(part.hasOps()).toBe(true);
    expect(part.hasOps()).toBe(true);
    expect(part.info('EmbeddingBag').implementation).toBe('tensorflow');
  });

  it('looks up by stock ops', () => {
    const { table, bags, options } = example;
    const expected = new Float32Array((bags.rowSplits.length - 1) * table.dim);
    referenceKernels.embeddingBag(table, bags, options, expected);
    tf.tidy(() => {
      const inputs = tensorsOf(example);
      const kernel = genericKernel('EmbeddingBag');
      const pooled = kernel({ inputs: inputs as never, attrs: options as never, backend: tf.backend() }) as tf.Tensor;
      expectClose(pooled.dataSync(), expected, 10, 'pooled');
    });
  });

  it('steps by stock ops, and leaves a snapshot alone', () => {
    const { table, bags, options, gradient } = example;
    const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, epsilon: 1e-7 });
    const expected = { ...table, data: table.data.slice() };
    const slots = [new Float32Array(table.data.length).fill(0.1)];
    referenceKernels.sparseApply('adagrad', expected, slots, gradient, bags, options, hyper);

    const given = tensorsOf(example);
    const variable = tf.variable(given.table);
    const slot = tf.tidy(() => tf.variable(tf.fill([table.rows, table.dim], 0.1)));
    const snapshot = variable.reshape([-1]);
    new TensorFlowPart().sparseApply('adagrad', variable, [slot], given.gradient, given, options, hyper);
    expectClose(variable.dataSync(), expected.data, 10, 'table');
    expectClose(slot.dataSync(), slots[0]!, 10, 'slot');
    expect([...snapshot.dataSync()]).toEqual([...table.data]);
    tf.dispose([variable, slot, snapshot, given.table, given.gradient, given.values, given.rowSplits]);
  });
});
