/**
 * Binary cross-entropy by somebody else: tfjs makes it, and its gradient, of some forty ops. Models call the functions
 * that `compile` left in them, which give way while a step runs.
 */
import * as tf from '@tensorflow/tfjs';

type Loss = (labels: tf.Tensor, predictions: tf.Tensor) => tf.Tensor;

/** What such losses are, element by element; null: what tfjs gives. */
export type CrossEntropyBy = (labels: tf.Tensor, predictions: tf.Tensor, areLogits: boolean) => tf.Tensor | null;

interface WithLosses {
  lossFunctions?: Loss[];
}

let stockLoss: Loss | null = null;

/** The loss that tfjs finds by the name `binaryCrossentropy`, which it exports as a metric only. */
function stockOfProbabilities(): Loss {
  if (stockLoss !== null) return stockLoss;
  const input = tf.input({ shape: [1], name: 'stock' });
  const layer = tf.layers.activation({ activation: 'linear', name: 'stock_output' });
  const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor, name: 'stock_model' });
  model.compile({ optimizer: 'sgd', loss: 'binaryCrossentropy' });
  stockLoss = (model as unknown as Required<WithLosses>).lossFunctions[0]!;
  model.dispose();
  return stockLoss;
}

/** What `by` gives in the place of a loss; the loss itself where it is another one. */
function replaced(loss: Loss, by: CrossEntropyBy): Loss {
  if (loss === (tf.losses.sigmoidCrossEntropy as Loss)) {
    return (labels, predictions) => {
      const losses = by(labels, predictions, true);
      return losses === null ? loss(labels, predictions) : tf.losses.computeWeightedLoss(losses);
    };
  }
  if (loss !== stockOfProbabilities()) return loss;
  return (labels, predictions) => {
    const losses = by(labels, predictions, false);
    if (losses === null) return loss(labels, predictions);
    // The mean of one number is the number.
    const { shape } = losses;
    return shape.at(-1) === 1 ? losses.reshape(shape.slice(0, -1)) : losses.mean(-1);
  };
}

/** Runs `f`, in which the binary cross-entropy of the model is what `by` gives. */
export function withCrossEntropy<T>(model: tf.LayersModel, by: CrossEntropyBy, f: () => T): T {
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
