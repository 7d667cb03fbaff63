/**
 * Approximate quantiles from a weighted summary, with the arithmetic of Keras's Discretization, so that the same data
 * gives the same boundaries.
 */

/** Sorted values and how many data points each stands for. */
export interface Summary {
  readonly values: Float32Array;
  readonly weights: Float32Array;
}

function summarize(data: Float32Array, epsilon: number): Summary {
  const sorted = data.slice().sort();
  const step = Math.max(sorted.length * epsilon, 1);
  const stride = Math.trunc(step);
  const values: number[] = [];
  for (let i = Math.trunc(step - 1); i < sorted.length; i += stride) values.push(sorted[i]!);
  return { values: Float32Array.from(values), weights: new Float32Array(values.length).fill(step) };
}

/** y at x, straight between the points (xs, ys), constant beyond them; xs ascending. */
function interpolate(x: number, xs: Float32Array, ys: Float32Array): number {
  const last = xs.length - 1;
  if (x >= xs[last]!) return ys[last]!;
  if (x < xs[0]!) return ys[0]!;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle]! <= x) low = middle;
    else high = middle;
  }
  const slope = (ys[high]! - ys[low]!) / (xs[high]! - xs[low]!);
  return slope * (x - xs[low]!) + ys[low]!;
}

/** At most about 1 / epsilon values that stand for all of them. */
function compress(summary: Summary, epsilon: number): Summary {
  if (summary.values.length * epsilon < 1) return summary;
  const count = Math.ceil(1 / epsilon);
  const totals = new Float32Array(summary.weights.length);
  let total = 0;
  summary.weights.forEach((weight, i) => (totals[i] = total = Math.fround(total + weight)));
  const shares = totals.map((each) => each / total);
  const values = new Float32Array(count);
  const weights = new Float32Array(count);
  let before = 0;
  for (let i = 0; i < count; i++) {
    const share = epsilon + i * epsilon;
    values[i] = interpolate(share, shares, summary.values);
    const reached = interpolate(share, shares, totals);
    weights[i] = reached - before;
    before = reached;
  }
  return { values, weights };
}

/** The values of both in order; of equal ones those of `first` come first. */
function merge(first: Summary, second: Summary): Summary {
  const values = [...first.values, ...second.values];
  const weights = [...first.weights, ...second.weights];
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]! || a - b);
  return {
    values: Float32Array.from(order, (i) => values[i]!),
    weights: Float32Array.from(order, (i) => weights[i]!),
  };
}

/** The inner boundaries of `numBins` bins, ascending. */
export function boundariesIn(summary: Summary, numBins: number): number[] {
  return Array.from(compress(summary, 1 / numBins).values).slice(0, -1);
}

/** What is kept of values that come in parts; `epsilon` is the share of them by which a boundary may be off. */
export class Quantiles {
  #summary: Summary = { values: new Float32Array(0), weights: new Float32Array(0) };

  constructor(private readonly epsilon: number) {}

  take(values: Float32Array): void {
    this.#summary = compress(merge(summarize(values, this.epsilon), this.#summary), this.epsilon);
  }

  get isEmpty(): boolean {
    return this.#summary.values.length === 0;
  }

  /**
   * Returns the `numBins - 1` inner boundaries of bins that hold about equally many of the values, ascending (fewer
   * where there are fewer values than bins; repeated where one value fills several bins).
   */
  boundaries(numBins: number): number[] {
    return boundariesIn(this.#summary, numBins);
  }
}
