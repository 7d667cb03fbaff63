/**
 * Losses and metrics of outputs that carry a mask, for models that came from Keras: there the steps that the mask leaves
 * out count nothing, and the others as if they were all. Models of tfjs count every step.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { maskOf } from '../layers/masks.js';

/** A loss or a metric, as models call it. */
export type Measure = (y: tf.Tensor, output: tf.Tensor) => tf.Tensor;

interface Compiled {
  lossFunctions?: Measure[];
  metricsTensors?: [Measure, number][];
}

const models = (): WeakSet<object> => perProcess('models with masked losses', () => new WeakSet<object>());

/** Masks losses and metrics of a model from now on. */
export function maskLosses(model: tf.LayersModel): void {
  models().add(model);
}

/** Masks those of one model where those of another are masked: of the model that does the work of a sequential one. */
export function maskLossesLike(model: tf.LayersModel, other: tf.LayersModel): void {
  if (models().has(other)) models().add(model);
}

/** What Keras adds to the number of steps that count, which may be none. */
const EPSILON = 1e-7;

/** Means over what this gives are means over the steps that count. */
function masked(measure: Measure): Measure {
  return (y, output) => {
    const values = measure(y, output);
    const mask = maskOf(output);
    if (mask === null || !tf.util.arraysEqual(mask.shape, values.shape)) return values;
    const counts = mask.cast('float32');
    return values.mul(counts.mul(tf.div(counts.size, counts.sum().add(EPSILON))));
  };
}

function withField<K extends keyof Compiled, T>(model: object, field: K, changed: Compiled[K], f: () => T): T {
  const holder = model as Compiled;
  const before = holder[field];
  holder[field] = changed;
  try {
    return f();
  } finally {
    // A callback may have compiled the model anew.
    if (holder[field] === changed) holder[field] = before;
  }
}

/** Runs `f` with others in the place of the losses that a model was compiled with. */
export function withLosses<T>(model: tf.LayersModel, change: (loss: Measure) => Measure, f: () => T): T {
  const { lossFunctions } = model as Compiled;
  return lossFunctions === undefined ? f() : withField(model, 'lossFunctions', lossFunctions.map(change), f);
}

function withMetrics<T>(model: tf.LayersModel, change: (metric: Measure) => Measure, f: () => T): T {
  const { metricsTensors } = model as Compiled;
  const changed = metricsTensors?.map(([metric, output]): [Measure, number] => [change(metric), output]);
  return changed === undefined ? f() : withField(model, 'metricsTensors', changed, f);
}

/** Runs `f`, in which losses and metrics of such a model are masked. */
export function withMaskedLosses<T>(model: tf.LayersModel, f: () => T): T {
  return models().has(model) ? withLosses(model, masked, () => withMetrics(model, masked, f)) : f();
}
