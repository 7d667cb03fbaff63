/**
 * Cross-entropy by somebody else: tfjs makes each, and its gradient, of some thirty or forty ops. Models call the
 * functions that `compile` left in them, which give way while a step runs.
 */
import * as tf from '@tensorflow/tfjs';

type Loss = (labels: tf.Tensor, predictions: tf.Tensor) => tf.Tensor;

/** Who computes losses; what is null is left to tfjs. */
export interface LossesBy {
  /** Binary cross-entropy, element by element. */
  binary(labels: tf.Tensor, predictions: tf.Tensor, areLogits: boolean): tf.Tensor | null;
  /** Categorical cross-entropy of rows of probabilities, row by row. isSparse: labels are numbers of classes. */
  categorical(labels: tf.Tensor, probabilities: tf.Tensor, isSparse: boolean): tf.Tensor | null;
}

interface WithLosses {
  lossFunctions?: Loss[];
}

/** The loss as a model takes it; null: what tfjs gives. */
type Substitute = (by: LossesBy, labels: tf.Tensor, predictions: tf.Tensor) => tf.Tensor | null;

/** By the names that `compile` takes. */
const NAMED: Readonly<Record<string, Substitute>> = {
  binaryCrossentropy(by, labels, predictions) {
    const losses = by.binary(labels, predictions, false);
    if (losses === null) return null;
    // The mean of one number is the number.
    const { shape } = losses;
    return shape.at(-1) === 1 ? losses.reshape(shape.slice(0, -1)) : losses.mean(-1);
  },
  categoricalCrossentropy: (by, labels, predictions) => by.categorical(labels, predictions, false),
  sparseCategoricalCrossentropy: (by, labels, predictions) => by.categorical(labels, predictions, true),
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
  known.set(tf.losses.sigmoidCrossEntropy as Loss, (by, labels, predictions) => {
    const losses = by.binary(labels, predictions, true);
    return losses === null ? null : tf.losses.computeWeightedLoss(losses);
  });
  return known;
}

/** What `by` gives in the place of a loss; the loss itself where it is another one. */
function replaced(loss: Loss, by: LossesBy): Loss {
  const substitute = substitutes().get(loss);
  if (substitute === undefined) return loss;
  return (labels, predictions) => substitute(by, labels, predictions) ?? loss(labels, predictions);
}

/** Runs `f`, in which the cross-entropy of the model is what `by` gives. */
export function withLosses<T>(model: tf.LayersModel, by: LossesBy, f: () => T): T {
  const holder = model as unknown as WithLosses;
  const { lossFunctions } = holder;
  if (lossFunctions === undefined) return f();
  const own = lossFunctions.map((loss) => replaced(loss, by));
  holder.lossFunctions = own;
  try {
    return f();
  } finally {
    // A callback may have compiled the model anew.
    if (holder.lossFunctions === own) holder.lossFunctions = lossFunctions;
  }
}
