/** Ops of a training step beside lookups, where a backend has them: each stands for many stock ops, or for a read of ids. */
import type * as tf from '@tensorflow/tfjs';
import type { UpdateName } from '../rules/rules.js';
import type { Table } from './table.js';

/** Stock optimizers whose steps are one op. */
export type DenseOptimizerName = 'sgd' | 'momentum' | 'adagrad' | 'adam';

/**
 * The numbers of a dense step. The order is part of the contract with the C core (`te_dense_hyper` in
 * custom-ops/kernels/embedding.h); fields that an optimizer does not use are ignored.
 */
export const DENSE_HYPER_FIELDS = [
  'learningRate',
  'momentum',
  'useNesterov', // 0 or 1
  'beta1',
  'oneMinusBeta1',
  'beta2',
  'oneMinusBeta2',
  'epsilon',
] as const;

export type DenseHyper = Record<(typeof DENSE_HYPER_FIELDS)[number], number>;

/** Padding ids: those that are left out of bags. */
export interface SkippedIds {
  readonly zero: boolean;
  readonly negative: boolean;
}

/** One step of dense variables. */
interface VariablesStep {
  readonly variables: readonly tf.Variable[];
  /** By kind, then one per variable. */
  readonly slots: readonly (readonly tf.Variable[])[];
  readonly gradients: readonly tf.Tensor[];
  readonly hyper: Float32Array;
}

/** One step of a stock optimizer on all its variables. */
export interface DenseStep extends VariablesStep {
  readonly optimizer: DenseOptimizerName;
  /** Adam's running powers of beta1 and beta2, which the step moves on; none for the others. */
  readonly powers: readonly tf.Variable[];
}

/** One step by an update of tables that steps rows without ids; `hyper`: as those take it. */
export interface DenseUpdate extends VariablesStep {
  readonly optimizer: UpdateName;
}

/** Results belong to the scope of the caller; none of these ops is on the tape. */
export interface StepOps {
  /** Steps variables, slots and powers in place, as the stock optimizer would. */
  denseApply(step: DenseStep): void;
  /** Steps variables and slots in place, as idle rows of tables with these gradients. */
  denseUpdate(step: DenseUpdate): void;
  /** The distinct ids in [0, rows), ascending. */
  touchedRows(ids: readonly tf.Tensor1D[], rows: number): tf.Tensor1D;
  /** The ids of bags without 0 and without negative ids, as `skip` says, and the splits of what is left. */
  presentIds(
    ids: tf.Tensor1D,
    rowSplits: tf.Tensor1D,
    skip: SkippedIds,
  ): { readonly values: tf.Tensor1D; readonly rowSplits: tf.Tensor1D };
  /** The weights of the ids that `presentIds` keeps. */
  presentWeights(ids: tf.Tensor1D, weights: tf.Tensor1D, skip: SkippedIds): tf.Tensor1D;
  /** Back: numbers of the ids that `presentIds` keeps, where they lay among all ids, and zeros elsewhere. */
  spreadWeights(ids: tf.Tensor1D, present: tf.Tensor1D, skip: SkippedIds): tf.Tensor1D;
  /** float32 ids as int32. Throws where one is no whole number below 2^24 in magnitude. */
  wholeIds(ids: tf.Tensor): tf.Tensor;
  /** Throws where a weight is NaN. */
  checkWeights(weights: tf.Tensor): void;
  /**
   * Ids, one per feature and sample, as rows of a table that holds the rows of all features, of which there are `sizes`.
   * Throws for an id outside its feature.
   */
  featureRows(ids: tf.Tensor1D, sizes: Int32Array): tf.Tensor1D;
  /** The row splits of bags of one id each. */
  singleSplits(ids: tf.Tensor1D): tf.Tensor1D;
  /** l1 sum |w| + l2 sum w^2 over the rows of distinct ids; factors: [l1, l2]. Rows may be packed as float16. */
  rowPenalty(table: Table, ids: tf.Tensor1D, factors: Float32Array): tf.Scalar;
  /** Its gradient times `upstream`, [ids, dim]. */
  rowPenaltyGradient(table: Table, ids: tf.Tensor1D, factors: Float32Array, upstream: tf.Tensor): tf.Tensor2D;
  /** The gradient of rows [n, dim] by that of the same rows scaled down to a norm of `maxNorm` at most. */
  normGradient(rows: tf.Tensor2D, gradient: tf.Tensor2D, maxNorm: number): tf.Tensor2D;
  /** Zeros in place of a share of `rate[0]` of the elements, the others scaled up; the seed's two numbers decide which. */
  dropout(x: tf.Tensor, rate: Float32Array, seed: Int32Array): tf.Tensor;
  /**
   * Binary cross-entropy, element by element. limits: what probabilities are clipped to, at least and at most; none:
   * predictions are logits.
   */
  crossEntropy(labels: tf.Tensor, predictions: tf.Tensor, limits: Float32Array): tf.Tensor;
  /** Its gradient by predictions, times `upstream`. */
  crossEntropyGradient(labels: tf.Tensor, predictions: tf.Tensor, limits: Float32Array, upstream: tf.Tensor): tf.Tensor;
  /**
   * Categorical cross-entropy of rows of probabilities, [rows]. labels: numbers of classes [rows] or [rows, classes];
   * limits: what probabilities are clipped to, at least and at most, after they were divided by the sum of their row.
   */
  categoricalLoss(labels: tf.Tensor, probabilities: tf.Tensor2D, limits: Float32Array): tf.Tensor1D;
  /** Its gradient by the probabilities, times `upstream` [rows]. */
  categoricalLossGradient(
    labels: tf.Tensor,
    probabilities: tf.Tensor2D,
    limits: Float32Array,
    upstream: tf.Tensor1D,
  ): tf.Tensor2D;
  /** The gradient of the softmax of each row, which gave `y`, times `upstream`; both [rows, classes]. */
  softmaxGradient(upstream: tf.Tensor2D, y: tf.Tensor2D): tf.Tensor2D;
  /** The products of the rows of two matrices [rows, dim], as [rows]. */
  rowDots(a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor1D;
  /** The products of all pairs of features [batch, dim]: 1 with 0, 2 with 0 and 1, and so on; withSelf: each with itself. */
  pairDots(features: readonly tf.Tensor2D[], withSelf: boolean): tf.Tensor2D;
  /** The gradients of the features, times `upstream` [batch, pairs]. */
  pairDotsGradient(features: readonly tf.Tensor2D[], withSelf: boolean, upstream: tf.Tensor2D): tf.Tensor2D[];
  /** Each row of a matrix times a factor of its own. */
  scaledRows(factors: tf.Tensor1D, matrix: tf.Tensor2D): tf.Tensor2D;
}
