/** Layers as tables see them. */
import type * as tf from '@tensorflow/tfjs';
import type { Initializer } from './initializers.js';

/** What a table asks of the layer that holds it. */
export interface TableHolder {
  /** Of the layer. */
  readonly name: string;
  readonly trainable: boolean;
  /** Of the layer, for tables that have none of their own. */
  readonly seed?: number | null;
  /** Under which the weight of a table of its own is saved, where that is not the name that `createWeight` gives. */
  readonly weightName?: string;
  /** Sets its flag `trainable` to false. */
  freeze?(): void;
  /**
   * Creates the weight as tfjs layers do.
   *
   * @param initializer - Gives the first values.
   * @returns The weight.
   */
  createWeight(initializer: Initializer): tf.LayerVariable;
  /**
   * Creates a weight of whole numbers that is never trained, beside the table.
   *
   * @param name - Of the weight.
   * @param shape - Of the weight, which begins with zeros.
   * @returns The weight.
   */
  createState?(name: string, shape: number[]): tf.LayerVariable;
  /**
   * Puts the table where the holder wants it, in place of what the backend does by itself.
   *
   * @param table - The weight.
   */
  placeTable?(table: tf.Variable): void;
}
