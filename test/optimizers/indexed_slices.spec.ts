/** Gradients of touched rows as values: made, scaled, added, measured and freed. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';
import { expectClose, expectNoLeak } from '../helpers/tensors.js';

function slicesOf(rows: Readonly<Record<number, number[]>>, denseShape: readonly [number, number]): emb.IndexedSlices {
  const values = Object.values(rows);
  return new emb.IndexedSlices({
    indices: tf.tensor1d(Object.keys(rows).map(Number), 'int32'),
    values: tf.tensor2d(values, [values.length, denseShape[1]]),
    denseShape,
  });
}

/** What a result holds, which is disposed. */
function take(given: emb.IndexedSlices | tf.Tensor): { indices?: number[]; values: number[] } {
  const taken =
    given instanceof tf.Tensor
      ? { values: Array.from(given.dataSync()) }
      : { indices: Array.from(given.indices.dataSync()), values: Array.from(given.values.dataSync()) };
  given.dispose();
  return taken;
}

describeForBackends('IndexedSlices', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('are scaled by numbers and scalars, and leave the original as it was', () => {
    const slices = slicesOf({ 1: [1, -2], 4: [3, 0.5] }, [6, 2]);
    const half = tf.scalar(0.5);
    for (const x of [0.5, half]) expect(take(slices.mul(x))).toEqual({ indices: [1, 4], values: [0.5, -1, 1.5, 0.25] });
    expect([...slices.mul(0).denseShape]).toEqual([6, 2]);
    expect(take(slices)).toEqual({ indices: [1, 4], values: [1, -2, 3, 0.5] });
    half.dispose();
    tensors += 2; // Those of the product by 0.
  });

  it('are added row by row', () => {
    const a = slicesOf({ 1: [1, -2], 4: [3, 0.5] }, [6, 2]);
    const b = slicesOf({ 0: [7, 8], 4: [1, 1], 5: [2, 3] }, [6, 2]);
    const none = slicesOf({}, [6, 2]);
    const sum = { indices: [0, 1, 4, 5], values: [7, 8, 1, -2, 4, 1.5, 2, 3] };
    expect(take(a.add(b))).toEqual(sum);
    expect(take(b.add(a))).toEqual(sum);
    expect(take(a.add(a))).toEqual({ indices: [1, 4], values: [2, -4, 6, 1] });
    expect(take(a.add(none))).toEqual({ indices: [1, 4], values: [1, -2, 3, 0.5] });
    expect(take(none.add(none))).toEqual({ indices: [], values: [] });
    for (const each of [a, b, none]) each.dispose();
  });

  it('become tensors of the shape of the table', () => {
    expect(take(slicesOf({ 1: [1, -2], 2: [3, 0.5] }, [4, 2]).toDense()).values).toEqual([0, 0, 1, -2, 3, 0.5, 0, 0]);
    const none = slicesOf({}, [2, 3]).toDense();
    expect(none.shape).toEqual([2, 3]);
    expect(take(none).values).toEqual([0, 0, 0, 0, 0, 0]);
    tensors += 4; // The slices themselves.
  });

  it('have the norm of the whole gradient', () => {
    const a = slicesOf({ 1: [1, -2], 4: [3, 0.5] }, [6, 2]);
    expectClose(take(a.norm()).values, [Math.hypot(1, 2, 3, 0.5)]);
    const none = slicesOf({}, [6, 2]);
    expect(take(none.norm()).values).toEqual([0]);
    a.dispose();
    none.dispose();
  });

  it('behave as the dense gradients that they stand for', () => {
    const random = new Random(5);
    for (let i = 0; i < 20; i++) {
      const [rows, dim] = [random.whole(1, 12), random.whole(1, 9)];
      const draw = (): emb.IndexedSlices => {
        const touched = Array.from({ length: rows }, (_, row) => row).filter(() => random.chance(0.4));
        return slicesOf(Object.fromEntries(touched.map((row) => [row, Array.from(random.floats(dim))])), [rows, dim]);
      };
      const [a, b] = [draw(), draw()];
      expectNoLeak(() => {
        tf.tidy(() => {
          const [x, y] = [a.toDense(), b.toDense()];
          const sum = a.add(b.mul(-0.75)).toDense();
          expectClose(sum.dataSync(), x.add(y.mul(-0.75)).dataSync(), 1);
          expectClose(a.norm().dataSync(), x.norm().dataSync(), 1);
        });
      });
      a.dispose();
      b.dispose();
    }
  });

  it('are freed by dispose, tf.dispose and tf.tidy', () => {
    const freed = [slicesOf({ 1: [1] }, [2, 1]), slicesOf({ 1: [1] }, [2, 1])] as const;
    freed[0].dispose();
    freed[0].dispose();
    tf.dispose({ nested: [freed[1]] } as never);
    const kept = tf.tidy(() => {
      slicesOf({ 0: [2] }, [2, 1]);
      return { slices: slicesOf({ 1: [1] }, [2, 1]) } as never;
    }) as { slices: emb.IndexedSlices };
    expect(tf.memory().numTensors).toBe(tensors + 2);
    expect(kept.slices.isDisposed).toBeFalse();
    expect(take(kept.slices)).toEqual({ indices: [1], values: [1] });
    for (const each of [...freed, kept.slices]) {
      expect(each.isDisposed).toBeTrue();
      for (const name of ['norm', 'toDense'] as const)
        expectError(() => each[name](), 'RuntimeError', name, 'disposed');
      expectError(() => each.mul(2), 'RuntimeError', 'mul', 'disposed');
      expectError(() => each.add(each), 'RuntimeError', 'add', 'disposed');
    }
    const live = slicesOf({ 1: [1] }, [2, 1]);
    expectError(() => live.add(freed[0]), 'RuntimeError', 'other', 'disposed');
    live.dispose();
  });

  it('refuse what does not fit together', () => {
    const indices = tf.tensor1d([1, 3], 'int32');
    const values = tf.ones<tf.Rank.R2>([2, 2]);
    const denseShape: [number, number] = [4, 2];
    const make = (given: object) => (): unknown =>
      new emb.IndexedSlices({ indices, values, denseShape, ...given } as never);
    const others = [
      tf.tensor1d([3, 1], 'int32'),
      tf.tensor1d([1, 1], 'int32'),
      tf.tensor1d([1, 4], 'int32'),
      tf.tensor1d([-1, 1], 'int32'),
      tf.tensor2d([[1, 3]], [1, 2], 'int32'),
    ];
    for (const bad of others) expectError(make({ indices: bad }), 'ValueError', 'indices');
    const floats = tf.tensor1d([1, 3]);
    for (const bad of [floats, [1, 3], undefined]) expectError(make({ indices: bad }), 'TypeError', 'indices');
    const shapes = [tf.ones([3, 2]), tf.ones([2, 3]), tf.ones([2])];
    for (const bad of shapes) expectError(make({ values: bad }), 'ValueError', 'values');
    const ints = tf.ones([2, 2], 'int32');
    for (const bad of [ints, [[1]], null]) expectError(make({ values: bad }), 'TypeError', 'values');
    for (const bad of [[4], [4, 2, 1], [4, -2], [4, 1.5]])
      expectError(make({ denseShape: bad }), 'ValueError', 'denseShape');
    for (const bad of ['4,2', undefined, 4]) expectError(make({ denseShape: bad }), 'TypeError', 'denseShape');
    expectError(make({ rows: 4 }), 'ValueError', 'rows');
    expectError(() => new emb.IndexedSlices(undefined as never), 'TypeError', 'args');
    tf.dispose([...others, floats, ...shapes, ints]);

    const slices = new emb.IndexedSlices({ indices, values, denseShape });
    const taller = slicesOf({ 1: [1, 2] }, [5, 2]);
    expectError(() => slices.add(taller), 'ValueError', 'other', '[5, 2]');
    for (const bad of [values, 1, undefined]) expectError(() => slices.add(bad as never), 'TypeError', 'other');
    for (const bad of [values, '2', undefined]) expectError(() => slices.mul(bad as never), 'TypeError', 'x');
    slices.dispose();
    taller.dispose();
  });
});
