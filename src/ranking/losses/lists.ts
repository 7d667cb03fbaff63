/** Losses of lists of items with labels: by pairs of items, of whole lists, and of each item. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import {
  checkTemperature,
  madeLoss,
  refuseOptions,
  shapeText,
  weighRows,
  type Loss,
  type LossArguments,
} from './loss.js';

/** Options of the losses of lists. */
export interface ListLossArgs {
  /** What scores are divided by. Default: 1. */
  temperature?: number | undefined;
}

/** A list by its labels. */
export interface Lists {
  /** float32 [batch, items], 0 for what does not count. */
  readonly labels: tf.Tensor2D;
  /** Which items count: those that are not masked, with a label of 0 or more. */
  readonly valid: tf.Tensor2D;
  readonly scores: tf.Tensor2D;
}

/** What stands for a score that does not count. */
const NO_SCORE = -1e30;

export function listsOf({ labels, mask, scores }: LossArguments): Lists {
  if (!tf.util.arraysEqual(labels.shape, scores.shape)) {
    throw new ValueError('yTrue', `the shape of the scores, ${shapeText(scores)}`, described(shapeText(labels)));
  }
  const floats = labels.cast<tf.Tensor2D>('float32');
  const known = floats.greaterEqual<tf.Tensor2D>(0);
  const valid = mask === null ? known : tf.logicalAnd<tf.Tensor2D>(known, mask);
  return { labels: tf.where(valid, floats, tf.zerosLike(floats)), valid, scores };
}

/** The mean of the losses of items over the list, each times the weight of its item or row. */
function meanOfItems(items: tf.Tensor, { weights }: LossArguments): tf.Tensor {
  return (weights === null ? items : items.mul(weights)).mean(-1);
}

/** Differences of all pairs, [batch, i, j]: of i and j. */
function differences(x: tf.Tensor2D): tf.Tensor {
  return x.expandDims(2).sub(x.expandDims(1));
}

function bothOf(x: tf.Tensor2D): tf.Tensor {
  return tf.logicalAnd(x.expandDims(2), x.expandDims(1));
}

function temperatureOf(args: unknown, name: string): number {
  return checkTemperature(
    readOptions<ListLossArgs>(args, ['temperature'], 'args', `emb.losses.${name}({…})`).temperature,
  );
}

/** A loss of each item i, summed over the items j below it. */
function pairwise(name: string, args: ListLossArgs, ofDifference: (difference: tf.Tensor) => tf.Tensor): Loss {
  const temperature = temperatureOf(args, name);
  return madeLoss(name, (given) => {
    const { labels, valid, scores } = listsOf(given);
    const isPair = tf.logicalAnd(differences(labels).greater(0), bothOf(valid));
    const losses = ofDifference(differences(scores).div(temperature)).mul(isPair.cast('float32'));
    return meanOfItems(losses.sum(-1), given);
  });
}

/**
 * Makes the pairwise logistic loss: log(1 + exp(-(s_i - s_j))), summed over the pairs of a list whose item i has the
 * higher label.
 *
 * `yTrue` holds labels [batch, items], or `{labels, mask}`; items with a label below 0 are left out, as are masked ones.
 * Weights are of rows or of the items i. The loss of a row is the sum of its pairs over the number of its items, so that
 * the mean over a batch is what Keras RS gives.
 *
 * @param args - The temperature.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws TypeError and ValueError for options that are none; in the loss, ValueError for shapes that do not fit each
 * other. Source: keras_rs.losses.PairwiseLogisticLoss (0.4.0).
 *
 * @example
 * emb.losses.pairwiseLogistic()([[1, 0]], [[2, 1]]).print(); // [0.1566308], half of log(1 + exp(-1))
 */
export function pairwiseLogistic(args: ListLossArgs = {}): Loss {
  return pairwise('pairwiseLogistic', args, (difference) => tf.softplus(difference.neg()));
}

/**
 * Makes the pairwise hinge loss: max(0, 1 - (s_i - s_j)), summed as in `pairwiseLogistic`.
 *
 * @param args - The temperature.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: keras_rs.losses.PairwiseHingeLoss (0.4.0).
 *
 * @example
 * emb.losses.pairwiseHinge()([[1, 0]], [[2, 1.5]]).print(); // [0.25]
 */
export function pairwiseHinge(args: ListLossArgs = {}): Loss {
  return pairwise('pairwiseHinge', args, (difference) => tf.relu(tf.sub(1, difference)));
}

/**
 * Makes the pairwise soft zero-one loss: sigmoid(-(s_i - s_j)), summed as in `pairwiseLogistic`.
 *
 * @param args - The temperature.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: keras_rs.losses.PairwiseSoftZeroOneLoss (0.4.0).
 *
 * @example
 * emb.losses.pairwiseSoftZeroOne()([[1, 0]], [[2, 2]]).print(); // [0.25]
 */
export function pairwiseSoftZeroOne(args: ListLossArgs = {}): Loss {
  return pairwise('pairwiseSoftZeroOne', args, (difference) => tf.sigmoid(difference.neg()));
}

