/** Layers on each number by itself, and normalizations: those that TensorFlow.js lacks, or computes for some settings alone. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { axesOf } from '../operations/operand.js';
import { spatialAxes, told, weightFields, type Computing, type Fields, type LayerKind } from './keras_layer.js';

const identity = (className: string, fields: Fields = {}): LayerKind => ({ className, fields, compute: (x) => x });

/** Whole channels of images and volumes are dropped. */
const spatialDropout = (axes: 2 | 3): LayerKind => ({
  className: `SpatialDropout${axes}D`,
  fields: { rate: 0, seed: null, dataFormat: 'channelsLast' },
  compute: (x, { fields, isTraining }) => {
    const rate = fields['rate'] as number;
    if (!isTraining || rate === 0) return x;
    const over = spatialAxes(x.rank, fields);
    return x.mul(tf.dropout(tf.ones(x.shape.map((size, axis) => (over.includes(axis) ? 1 : size))), rate));
  },
  passesMask: false,
});

const relu: LayerKind = {
  className: 'ReLU',
  fields: { maxValue: null, negativeSlope: 0, threshold: 0 },
  compute: (x, { fields }) => {
    const { maxValue, negativeSlope: slope, threshold } = fields as Record<string, number>;
    const isAbove = withoutTape(() => tf.greater(x, threshold!));
    const above = maxValue === null ? x : tf.minimum(x, maxValue!);
    return tf.where(isAbove, above, slope === 0 ? tf.zerosLike(x) : x.sub(threshold!).mul(slope!));
  },
  isNeeded: (config) => ['negativeSlope', 'threshold'].some((field) => (told(config, field) ?? 0) !== 0),
};

const elu: LayerKind = {
  className: 'ELU',
  fields: { alpha: 1 },
  compute: (x, { fields }) => {
    const below = tf.expm1(tf.minimum(x, 0)).mul(fields['alpha'] as number);
    return tf.where(
      withoutTape(() => tf.greater(x, 0)),
      x,
      below,
    );
  },
  isNeeded: (config) => (config['alpha'] ?? 1) !== 1,
};

const axes = (fields: Fields, rank: number): number[] => axesOf(fields['axis'], rank);

/** Sizes of some axes, which must be known. */
function known(shape: SymbolicShape, of: readonly number[]): number[] {
  return of.map((axis) => shape[axis]!);
}

function spread(value: tf.Tensor, rank: number, of: readonly number[]): tf.Tensor {
  const sizes = Array.from({ length: rank }, (_, axis) => {
    const place = of.indexOf(axis);
    return place < 0 ? 1 : value.shape[place]!;
  });
  return value.reshape(sizes);
}

const rms: LayerKind = {
  className: 'RMSNormalization',
  fields: { axis: -1, epsilon: 1e-6 },
  weights: (shape, fields) => ({ scale: known(shape, axes(fields, shape.length)) }),
  compute: (x, { fields, weight }) => {
    const over = axes(fields, x.rank);
    const size = tf.rsqrt(
      x
        .square()
        .mean(over, true)
        .add(fields['epsilon'] as number),
    );
    return x.mul(size).mul(spread(weight('scale')!, x.rank, over));
  },
  passesMask: false,
};

function scaled(x: tf.Tensor, { weight }: Computing, over: readonly number[]): tf.Tensor {
  const [gamma, beta] = [weight('gamma'), weight('beta')];
  const product = gamma === null ? x : x.mul(spread(gamma, x.rank, over));
  return beta === null ? product : product.add(spread(beta, x.rank, over));
}

const group: LayerKind = {
  className: 'GroupNormalization',
  fields: {
    groups: 32,
    axis: -1,
    epsilon: 1e-3,
    center: true,
    scale: true,
    ...weightFields('beta', 'zeros'),
    ...weightFields('gamma', 'ones'),
  },
  weights: (shape, fields) => {
    const sizes = known(shape, axes(fields, shape.length));
    const { groups } = fields;
    if (groups !== -1 && !(Number.isInteger(groups) && (groups as number) > 0 && sizes[0]! % (groups as number) === 0))
      throw new ValueError('groups', `a divisor of ${sizes[0]}, or -1`, groups);
    return {
      ...(fields['scale'] === true ? { gamma: sizes } : {}),
      ...(fields['center'] === true ? { beta: sizes } : {}),
    };
  },
  compute: (x, computing) => {
    const { fields } = computing;
    const [axis] = axes(fields, x.rank) as [number];
    const size = x.shape[axis]!;
    const groups = fields['groups'] === -1 ? size : (fields['groups'] as number);
    const parts = [...x.shape.slice(0, axis), groups, size / groups, ...x.shape.slice(axis + 1)];
    const grouped = x.reshape(parts);
    const over = parts.map((_, i) => i).filter((i) => i !== 0 && i !== axis);
    const { mean, variance } = tf.moments(grouped, over, true);
    const normal = grouped.sub(mean).mul(tf.rsqrt(variance.add(fields['epsilon'] as number)));
    return scaled(normal.reshape(x.shape), computing, [axis]);
  },
};

export const ELEMENTWISE_KINDS: readonly LayerKind[] = [
  identity('Identity'),
  identity('ActivityRegularization', { l1: 0, l2: 0 }),
  spatialDropout(2),
  spatialDropout(3),
  relu,
  elu,
  rms,
  group,
];
