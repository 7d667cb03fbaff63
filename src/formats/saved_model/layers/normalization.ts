/** Normalization, as it is when a model does not train. */
import { InferenceBatchNormalization } from '../../../layers/inference_batch_normalization.js';
import { type Value, frontAxis } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';

/** (x - mean) / sqrt(variance + epsilon) * gamma + beta; the last two may be missing. */
function normalize(
  { o, config }: LayerCall,
  x: Value,
  [mean, variance, beta, gamma]: readonly [Value, Value, Value | null, Value | null],
): Value {
  const scale = o.unary('Rsqrt', o.add(variance, config['epsilon'] as number));
  const normed = o.mul(o.sub(x, mean), scale);
  const scaled = gamma === null ? normed : o.mul(normed, gamma);
  return beta === null ? scaled : o.add(scaled, beta);
}

const batchNormalization: Emitter = (call) => {
  const { o, input, config } = call;
  const rank = input.shape.length;
  const axis = frontAxis(config['axis'] as number, rank);
  const placed = (value: Value | null): Value | null => {
    if (value === null || axis === rank - 1) return value;
    return o.reshape(
      value,
      input.shape.map((size, i) => (i === axis ? size : 1)),
    );
  };
  const [mean, variance] = [placed(call.weight('moving_mean'))!, placed(call.weight('moving_variance'))!];
  return normalize(call, input, [mean, variance, placed(call.optional('beta')), placed(call.optional('gamma'))]);
};

const layerNormalization: Emitter = (call) => {
  const { o, input } = call;
  const axes = call.numbers('axis').map((axis) => frontAxis(axis, input.shape.length));
  const placed = (value: Value | null): Value | null => {
    if (value === null) return null;
    return o.reshape(
      value,
      input.shape.map((size, i) => (axes.includes(i) ? size : 1)),
    );
  };
  const mean = o.reduce('Mean', input, axes, true);
  const variance = o.reduce('Mean', o.unary('Square', o.sub(input, mean)), axes, true);
  return normalize(call, input, [mean, variance, placed(call.optional('beta')), placed(call.optional('gamma'))]);
};

export const NORMALIZATION_LAYERS: Readonly<Record<string, Emitter>> = {
  BatchNormalization: batchNormalization,
  [InferenceBatchNormalization.className]: batchNormalization,
  LayerNormalization: layerNormalization,
};
