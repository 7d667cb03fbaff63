/** Override of the layers of tfjs that add noise, multiply by it, or drop what is replaced by a number below the others. */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';
import { droppedByOp, isDropping, liveScalar, normalByOp, tidied } from './random_numbers.js';

type Call = (this: tf.layers.Layer, inputs: tf.Tensor | tf.Tensor[], kwargs: Record<string, unknown>) => unknown;

/** What a training call of such a layer gives for floats; null: what tfjs gives. */
export type NoiseBy = (layer: tf.layers.Layer, input: tf.Tensor) => tf.Tensor | null;

interface GaussianNoise extends tf.layers.Layer {
  readonly stddev: number;
}

interface Dropping extends tf.layers.Layer {
  readonly rate: number;
}

interface AlphaDropout extends Dropping {
  _getNoiseShape(inputs: tf.Tensor): number[];
}

/** The number below which the activation `selu` never falls. */
const LOWEST = -1.6732632423543772 * 1.0507009873554805;

function added(layer: GaussianNoise, input: tf.Tensor): tf.Tensor | null {
  return (
    normalByOp(input.shape)
      ?.mul(liveScalar(() => layer.stddev))
      .add(input) ?? null
  );
}

function multiplied(layer: Dropping, input: tf.Tensor): tf.Tensor | null {
  if (!isDropping(layer.rate)) return null;
  const deviation = (): number => Math.sqrt(layer.rate / (1 - layer.rate));
  return normalByOp(input.shape)?.mul(liveScalar(deviation)).add(1).mul(input) ?? null;
}

/** Factor and summand that give the input's mean and variance back. */
function affine(rate: number): readonly [number, number] {
  const factor = ((1 - rate) * (1 + rate * LOWEST ** 2)) ** -0.5;
  return [factor, -factor * LOWEST * rate];
}

function lowered(layer: AlphaDropout, input: tf.Tensor): tf.Tensor | null {
  if (!isDropping(layer.rate)) return null;
  const mask = droppedByOp(tf.ones(layer._getNoiseShape(input)), () => layer.rate);
  if (mask === null) return null;
  const kept = mask.greater(0).toFloat();
  // The sign of tfjs, which is the other one in Keras.
  const x = input.mul(kept).add(kept.sub(1).mul(LOWEST));
  const [factor, summand] = [0, 1].map((i) => liveScalar(() => affine(layer.rate)[i]!));
  return x.mul(factor!).add(summand!);
}

const noise = new Substitute<NoiseBy>('noise');

/** Installs the hooks into tfjs. */
function installNoise(): void {
  const args = { name: 'stock', rate: 0.5, stddev: 1 };
  const layers = [tf.layers.gaussianNoise(args), tf.layers.gaussianDropout(args), tf.layers.alphaDropout(args)];
  for (const layer of layers) {
    noise.open<Call>(layer, 'call', (stock, byNow) => {
      return function (this: tf.layers.Layer, inputs, kwargs): unknown {
        const by = byNow();
        const input = Array.isArray(inputs) && inputs.length === 1 ? inputs[0] : inputs;
        const isAsked = by !== null && kwargs['training'] === true;
        const result = isAsked && input instanceof tf.Tensor && input.dtype === 'float32' ? by(this, input) : null;
        return result ?? stock.call(this, inputs, kwargs);
      };
    });
  }
}

/** What these layers give in training; null where the backend has no such op, and for fields that make no noise. */
export function nativeNoise(layer: tf.layers.Layer, input: tf.Tensor): tf.Tensor | null {
  return tidied(() => {
    if ('stddev' in layer) return added(layer as GaussianNoise, input);
    return '_getNoiseShape' in layer
      ? lowered(layer as AlphaDropout, input)
      : multiplied(layer as unknown as Dropping, input);
  });
}

/** Noise is an op that draws by a seed of each step. */
export const NOISE = noise.as(nativeNoise, installNoise);
