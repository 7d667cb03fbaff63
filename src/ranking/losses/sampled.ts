/** Losses of a positive item against sampled ones. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { accidentalHits, areIds, candidatesOf, type Positives } from './candidates.js';
import { madeLoss, type Loss, type LossArguments } from './loss.js';

/** Options of the losses of sampled negatives. */
export interface SampledLossArgs {
  /**
   * Whether negatives that are the positive of their row are left out. Default: true where `yTrue` holds ids, which are
   * int32.
   */
  removeAccidentalHits?: boolean | undefined;
}

/** 1 for negatives that count, 0 for accidental hits; null: all count. */
function keptNegatives(given: LossArguments, remove: boolean | undefined, positives: Positives): tf.Tensor2D | null {
  if (!(remove ?? areIds(given))) return null;
  const candidates = candidatesOf(given, positives, 'removeAccidentalHits');
  return tf.logicalNot(accidentalHits(candidates, positives)).cast<tf.Tensor2D>('float32');
}

/** The first column, and the others. */
function parts({ scores }: LossArguments): [positive: tf.Tensor2D, negatives: tf.Tensor2D] {
  if (scores.shape[1] < 2)
    throw new ValueError('yPred', 'the score of a positive and one of a negative at least', scores);
  return [scores.slice([0, 0], [-1, 1]), scores.slice([0, 1], [-1, -1])];
}

/** The mean over the negatives that count, by row; 0 where none does. */
function meanOfKept(losses: tf.Tensor, kept: tf.Tensor2D | null): tf.Tensor {
  return kept === null
    ? losses.mean(-1)
    : losses
        .mul(kept)
        .sum(-1)
        .div(tf.maximum(kept.sum(-1), 1));
}

function weighted(rows: tf.Tensor, { weights }: LossArguments): tf.Tensor {
  if (weights === null) return rows;
  if (weights.shape[1] !== 1) throw new ValueError('weights', 'one weight for each row', weights);
  return rows.mul(weights.squeeze([1]));
}

function checkFlag(value: boolean | undefined, argument: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new ArgumentTypeError(argument, 'true or false', value);
}

/**
 * Makes the loss of Bayesian personalized ranking: -log(sigmoid(positive - negative)), the mean over the negatives.
 *
 * The first column of the scores [batch, 1 + negatives] is that of the positive. `yTrue` holds the ids of the columns,
 * int32, from which accidental hits are known, or, as float32, whatever there is, which is not looked at. Negatives that
 * all rows share stand in [batch, 1 + batch * n] scores, for ids [batch, 1 + n].
 *
 * @param args - Which negatives are left out.
 * @returns A loss: `yTrue` and scores to [batch] float32.
 * @throws TypeError for options of a wrong type; in the loss, ValueError for shapes that do not fit each other. Source:
 * Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, 2009.
 *
 * @example
 * const loss = emb.losses.bpr();
 * loss(tf.tensor2d([[7, 3, 7]], [1, 3], 'int32'), tf.tensor2d([[2, 1, 2]])).print(); // [0.3132617], of item 3 alone
 */
export function bpr(args: SampledLossArgs = {}): Loss {
  const { removeAccidentalHits } = readOptions<SampledLossArgs>(
    args,
    ['removeAccidentalHits'],
    'args',
    'emb.losses.bpr({…})',
  );
  const remove = checkFlag(removeAccidentalHits, 'removeAccidentalHits');
  return madeLoss('bpr', (given) => {
    const [positive, negatives] = parts(given);
    const losses = tf.softplus(negatives.sub(positive));
    return weighted(meanOfKept(losses, keptNegatives(given, remove, 'first')), given);
  });
}
