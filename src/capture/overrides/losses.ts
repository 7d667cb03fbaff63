/**
 * Cross-entropy as one op: tfjs makes each, and its gradient, of some thirty or forty ops. Models call the
 * functions that `compile` left in them, which give way while a step runs.
 */
import * as tf from '@tensorflow/tfjs';
import { stepOps } from '../../backends/registry.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';
import { withLosses, type Measure as Loss } from '../../tfjs/training/masked_losses.js';

interface WithLosses {
  lossFunctions?: Loss[];
}

/** The loss as a model takes it; null: what tfjs gives. */
type Substitute = (labels: tf.Tensor, predictions: tf.Tensor) => tf.Tensor | null;

/** By the names that `compile` takes. */
const NAMED: Readonly<Record<string, Substitute>> = {
  binaryCrossentropy(labels, predictions) {
    const losses = nativeCrossEntropy(labels, predictions, false);
    if (losses === null) return null;
    // The mean of one number is the number.
    const { shape } = losses;
    return shape.at(-1) === 1 ? losses.reshape(shape.slice(0, -1)) : losses.mean(-1);
  },
  categoricalCrossentropy: (labels, predictions) => nativeCategoricalLoss(labels, predictions, false),
  sparseCategoricalCrossentropy: (labels, predictions) => nativeCategoricalLoss(labels, predictions, true),
};

let known: Map<Loss, Substitute> | null = null;

/** The substitutes of losses. Those that tfjs finds by name it exports as metrics only: a compiled model shows them. */
function substitutes(): Map<Loss, Substitute> {
  if (known !== null) return known;
  known = new Map<Loss, Substitute>();
  const input = tf.input({ shape: [1], name: 'stock' });
  const layer = tf.layers.activation({ activation: 'linear', name: 'stock_output' });
  const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor, name: 'stock_model' });
  const optimizer = tf.train.sgd(0);
  for (const [loss, substitute] of Object.entries(NAMED)) {
    model.compile({ optimizer, loss });
    known.set((model as unknown as Required<WithLosses>).lossFunctions[0]!, substitute);
  }
  optimizer.dispose();
  model.dispose();
  known.set(tf.losses.sigmoidCrossEntropy as Loss, (labels, predictions) => {
    const losses = nativeCrossEntropy(labels, predictions, true);
    return losses === null ? null : tf.losses.computeWeightedLoss(losses);
  });
  return known;
}

/** Ours in the place of a loss; the loss itself where it is another one. */
function replaced(loss: Loss): Loss {
  const substitute = substitutes().get(loss);
  if (substitute === undefined) return loss;
  return (labels, predictions) => substitute(labels, predictions) ?? loss(labels, predictions);
}

/** Runs `f`, in which cross-entropy of the model is one op, with one for its gradient. */
export function withNativeLosses<T>(model: tf.LayersModel, f: () => T): T {
  return withLosses(model, replaced, f);
}

const NONE = new Float32Array(0);

/**
 * The losses of labels and predictions of one shape, element by element; null where the backend has no such op, or they
 * are not of floats. Labels have no gradient.
 */
export function nativeCrossEntropy(labels: tf.Tensor, predictions: tf.Tensor, areLogits: boolean): tf.Tensor | null {
  const ops = stepOps();
  const areFloats = labels.dtype === 'float32' && predictions.dtype === 'float32';
  const isPlain = predictions.rank > 0 && tf.util.arraysEqual(labels.shape, predictions.shape);
  if (ops === null || !areFloats || !isPlain) return null;
  const epsilon = tf.backend().epsilon();
  const limits = areLogits ? NONE : Float32Array.of(epsilon, 1 - epsilon);
  return withLazyGradient(
    { predictions },
    (save) => {
      save([labels, predictions]);
      return ops.crossEntropy(labels, predictions, limits);
    },
    (dy, saved) => {
      const [of, given] = saved as [tf.Tensor, tf.Tensor];
      return { predictions: () => ops.crossEntropyGradient(of, given, limits, dy) };
    },
  );
}

/** Float32 counts no further without gaps. */
const MOST_CLASSES = 2 ** 24;

/** Probabilities as a matrix, and labels as it goes with them; null: tfjs has to say what it thinks of them. */
function asRows(labels: tf.Tensor, output: tf.Tensor, isSparse: boolean): [tf.Tensor, tf.Tensor2D] | null {
  const classes = output.shape.at(-1) ?? 0;
  if (output.rank < 2 || output.size === 0 || output.dtype !== 'float32' || labels.dtype === 'string') return null;
  const rows = output.size / classes;
  // tfjs refuses numbers of a single class.
  const fits = isSparse
    ? labels.size === rows && classes > 1 && classes <= MOST_CLASSES
    : tf.util.arraysEqual(labels.shape, output.shape);
  if (!fits) return null;
  return [labels.cast('float32').reshape(isSparse ? [rows] : [rows, classes]), output.reshape([rows, classes])];
}

/**
 * The loss of each row of probabilities; null where the backend has no such op, or they do not fit one another. Labels
 * have no gradient.
 */
export function nativeCategoricalLoss(labels: tf.Tensor, output: tf.Tensor, isSparse: boolean): tf.Tensor | null {
  const ops = stepOps();
  const rows = ops === null ? null : asRows(labels, output, isSparse);
  if (ops === null || rows === null) return null;
  const epsilon = tf.backend().epsilon();
  const limits = Float32Array.of(epsilon, 1 - epsilon);
  const losses = withLazyGradient(
    { probabilities: rows[1] },
    (save) => {
      save(rows);
      return ops.categoricalLoss(...rows, limits);
    },
    (dy, saved) => {
      const [of, probabilities] = saved as [tf.Tensor, tf.Tensor2D];
      return { probabilities: () => ops.categoricalLossGradient(of, probabilities, limits, dy as tf.Tensor1D) };
    },
  );
  return losses.reshape(output.shape.slice(0, -1));
}
