/** What the engine of tfjs and its gradients do, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { hasNone, kernelsOf, leftBy, throwsIn } from './watch.mjs';

const countOf = async (run, name) =>
  (await kernelsOf(run)).filter((kernel) => name === undefined || kernel.name === name).length;

const rows = () => tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
const { constructor: Engine } = tf.engine();

/** Kernels of the backward pass alone. */
async function backwardKernels(f, x) {
  const forward = await countOf(() => f(x));
  return (await countOf(() => tf.grad(f)(x))) - forward;
}

export default {
  'engine/batch_product': () => {
    const [a, b] = [tf.tensor([1, 2, 3, 4], [2, 2, 1, 1]), tf.tensor([10, 100], [2, 1, 1, 1])];
    return Array.from(tf.matMul(a, b).dataSync()).join() !== '10,20,300,400';
  },
  'overrides/dot': async () => {
    const layer = tf.layers.dot({ axes: 1 });
    return (await countOf(() => layer.apply([rows(), rows()]))) > 1;
  },
  'overrides/dropout': async () => (await countOf(() => tf.dropout(rows(), 0.5))) > 1,
  'overrides/losses': async () => {
    const [labels, outputs] = [tf.tensor2d([[1, 0]]), tf.tensor2d([[0.4, 0.6]])];
    const categorical = await countOf(() => tf.metrics.categoricalCrossentropy(labels, outputs));
    const binary = await countOf(() => tf.metrics.binaryCrossentropy(labels, outputs));
    return categorical > 4 && binary > 4;
  },
  'overrides/softmax_gradient': async () => (await backwardKernels((x) => tf.softmax(x), rows())) > 2,
  'overrides/tile_gradient': async () =>
    (await countOf(() => tf.grad((x) => tf.tile(x, [5, 1]))(rows()), 'Slice')) >= 5,
  lazy_gradient: () => {
    const lazy = tf.customGrad((a, b) => ({
      value: tf.add(a, b),
      gradFunc: (dy) => [() => dy, () => dy],
    }));
    return throwsIn(() => tf.grads((a, b) => lazy(a, b))([tf.scalar(1), tf.scalar(2)]));
  },
  failed_tape: async () => {
    const variable = tf.variable(rows());
    const failing = () => {
      variable.mul(2).square().square();
      throw new Error('a forward pass that fails');
    };
    return (await leftBy(() => throwsIn(() => tf.variableGrads(failing)))) > 0;
  },
  cpu_values: () => {
    const tensor = tf.tensor1d([1, 2]);
    const values = tensor.clone().dataSync();
    values[0] = 9;
    return tensor.dataSync()[0] === 9;
  },
  removed_backends: () => hasNone(Engine, /^(on|before|after|add|sub)[A-Z].*(Backend|Remov)/),
  disposed_backends: () => hasNone(tf.KernelBackend, /^(on|before|after|add|sub)[A-Z].*Dispos/),
  'engine/tensor_scope': () => hasNone(Engine, /^(keep|track|move)[A-Z].*(In|To)?Scope/),
};
