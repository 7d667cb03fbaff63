/** Losses of a positive item against sampled ones. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { accidentalHits, areIds, candidatesOf, diagonal, withIds, type Positives } from './candidates.js';
import { checkFinite, checkTemperature, madeLoss, weighRows, type Loss, type LossArguments } from './loss.js';

/** Options of all losses of sampled negatives. */
export interface SampledLossArgs {
  /**
   * Whether negatives that are the positive of their row are left out. Default: true where `yTrue` holds ids, which are
   * int32.
   */
  removeAccidentalHits?: boolean | undefined;
}

/** Options of the softmax losses. */
export interface SampledSoftmaxArgs extends SampledLossArgs {
  /** What scores are divided by. Default: 1. */
  temperature?: number | undefined;
  /**
   * How likely each item is to be a candidate, by id: the logarithm is taken from its scores (logQ correction), of the
   * positive too, so that frequent items are not punished for being drawn often. Below 1e-6 counts as that. Needs ids.
   */
  samplingProbabilities?: ArrayLike<number> | undefined;
}

/** Options of the cosine contrastive loss. */
export interface CosineContrastiveArgs extends SampledLossArgs {
  /** Negatives below this cosine cost nothing. Default: 0. */
  margin?: number | undefined;
  /** What the mean over the negatives is multiplied by; null (default): their sum is taken. */
  negativeWeight?: number | null | undefined;
}

const LEAST_PROBABILITY = 1e-6;
/** What stands for a score that does not count. */
const NO_SCORE = -1e30;

function checkFlag(value: boolean | undefined): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new ArgumentTypeError('removeAccidentalHits', 'true or false', value);
}

/** True for accidental hits; null: they are not looked for. */
function hitsOf(given: LossArguments, remove: boolean | undefined, positives: Positives): tf.Tensor2D | null {
  if (!(remove ?? areIds(given))) return null;
  return accidentalHits(candidatesOf(given, positives, 'removeAccidentalHits'), positives);
}

/** The first column, and the others. */
function parts({ scores }: LossArguments): [positive: tf.Tensor2D, negatives: tf.Tensor2D] {
  if (scores.shape[1] < 2)
    throw new ValueError('yPred', 'the score of a positive and one of a negative at least', scores);
  return [scores.slice([0, 0], [-1, 1]), scores.slice([0, 1], [-1, -1])];
}

/** The sum over the negatives that are no hits, and how many these are, by row. */
function overNegatives(losses: tf.Tensor, hits: tf.Tensor2D | null): [sum: tf.Tensor, count: tf.Tensor | number] {
  if (hits === null) return [losses.sum(-1), losses.shape[1]!];
  const kept = tf.logicalNot(hits).cast('float32');
  return [losses.mul(kept).sum(-1), tf.maximum(kept.sum(-1), 1)];
}

/**
 * Makes the loss of Bayesian personalized ranking: -log(sigmoid(positive - negative)), the mean over the negatives.
 *
 * The first column of the scores [batch, 1 + negatives] is that of the positive. `yTrue` holds the ids of the columns,
 * int32, from which accidental hits are known, or, as float32, whatever there is, which is not looked at. Negatives that
 * all rows share stand in scores [batch, 1 + batch * n], for ids [batch, 1 + n], as `emb.layers.candidateScores` gives
 * them. A row whose negatives are all hits has the loss 0.
 *
 * @param args - Which negatives are left out.
 * @returns A loss: `yTrue` and scores to [batch] float32.
 * @throws TypeError for options of a wrong type; in the loss, ValueError for shapes that do not fit each other. Source:
 * Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback (2009).
 *
 * @example
 * const loss = emb.losses.bpr();
 * loss(tf.tensor2d([[7, 3, 7]], [1, 3], 'int32'), tf.tensor2d([[2, 1, 2]])).print(); // [0.3132617], of item 3 alone
 */
export function bpr(args: SampledLossArgs = {}): Loss {
  const given = readOptions<SampledLossArgs>(args, ['removeAccidentalHits'], 'args', 'emb.losses.bpr({…})');
  const remove = checkFlag(given.removeAccidentalHits);
  return madeLoss('bpr', (batch) => {
    const [positive, negatives] = parts(batch);
    const losses = tf.softplus(negatives.sub(positive));
    const [sum, count] = overNegatives(losses, hitsOf(batch, remove, 'first'));
    return weighRows(sum.div(count), batch);
  });
}

