/** The ops of a training step beside lookups, as TensorFlow ops. */
import * as tf from '@tensorflow/tfjs';
import { opNames } from '../../rules/rules.js';
import { rowAttributes } from '../bag_tensors.js';
import { SINGLE_ROW } from '../kernel_set.js';
import type { DenseOptimizerName, DenseStep, DenseUpdate, SkippedIds, StepOps } from '../step_ops.js';
import type { Table } from '../table.js';
import { withTensor, type NodeBackend, type OpAttribute } from './node_backend.js';
import { translated } from './op_errors.js';
import { bagAttributes, opOf, rowsAttribute, storageAttributes } from './op_inputs.js';
import { Ownership, watchedBackend } from './ownership.js';

const DENSE_OPS: Readonly<Record<DenseOptimizerName, string>> = {
  sgd: 'EmbeddingDenseApplySgd',
  momentum: 'EmbeddingDenseApplyMomentum',
  adagrad: 'EmbeddingDenseApplyAdagrad',
  adam: 'EmbeddingDenseApplyAdam',
};

/** Gradients that are read, copied where they are one of the variables that are written. */
function gradientsApart(
  backend: NodeBackend,
  gradients: readonly tf.Tensor[],
  written: readonly tf.Variable[],
): tf.Tensor[] {
  const ids = new Set(written.map(({ dataId }) => dataId));
  return gradients.map((gradient) => {
    return ids.has(gradient.dataId) ? backend.executeSingleOutput('EmbeddingCopy', [], [gradient]) : gradient;
  });
}

const UPDATE_OPS = opNames('EmbeddingDenseApplyRows');

function stepVariables(
  opName: string,
  { variables, slots, gradients, hyper }: DenseStep | DenseUpdate,
  powers: readonly tf.Variable[] = [],
): void {
  const backend = watchedBackend();
  const written = [...variables, ...slots.flat(), ...powers];
  const ownership = Ownership.of(backend);
  for (const variable of written) ownership.makeWritable(variable);
  const count = [{ name: 'N', type: backend.binding.TF_ATTR_INT, value: variables.length }];
  tf.tidy(() => {
    const read = gradientsApart(backend, gradients, written);
    translated(opName, () =>
      withTensor(backend, hyper, [hyper.length], (numbers) =>
        backend.executeMultipleOutputs(opName, count, [...written, ...read, numbers], 0),
      ),
    );
  });
}

/** Runs an op of one result, which takes `values` after its other inputs. */
function run(
  opName: string,
  inputs: readonly tf.TensorInfo[],
  values: Float32Array | Int32Array,
  after: readonly tf.TensorInfo[] = [],
  attributes: readonly OpAttribute[] = [],
): tf.Tensor {
  const backend = watchedBackend();
  return translated(opName, () =>
    withTensor(backend, values, [values.length], (numbers) =>
      backend.executeSingleOutput(opName, attributes, [...inputs, numbers, ...after]),
    ),
  );
}

/** An op on the rows of a table, by the name that it has for rows of float32. */
function runOnRows(
  name: string,
  table: Table,
  ids: tf.Tensor1D,
  factors: Float32Array,
  after: readonly tf.Tensor[] = [],
): tf.Tensor {
  const rows = rowAttributes(table);
  const attributes = storageAttributes(watchedBackend(), rows);
  return run(opOf(`Embedding${name}`, rows), [table.tensor, ids], factors, after, attributes);
}

function skipNumbers({ zero, negative }: SkippedIds): Int32Array {
  return Int32Array.of(zero ? 1 : 0, negative ? 1 : 0);
}

/** Runs an op on pairs of features, which takes whether each is paired with itself. */
function ofPairs<T>(withSelf: boolean, call: (backend: NodeBackend, flag: tf.TensorInfo) => T): T {
  const backend = watchedBackend();
  return translated('EmbeddingPairDots', () =>
    withTensor(backend, Int32Array.of(withSelf ? 1 : 0), [], (flag) => call(backend, flag)),
  );
}

const countOf = ({ binding }: NodeBackend, { length }: readonly unknown[]): OpAttribute[] => [
  { name: 'N', type: binding.TF_ATTR_INT, value: length },
];

