/** What losses are, how they are made, and the arguments that all of them take. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { asOwn } from '../../tfjs/engine/own_functions.js';

/** Labels with a mask: false for items that are not there. */
export interface MaskedLabels {
  /** Labels, of the shape of the scores. */
  labels: tf.Tensor | tf.TensorLike;
  /** Of the shape of the labels: true, or not 0, for items that count. */
  mask?: tf.Tensor | tf.TensorLike | null | undefined;
}

/** What a loss compares scores with. */
export type Targets = tf.Tensor | tf.TensorLike | MaskedLabels;

/** A loss for `compile`, and a function of its own. */
export interface Loss {
  /**
   * Returns the loss of each row.
   *
   * @param yTrue - What the scores are compared with.
   * @param yPred - Scores, [batch, items] float32, or [items] for a single row.
   * @returns [batch] float32.
   */
  (yTrue: tf.Tensor, yPred: tf.Tensor): tf.Tensor;
  /**
   * Returns the weighted loss of each row.
   *
   * @param yTrue - What the scores are compared with, or `{labels, mask}`.
   * @param yPred - Scores, [batch, items] float32, or [items] for a single row.
   * @param weights - Weights of rows, [batch] or [batch, 1], or of items, [batch, items], where the loss is one of items.
   * @returns [batch] float32.
   */
  (yTrue: Targets, yPred: tf.Tensor | tf.TensorLike, weights?: tf.Tensor | tf.TensorLike | null): tf.Tensor;
}

type AnyTensor = tf.Tensor | tf.TensorLike;

/** Arguments of a loss as tensors. */
export interface LossArguments {
  /** [batch, …], as given. */
  readonly labels: tf.Tensor;
  /** bool, of the shape of the labels; null: none. */
  readonly mask: tf.Tensor | null;
  /** [batch, items] */
  readonly scores: tf.Tensor2D;
  /** [batch, 1] or [batch, items] float32; null: none. */
  readonly weights: tf.Tensor2D | null;
}

/** A loss of this package, which steps that are captured know. */
export function madeLoss(name: string, rows: (given: LossArguments) => tf.Tensor): Loss {
  const loss = (yTrue: Targets, yPred: AnyTensor, weights: AnyTensor | null = null): tf.Tensor =>
    tf.tidy(() => rows(argumentsOf(yTrue, yPred, weights)));
  Object.defineProperty(loss, 'name', { value: name });
  return asOwn(loss);
}

/** Throws TypeError, which names the argument, for what is no tensor and cannot become one. */
export function asTensor(value: unknown, argument: string, dtype?: 'bool'): tf.Tensor {
  if (value instanceof tf.Tensor) return dtype === undefined || value.dtype === dtype ? value : value.cast(dtype);
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (!isList) throw new ArgumentTypeError(argument, 'a tensor or an array of numbers', value);
  const tensor = tf.tensor(value as tf.TensorLike);
  if (tensor.dtype === 'string') throw new ArgumentTypeError(argument, 'a tensor or an array of numbers', value);
  return dtype === undefined ? tensor : tensor.cast(dtype);
}

function isMasked(yTrue: unknown): yTrue is MaskedLabels {
  return yTrue !== null && typeof yTrue === 'object' && !(yTrue instanceof tf.Tensor) && 'labels' in yTrue;
}

export function shapeText({ shape }: tf.Tensor): string {
  return `[${shape.join(', ')}]`;
}

/** Labels and their mask as tensors. */
export function targetsOf(yTrue: unknown): Pick<LossArguments, 'labels' | 'mask'> {
  if (!isMasked(yTrue)) return { labels: asTensor(yTrue, 'yTrue'), mask: null };
  const labels = asTensor(yTrue.labels, 'yTrue.labels');
  const mask = yTrue.mask === undefined || yTrue.mask === null ? null : asTensor(yTrue.mask, 'yTrue.mask', 'bool');
  if (mask !== null && !tf.util.arraysEqual(mask.shape, labels.shape)) {
    throw new ValueError('yTrue.mask', `the shape of the labels, ${shapeText(labels)}`, described(shapeText(mask)));
  }
  return { labels, mask };
}

/** [batch, items] of the scores, a single row being a batch of one. */
export function scoresOf(yPred: unknown): tf.Tensor2D {
  const scores = asTensor(yPred, 'yPred');
  if (scores.rank !== 1 && scores.rank !== 2) throw new ValueError('yPred', 'rank 1 or 2', scores);
  if (scores.dtype !== 'float32') throw new ArgumentTypeError('yPred', 'dtype float32', scores);
  return scores.rank === 1 ? scores.expandDims<tf.Tensor2D>(0) : (scores as tf.Tensor2D);
}

/** Weights as [batch, 1] or [batch, items]. */
export function weightsOf(weights: unknown, scores: tf.Tensor2D): tf.Tensor2D | null {
  if (weights === null || weights === undefined) return null;
  const given = asTensor(weights, 'weights').cast('float32');
  const [batch, items] = scores.shape;
  const { shape } = given;
  if (given.size === batch && (shape.length === 1 || shape.at(-1) === 1)) return given.reshape<tf.Tensor2D>([batch, 1]);
  if (given.size === batch * items && shape.at(-1) === items) return given.reshape<tf.Tensor2D>([batch, items]);
  throw new ValueError(
    'weights',
    `shape [${batch}], [${batch}, 1] or [${batch}, ${items}]`,
    described(shapeText(given)),
  );
}

export function argumentsOf(yTrue: unknown, yPred: unknown, weights: unknown): LossArguments {
  const scores = scoresOf(yPred);
  const { labels, mask } = targetsOf(yTrue);
  // A single row, or a batch of one number.
  const isRow = labels.rank === 1 && scores.shape[0] === 1 && labels.size === scores.size;
  return {
    scores,
    labels: isRow ? labels.expandDims(0) : labels,
    mask: isRow && mask !== null ? mask.expandDims(0) : mask,
    weights: weightsOf(weights, scores),
  };
}

/** Losses of rows times the weights of the rows. */
export function weighRows(rows: tf.Tensor, { weights }: LossArguments): tf.Tensor {
  if (weights === null) return rows;
  if (weights.shape[1] !== 1) throw new ValueError('weights', 'one weight for each row', weights);
  return rows.mul(weights.squeeze([1]));
}

/** Throws ValueError, which names it, for an option of what has none. */
export function refuseOptions(args: unknown, usage: string): void {
  const [field] = Object.keys(args ?? {});
  if (field !== undefined)
    throw new ValueError(field, 'no options', described(`the field ${field}`), `Write ${usage}.`);
}

/** Returns a finite number; throws TypeError for no number, ValueError for another one. */
export function checkFinite(value: unknown, argument: string): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a finite number', value);
  if (!Number.isFinite(value)) throw new ValueError(argument, 'a finite number', value);
  return value;
}

/** What scores are divided by: 1 where it is not given. */
export function checkTemperature(given: unknown): number {
  const value = checkFinite(given ?? 1, 'temperature');
  if (value > 0) return value;
  throw new ValueError('temperature', 'a number > 0', value);
}
