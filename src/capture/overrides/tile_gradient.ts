/**
 * Override of the gradient of `tf.tile`: tfjs slices every repetition out and adds them one after the other, which
 * in a layer normalization is some ops for each row and each column.
 */
import * as tf from '@tensorflow/tfjs';
import { replaceStockGradient } from '../../tfjs/engine/stock_gradient.js';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The gradient of what was repeated, of `shape`, by that of all repetitions. */
export type TileGradientBy = (dy: tf.Tensor, shape: readonly number[], reps: readonly number[]) => tf.Tensor;

const tileGradient = new Substitute<TileGradientBy>('tile gradient');

/** Installs the hook into tfjs. */
function installTileGradient(): void {
  replaceStockGradient(tf.Tile, 'tile gradient', (stock) => (dy, saved, attributes) => {
    const by = tileGradient.now;
    const [[x], { reps }] = [saved, attributes as unknown as { reps: readonly number[] }];
    if (by === null || x === undefined || !(dy instanceof tf.Tensor)) return stock(dy, saved, attributes);
    return { x: () => by(dy, x.shape, reps) };
  });
}

/** Sizes that follow one another in memory: of repetitions, or of what is repeated. */
interface Run {
  size: number;
  readonly isRepeated: boolean;
}

/** The axes of a tiled tensor, each as its repetitions and what they repeat; neighbours of one kind are one. */
function runsOf(shape: readonly number[], reps: readonly number[]): Run[] {
  const runs: Run[] = [];
  const add = (size: number, isRepeated: boolean): void => {
    const last = runs.at(-1);
    if (size === 1) return;
    if (last?.isRepeated === isRepeated) last.size *= size;
    else runs.push({ size, isRepeated });
  };
  shape.forEach((size, axis) => {
    add(reps[axis]!, true);
    add(size, false);
  });
  return runs;
}

/** The sum of all repetitions of a tensor of `shape`, which `dy` holds side by side. */
export function summedRepetitions(dy: tf.Tensor, shape: readonly number[], reps: readonly number[]): tf.Tensor {
  const runs = runsOf(shape, reps);
  const axes = runs.flatMap(({ isRepeated }, axis) => (isRepeated ? [axis] : []));
  const all = dy.reshape(runs.map(({ size }) => size));
  return (axes.length === 0 ? all : all.sum(axes)).reshape([...shape]);
}

/** The gradient of `tf.tile` is one sum. */
export const TILE_GRADIENT = tileGradient.as(summedRepetitions, installTileGradient);
