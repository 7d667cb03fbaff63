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
