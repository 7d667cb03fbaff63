/** Pooling over axes of space or time. */
import { ints, text, type } from '../graph/function_builder.js';
import type { Value } from '../graph/value.js';
import type { Emitter, LayerCall } from './layer_call.js';
import { channelsToFirst, channelsToLast } from './shapes.js';

type Kind = 'Max' | 'Avg';

/** Over two or three axes of space, channels last. */
function pool(
  { o, config }: LayerCall,
  given: Value,
  kind: Kind,
  size: readonly number[],
  strides: readonly number[],
): Value {
  const x = o.cast(given, 'float32');
  const isSame = config['padding'] === 'same';
  const space = x.shape.slice(1, -1).map((each, i) => {
    return each === null ? null : Math.ceil((isSame ? each : each - size[i]! + 1) / strides[i]!);
  });
  return o.graph.node(size.length === 2 ? `${kind}Pool` : `${kind}Pool3D`, [x], {
    attr: {
      T: type('float32'),
      ksize: ints([1, ...size, 1]),
      strides: ints([1, ...strides, 1]),
      padding: text(isSame ? 'SAME' : 'VALID'),
      data_format: text(size.length === 2 ? 'NHWC' : 'NDHWC'),
    },
    dtype: 'float32',
    shape: [x.shape[0]!, ...space, x.shape.at(-1)!],
  });
}

const pooling =
  (kind: Kind): Emitter =>
  (call) => {
    const { o, input, isChannelsFirst } = call;
    const [size, strides] = [call.numbers('poolSize'), call.numbers('strides')];
    const x = isChannelsFirst ? channelsToLast(o, input) : input;
    const result = pool(call, x, kind, size, strides);
    return isChannelsFirst ? channelsToFirst(o, result) : result;
  };

const pooling1D =
  (kind: Kind): Emitter =>
  (call) => {
    const { o, input } = call;
    const [[size], [strides]] = [call.numbers('poolSize'), call.numbers('strides')];
    return o.squeeze(pool(call, o.expandDims(input, 2), kind, [size!, 1], [strides!, 1]), [2]);
  };

const globalPooling =
  (op: 'Mean' | 'Max'): Emitter =>
  ({ o, input, isChannelsFirst }) => {
    const space = input.shape.map((_, axis) => axis).slice(isChannelsFirst ? 2 : 1, isChannelsFirst ? undefined : -1);
    return o.reduce(op, input, space);
  };

export const POOLING_LAYERS: Readonly<Record<string, Emitter>> = {
  MaxPooling1D: pooling1D('Max'),
  AveragePooling1D: pooling1D('Avg'),
  MaxPooling2D: pooling('Max'),
  AveragePooling2D: pooling('Avg'),
  MaxPooling3D: pooling('Max'),
  AveragePooling3D: pooling('Avg'),
  GlobalMaxPooling1D: globalPooling('Max'),
  GlobalAveragePooling1D: globalPooling('Mean'),
  GlobalMaxPooling2D: globalPooling('Max'),
  GlobalAveragePooling2D: globalPooling('Mean'),
};
