/**
 * Inputs that have the batch axis alone, such as one id per sample, are fed vectors. tfjs makes columns of all vectors
 * that it is given, and then refuses columns where an input has one axis: such a model could not be fed at all but
 * through `predictOnBatch`, `apply` and data sets. What tfjs does to vectors for other inputs stays as it is.
 */
import * as tf from '@tensorflow/tfjs';

type Shape = readonly (number | null)[];
type Fed = tf.Tensor | readonly tf.Tensor[] | Readonly<Record<string, tf.Tensor>>;

/** A model as its own methods see it. */
interface FedModel {
  readonly inputNames: readonly string[];
  readonly feedInputShapes: readonly Shape[];
  predictLoop(inputs: tf.Tensor[], batchSize: number): unknown;
}

type Predict = (this: FedModel, x: Fed, args?: object) => unknown;
type Standardize = (this: FedModel, x: Fed, ...rest: unknown[]) => [tf.Tensor[], tf.Tensor[]];

const MARK = Symbol.for('tfjs-embeddings.vectorInputs');

/** By input, the vector that it is given as it is; null where tfjs needs no help, or refuses the form. */
function vectorsFor({ inputNames, feedInputShapes }: FedModel, x: Fed | null): (tf.Tensor | null)[] | null {
  if (x === null || typeof x !== 'object' || !feedInputShapes.some(({ length }) => length === 1)) return null;
  const byName = x as Readonly<Record<string, tf.Tensor>>;
  const given =
    x instanceof tf.Tensor ? [x] : Array.isArray(x) ? (x as tf.Tensor[]) : inputNames.map((name) => byName[name]);
  const vectors = feedInputShapes.map(({ length }, i) => {
    return length === 1 && given[i] instanceof tf.Tensor ? given[i] : null;
  });
  // Of columns and the like tfjs says itself that they do not fit.
  if (vectors.some((vector) => vector !== null && vector.rank !== 1)) return null;
  return vectors;
}

/** The model with inputs that are columns, as tfjs makes them; `own`: what else differs from the model. */
function withColumns(model: FedModel, own: Partial<FedModel> = {}): FedModel {
  const feedInputShapes = model.feedInputShapes.map((shape) => (shape.length === 1 ? [shape[0]!, 1] : shape));
  return Object.assign(Object.create(model) as object, { feedInputShapes, ...own }) as FedModel;
}

/** Makes models take vectors for inputs of one axis in `predict`, `evaluate`, `fit` and `trainOnBatch`. May be called again. */
export function feedVectors(): void {
  const models = tf.LayersModel.prototype as unknown as {
    predict: Predict;
    standardizeUserDataXY: Standardize;
    [MARK]?: true;
  };
  if (Object.hasOwn(models, MARK)) return;
  models[MARK] = true;
  const { predict, standardizeUserDataXY } = models;
  models.predict = function (x, args) {
    const vectors = vectorsFor(this, x);
    if (vectors === null) return predict.call(this, x, args);
    const predictLoop: FedModel['predictLoop'] = (inputs, batchSize) => {
      const fed = inputs.map((input, i) => vectors[i] ?? input);
      return this.predictLoop(fed, batchSize);
    };
    return predict.call(withColumns(this, { predictLoop }), x, args);
  };
  models.standardizeUserDataXY = function (x, ...rest) {
    const vectors = vectorsFor(this, x);
    if (vectors === null) return standardizeUserDataXY.call(this, x, ...rest);
    const [inputs, targets] = standardizeUserDataXY.call(withColumns(this), x, ...rest);
    const fed = inputs.map((input, i) => {
      const vector = vectors[i] ?? null;
      if (vector === null) return input;
      input.dispose();
      return vector;
    });
    return [fed, targets];
  };
}
