/** Convolutions. Channels come last in TensorFlow's ops for CPUs, so others are turned around them. */
import { ints, text, type } from '../graph/function_builder.js';
import type { Value } from '../graph/value.js';
import { activated } from './dense.js';
import type { Emitter, LayerCall } from './layer_call.js';
import { channelsToFirst, channelsToLast } from './shapes.js';

type Sizes = readonly number[];

/** One entry per axis of the tensor, 1 for batch and channels. */
function aroundSpace(sizes: Sizes): number[] {
  return [1, ...sizes, 1];
}

function padding(how: unknown): ReturnType<typeof text> {
  return text(how === 'same' ? 'SAME' : 'VALID');
}

function format(rank: number): ReturnType<typeof text> {
  return text(rank === 2 ? 'NHWC' : 'NDHWC');
}

/** Of one axis of space. */
function convolved(size: number | null, kernel: number, stride: number, dilation: number, how: unknown): number | null {
  if (size === null) return null;
  return Math.ceil((how === 'same' ? size : size - (kernel - 1) * dilation) / stride);
}

/** What a convolution is told beside its inputs. */
export interface ConvolutionArgs {
  readonly strides: Sizes;
  readonly dilations: Sizes;
  readonly padding: unknown;
}

/** x [batch, ...space, channels], kernel [...space, channels, filters]; two or three axes of space. */
export function convolve({ o }: LayerCall, given: Value, kernel: Value, args: ConvolutionArgs, op?: string): Value {
  const x = o.cast(given, 'float32');
  const rank = kernel.shape.length - 2;
  const space = x.shape.slice(1, -1).map((size, i) => {
    return convolved(size, kernel.shape[i]!, args.strides[i]!, args.dilations[i]!, args.padding);
  });
  const isDepthwise = op !== undefined;
  const channels = isDepthwise ? kernel.shape[2]! * kernel.shape[3]! : kernel.shape.at(-1)!;
  return o.graph.node(op ?? (rank === 2 ? 'Conv2D' : 'Conv3D'), [x, kernel], {
    attr: {
      T: type('float32'),
      strides: ints(aroundSpace(args.strides)),
      dilations: ints(aroundSpace(args.dilations)),
      padding: padding(args.padding),
      data_format: format(rank),
    },
    dtype: 'float32',
    shape: [x.shape[0]!, ...space, channels],
  });
}

function biased(call: LayerCall, x: Value): Value {
  const bias = call.optional('bias');
  return bias === null ? x : call.o.add(x, bias);
}

/** Runs what wants channels last, and puts them back. */
function withChannelsLast(call: LayerCall, run: (x: Value) => Value): Value {
  if (!call.isChannelsFirst) return run(call.input);
  return channelsToFirst(call.o, run(channelsToLast(call.o, call.input)));
}

function argsOf(call: LayerCall): ConvolutionArgs {
  return {
    strides: call.numbers('strides'),
    dilations: call.numbers('dilationRate'),
    padding: call.config['padding'],
  };
}

const convolution: Emitter = (call) => {
  return withChannelsLast(call, (x) =>
    activated(call, biased(call, convolve(call, x, call.weight('kernel'), argsOf(call)))),
  );
};

/** As one row of an image; whatever the layout of the input, tfjs gives channels last. */
const convolution1D: Emitter = (call) => {
  const { o } = call;
  const { dataFormat } = call.layer as unknown as { dataFormat: string };
  const x = dataFormat === 'channelsFirst' ? channelsToLast(o, call.input) : call.input;
  const { strides, dilations, padding: how } = argsOf(call);
  const args = { strides: [1, strides[0]!], dilations: [1, dilations[0]!], padding: how };
  const row = convolve(call, o.expandDims(x, 1), o.expandDims(call.weight('kernel'), 0), args);
  return activated(call, biased(call, o.squeeze(row, [1])));
};

function transposedSize(size: number | null, kernel: number, stride: number, how: unknown): number | null {
  if (size === null) return null;
  return how === 'same' ? size * stride : size * stride + Math.max(kernel - stride, 0);
}

/** The gradient of a convolution with respect to its input. */
const transposed: Emitter = (call) => {
  const { o } = call;
  const [kernelSize, strides, how] = [call.numbers('kernelSize'), call.numbers('strides'), call.config['padding']];
  const rank = kernelSize.length;
  return withChannelsLast(call, (given) => {
    const x = o.cast(given, 'float32');
    const kernel = call.weight('kernel');
    const filters = kernel.shape.at(-2)!;
    const space = kernelSize.map((size, i) => {
      const known = transposedSize(x.shape[i + 1]!, size, strides[i]!, how);
      if (known !== null) return known;
      const grown = o.mul(o.sizeAt(x, i + 1), strides[i]!);
      return how === 'same' ? grown : o.add(grown, Math.max(size - strides[i]!, 0));
    });
    const sizes = o.sizes([o.sizeAt(x, 0), ...space, filters]);
    const result = o.graph.node(rank === 2 ? 'Conv2DBackpropInput' : 'Conv3DBackpropInputV2', [sizes, kernel, x], {
      attr: {
        T: type('float32'),
        strides: ints(aroundSpace(strides)),
        padding: padding(how),
        data_format: format(rank),
        ...(rank === 3 ? { Tshape: type('int32') } : {}),
      },
      dtype: 'float32',
      shape: [x.shape[0]!, ...space.map((size) => (typeof size === 'number' ? size : null)), filters],
    });
    return activated(call, biased(call, result));
  });
};

const DEPTHWISE = 'DepthwiseConv2dNative';

/** tfjs takes no dilation here, whatever the config says. */
const depthwise: Emitter = (call) => {
  const args = { ...argsOf(call), dilations: [1, 1] };
  return withChannelsLast(call, (x) => {
    return activated(call, biased(call, convolve(call, x, call.weight('depthwise_kernel'), args, DEPTHWISE)));
  });
};

/** Each channel by itself, then all of them at each place. */
const separable: Emitter = (call) => {
  return withChannelsLast(call, (x) => {
    const deep = convolve(call, x, call.weight('depthwise_kernel'), argsOf(call), DEPTHWISE);
    const plain = { strides: [1, 1], dilations: [1, 1], padding: 'valid' };
    return activated(call, biased(call, convolve(call, deep, call.weight('pointwise_kernel'), plain)));
  });
};

export const CONVOLUTION_LAYERS: Readonly<Record<string, Emitter>> = {
  Conv1D: convolution1D,
  Conv2D: convolution,
  Conv3D: convolution,
  Conv2DTranspose: transposed,
  Conv3DTranspose: transposed,
  DepthwiseConv2D: depthwise,
  SeparableConv2D: separable,
};
