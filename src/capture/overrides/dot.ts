/**
 * Override of dot products of rows: a `dot` layer of tfjs multiplies whole matrices and sums the products up, and its
 * gradient multiplies them by matrices of ones first.
 */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';
import { stepOps } from '../../backends/registry.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** The products of the rows of two matrices of one shape, as [rows]; null: what tfjs gives. */
export type DotsBy = (a: tf.Tensor2D, b: tf.Tensor2D) => tf.Tensor1D | null;

interface DotLayer extends tf.layers.Layer {
  readonly axes: number | readonly [number, number];
  readonly normalize: boolean;
}

type Merge = (this: DotLayer, inputs: tf.Tensor[]) => tf.Tensor;

const dots = new Substitute<DotsBy>('dot');

/** Whether the layer takes the dots of rows of matrices of one shape. */
function areRows({ axes, normalize }: DotLayer, [a, b, ...more]: readonly tf.Tensor[]): boolean {
  if (a === undefined || b === undefined || more.length > 0 || normalize) return false;
  const isLast = [axes].flat().every((axis) => axis === 1 || axis === -1);
  return isLast && a.rank === 2 && a.shape.join() === b.shape.join();
}

/** Installs the hook into tfjs. */
function installDots(): void {
  dots.open<Merge>(tf.layers.dot({ axes: 1, name: 'stock' }), 'mergeFunction', (stock, byNow) => {
    return function (this: DotLayer, inputs): tf.Tensor {
      const by = byNow();
      const found =
        by !== null && areRows(this, inputs) ? by(inputs[0] as tf.Tensor2D, inputs[1] as tf.Tensor2D) : null;
      return found === null ? stock.call(this, inputs) : found.expandDims(1);
    };
  });
}

/** The dots of the rows of two matrices; null where the backend has no such op, or they are not of floats. */
export function nativeDots(a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor1D | null {
  const ops = stepOps();
  if (ops === null || a.dtype !== 'float32' || b.dtype !== 'float32') return null;
  return withLazyGradient(
    { a, b },
    (save) => {
      save([a, b]);
      return ops.rowDots(a, b);
    },
    (dy, saved) => {
      const [left, right] = saved as [tf.Tensor2D, tf.Tensor2D];
      return {
        a: () => ops.scaledRows(dy as tf.Tensor1D, right),
        b: () => ops.scaledRows(dy as tf.Tensor1D, left),
      };
    },
  ) as tf.Tensor1D;
}

/** Dots of rows are one op, with one for each gradient. */
export const DOTS = dots.as(nativeDots, installDots);
