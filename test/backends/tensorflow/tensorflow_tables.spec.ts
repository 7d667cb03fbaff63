import * as tf from '@tensorflow/tfjs';
import { genericKernel } from '../../../src/backends/generic/register.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { TensorFlowTables } from '../../../src/backends/tensorflow/tensorflow_tables.js';
import { WHOLE_OPS } from '../../../src/backends/tensorflow/whole_ops.js';
import { bagCase, copyTable, packedHyperCase, usedSlots } from '../../helpers/bag_cases.js';
import { expectClose } from '../../helpers/tensors.js';
import { describeTensorFlow } from './tensorflow_backend.js';
import { lookUpInto, stepOne, stepVariable } from '../../helpers/kernel_calls.js';

describeTensorFlow('the tensorflow backend without custom ops', () => {
  const example = bagCase(9);
  const { table, bags, options, gradient } = example;
  const batch = bags.rowSplits.length - 1;

  function tensors() {
    return {
      table: tf.tensor2d(table.data.slice(), [table.rows, table.dim]),
      gradient: tf.tensor2d(gradient, [batch, table.dim]),
      values: tf.tensor1d(bags.values, 'int32'),
      rowSplits: tf.tensor1d(bags.rowSplits, 'int32'),
      weights: bags.weights === null ? null : tf.tensor1d(bags.weights),
    };
  }

  it('says that stock ops run', () => {
    expect(new TensorFlowTables().info('EmbeddingBag').implementation).toBe('generic');
  });

  it('says why once, and uses the ops as soon as they are there', () => {
    const said = spyOn(console, 'warn');
    const part = new TensorFlowTables();
    const answers = ['a reason of this spec', 'a reason of this spec', 'registered'];
    part.connect({ registerTensorFlow: () => answers.shift() ?? 'not asked again' }, WHOLE_OPS);
    expect(part.hasOps()).toBe(false);
    expect(part.hasOps()).toBe(false);
    expect(said.calls.allArgs().flat().join()).toContain('a reason of this spec');
    expect(said.calls.count()).toBe(1);
    expect(part.hasOps()).toBe(true);
    expect(part.hasOps()).toBe(true);
    expect(part.info('EmbeddingBag').implementation).toBe('tensorflow');
  });

  it('looks up by stock ops', () => {
    const expected = new Float32Array(batch * table.dim);
    lookUpInto(referenceKernels, table, bags, options, expected);
    tf.tidy(() => {
      const run = genericKernel('EmbeddingBag');
      const inputs = tensors() as unknown as tf.NamedTensorInfoMap;
      const pooled = run({ inputs, attrs: { ...options }, backend: tf.backend() }) as tf.Tensor;
      expectClose(pooled.dataSync(), expected, 10, 'pooled');
    });
  });

  it('steps by stock ops, and leaves a snapshot alone', () => {
    const hyper = packedHyperCase('adagrad', 0);
    const expected = copyTable(table);
    const slots = usedSlots('adagrad', table, 0);
    const slot = tf.tidy(() => tf.variable(tf.tensor(slots[0]!.slice(), [table.rows, table.dim])));
    stepOne(referenceKernels, 'adagrad', expected, slots, gradient, bags, options, hyper);

    const given = tensors();
    const variable = tf.variable(given.table);
    const snapshot = variable.reshape([-1]);
    stepVariable(new TensorFlowTables(), 'adagrad', variable, [slot], given.gradient, given, options, hyper);
    expectClose(variable.dataSync(), expected.data, 10, 'table');
    expectClose(slot.dataSync(), slots[0]!, 10, 'slot');
    expect([...snapshot.dataSync()]).toEqual([...table.data]);
    expect([...expected.data]).not.toEqual([...table.data]);
    const { weights, ...rest } = given;
    weights?.dispose();
    tf.dispose([variable, slot, snapshot, ...Object.values(rest)]);
  });
});