/**
 * Makes the pairwise mean squared error: ((y_i - y_j) - (s_i - s_j))^2, summed over all pairs of different items.
 *
 * Scores are not divided by a temperature, which Keras RS takes and leaves aside. The rest is as in `pairwiseLogistic`.
 *
 * @param args - None yet.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: keras_rs.losses.PairwiseMeanSquaredError (0.4.0).
 *
 * @example
 * emb.losses.pairwiseMeanSquared()([[1, 0]], [[2, 2]]).print(); // [1]: the mean over two items of 1 and 1
 */
export function pairwiseMeanSquared(args: Record<string, never> = {}): Loss {
  refuseOptions(args, 'emb.losses.pairwiseMeanSquared()');
  return madeLoss('pairwiseMeanSquared', (given) => {
    const { labels, valid, scores } = listsOf(given);
    // A pair of an item with itself is 0.
    const losses = differences(labels).sub(differences(scores)).square();
    return meanOfItems(losses.mul(bothOf(valid).cast('float32')).sum(-1), given);
  });
}

/** Scores by temperature, with hardly any probability for items that do not count. */
function logitsOf({ valid, scores }: Lists, temperature: number): tf.Tensor2D {
  return tf.where(valid, scores.div<tf.Tensor2D>(temperature), tf.fill(scores.shape, NO_SCORE));
}

/**
 * Makes the softmax loss of a list: -sum(y_i log(softmax(s)_i)).
 *
 * `yTrue` holds labels [batch, items] or `{labels, mask}`, and items with a label below 0 are left out. A list without a
 * label above 0 has the loss 0. Weights are of rows.
 *
 * @param args - The temperature.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: tfr.keras.losses.SoftmaxLoss (TensorFlow Ranking 0.5).
 *
 * @example
 * emb.losses.listSoftmax()([[1, 0]], [[1, 0]]).print(); // [0.3132617]
 */
export function listSoftmax(args: ListLossArgs = {}): Loss {
  const temperature = temperatureOf(args, 'listSoftmax');
  return madeLoss('listSoftmax', (given) => {
    const lists = listsOf(given);
    return weighRows(tf.logSoftmax(logitsOf(lists, temperature)).mul(lists.labels).sum(-1).neg(), given);
  });
}

/**
 * Makes the ListMLE loss: -log of the probability that items are drawn in the order of their labels, each by the softmax
 * of those that are left.
 *
 * `yTrue` holds labels [batch, items] or `{labels, mask}`, and items with a label below 0 are left out. Of equal labels
 * the item with the lower index comes first. Weights are of rows.
 *
 * @param args - The temperature.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: keras_rs.losses.ListMLELoss (0.4.0).
 *
 * @example
 * emb.losses.listMLE()([[1, 0]], [[1, 0]]).print(); // [0.3132617]: the second item is the only one left
 */
export function listMLE(args: ListLossArgs = {}): Loss {
  const temperature = temperatureOf(args, 'listMLE');
  return madeLoss('listMLE', (given) => {
    const lists = listsOf(given);
    const { labels, valid } = lists;
    const logits = logitsOf(lists, temperature);
    const items = tf.range(0, labels.shape[1], 1, 'int32');
    const isNotBefore = items.expandDims(1).lessEqual(items.expandDims(0));
    const above = differences(labels);
    // Those that are left when i is drawn, in place of a sort.
    const isLeft = tf.logicalOr(above.greater(0), tf.logicalAnd(above.equal(0), isNotBefore));
    const left = tf.where(tf.logicalAnd(isLeft, bothOf(valid)), logits.expandDims(1), NO_SCORE);
    const losses = tf.logSumExp(left, -1).sub(logits);
    return weighRows(tf.where(valid, losses, tf.zerosLike(losses)).sum(-1), given);
  });
}

/**
 * Makes the cross-entropy of labels in [0, 1] and the sigmoid of scores, the mean over the items of a row.
 *
 * `yTrue` holds labels [batch, items] or `{labels, mask}`; items with a label below 0 are left out. Weights are of rows
 * or of items.
 *
 * @param args - None yet.
 * @returns A loss: `yTrue` and scores [batch, items] to [batch] float32.
 * @throws As `pairwiseLogistic`. Source: tf.nn.sigmoid_cross_entropy_with_logits (TensorFlow 2.21).
 *
 * @example
 * emb.losses.sigmoidCrossEntropyFromLogits()([[1, 0]], [[0, 0]]).print(); // [0.6931472]
 */
export function sigmoidCrossEntropyFromLogits(args: Record<string, never> = {}): Loss {
  refuseOptions(args, 'emb.losses.sigmoidCrossEntropyFromLogits()');
  return madeLoss('sigmoidCrossEntropyFromLogits', (given) => {
    const { labels, valid, scores } = listsOf(given);
    const counts = valid.cast('float32');
    const losses = tf.softplus(scores).sub(scores.mul(labels)).mul(counts);
    const { weights } = given;
    return (weights === null ? losses : losses.mul(weights)).sum(-1).div(tf.maximum(counts.sum(-1), 1));
  });
}
