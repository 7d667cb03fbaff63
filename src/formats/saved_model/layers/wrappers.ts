/** Layers around another layer. */
import type * as tf from '@tensorflow/tfjs';
import type { Value } from '../graph/value.js';
import type { Emitter } from './layer_call.js';
import { recurrentLayer } from './recurrent.js';

interface Bidirectional extends tf.layers.Layer {
  readonly forwardLayer: tf.layers.Layer;
  readonly backwardLayer: tf.layers.Layer;
  readonly mergeMode: 'sum' | 'mul' | 'concat' | 'ave' | null;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
}

const bidirectional: Emitter = (call) => {
  const { o, inputs } = call;
  const { forwardLayer, backwardLayer, mergeMode, returnSequences, returnState } = call.layer as Bidirectional;
  const [x, ...states] = inputs as [Value, ...Value[]];
  const half = states.length / 2;
  const [forward, ...forwardStates] = recurrentLayer(call, forwardLayer, [x, ...states.slice(0, half)]);
  const [back, ...backStates] = recurrentLayer(call, backwardLayer, [x, ...states.slice(half)]);
  const backward = returnSequences ? o.reverse(back!, [1]) : back!;
  const lastStates = returnState ? [...forwardStates, ...backStates] : [];
  switch (mergeMode) {
    case 'concat':
      return [o.concat([forward!, backward], -1), ...lastStates];
    case 'sum':
      return [o.add(forward!, backward), ...lastStates];
    case 'ave':
      return [o.mul(o.add(forward!, backward), 0.5), ...lastStates];
    case 'mul':
      return [o.mul(forward!, backward), ...lastStates];
    default:
      return [forward!, backward, ...lastStates];
  }
};

/** All steps of all samples as one batch. */
const timeDistributed: Emitter = (call) => {
  const { o, input, context } = call;
  const { layer } = call.layer as tf.layers.Layer & { readonly layer: tf.layers.Layer };
  const rest = o.sizesOf(input, 2);
  const flat = o.reshape(input, [null, ...rest], [null, ...input.shape.slice(2)]);
  const { outputs } = context.emit(layer, [flat], null);
  const [output] = outputs as [Value];
  const sizes = [...o.sizesOf(input, 0, 2), ...o.sizesOf(output, 1)];
  return o.reshape(output, sizes, [...input.shape.slice(0, 2), ...output.shape.slice(1)]);
};

export const WRAPPER_LAYERS: Readonly<Record<string, Emitter>> = {
  Bidirectional: bidirectional,
  TimeDistributed: timeDistributed,
};
