/** Activations of tfjs as TensorFlow ops. */
import { KerasHardSigmoid } from '../../../layers/keras_hard_sigmoid.js';
import type { Operations } from '../graph/operations.js';
import type { Value } from '../graph/value.js';

type Activation = (o: Operations, x: Value) => Value;

const unary =
  (op: string, output = 'y'): Activation =>
  (o, x) =>
    o.unary(op, x, output);

const GELU_CUBIC = 0.044715;

export function softmax(o: Operations, x: Value, axis = -1): Value {
  const rank = x.shape.length;
  const at = axis < 0 ? axis + rank : axis;
  if (at === rank - 1) return o.unary('Softmax', x, 'softmax');
  const order = x.shape.map((_, i) => (i === at ? rank - 1 : i === rank - 1 ? at : i));
  return o.transpose(o.unary('Softmax', o.transpose(x, order), 'softmax'), order);
}

const relu6: Activation = (o, x) => o.minimum(o.unary('Relu', x, 'activations'), 6);

const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  linear: (_o, x) => x,
  elu: unary('Elu', 'activations'),
  selu: unary('Selu', 'activations'),
  relu: unary('Relu', 'activations'),
  relu6,
  sigmoid: unary('Sigmoid'),
  hardSigmoid: (o, x) => o.clip(o.add(o.mul(x, 0.2), 0.5), 0, 1),
  [KerasHardSigmoid.className]: (o, x) => o.div(relu6(o, o.add(x, 3)), 6),
  softplus: unary('Softplus', 'activations'),
  softsign: (o, x) => o.div(x, o.add(o.unary('Abs', x), 1)),
  tanh: unary('Tanh'),
  softmax: (o, x) => softmax(o, x),
  logSoftmax: unary('LogSoftmax', 'logsoftmax'),
  gelu: (o, x) => o.mul(x, o.mul(o.add(o.unary('Erf', o.div(x, Math.SQRT2)), 1), 0.5)),
  gelu_new: (o, x) => {
    const cubic = o.add(x, o.mul(o.mul(x, o.mul(x, x)), GELU_CUBIC));
    return o.mul(o.mul(x, o.add(o.unary('Tanh', o.mul(cubic, Math.sqrt(2 / Math.PI))), 1)), 0.5);
  },
  mish: (o, x) => o.mul(x, o.unary('Tanh', o.unary('Softplus', x, 'activations'))),
  swish: (o, x) => o.mul(o.unary('Sigmoid', x), x),
};

/** Activations that are written, by their names here. */
export const WRITTEN_ACTIVATIONS: readonly string[] = Object.keys(ACTIVATIONS);

/** The activation of this name applied to a value; null for one that is not of tfjs. */
export function activate(o: Operations, name: unknown, x: Value): Value | null {
  const known = typeof name === 'string' && Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name]! : null;
  return known === null ? null : known(o, x);
}
