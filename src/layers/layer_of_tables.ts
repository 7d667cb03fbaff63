/** The base of layers on tables that other layers may share: a model lists each of their weights once. */
import * as tf from '@tensorflow/tfjs';
import { listOnce } from '../tfjs/shared_weights.js';

/** A layer whose weights are tables. */
export abstract class LayerOfTables extends tf.layers.Layer {
  /**
   * Inputs of `Embedding`'s kind in which padding was met; captured steps are made anew where one comes in.
   *
   * @internal
   */
  paddedInputs: readonly number[] = [];

  override get trainableWeights(): tf.LayerVariable[] {
    return listOnce(this, super.trainableWeights);
  }

  override set trainableWeights(weights: tf.LayerVariable[]) {
    super.trainableWeights = weights;
  }

  override get nonTrainableWeights(): tf.LayerVariable[] {
    return listOnce(this, super.nonTrainableWeights);
  }

  override set nonTrainableWeights(weights: tf.LayerVariable[]) {
    super.nonTrainableWeights = weights;
  }
}
