/** Lookups once more, as products and sums of tfjs that no code of the package takes part in. */
import * as tf from '@tensorflow/tfjs';

/** The ids that become one row, with their weights. */
export interface Bag {
  readonly ids: readonly number[];
  /** Null: none, which is 1 each. */
  readonly weights: readonly number[] | null;
}

export interface ComposedOptions {
  readonly combiner: 'sum' | 'mean' | 'sqrtn' | 'max';
  readonly maxNorm: number | null;
  /** Which ids stand for nothing. */
  readonly isAbsent?: (id: number) => boolean;
}

/** A bag without the ids that stand for nothing. */
function present({ ids, weights }: Bag, isAbsent: (id: number) => boolean): Bag {
  const kept = ids.flatMap((id, i) => (isAbsent(id) ? [] : [i]));
  return { ids: kept.map((i) => ids[i]!), weights: weights && kept.map((i) => weights[i]!) };
}

/** The rows of ids, [ids, dim]: of those outside the table zeros. Longer ones are scaled to `maxNorm`. */
function rowsOf(table: tf.Tensor2D, ids: readonly number[], maxNorm: number | null): tf.Tensor2D {
  const [count, dim] = table.shape;
  if (ids.length === 0) return tf.zeros([0, dim]);
  const places = ids.map((id) => Array.from({ length: count }, (_, row) => Number(row === id)));
  const rows = tf.matMul<tf.Tensor2D>(tf.tensor2d(places, [ids.length, count]), table);
  if (maxNorm === null) return rows;
  const squares = rows.square().sum(1, true);
  // Read, as no gradient goes through a comparison.
  const isLong = tf.tensor2d(
    squares.dataSync().map((square) => Number(square > maxNorm ** 2)),
    [ids.length, 1],
    'bool',
  );
  const factors = tf.div(maxNorm, tf.where(isLong, squares, tf.onesLike(squares)).sqrt());
  return rows.mul(tf.where(isLong, factors, tf.onesLike(factors)));
}

/** The largest of each column, [1, dim]; of equal ones the first, which alone has the gradient. */
function largest(rows: tf.Tensor2D): tf.Tensor2D {
  const [count, dim] = rows.shape;
  const first = rows.argMax(0).dataSync();
  const isFirst = Float32Array.from({ length: count * dim }, (_, i) => Number(first[i % dim] === Math.floor(i / dim)));
  return rows.mul(tf.tensor2d(isFirst, [count, dim])).sum(0, true);
}

/** One row for each bag, [bags, dim], differentiable by the table. An empty bag gives zeros. */
export function composedBags(table: tf.Tensor2D, bags: readonly Bag[], options: ComposedOptions): tf.Tensor2D {
  const { combiner, maxNorm, isAbsent = () => false } = options;
  const dim = table.shape[1];
  const pooled = bags.map((bag) => {
    const { ids, weights } = present(bag, isAbsent);
    if (ids.length === 0) return tf.zeros([1, dim]);
    if (combiner === 'max') return largest(rowsOf(table, ids, maxNorm));
    const factors = weights ?? ids.map(() => 1);
    const total = factors.reduce((sum, weight) => sum + (combiner === 'mean' ? weight : weight ** 2), 0);
    const divisor = combiner === 'sum' ? 1 : combiner === 'mean' ? total : Math.sqrt(total);
    const parts = factors.map((weight) => (divisor === 0 ? 0 : weight / divisor));
    return tf.matMul(tf.tensor2d(parts, [1, ids.length]), rowsOf(table, ids, maxNorm));
  });
  return tf.concat(pooled) as tf.Tensor2D;
}

/** The rows of ids side by side, [ids, dim]; those that stand for nothing are zeros. */
export function composedRows(
  table: tf.Tensor2D,
  ids: readonly number[],
  { maxNorm, isAbsent = () => false }: Omit<ComposedOptions, 'combiner'>,
): tf.Tensor2D {
  const outside = table.shape[0];
  return rowsOf(
    table,
    ids.map((id) => (isAbsent(id) ? outside : id)),
    maxNorm,
  );
}
