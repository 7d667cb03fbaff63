/** Reductions of graphs along some axes, beside sums, products and so on that are worked out number by number. */
import * as tf from '@tensorflow/tfjs';
import { REDUCTION_OPS } from '../../../../src/formats/graph_models/mended/reductions.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectError } from '../../../helpers/errors.js';

const SHAPE = [2, 3, 2];
const VALUES = [3, -1, 2, 5, -4, 1, 0, 7, -2, 6, 1, -3];

const total = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
const WANTED: Readonly<Record<string, (all: readonly number[]) => number>> = {
  Sum: total,
  Mean: (all) => total(all) / all.length,
  Prod: (all) => all.reduce((a, b) => a * b, 1),
  Max: (all) => Math.max(...all),
  Min: (all) => Math.min(...all),
  EuclideanNorm: (all) => Math.sqrt(total(all.map((each) => each * each))),
  Any: (all) => Number(all.some((each) => each > 0)),
  All: (all) => Number(all.every((each) => each > 0)),
};
const OF_TRUTHS = /^(Any|All)$/;

describeForBackends('Reductions of graphs', () => {
  const run = (name: string, x: tf.Tensor, axes: tf.Tensor, keepDims = false): tf.Tensor => {
    const node = { name, op: name, inputs: [], attrs: { keep_dims: keepDims } } as unknown as tf.GraphNode;
    return (REDUCTION_OPS.find((op) => op.signature.name === name)!.run([x, axes], node) as tf.Tensor[])[0]!;
  };
  const whole = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');

  for (const name of Object.keys(WANTED)) {
    const dtypes = OF_TRUTHS.test(name) ? (['bool'] as const) : (['int32', 'float32'] as const);
    for (const dtype of dtypes) {
      const held = dtype === 'bool' ? VALUES.map((each) => Number(each > 0)) : VALUES;

      it(`go along any axes, from either end: ${name} of ${dtype}`, () => {
        tf.tidy(() => {
          const x = tf.tensor(held, SHAPE, dtype);
          for (const axes of [[0], [1], [-1], [0, 2], [-2, 0], [0, 1, 2]]) {
            const along = axes.map((axis) => (axis + 3) % 3);
            const kept = [0, 1, 2].filter((axis) => !along.includes(axis));
            const groups = new Map<number, number[]>();
            held.forEach((value, flat) => {
              const at = [Math.floor(flat / 6), Math.floor(flat / 2) % 3, flat % 2];
              const place = kept.reduce((sum, axis) => sum * SHAPE[axis]! + at[axis]!, 0);
              groups.set(place, [...(groups.get(place) ?? []), value]);
            });
            const wanted = [...groups].sort(([a], [b]) => a - b).map(([, all]) => WANTED[name]!(all));
            for (const keepDims of [false, true]) {
              const found = run(name, x, whole(...axes), keepDims);
              expect(found.dtype).toBe(dtype);
              expect(found.shape).toEqual(keepDims ? SHAPE.map((size, i) => (along.includes(i) ? 1 : size)) : kept.map((axis) => SHAPE[axis]!)); // prettier-ignore
              const isWhole = dtype === 'int32';
              found
                .dataSync()
                .forEach((value, i) => expect(value).toBeCloseTo(isWhole ? Math.trunc(wanted[i]!) : wanted[i]!, 4));
            }
          }
          expect(run(name, x, tf.scalar(-3, 'int32')).dataSync()).toEqual(run(name, x, whole(0)).dataSync());
          expect(run(name, x, whole()).dataSync()).toEqual(x.dataSync());
        });
      });

      it(`refuse axes that are not there, and one twice: ${name} of ${dtype}`, () => {
        tf.tidy(() => {
          const x = tf.tensor(held, SHAPE, dtype);
          for (const axis of [3, -4])
            expectError(() => run(name, x, whole(axis)), 'ValueError', 'reduction_indices', String(axis));
          expectError(() => run(name, x, whole(2, -1)), 'ValueError', 'reduction_indices', '[2, 2]');
        });
      });
    }
  }
});