export const STEP_OPS: StepOps = {
  denseApply: (step) => stepVariables(DENSE_OPS[step.optimizer], step, step.powers),
  denseUpdate: (step) => stepVariables(UPDATE_OPS[step.optimizer], step),
  touchedRows(ids, rows) {
    const backend = watchedBackend();
    const count = { name: 'N', type: backend.binding.TF_ATTR_INT, value: ids.length };
    return translated('EmbeddingTouchedRows', () => {
      return backend.executeSingleOutput(
        'EmbeddingTouchedRows',
        [count, rowsAttribute(backend, rows)],
        ids,
      ) as tf.Tensor1D;
    });
  },
  presentIds(ids, rowSplits, skip) {
    const backend = watchedBackend();
    return translated('EmbeddingPresentIds', () =>
      withTensor(backend, skipNumbers(skip), [2], (numbers) => {
        const [values, splits] = backend.executeMultipleOutputs(
          'EmbeddingPresentIds',
          [],
          [ids, rowSplits, numbers],
          2,
        );
        return { values: values as tf.Tensor1D, rowSplits: splits as tf.Tensor1D };
      }),
    );
  },
  presentWeights(ids, weights, skip) {
    return run('EmbeddingPresentWeights', [ids, weights], skipNumbers(skip)) as tf.Tensor1D;
  },
  spreadWeights(ids, present, skip) {
    return run('EmbeddingSpreadWeights', [ids, present], skipNumbers(skip)) as tf.Tensor1D;
  },
  checkWeights(weights) {
    const opName = 'EmbeddingCheckWeights';
    translated(opName, () => watchedBackend().executeMultipleOutputs(opName, [], [weights], 0));
  },
  featureRows(ids, sizes) {
    return run('EmbeddingFeatureRows', [ids], sizes) as tf.Tensor1D;
  },
  singleSplits(ids) {
    return watchedBackend().executeSingleOutput('EmbeddingSingleSplits', [], [ids]) as tf.Tensor1D;
  },
  rowPenalty(table, ids, factors) {
    return runOnRows('RowPenalty', table, ids, factors) as tf.Scalar;
  },
  rowPenaltyGradient(table, ids, factors, upstream) {
    return runOnRows('RowPenaltyGrad', table, ids, factors, [upstream]) as tf.Tensor2D;
  },
  dropout(x, rate, seed) {
    const backend = watchedBackend();
    return withTensor(backend, rate, [], (share) => run('EmbeddingDropout', [x, share], seed));
  },
  crossEntropy(labels, predictions, limits) {
    return run('EmbeddingCrossEntropy', [labels, predictions], limits);
  },
  crossEntropyGradient(labels, predictions, limits, upstream) {
    return run('EmbeddingCrossEntropyGrad', [labels, predictions], limits, [upstream]);
  },
  categoricalLoss(labels, probabilities, limits) {
    return run('EmbeddingCategoricalLoss', [labels, probabilities], limits) as tf.Tensor1D;
  },
  categoricalLossGradient(labels, probabilities, limits, upstream) {
    return run('EmbeddingCategoricalLossGrad', [labels, probabilities], limits, [upstream]) as tf.Tensor2D;
  },
  softmaxGradient(upstream, y) {
    const opName = 'EmbeddingSoftmaxGrad';
    return translated(opName, () => watchedBackend().executeSingleOutput(opName, [], [upstream, y]) as tf.Tensor2D);
  },
  rowDots(a, b) {
    return translated(
      'EmbeddingRowDots',
      () => watchedBackend().executeSingleOutput('EmbeddingRowDots', [], [a, b]) as tf.Tensor1D,
    );
  },
  pairDots(features, withSelf) {
    return ofPairs(withSelf, (backend, flag) =>
      backend.executeSingleOutput('EmbeddingPairDots', countOf(backend, features), [flag, ...features]),
    ) as tf.Tensor2D;
  },
  pairDotsGradient(features, withSelf, upstream) {
    return ofPairs(withSelf, (backend, flag) =>
      backend.executeMultipleOutputs(
        'EmbeddingPairDotsGrad',
        countOf(backend, features),
        [flag, upstream, ...features],
        features.length,
      ),
    ) as tf.Tensor2D[];
  },
  wholeIds(ids) {
    const opName = 'EmbeddingWholeIds';
    return translated(opName, () => watchedBackend().executeSingleOutput(opName, [], [ids]));
  },
  normGradient(rows, gradient, maxNorm) {
    const opName = 'EmbeddingNormGrad';
    const backend = watchedBackend();
    const attributes = bagAttributes(backend, { ...SINGLE_ROW, maxNorm });
    return translated(opName, () => backend.executeSingleOutput(opName, attributes, [rows, gradient])) as tf.Tensor2D;
  },
  scaledRows(factors, matrix) {
    const opName = 'EmbeddingScaledRows';
    return translated(opName, () => watchedBackend().executeSingleOutput(opName, [], [factors, matrix]) as tf.Tensor2D);
  },
};
