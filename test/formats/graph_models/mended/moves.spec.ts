/** What ops of graphs that move values refuse, by the names that TensorFlow gives their inputs. */
import * as tf from '@tensorflow/tfjs';
import { GRAPH_OPS } from '../../../../src/formats/graph_models/graph_ops.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectError } from '../../../helpers/errors.js';

const whole = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');
const scalar = (value: number): tf.Tensor => tf.scalar(value, 'int32');
const pairs = (...values: [number, number][]): tf.Tensor => tf.tensor2d(values, [values.length, 2], 'int32');

describeForBackends('Ops of graphs that move values', () => {
  const refuses = (name: string, inputs: () => tf.Tensor[], argument: string, received: string, attrs = {}): void =>
    tf.tidy(() => {
      const node = { name, op: name, inputs: [], attrs } as unknown as tf.GraphNode;
      expectError(() => GRAPH_OPS.get(name)!.run(inputs(), node), 'ValueError', argument, received);
    });
  const x = (): tf.Tensor => tf.zeros([2, 3]);

  it('give a scalar axes by a slice', () => {
    tf.tidy(() => {
      const node = { attrs: { ellipsis_mask: 1, new_axis_mask: 2 } } as unknown as tf.GraphNode;
      const slice = [whole(0, 0), whole(0, 0), whole(1, 1)];
      const [found] = GRAPH_OPS.get('StridedSlice')!.run([tf.scalar(7), ...slice], node);
      expect([found!.shape, Array.from(found!.dataSync())]).toEqual([[1], [7]]);
    });
  });

  it('gather places, and zeros for those that are not there where the graph says so', async () => {
    refuses('GatherNd', () => [x(), scalar(0)], 'indices', '0');
    refuses('GatherNd', () => [x(), pairs([0, 2], [1, 3])], 'indices', '3');
    refuses('GatherNd', () => [x(), pairs([-1, 2])], 'indices', '-1', { bad_indices_policy: 'ERROR' });
    const gather = async (from: tf.Tensor, indices: tf.Tensor): Promise<unknown> => {
      const node = { attrs: { bad_indices_policy: 'IGNORE' } } as unknown as tf.GraphNode;
      const [found] = GRAPH_OPS.get('GatherNd')!.run([from, indices], node) as [tf.Tensor];
      const values = await found.array();
      tf.dispose([found, from, indices]);
      return values;
    };
    const rows = (): tf.Tensor => tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2], 'int32');
    expect(await gather(rows(), tf.tensor2d([2, 3, 0, -1], [4, 1], 'int32'))).toEqual([[5, 6], [0, 0], [1, 2], [0, 0]]); // prettier-ignore
    expect(await gather(rows(), pairs([0, 2], [2, 1], [3, 0], [1, 0]))).toEqual([0, 6, 0, 3]);
    expect(await gather(rows(), pairs([0, 0], [2, 1]))).toEqual([1, 6]);
    expect(await gather(tf.tensor1d(['a', 'b']), tf.tensor2d([1, 9], [2, 1], 'int32'))).toEqual(['b', '']);
    expect(await gather(tf.tensor1d([true, true], 'bool'), tf.tensor2d([1, 9], [2, 1], 'int32'))).toEqual([1, 0]);
    expect(await gather(tf.zeros([0, 2]), tf.tensor2d([0, 9], [2, 1], 'int32'))).toEqual([[0, 0], [0, 0]]); // prettier-ignore
  });

  it('gather from batches along each axis behind them', async () => {
    for (const batchDims of [0, 1, 2]) {
      for (const axis of [0, 1, 2, 3].filter((each) => each >= batchDims)) {
        for (const more of [[], [2], [2, 3]]) {
          const shape = [2, 3, 4, 5];
          const places = [...shape.slice(0, batchDims), ...more];
          const x = tf.range(0, 120, 1, 'float32').reshape(shape);
          const size = tf.util.sizeFromShape(places);
          const values = Array.from({ length: size }, (_, i) => (i * 7 + 1) % shape[axis]!);
          const indices = tf.tensor(values, places, 'int32');
          const node = {
            name: 'g',
            op: 'GatherV2',
            inputs: [],
            attrs: { batch_dims: batchDims },
          } as unknown as tf.GraphNode;
          const [found] = GRAPH_OPS.get('GatherV2')!.run([x, indices, scalar(axis)], node) as [tf.Tensor];
          const wanted = [...shape.slice(0, axis), ...more, ...shape.slice(axis + 1)];
          const strides = (of: number[]): number[] => of.map((_, i) => tf.util.sizeFromShape(of.slice(i + 1)));
          const [outStrides, inStrides, placeStrides] = [strides(wanted), strides(shape), strides(places)];
          const expected = Array.from({ length: tf.util.sizeFromShape(wanted) }, (_, flat) => {
            const at = wanted.map((size, i) => Math.floor(flat / outStrides[i]!) % size);
            const middle = at.slice(axis, axis + more.length);
            const place = [...at.slice(0, batchDims), ...middle].reduce(
              (sum, each, i) => sum + each * placeStrides[i]!,
              0,
            );
            const from = [...at.slice(0, axis), values[place]!, ...at.slice(axis + more.length)];
            return from.reduce((sum, each, i) => sum + each * inStrides[i]!, 0);
          });
          const what = `axis ${axis}, ${batchDims} batches, [${places.join(', ')}]`;
          expect(found.shape).withContext(what).toEqual(wanted);
          expect(Array.from(await found.data()))
            .withContext(what)
            .toEqual(expected);
          tf.dispose([x, indices, found]);
        }
      }
    }
  });

  it('join tensors of one shape but for the axis', () => {
    refuses('ConcatV2', () => [x(), tf.zeros([3]), scalar(0)], 'values', '[2, 3], [3]');
    refuses('ConcatV2', () => [x(), tf.zeros([3, 3]), scalar(-1)], 'values', '[2, 3], [3, 3]');
    refuses('Concat', () => [scalar(2), x(), x()], 'axis', '2');
  });

  it('cut where there is something', () => {
    const cut =
      (...bounds: tf.Tensor[]): (() => tf.Tensor[]) =>
      () => [x(), ...bounds];
    refuses('StridedSlice', cut(whole(5), whole(6), whole(1)), 'begin', '5', { shrink_axis_mask: 1 });
    refuses('SplitV', () => [x(), whole(1, 3), scalar(1)], 'size_splits', '[1, 3]');
    refuses('SplitV', () => [x(), whole(-1, -1), scalar(1)], 'size_splits', '[-1, -1]');
    refuses('SplitV', () => [x(), whole(4, -1), scalar(1)], 'size_splits', '[4, -1]');
    const parts = tf.tidy(() =>
      GRAPH_OPS.get('SplitV')!.run([x(), whole(1, -1), scalar(1)], { attrs: {} } as tf.GraphNode),
    );
    expect(parts.map(({ shape }) => shape)).toEqual([[2, 1], [2, 2]]); // prettier-ignore
    tf.dispose(parts);
  });

  it('turn each axis once', () => {
    for (const axes of [[0], [0, 0], [0, 2], [-1, 0]]) {
      refuses('Transpose', () => [x(), whole(...axes)], 'perm', `[${axes.join(', ')}]`);
    }
    refuses('ReverseV2', () => [x(), whole(0, -2)], 'axis', '[0, 0]');
    refuses('ReverseV2', () => [x(), whole(2)], 'axis', '2');
  });

  it('pad every axis, mirrored no further than it goes', () => {
    refuses('Pad', () => [x(), pairs([1, 1])], 'paddings', '[[1, 1]]');
    refuses('Pad', () => [x(), pairs([0, 0], [-1, 0])], 'paddings', '-1');
    for (const [mode, most] of [
      ['REFLECT', 3],
      ['SYMMETRIC', 4],
    ] as const)
      // prettier-ignore
      refuses('MirrorPad', () => [x(), pairs([0, 0], [most, 0])], 'paddings', String(most), { mode });
  });
});
