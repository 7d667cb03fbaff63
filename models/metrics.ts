/** How good predicted probabilities are. All take labels of 0 and 1 and one probability per label. */

export interface Scores {
  /** Fraction of rows on the wrong side of 0.5. */
  readonly error: number;
  /** Mean natural log loss. */
  readonly logLoss: number;
  /** Area under the ROC curve; NaN where there is only one class. */
  readonly auc: number;
}

export function scoresOf(labels: ArrayLike<number>, probabilities: ArrayLike<number>): Scores {
  return {
    error: errorOf(labels, probabilities),
    logLoss: logLossOf(labels, probabilities),
    auc: aucOf(labels, probabilities),
  };
}

/** Fraction of rows on the wrong side of 0.5; 0.5 itself counts as positive. */
export function errorOf(labels: ArrayLike<number>, probabilities: ArrayLike<number>): number {
  let wrong = 0;
  for (let i = 0; i < labels.length; i++) if (probabilities[i]! >= 0.5 !== (labels[i] === 1)) wrong++;
  return wrong / labels.length;
}

/** Probabilities of exactly 0 and 1 are moved inside by this much, so that one sure mistake is not infinite. */
const EDGE = 1e-7;

/** Mean of -ln(probability of the true class). */
export function logLossOf(labels: ArrayLike<number>, probabilities: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < labels.length; i++) {
    const p = Math.min(Math.max(probabilities[i]!, EDGE), 1 - EDGE);
    sum -= Math.log(labels[i] === 1 ? p : 1 - p);
  }
  return sum / labels.length;
}

/** Chance that a positive row is scored above a negative one; a tie counts half. */
export function aucOf(labels: ArrayLike<number>, scores: ArrayLike<number>): number {
  return expectedAuc(labels, scores);
}

/**
 * The AUC that a ranking by `scores` is expected to have where row i is positive with probability `truth[i]`: the sum
 * of p_i (1 - p_j) over pairs ranked i above j, ties half, over the same sum for all pairs. With truths of 0 and 1 this
 * is the AUC itself; with `scores` = `truth` it is the best that any model can be expected to reach.
 */
export function expectedAuc(truth: ArrayLike<number>, scores: ArrayLike<number>): number {
  const order = Int32Array.from({ length: scores.length }, (_, i) => i).sort((a, b) => scores[a]! - scores[b]!);
  let negativesBelow = 0;
  let positives = 0;
  let ranked = 0;
  let own = 0; // what the sum over all pairs would count for a row against itself
  for (let start = 0; start < order.length;) {
    let end = start;
    let tiedPositives = 0;
    let tiedNegatives = 0;
    let tiedOwn = 0;
    for (; end < order.length && scores[order[end]!] === scores[order[start]!]; end++) {
      const p = truth[order[end]!]!;
      tiedPositives += p;
      tiedNegatives += 1 - p;
      tiedOwn += p * (1 - p);
    }
    ranked += tiedPositives * negativesBelow + (tiedPositives * tiedNegatives - tiedOwn) / 2;
    positives += tiedPositives;
    negativesBelow += tiedNegatives;
    own += tiedOwn;
    start = end;
  }
  return ranked / (positives * negativesBelow - own);
}
