/** The base of layers on tables that other layers may share: a model lists each of their weights once. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../base/errors.js';
import type { ExtendArgs } from '../tables/extension.js';
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

  /**
   * Adds rows at the end of the table; only layers whose ids are the rows of one table do.
   *
   * @param _args - How many rows, and what they begin with.
   */
  extend(_args: ExtendArgs): void {
    const received = described(`layer ${this.name} of class ${this.getClassName().replace(/^.*>/, '')}`);
    throw new RuntimeError(
      'extend',
      'a layer whose ids are the rows of one table: embedding, raggedEmbedding',
      received,
    );
  }
}
