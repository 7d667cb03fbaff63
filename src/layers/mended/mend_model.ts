/** Models that this package loads train as Keras trains them, where layers of TensorFlow.js do otherwise. */
import * as tf from '@tensorflow/tfjs';
import { mendBatchNormalization } from './batch_normalization.js';
import { type KerasVersion, noteKerasRules } from '../../tfjs/models/keras_rules.js';
import { replaceStockGradient } from '../../tfjs/engine/stock_gradient.js';
import { mendConvolution, mendMaxPooling } from './convolutions.js';
import { mendConstraints } from './constraints.js';
import { mendTimeDistributed } from './time_distributed.js';
import { mendLayerNormalization } from './layer_normalization.js';
import { mendAveragePooling, mendGlobalMaxPooling } from './pooling.js';
import { mendThresholdedReLU } from './thresholded_relu.js';
import { layersWithin, leavesOf, mendOutputPenalty, mendPenalties, mendRegularizers } from './penalties.js';
import { mendOutputs } from './uneven_outputs.js';

const mended = new WeakSet<tf.layers.Layer>();

/** A sequence of one step is unstacked into one tensor, whose gradient tfjs takes for a list. */
function mendUnstack(): void {
  replaceStockGradient(
    'Unpack',
    'one step',
    (stock) =>
      (dy, ...rest) =>
        stock([dy].flat() as never, ...rest),
  );
}

/** By the name of the class in tfjs. */
const MENDS: Readonly<Record<string, (layer: tf.layers.Layer, version: KerasVersion) => unknown>> = {
  AveragePooling1D: mendAveragePooling,
  AveragePooling2D: mendAveragePooling,
  AveragePooling3D: mendAveragePooling,
  BatchNormalization: mendBatchNormalization,
  Conv1D: mendConvolution,
  Conv2D: mendConvolution,
  Conv2DTranspose: mendConvolution,
  Conv3D: mendConvolution,
  Conv3DTranspose: mendConvolution,
  DepthwiseConv2D: mendConvolution,
  SeparableConv2D: mendConvolution,
  UpSampling2D: mendConvolution,
  MaxPooling1D: mendMaxPooling,
  MaxPooling2D: mendMaxPooling,
  MaxPooling3D: mendMaxPooling,
  GlobalMaxPooling1D: mendGlobalMaxPooling,
  GlobalMaxPooling2D: mendGlobalMaxPooling,
  LayerNormalization: mendLayerNormalization,
  ThresholdedReLU: mendThresholdedReLU,
  TimeDistributed: (layer, version) => version === 2 && mendTimeDistributed(layer),
};

function mendLayer(layer: tf.layers.Layer, version: KerasVersion): void {
  if (mended.has(layer)) return;
  mended.add(layer);
  const className = layer.getClassName();
  if (Object.hasOwn(MENDS, className)) MENDS[className]!(layer, version);
  if (layer instanceof tf.RNN) mendUnstack();
  mendConstraints(layer);
  mendRegularizers(layer);
  for (const each of layersWithin(layer)) mendLayer(each, version);
  mendOutputPenalty(layer);
}

/** Models within a model, itself first, and those that Sequential models keep the graph of their layers in. */
function modelsOf(model: tf.LayersModel): tf.LayersModel[] {
  const { model: graph } = model as unknown as { readonly model?: tf.LayersModel };
  const inner = model.layers.filter((layer) => layer instanceof tf.LayersModel);
  return [model, ...(graph === undefined ? [] : [graph]), ...inner.flatMap(modelsOf)];
}

/** Mends a model and all within it; nothing of their classes changes. `version`: that of the Keras whose rules hold. */
export function mendModel(model: tf.LayersModel, version: KerasVersion): void {
  noteKerasRules(model, version);
  for (const layer of leavesOf(model)) mendLayer(layer, version);
  for (const each of modelsOf(model)) {
    if (mended.has(each)) continue;
    mended.add(each);
    mendPenalties(each, version);
    mendOutputs(each);
  }
}