/** log of the probabilities, by id; null: none. */
function logarithms(given: ArrayLike<number> | undefined): Float32Array | null {
  if (given === undefined) return null;
  const isList = Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));
  if (!isList || given.length === 0) {
    throw new ArgumentTypeError('samplingProbabilities', 'a number for each item, by id', given);
  }
  return Float32Array.from(given, (probability, id) => {
    if (!(typeof probability === 'number' && probability >= 0 && probability <= 1)) {
      throw new ValueError(`samplingProbabilities[${id}]`, 'a number in [0, 1]', probability);
    }
    return Math.log(Math.max(probability, LEAST_PROBABILITY));
  });
}

function logarithmsOf(ids: tf.Tensor2D, logq: tf.Tensor1D): tf.Tensor1D {
  try {
    return tf.gather(logq, ids.as1D());
  } catch (error) {
    // Ids are not read here, as a captured step forbids it: the op says what is wrong with them.
    const received = described(`${logq.size}`);
    const { message } = error as Error;
    throw new ValueError('samplingProbabilities', 'a number for each id of yTrue', received, `${message}.`);
  }
}

/** Logits of all candidates: scores by temperature, corrected, without accidental hits. */
function logitsOf(
  given: LossArguments,
  { remove, temperature, logq }: SoftmaxSettings,
  positives: Positives,
): tf.Tensor2D {
  let logits: tf.Tensor = temperature === 1 ? given.scores : given.scores.div(temperature);
  if (logq !== null) {
    const { positive, others } = candidatesOf(given, positives, 'samplingProbabilities');
    const table = tf.tensor1d(logq);
    const own = logarithmsOf(others, table).reshape(others.shape);
    const first = logarithmsOf(positive, table).expandDims(1);
    const rows = given.scores.shape[0];
    const all = positives === 'diagonal' ? own : tf.concat([first, own.tile([rows / others.shape[0], 1])], 1);
    logits = logits.sub(all);
  }
  const hits = hitsOf(given, remove, positives);
  if (hits === null) return logits as tf.Tensor2D;
  const none =
    positives === 'diagonal'
      ? hits
      : hits.pad([
          [0, 0],
          [1, 0],
        ]);
  return tf.where(none, NO_SCORE, logits as tf.Tensor2D);
}

interface SoftmaxSettings {
  readonly remove: boolean | undefined;
  readonly temperature: number;
  readonly logq: Float32Array | null;
}

function softmaxSettings(args: unknown, usage: string): SoftmaxSettings {
  const fields = ['removeAccidentalHits', 'temperature', 'samplingProbabilities'] as const;
  const given = readOptions<SampledSoftmaxArgs>(args, fields, 'args', usage);
  return {
    remove: checkFlag(given.removeAccidentalHits),
    temperature: checkTemperature(given.temperature),
    logq: logarithms(given.samplingProbabilities),
  };
}

/**
 * Makes the softmax loss of a positive among sampled negatives: -log(softmax(scores)) at the positive.
 *
 * Scores and `yTrue` are those of `bpr`: the first column is that of the positive, negatives are of each row or shared.
 *
 * @param args - Temperature, logQ correction, and which negatives are left out.
 * @returns A loss: `yTrue` and scores to [batch] float32.
 * @throws TypeError and ValueError for options that are none; in the loss, ValueError for shapes that do not fit each
 * other. Source: tensorflow_recommenders.tasks.Retrieval (0.7.7), for negatives that were drawn.
 *
 * @example
 * const loss = emb.losses.sampledSoftmax({ temperature: 0.5 });
 * loss(tf.tensor2d([[7, 3, 5]], [1, 3], 'int32'), tf.tensor2d([[1, 0, 0]])).print(); // [0.2395448]
 */
export function sampledSoftmax(args: SampledSoftmaxArgs = {}): Loss {
  const settings = softmaxSettings(args, 'emb.losses.sampledSoftmax({…})');
  return madeLoss('sampledSoftmax', (given) => {
    parts(given);
    const logits = logitsOf(given, settings, 'first');
    return weighRows(tf.logSoftmax(logits).slice([0, 0], [-1, 1]).squeeze([1]).neg(), given);
  });
}

