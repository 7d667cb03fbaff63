/** Right calls of the ops of losses and of the gradient of softmax, with numbers and sizes of every kind. */
import * as tf from '@tensorflow/tfjs';
import type { Random } from '../../../test/helpers/random.js';
import { WIDEST, type HostileTensors } from './tensors.js';

export interface LossCall {
  readonly name: string;
  readonly inputs: tf.Tensor[];
}

const NAMES = [
  ...['CrossEntropy', 'CrossEntropyGrad', 'CategoricalLoss', 'CategoricalLossGrad'],
  ...['CategoricalLossSoftmaxGrad', 'SoftmaxGrad'],
];
const STRANGE = [NaN, Infinity, -Infinity, -0, 1e38, -1e38, 1e-45, 2 ** 31, 2 ** 62];

/** Rows and classes; one of some tasks, or so large that only one without numbers can be made. */
function drawShape(random: Random): [rows: number, classes: number] {
  const chance = random.next();
  if (chance < 0.05)
    return random.pick<[number, number]>([
      [WIDEST, 0],
      [0, WIDEST],
    ]);
  if (chance < 0.1)
    return random.pick<[number, number]>([
      [1, 40_000],
      [40_000, 1],
      [300, 130],
    ]);
  return [random.whole(0, 9), random.pick([0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 130])];
}

export function lossCall(random: Random, tensors: HostileTensors): LossCall {
  const [rows, classes] = drawShape(random);
  const strange = random.chance(0.5) ? 0.1 : 0;
  const numbers = (shape: number[], draw = (): number => random.next()): tf.Tensor => {
    const size = shape.reduce((product, length) => product * length, 1);
    if (size === 0) return tf.zeros(shape);
    const values = Float32Array.from({ length: size }, () => (random.chance(strange) ? random.pick(STRANGE) : draw()));
    return tf.tensor(values, shape);
  };
  const name = random.pick(NAMES);
  const all = (): tf.Tensor => numbers([rows, classes]);
  // One number for each row; not of more than there is memory for.
  const perRow = (draw?: () => number): tf.Tensor => numbers([rows > 2 ** 30 ? 2 : rows], draw);
  const limits = (): tf.Tensor =>
    tf.tensor1d(
      random.pick([
        [1e-7, 1 - 1e-7],
        [0, 1],
        [1, 0],
        [NaN, NaN],
        [0.3, 0.3],
        [-Infinity, Infinity],
      ]),
    );
  const inputs = (): tf.Tensor[] => {
    switch (name) {
      case 'CrossEntropy':
      case 'CrossEntropyGrad': {
        const ends = random.chance(0.5) ? tensors.floats(0) : limits();
        const predictions = numbers([rows, classes], () => random.pick([random.next(), 0, 1, 90 * random.next() - 45]));
        return [all(), predictions, ends, ...(name === 'CrossEntropyGrad' ? [all()] : [])];
      }
      case 'CategoricalLoss':
      case 'CategoricalLossGrad':
      case 'CategoricalLossSoftmaxGrad': {
        const labels = random.chance(0.5) ? perRow(() => random.whole(-2, classes + 2)) : all();
        return [labels, all(), limits(), ...(name === 'CategoricalLoss' ? [] : [perRow()])];
      }
      default:
        return [all(), all()];
    }
  };
  return { name: `Embedding${name}`, inputs: inputs() };
}
