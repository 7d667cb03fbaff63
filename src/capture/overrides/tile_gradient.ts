/**
 * The gradient of `tf.tile` by somebody else: tfjs slices every repetition out and adds them one after the other, which
 * in a layer normalization is some ops for each row and each column.
 */
import * as tf from '@tensorflow/tfjs';
import { replaceStockGradient } from '../../tfjs/engine/stock_gradient.js';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The gradient of what was repeated, of `shape`, by that of all repetitions. */
export type TileGradientBy = (dy: tf.Tensor, shape: readonly number[], reps: readonly number[]) => tf.Tensor;

const tileGradient = new Substitute<TileGradientBy>('tile gradient');

/** Runs `f` while `by` computes gradients of `tf.tile`. */
export function withTileGradient<T>(by: TileGradientBy, f: () => T): T {
  return tileGradient.during(by, f);
}

/** Lets `withTileGradient` have an effect. Once per copy of tfjs: later calls do nothing. */
export function openTileGradient(): void {
  replaceStockGradient(tf.Tile, 'tile gradient', (stock) => (dy, saved, attributes) => {
    const by = tileGradient.now;
    const [[x], { reps }] = [saved, attributes as unknown as { reps: readonly number[] }];
    if (by === null || x === undefined || !(dy instanceof tf.Tensor)) return stock(dy, saved, attributes);
    return { x: () => by(dy, x.shape, reps) };
  });
}
