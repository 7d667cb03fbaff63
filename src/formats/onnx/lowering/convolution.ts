/** Convolutions and pooling. TensorFlow has channels last here, ONNX has them first. */
import type { Shape, Value } from '../../saved_model/graph/value.js';
import type { Lowering } from '../graph/lowering.js';
import { RefusedOp } from '../../saved_model/graph/refused_op.js';
import type { Parts } from '../graph/onnx_graph.js';
import { bytesOfText, type OnnxGraph, type Settings } from '../graph/onnx_graph.js';
import { transpose } from './shapes.js';

type Sizes = readonly number[];

export function channelsFirst(g: OnnxGraph, x: Value): Value {
  const rank = x.shape.length;
  return transpose(g, x, [0, rank - 1, ...Array.from({ length: rank - 2 }, (_, i) => i + 1)]);
}

export function channelsLast(g: OnnxGraph, x: Value, shape: Shape): Value {
  const rank = x.shape.length;
  const turned = transpose(g, x, [0, ...Array.from({ length: rank - 2 }, (_, i) => i + 2), 1]);
  return { ...turned, shape };
}

/** The shape of a result with its channels first. */
function firstShape(shape: Shape): Shape {
  return [shape[0]!, shape.at(-1)!, ...shape.slice(1, -1)];
}

/** Of the axes of space. */
function spaceOf({ attr }: Parts, field: string): Sizes {
  return attr[field]!.list!.i!.slice(1, -1);
}

/** What is added around the axes of space. `SAME_UPPER` of ONNX is TensorFlow's SAME: more behind than before. */
function padding({ attr }: Parts): Settings {
  const isSame = new TextDecoder().decode(attr['padding']!.s) === 'SAME';
  return { auto_pad: { s: bytesOfText(isSame ? 'SAME_UPPER' : 'VALID') } };
}

/**
 * With dilations, what is added on each side stands in numbers: runtimes take `auto_pad` for kernels without gaps. That
 * needs sizes that are known, but where steps are of 1.
 */
function paddingOf(parts: Parts, x: Value, kernel: Sizes): Settings {
  const [strides, dilations] = [spaceOf(parts, 'strides'), spaceOf(parts, 'dilations')];
  const isSame = new TextDecoder().decode(parts.attr['padding']!.s) === 'SAME';
  if (!isSame || dilations.every((each) => each === 1)) return padding(parts);
  const totals = kernel.map((size, i) => {
    const reach = (size - 1) * dilations[i]! + 1;
    const stride = strides[i]!;
    if (stride === 1) return reach - 1;
    const length = x.shape[i + 1]!;
    if (length === null) throw new RefusedOp('with dilations and strides, whose images have no known size');
    return Math.max((Math.ceil(length / stride) - 1) * stride + reach - length, 0);
  });
  const before = totals.map((total) => Math.floor(total / 2));
  return { pads: { ints: [...before, ...totals.map((total, i) => total - before[i]!)] } };
}

/** kernel [...space, channels, filters] as [filters, channels, ...space]. */
function filtersFirst(g: OnnxGraph, kernel: Value): Value {
  const space = kernel.shape.length - 2;
  return transpose(g, kernel, [space + 1, space, ...Array.from({ length: space }, (_, i) => i)]);
}

function convolved(g: OnnxGraph, x: Value, kernel: Value, groups: number, parts: Parts): Value {
  const size = kernel.shape.slice(2) as Sizes;
  const settings = {
    kernel_shape: { ints: size },
    strides: { ints: spaceOf(parts, 'strides') },
    dilations: { ints: spaceOf(parts, 'dilations') },
    group: { i: groups },
    ...paddingOf(parts, x, size),
  };
  const shape = firstShape(parts.shape);
  const result = g.op('Conv', [channelsFirst(g, x), kernel], { dtype: 'float32', shape }, settings);
  return channelsLast(g, result, parts.shape);
}

const convolution: Lowering = (g, [x, kernel], parts) => convolved(g, x, filtersFirst(g, kernel), 1, parts);

/** kernel [height, width, channels, multiplier]: each channel is a group of its own. */
const depthwise: Lowering = (g, [x, kernel], parts) => {
  const [height, width, channels, multiplier] = kernel.shape as [number, number, number, number];
  const turned = transpose(g, kernel, [2, 3, 0, 1]);
  const shape = [channels * multiplier, 1, height, width];
  const filters = g.op('Reshape', [turned, g.int64s(shape)], { dtype: 'float32', shape });
  return convolved(g, x, filters, channels, parts);
};

/** kernel [...space, filters, channels]; how large the result is follows from padding and strides. */
const transposed: Lowering = (g, [, kernel, x], parts) => {
  const strides = spaceOf(parts, 'strides');
  const size = kernel.shape.slice(0, -2) as Sizes;
  const isSame = new TextDecoder().decode(parts.attr['padding']!.s) === 'SAME';
  const totals = size.map((each, i) => (isSame ? Math.max(each - strides[i]!, 0) : 0));
  const before = totals.map((total) => Math.floor(total / 2));
  const settings = {
    kernel_shape: { ints: size },
    strides: { ints: strides },
    pads: { ints: [...before, ...totals.map((total, i) => total - before[i]!)] },
    output_padding: { ints: size.map((each, i) => Math.max(strides[i]! - each, 0)) },
  };
  const shape = firstShape(parts.shape);
  const inputs = [channelsFirst(g, x), filtersFirst(g, kernel)];
  return channelsLast(g, g.op('ConvTranspose', inputs, { dtype: 'float32', shape }, settings), parts.shape);
};

const pooling =
  (op: 'MaxPool' | 'AveragePool'): Lowering =>
  (g, [x], parts) => {
    const settings = {
      kernel_shape: { ints: spaceOf(parts, 'ksize') },
      strides: { ints: spaceOf(parts, 'strides') },
      ...padding(parts),
    };
    const pooled = g.op(op, [channelsFirst(g, x)], { dtype: 'float32', shape: firstShape(parts.shape) }, settings);
    return channelsLast(g, pooled, parts.shape);
  };

export const CONVOLUTION: Readonly<Record<string, Lowering>> = {
  Conv2D: convolution,
  Conv3D: convolution,
  DepthwiseConv2dNative: depthwise,
  Conv2DBackpropInput: transposed,
  Conv3DBackpropInputV2: transposed,
  MaxPool: pooling('MaxPool'),
  MaxPool3D: pooling('MaxPool'),
  AvgPool: pooling('AveragePool'),
  AvgPool3D: pooling('AveragePool'),
};
