/** Dense layers and those that are an activation. */
import type { Value } from '../graph/value.js';
import { activate, softmax } from './activations.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** The layer's own activation, by the name in its config. */
export function activated(call: LayerCall, x: Value, field = 'activation'): Value {
  const name = call.config[field];
  if (name === undefined || name === null) return x;
  const result = activate(call.o, name, x);
  if (result === null) throw call.refuse(`with the activation ${String(name)}, which is not one of tfjs`);
  return result;
}

const dense: Emitter = (call) => {
  const { o } = call;
  const product = o.dot(call.input, call.weight('kernel'));
  const bias = call.optional('bias');
  return activated(call, bias === null ? product : o.add(product, bias));
};

const relu: Emitter = ({ o, input, config }) => {
  const x = o.unary('Relu', input, 'activations');
  const most = config['maxValue'];
  return typeof most === 'number' ? o.minimum(x, most) : x;
};

const leakyRelu: Emitter = ({ o, input, config }) => {
  return o.unary('LeakyRelu', input, 'activations', { alpha: { f: config['alpha'] as number } });
};

const prelu: Emitter = (call) => {
  const { o, input } = call;
  const negative = o.mul(call.weight('alpha'), o.minimum(input, 0));
  return o.add(o.unary('Relu', input, 'activations'), negative);
};

const thresholdedRelu: Emitter = ({ o, input, config }) => {
  return o.mul(input, o.cast(o.compare('Greater', input, config['theta'] as number), 'float32'));
};

/** Masked places get so much less before the softmax. */
const MASKED = -1e9;

const softmaxLayer: Emitter = ({ o, input, config, mask }) => {
  const x = mask === null ? input : o.add(input, o.mul(o.sub(1, o.cast(mask, 'float32')), MASKED));
  const axis = config['axis'] as number | readonly number[];
  if (typeof axis === 'number') return softmax(o, x, axis);
  if (axis.length === 1) return softmax(o, x, axis[0]!);
  const powers = o.unary('Exp', o.sub(x, o.reduce('Max', x, axis, true)));
  return o.div(powers, o.reduce('Sum', powers, axis, true));
};

const masking: Emitter = ({ o, input, config }) => {
  const counts = o.compare('NotEqual', input, config['maskValue'] as number);
  return o.mul(input, o.cast(o.reduce('Any', counts, [-1], true), 'float32'));
};

/** Layers that do something only while a model trains. */
const passes: Emitter = ({ input }) => input;

export const DENSE_LAYERS: Readonly<Record<string, Emitter>> = {
  Dense: dense,
  Activation: (call) => activated(call, call.input),
  ReLU: relu,
  LeakyReLU: leakyRelu,
  PReLU: prelu,
  ELU: ({ o, input }) => o.unary('Elu', input, 'activations'),
  ThresholdedReLU: thresholdedRelu,
  Softmax: softmaxLayer,
  Masking: masking,
  Dropout: passes,
  SpatialDropout1D: passes,
  GaussianNoise: passes,
  GaussianDropout: passes,
  AlphaDropout: passes,
};
