/** What tfjs itself holds, to tell it from what users bring: classes, losses and metrics. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

type Factory = (args: object) => object;

/** What the factories of layers ask for, all at once. A name keeps them from taking one of the numbers of nameless layers. */
const ARGUMENTS = {
  ...{ name: 'stock', units: 1, filters: 1, kernelSize: 1, rate: 0.5, targetShape: [1], dims: [1], n: 1, axes: -1 },
  ...{ stddev: 1, inputDim: 1, outputDim: 1, numTokens: 1, height: 1, width: 1, scale: 1, factor: 0.5, poolSize: 1 },
  ...{ size: [1, 1], cropping: 0, activation: 'linear', value: 0, inputShape: [1] },
} as const;

/** Activations have no factories. */
const ACTIVATIONS = [
  ...['elu', 'selu', 'relu', 'relu6', 'linear', 'sigmoid', 'hardSigmoid', 'softplus', 'softsign', 'tanh', 'softmax'],
  ...['logSoftmax', 'gelu', 'gelu_new', 'mish', 'swish'],
];

/** Functions of a group whose names begin as those of factories do; classes and the input of models are none. */
function factories(group: object): Factory[] {
  const entries = Object.entries(group) as [string, unknown][];
  return entries.flatMap(([name, value]) =>
    typeof value === 'function' && /^[a-z]/.test(name) && name !== 'input' ? [value as Factory] : [],
  );
}

function activationClass(activation: string): unknown {
  const layer = tf.layers.activation({ name: 'stock', activation: activation as 'relu' });
  return (layer as unknown as { activation: object }).activation.constructor;
}

/** The class of what a factory makes; none where it asks for more, which later versions of tfjs may. */
function classOf(make: Factory, args: object): unknown[] {
  try {
    return [make(args).constructor];
  } catch {
    return [];
  }
}

/** The classes of what the factories of tfjs make: a class of a user may be registered under the name of any of them. */
function stockClasses(): ReadonlySet<unknown> {
  return perProcess('stock classes', () => {
    const cell = tf.layers.simpleRNNCell({ name: 'stock', units: 1 });
    const layer = tf.layers.simpleRNN({ name: 'stock', units: 1 });
    const args = { ...ARGUMENTS, cells: [cell], layer };
    const groups = [tf.layers, tf.regularizers, tf.constraints, tf.initializers];
    const made = groups.flatMap(factories).flatMap((make) => classOf(make, args));
    // Other recurrent layers refuse a cell.
    const wrapping = classOf(tf.layers.rnn as Factory, { ...args, cell });
    return new Set<unknown>([...made, ...wrapping, ...ACTIVATIONS.map(activationClass)]);
  });
}

/** Whether it is of a class of tfjs, exactly. */
export function isStock(value: object): boolean {
  return stockClasses().has(value.constructor);
}

const functions: ReadonlySet<unknown> = new Set([tf.losses, tf.metrics].flatMap((group) => Object.values(group)));

/** Whether it is a loss or metric of tfjs. */
export function isStockFunction(value: unknown): boolean {
  return functions.has(value);
}
