/**
 * What regularizers add to the loss of a model, as Keras counts it: each weight once, however often its layer is called,
 * and those within recurrent layers and wrappers too, of which TensorFlow.js counts none. Outputs that a layer regularizes
 * add their penalty in each call.
 */
import * as tf from '@tensorflow/tfjs';
import { regularizersOf } from '../../tfjs/layers/penalties.js';
import { absolute } from '../operations/extremes.js';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import { mendCall, replace } from './call.js';

/** What a regularizer of tfjs multiplies with. */
interface Factors {
  readonly l1?: number;
  readonly l2?: number;
}

type Loss = () => tf.Scalar;

/** The fields of tfjs that hold layers within a layer. */
interface Holder {
  readonly cell?: unknown;
  readonly cells?: unknown;
  readonly layer?: unknown;
  readonly forwardLayer?: unknown;
  readonly backwardLayer?: unknown;
  readonly _losses?: readonly Loss[];
}

/** Layers within a layer that is no model. */
export function layersWithin(layer: tf.layers.Layer): tf.layers.Layer[] {
  const { cell, cells, layer: inner, forwardLayer, backwardLayer } = layer as unknown as Holder;
  // A wrapper of both ways answers with the one that runs forward.
  const within = forwardLayer === undefined ? [cell, cells, inner] : [forwardLayer, backwardLayer];
  return within.flat().filter((each) => each instanceof tf.layers.Layer);
}

/** Penalties of outputs of the calls of this step, by layer. */
const pending = new WeakMap<tf.layers.Layer, tf.Tensor[]>();

const ofOutputs = new WeakMap<tf.layers.Layer, object>();

/** Has a layer add a penalty of what it gives to the loss of a step, once it is mended. */
export function penalizeOutputs(layer: tf.layers.Layer, regularizer: object): void {
  ofOutputs.set(layer, regularizer);
}

/** The regularizer of what a layer gives; null where there is none. */
export function outputPenaltyOf(layer: tf.layers.Layer): object | null {
  return ofOutputs.get(layer) ?? null;
}

/** Mends one layer whose outputs are penalized; after all others, as these may compute in the place of its class. */
export function mendOutputPenalty(layer: tf.layers.Layer): void {
  const regularizer = ofOutputs.get(layer);
  if (regularizer === undefined) return;
  mendCall(layer, (stock) => (inputs, kwargs) => {
    const result = stock(inputs, kwargs);
    if (kwargs['training'] !== true) return result;
    const made = [result]
      .flat()
      .map((each) => tf.keep(tf.tidy(() => penalty(regularizer as Factors, each).div(each.shape[0] || 1))));
    pending.set(layer, [...(pending.get(layer) ?? []), ...made]);
    return result;
  });
}

/** The penalties of the outputs of a layer, for the scope of the caller. */
function takePending(layer: tf.layers.Layer): tf.Scalar[] {
  const kept = pending.get(layer) ?? [];
  pending.delete(layer);
  return kept.map((each) => {
    const own = each.clone();
    each.dispose();
    return own as tf.Scalar;
  });
}

/** Penalties of a layer that is no model and of all within; of weights that do not train Keras 2 counts them too. */
function penaltiesOf(layer: tf.layers.Layer, version: 2 | 3): tf.Scalar[] {
  const outputs = takePending(layer);
  const within = layersWithin(layer);
  // Tables count theirs in their own way.
  if (within.length === 0) {
    return version === 3 && !layer.trainable ? outputs : [...outputs, ...layer.calculateLosses()];
  }
  const { forwardLayer, _losses = [] } = layer as unknown as Holder;
  const own =
    forwardLayer === undefined && (layer as unknown as Holder).layer === undefined ? _losses.map((loss) => loss()) : [];
  return [...outputs, ...own, ...within.flatMap((each) => penaltiesOf(each, version))];
}

/** Mends the gradient of the regularizers of a layer for weights that are 0. */
export function mendRegularizers(layer: tf.layers.Layer): void {
  const losses = (layer as unknown as Holder)._losses ?? [];
  for (const each of losses.flatMap((loss) => regularizersOf(loss) ?? [])) {
    const regularizer = each as Factors & { getClassName?(): string };
    if (regularizer.getClassName?.() !== 'L1L2' || Object.hasOwn(regularizer, 'apply')) continue;
    replace(regularizer, 'apply', (x: tf.Tensor) => penalty(regularizer, x));
  }
}

/** What numbers of a tensor add to a loss. */
function penalty({ l1 = 0, l2 = 0 }: Factors, x: tf.Tensor): tf.Tensor {
  return tf.tidy(() => {
    const sums = [...(l1 === 0 ? [] : [absolute(x).sum().mul(l1)]), ...(l2 === 0 ? [] : [x.square().sum().mul(l2)])];
    return sums.reduce((a, b) => a.add(b), tf.scalar(0));
  });
}

/** The layers of a model and of those within it, each once. */
export function leavesOf(model: tf.LayersModel, found = new Set<tf.layers.Layer>()): Set<tf.layers.Layer> {
  for (const layer of model.layers) {
    if (layer instanceof tf.LayersModel) leavesOf(layer, found);
    else found.add(layer);
  }
  return found;
}

/** Mends what a model adds to its loss. */
export function mendPenalties(model: tf.LayersModel, version: 2 | 3): void {
  const leaves = asOwn(() => [...leavesOf(model)]);
  replace(model, 'calculateLosses', () => tf.tidy(() => leaves().flatMap((layer) => penaltiesOf(layer, version))));
}
