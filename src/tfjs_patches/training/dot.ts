/**
 * Dot products of rows by somebody else: a `dot` layer multiplies whole matrices and sums the products up, and its
 * gradient multiplies them by matrices of ones first.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../per_process.js';

/** The products of the rows of two matrices of one shape, as [rows]; null: what tfjs gives. */
export type DotsBy = (a: tf.Tensor2D, b: tf.Tensor2D) => tf.Tensor1D | null;

interface DotLayer extends tf.layers.Layer {
  readonly axes: number | readonly [number, number];
  readonly normalize: boolean;
}

type Merge = (this: DotLayer, inputs: tf.Tensor[]) => tf.Tensor;

const MARK = Symbol.for('tfjs-embeddings.dot');
const active = (): { by: DotsBy | null } => perProcess('dot', () => ({ by: null }));

/** Runs `f` while `by` computes the dots of rows of two matrices. */
export function withDots<T>(by: DotsBy, f: () => T): T {
  const shared = active();
  const outer = shared.by;
  shared.by = by;
  try {
    return f();
  } finally {
    shared.by = outer;
  }
}

/** Whether the layer takes the dots of rows of matrices of one shape. */
function areRows({ axes, normalize }: DotLayer, [a, b, ...more]: readonly tf.Tensor[]): boolean {
  if (a === undefined || b === undefined || more.length > 0 || normalize) return false;
  const isLast = [axes].flat().every((axis) => axis === 1 || axis === -1);
  return isLast && a.rank === 2 && a.shape.join() === b.shape.join();
}

/** Lets `withDots` have an effect. Once per copy of tfjs: later calls do nothing. */
export function openDots(): void {
  const { prototype } = tf.layers.dot({ axes: 1, name: 'stock' }).constructor as {
    prototype: { mergeFunction: Merge };
  };
  if (Object.hasOwn(prototype, MARK)) return;
  Object.defineProperty(prototype, MARK, { value: true });
  const { mergeFunction } = prototype;
  prototype.mergeFunction = function (this: DotLayer, inputs): tf.Tensor {
    const { by } = active();
    const dots = by !== null && areRows(this, inputs) ? by(inputs[0] as tf.Tensor2D, inputs[1] as tf.Tensor2D) : null;
    return dots === null ? mergeFunction.call(this, inputs) : dots.expandDims(1);
  };
}
