/**
 * Dot products of rows by somebody else: a `dot` layer multiplies whole matrices and sums the products up, and its
 * gradient multiplies them by matrices of ones first.
 */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The products of the rows of two matrices of one shape, as [rows]; null: what tfjs gives. */
export type DotsBy = (a: tf.Tensor2D, b: tf.Tensor2D) => tf.Tensor1D | null;

interface DotLayer extends tf.layers.Layer {
  readonly axes: number | readonly [number, number];
  readonly normalize: boolean;
}

type Merge = (this: DotLayer, inputs: tf.Tensor[]) => tf.Tensor;

const dots = new Substitute<DotsBy>('dot');

/** Runs `f` while `by` computes the dots of rows of two matrices. */
export function withDots<T>(by: DotsBy, f: () => T): T {
  return dots.during(by, f);
}

/** Whether the layer takes the dots of rows of matrices of one shape. */
function areRows({ axes, normalize }: DotLayer, [a, b, ...more]: readonly tf.Tensor[]): boolean {
  if (a === undefined || b === undefined || more.length > 0 || normalize) return false;
  const isLast = [axes].flat().every((axis) => axis === 1 || axis === -1);
  return isLast && a.rank === 2 && a.shape.join() === b.shape.join();
}

/** Lets `withDots` have an effect. */
export function openDots(): void {
  dots.open<Merge>(tf.layers.dot({ axes: 1, name: 'stock' }), 'mergeFunction', (stock, byNow) => {
    return function (this: DotLayer, inputs): tf.Tensor {
      const by = byNow();
      const found =
        by !== null && areRows(this, inputs) ? by(inputs[0] as tf.Tensor2D, inputs[1] as tf.Tensor2D) : null;
      return found === null ? stock.call(this, inputs) : found.expandDims(1);
    };
  });
}
