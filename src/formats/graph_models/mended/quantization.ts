/** Numbers rounded to a few bits and back, as training for whole numbers does; tfjs-converter passes them on as they are. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../base/errors.js';
import { readTensor } from '../../../ids/values.js';
import { graphOp, type GraphOp } from '../graph_op.js';

const round = Math.fround;

/** The range of a channel, moved so that 0 is one of its steps. All in numbers of 32 bits, as in TensorFlow. */
interface Steps {
  readonly min: number;
  readonly max: number;
  readonly scale: number;
  readonly inverse: number;
  /** The number of the step that is 0. */
  readonly zero: number;
}

function stepsOf(min: number, max: number, { attrs }: tf.GraphNode): Steps {
  const bits = Number(attrs['num_bits'] ?? 8);
  if (!(Number.isInteger(bits) && bits >= 2 && bits <= 16))
    throw new ValueError('num_bits', 'a number in [2, 16]', bits);
  const [least, most] = [attrs['narrow_range'] === true ? 1 : 0, 2 ** bits - 1];
  const scale = round(round(max - min) / (most - least));
  const from = round(least - round(min / scale));
  const zero = from < least ? least : from > most ? most : Math.round(from);
  const [nudgedMin, nudgedMax] = [round((least - zero) * scale), round((most - zero) * scale)];
  const inverse = round(1 / scale);
  return { min: nudgedMin, max: nudgedMax, scale, inverse, zero: Math.floor(round(round(-nudgedMin * inverse) + 0.5)) };
}

function quantized(value: number, { min, max, scale, inverse, zero }: Steps): number {
  const shifted = round(Math.max(Math.min(value, max), min) - min);
  return round(Math.floor(round(round(round(shifted * inverse) - zero) + 0.5)) * scale);
}

/** Ranges belong to the last axis where there are several. */
function fakeQuant(x: tf.Tensor, least: ArrayLike<number>, most: ArrayLike<number>, node: tf.GraphNode): tf.Tensor {
  const channels = Array.from(least, (min, at): Steps | null => {
    // TensorFlow has zeros where nothing was measured.
    return min === 0 && most[at] === 0 ? null : stepsOf(min, most[at]!, node);
  });
  const values = Float32Array.from(readTensor(x, 'inputs'), (value, at) => {
    const steps = channels[at % channels.length]!;
    return steps === null ? 0 : quantized(value, steps);
  });
  return tf.tensor(values, x.shape, 'float32');
}

export const QUANTIZATION_OPS: readonly GraphOp[] = [
  graphOp('FakeQuantWithMinMaxArgs(inputs: float32) -> outputs: float32', ([x], node) => {
    const [min, max] = [node.attrs['min'] ?? -6, node.attrs['max'] ?? 6].map(Number) as [number, number];
    if (!(min < max)) throw new ValueError('max', `a number above ${min}`, max);
    return fakeQuant(x!, [round(min)], [round(max)], node);
  }),
  graphOp(
    'FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32) -> outputs: float32',
    ([x, min, max], node) => {
      if (min!.size !== 1) throw new ValueError('min', 'one number', min!);
      if (max!.size !== 1) throw new ValueError('max', 'one number', max!);
      return fakeQuant(x!, readTensor(min!, 'min'), readTensor(max!, 'max'), node);
    },
  ),
  graphOp(
    'FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32) -> outputs: float32',
    ([x, min, max], node) => {
      const channels = x!.shape.at(-1);
      if (min!.rank !== 1 || min!.size !== channels)
        throw new ValueError('min', `a vector of ${channels} numbers`, min!);
      if (max!.rank !== 1 || max!.size !== channels)
        throw new ValueError('max', `a vector of ${channels} numbers`, max!);
      return fakeQuant(x!, readTensor(min!, 'min'), readTensor(max!, 'max'), node);
    },
  ),
];