/**
 * Makes the softmax loss of each row's positive among the items of all rows: -log(softmax(scores)) on the diagonal.
 *
 * Scores are [batch, batch], users by items, and `yTrue` holds the ids of the items, [batch] or [batch, 1], int32 or whole
 * numbers of float32: two rows of the same item are no negatives of each other. With ids [batch, 1 + n] the candidates are the positives of all
 * rows and then the negatives of all rows, as `emb.layers.candidateScores` gives them.
 *
 * @param args - Temperature, logQ correction, and which negatives are left out.
 * @returns A loss: `yTrue` and scores to [batch] float32.
 * @throws TypeError and ValueError for options that are none; in the loss, ValueError for shapes that do not fit each
 * other, and for float32 ids that are no whole numbers below 2^24, unless `removeAccidentalHits` is false. Source:
 * tensorflow_recommenders.tasks.Retrieval (0.7.7); Yi et al., Sampling-Bias-Corrected Neural Modeling for
 * Large Corpus Item Recommendations (2019).
 *
 * @example
 * const loss = emb.losses.inBatchSoftmax();
 * loss(tf.tensor1d([4, 4], 'int32'), tf.tensor2d([[1, 9], [9, 1]])).print(); // [0, 0]: both rows are of item 4
 */
export function inBatchSoftmax(args: SampledSoftmaxArgs = {}): Loss {
  const settings = softmaxSettings(args, 'emb.losses.inBatchSoftmax({…})');
  return madeLoss('inBatchSoftmax', (given) => {
    const [batch, columns] = given.scores.shape;
    if (columns < batch) throw new ValueError('yPred', 'a score of each row for the items of all rows', given.scores);
    const takesIds = settings.remove !== false || settings.logq !== null;
    const logits = logitsOf(takesIds ? withIds(given) : given, settings, 'diagonal');
    const positive = diagonal(batch, columns).cast('float32');
    return weighRows(tf.logSoftmax(logits).mul(positive).sum(-1).neg(), given);
  });
}

/**
 * Makes the cosine contrastive loss: 1 - positive, plus what negatives are above a margin, their sum or weighted mean.
 *
 * Scores are cosines (`emb.layers.unitNormalization` before the product), in the columns of `bpr`. Negatives that are
 * accidental hits count in neither sum nor mean.
 *
 * @param args - Margin, weight of the negatives, and which are left out.
 * @returns A loss: `yTrue` and scores to [batch] float32.
 * @throws TypeError and ValueError for options that are none; in the loss, ValueError for shapes that do not fit each
 * other. Source: Mao et al., SimpleX: A Simple and Strong Baseline for Collaborative Filtering (2021).
 *
 * @example
 * const loss = emb.losses.cosineContrastive({ margin: 0.5, negativeWeight: 10 });
 * loss(tf.tensor2d([[7, 3, 5]], [1, 3], 'int32'), tf.tensor2d([[0.75, 1, 0]])).print(); // [2.75]
 */
export function cosineContrastive(args: CosineContrastiveArgs = {}): Loss {
  const fields = ['removeAccidentalHits', 'margin', 'negativeWeight'] as const;
  const given = readOptions<CosineContrastiveArgs>(args, fields, 'args', 'emb.losses.cosineContrastive({…})');
  const remove = checkFlag(given.removeAccidentalHits);
  const margin = checkFinite(given.margin ?? 0, 'margin');
  const weight = given.negativeWeight ?? null;
  if (weight !== null && !(checkFinite(weight, 'negativeWeight') >= 0)) {
    throw new ValueError('negativeWeight', 'a number >= 0, or null', described(String(weight)));
  }
  return madeLoss('cosineContrastive', (batch) => {
    const [positive, negatives] = parts(batch);
    const [sum, count] = overNegatives(tf.relu(negatives.sub(margin)), hitsOf(batch, remove, 'first'));
    const ofNegatives = weight === null ? sum : sum.div(count).mul(weight);
    return weighRows(tf.relu(tf.sub(1, positive.squeeze([1]))).add(ofNegatives), batch);
  });
}
