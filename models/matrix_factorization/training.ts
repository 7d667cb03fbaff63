/** Trains the vectors of users and items by a captured step. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { ItemsOfUsers } from '../interactions.js';
import { Random } from '../random.js';
import type { Options } from './options.mjs';
import { batchOf, rowsOf, triplesOf, type Batch, type Triples } from './rows.js';

type LossOptions = Pick<Options, 'loss' | 'temperature' | 'margin' | 'weight'>;
export type TrainingOptions = LossOptions &
  Pick<Options, 'dim' | 'epochs' | 'rate' | 'batch' | 'width' | 'sampled' | 'balance' | 'decay' | 'seed'>;

/** Of length 1. */
const unit = <T extends tf.Tensor>(vectors: T): T => emb.layers.unitNormalization().apply(vectors) as T;

/** Inner products of each row's user and items, [rows, items]. */
const scoresOf = (users: tf.Tensor2D, items: tf.Tensor3D): tf.Tensor2D =>
  tf.matMul(items, users.expandDims<tf.Tensor3D>(2)).squeeze([2]);

/** The mean over positives; their negatives are the same for all rows, so that one product of matrices scores them. */
function lossOf(positive: tf.Tensor, negative: tf.Tensor, weights: tf.Tensor, of: LossOptions): tf.Scalar {
  const ofEach = (): tf.Tensor => {
    if (of.loss === 'ccl') {
      const excess = tf.relu(negative.sub(of.margin)).mean(1, true);
      return tf.sub(1, positive).add(excess.mul(of.weight));
    }
    // -log(softmax) at the positive. Cosines by the temperature are small enough for plain exponentials.
    const others = tf.log(tf.exp(negative.div(of.temperature)).sum(1, true));
    return tf.softplus(others.sub(positive.div(of.temperature)));
  };
  return ofEach().mul(weights).sum().div(weights.sum());
}

/** What an epoch took, in seconds. */
export interface Epoch {
  readonly loss: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Vectors of all users and items. */
export class Factors {
  readonly #users: tf.Variable<tf.Rank.R2>;
  readonly #items: tf.Variable<tf.Rank.R2>;
  readonly #optimizer: emb.SparseOptimizer;
  readonly #ofRows: emb.CapturedFunction<[Batch], tf.Scalar>;
  readonly #ofTriples: emb.CapturedFunction<[Triples], tf.Scalar>;
  readonly #random: Random;
  /** The part of all epochs that is done. */
  #progress = 0;

  constructor(
    numUsers: number,
    private readonly numItems: number,
    private readonly options: TrainingOptions,
  ) {
    this.#random = new Random(options.seed);
    const starting = (rows: number): tf.Variable<tf.Rank.R2> =>
      tf.tidy(() => {
        const seed = 1 + this.#random.below(1e9); // tfjs takes 0 for no seed
        return tf.variable(tf.randomNormal<tf.Rank.R2>([rows, options.dim], 0, 0.1, 'float32', seed));
      });
    [this.#users, this.#items] = [starting(numUsers), starting(numItems)];
    const decay = { weightDecay: options.decay, multiplyWeightDecayByLearningRate: true };
    this.#optimizer = emb.train.rowWiseAdagrad({
      // Falls to 0 over all epochs.
      learningRate: () => options.rate * (1 - this.#progress),
      initialAccumulatorValue: 1e-12,
      epsilon: 1e-12,
      ...(options.decay > 0 && decay),
    });
    this.#ofTriples = emb.capture(({ users, items, negatives }: Triples) =>
      this.#minimize(() => {
        const of = emb.embeddingLookup(this.#users, users) as tf.Tensor2D;
        const [own, other] = [items, negatives].map((ids) => emb.embeddingLookup(this.#items, ids) as tf.Tensor2D);
        return tf.softplus(other!.sub(own!).mul(of).sum(1)).mean();
      }),
    );
    this.#ofRows = emb.capture(({ users, items, weights, negatives }: Batch) =>
      this.#minimize(() => {
        const of = unit(emb.embeddingLookup(this.#users, users) as tf.Tensor2D);
        const own = unit(emb.embeddingLookup(this.#items, items) as tf.Tensor3D);
        const others = unit(emb.embeddingLookup(this.#items, negatives) as tf.Tensor2D);
        return lossOf(scoresOf(of, own), tf.matMul(of, others, false, true), weights, options);
      }),
    );
  }

  #minimize(loss: () => tf.Scalar): tf.Scalar {
    return this.#optimizer.minimize(loss, true)!;
  }

  /** One pass over all pairs in random order; `onStep` is told the loss of each step. */
  epoch(train: ItemsOfUsers, onStep: (loss: number) => void): Epoch {
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    const { loss, width, balance, batch, sampled, epochs } = this.options;
    const rows = rowsOf(train, width, balance, this.#random);
    const draws = (count: number): Int32Array => {
      const drawn = new Int32Array(count);
      for (let i = 0; i < count; i++) drawn[i] = this.#random.below(this.numItems);
      return drawn;
    };
    let sum = 0;
    for (let start = 0; start < rows.count; start += batch) {
      const size = Math.min(batch, rows.count - start);
      const found = tf.tidy(() => {
        if (loss === 'bpr') return this.#ofTriples(triplesOf(rows, start, size, draws(size * sampled)));
        return this.#ofRows(batchOf(rows, start, size, draws(sampled)));
      });
      const value = found.dataSync()[0]!;
      found.dispose();
      sum += value * size;
      this.#progress += size / rows.count / epochs;
      onStep(value);
    }
    const { user, system } = process.cpuUsage(cpu);
    return {
      loss: sum / rows.count,
      seconds: (performance.now() - from) / 1000,
      cpuSeconds: (user + system) / 1e6,
    };
  }

  /** By which users and items are scored: of length 1, but for bpr. The caller disposes them. */
  vectors(): { users: tf.Tensor2D; items: tf.Tensor2D } {
    return tf.tidy(() => {
      const final = (table: tf.Tensor2D): tf.Tensor2D => (this.options.loss === 'bpr' ? table.clone() : unit(table));
      return { users: final(this.#users), items: final(this.#items) };
    });
  }

  /** Whether steps ran as one call, and why not. */
  get info() {
    return (this.options.loss === 'bpr' ? this.#ofTriples : this.#ofRows).info;
  }

  dispose(): void {
    for (const each of [this.#ofRows, this.#ofTriples, this.#optimizer, this.#users, this.#items]) each.dispose();
  }
}
