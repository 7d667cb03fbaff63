/** Ids that count: padding is left out before the lookup, so that its row is neither summed nor trained. */
import * as tf from '@tensorflow/tfjs';

/** Which ids stand for nothing. */
export interface Absence {
  /** The id 0 (`maskZero`). */
  readonly zero: boolean;
  /** Negative ids (padding of ragged rows). */
  readonly negative: boolean;
}

export interface PresentIds {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  /** Where each value lay among all ids; null where every id counts. */
  readonly positions: Int32Array | null;
}

/** The ids that count, in order, with the splits of their rows. */
export function presentIds(ids: Int32Array, rowSplits: Int32Array, absence: Absence): PresentIds {
  const rows = rowSplits.length - 1;
  const values = new Int32Array(ids.length);
  const positions = new Int32Array(ids.length);
  const splits = new Int32Array(rows + 1);
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    const end = rowSplits[row + 1]!;
    for (let i = rowSplits[row]!; i < end; i++) {
      const id = ids[i]!;
      if ((absence.zero && id === 0) || (absence.negative && id < 0)) continue;
      values[kept] = id;
      positions[kept] = i;
      kept++;
    }
    splits[row + 1] = kept;
  }
  if (kept === ids.length) return { values, rowSplits: splits, positions: null };
  return { values: values.slice(0, kept), rowSplits: splits, positions: positions.slice(0, kept) };
}

/**
 * The weights at these positions (each at most once), differentiable. The gradient of tf.gather would be missing on
 * some backends and quadratic on another; a scatter is linear everywhere.
 */
export function takeAt(weights: tf.Tensor1D, positions: Int32Array): tf.Tensor1D {
  const op = tf.customGrad((all, save) => {
    const index = tf.tensor1d(positions, 'int32');
    (save as tf.GradSaveFunc)([index]);
    const size = (all as tf.Tensor).size;
    return {
      value: tf.gather(all as tf.Tensor1D, index),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [places] = saved as [tf.Tensor1D];
        return places.size === 0 ? tf.zeros([size]) : tf.scatterND(places.expandDims(1), dy, [size]);
      },
    };
  });
  return op(weights) as tf.Tensor1D;
}
