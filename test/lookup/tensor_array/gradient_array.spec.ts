/** Arrays of gradients by hand: lines of upstream's tests by their names; gradients.spec.ts has the others. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../src/node.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { expectNoLeak } from '../../helpers/tensors.js';

const numbers = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());
const array = (size: number, args: Partial<emb.TensorArrayArgs> = {}): emb.TensorArray =>
  new emb.TensorArray({ size, ...args });
const kept = (size: number, args: Partial<emb.TensorArrayArgs> = {}): emb.TensorArray =>
  array(size, { clearAfterRead: false, ...args });

/** A program that leaves nothing behind. */
const tidily = (body: () => void) => (): void => expectNoLeak(() => tf.tidy(body));

describeForBackends(
  'TensorArray, gradients by hand',
  () => {
    it(
      'GradArrayWriteRead: an array of gradients holds values of its own, of differing shapes',
      tidily(() => {
        const ta = kept(3)
          .write(0, [[4, 5]])
          .write(1, [[1]])
          .write(2, -3);
        const { gradHandle } = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        const gradient = emb
          .tensorArray(gradHandle)
          .write(0, [[5, 6]])
          .write(1, [[2]])
          .write(2, -2);
        expect([0, 1, 2].map((i) => numbers(ta.read(i)))).toEqual([[4, 5], [1], [-3]]);
        expect([0, 1, 2].map((i) => numbers(gradient.read(i)))).toEqual([[5, 6], [2], [-2]]);
      }),
    );

    it(
      'the gradient of a split is joined from its pieces, not from what was written later',
      tidily(() => {
        const ta = kept(3, { dynamicSize: true }).split([0, 1, 2, 3, 4, 5], [1, 2, 3]).write(3, [0, 3]);
        const gradient = emb.tensorArray(emb.tensorArrayGrad(ta.handle, ta.flow, 'grad').gradHandle);
        gradient.write(3, [2, 2]).write(0, [1]);
        expect(numbers(gradient.read(3))).toEqual([2, 2]);
        const { value, lengths } = gradient.concat();
        expect(lengths).toEqual([1, 2, 3]);
        expect(numbers(value)).toEqual([1, 0, 0, 0, 0, 0]);
      }),
    );

    it(
      'GradArrayDynamicWriteRead: gradients are taken after dynamic writes, with their size',
      tidily(() => {
        const ta = array(0, { dynamicSize: true })
          .write(0, [[4, 5]])
          .write(1, [[1]])
          .write(2, -3);
        const { gradHandle } = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        const gradient = emb.tensorArray(gradHandle);
        expect([ta.size(), gradient.size()]).toEqual([3, 3]);
        gradient.write(2, -2).write(0, [[5, 6]]);
        expect(numbers(gradient.read(1))).toEqual([0]);
        expect(numbers(gradient.read(0))).toEqual([5, 6]);
      }),
    );

    it(
      'GradAccessTwiceReceiveSameObject: two handles, one accumulator',
      tidily(() => {
        const ta = array(1).write(0, [[4, 5]]);
        const first = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        const second = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        emb.tensorArray(first.gradHandle).write(0, [[4, 5]]);
        expect(numbers(emb.tensorArray(second.gradHandle).read(0))).toEqual([4, 5]);
        expect(numbers(first.flowOut)).toEqual([0]);
      }),
    );

    it(
      'WriteGradientAddMultipleAdds: 3 + 4 + 5 = 12; a forward array refuses a second write',
      tidily(() => {
        for (const dtype of ['float32', 'int32'] as const) {
          const value = (x: number): tf.Tensor => tf.scalar(x, dtype);
          const ta = array(3, { dtype, multipleWritesAggregate: false }).write(2, value(7));
          const { gradHandle } = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
          const gradient = emb.tensorArray(gradHandle).write(2, value(3)).write(2, value(4)).write(2, value(5));
          expect(numbers(gradient.read(2))).toEqual([12]);
          expectError(() => ta.write(2, value(1)), 'ValueError', 'index', '2, which has been written');
          const other = emb.tensorArray(emb.tensorArrayGrad(ta.handle, ta.flow, 'other').gradHandle);
          expectError(() => other.write(2, tf.tensor([1, 2], [2], dtype)), 'ValueError', 'value', 'shape [2]');
        }
      }),
    );

    it(
      'GradWithShapeKnownElementShape: values of the prepended shape add, others are refused',
      tidily(() => {
        const ta = array(3, { elementShape: [] });
        const { gradHandle, flowOut } = emb.tensorArrayGradWithShape(ta.handle, ta.flow, [2], 'grad');
        expect(numbers(flowOut)).toEqual([0]);
        const gradient = emb.tensorArray(gradHandle).write(0, [4, 5]).write(0, [2, 3]);
        expect(gradient.elementShape).toEqual([2]);
        expectError(() => gradient.write(1, 7), 'ValueError', 'value', 'shape []');
        expect(numbers(gradient.read(0))).toEqual([6, 8]);
      }),
    );

    it(
      'GradWithShapeUnknownElementShape: an unknown shape stays unknown',
      tidily(() => {
        const ta = array(3);
        const { gradHandle } = emb.tensorArrayGradWithShape(ta.handle, ta.flow, [2], 'grad');
        const gradient = emb.tensorArray(gradHandle);
        expect(gradient.elementShape).toBeNull();
        gradient
          .write(0, [
            [4, 5],
            [6, 7],
          ])
          .write(0, [
            [2, 3],
            [4, 5],
          ]);
        expect(numbers(gradient.read(0))).toEqual([6, 8, 10, 12]);
      }),
    );

    it(
      'GradGrad: an array of gradients has no gradients',
      tidily(() => {
        const ta = array(1).write(0, [1]);
        const { gradHandle } = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        expectError(
          () => emb.tensorArrayGrad(gradHandle, ta.flow, 'grad'),
          'ValueError',
          'handle',
          'an array of gradients',
        );
      }),
    );

    it(
      'an array in which writes were added has no gradients',
      tidily(() => {
        const ta = array(1, { multipleWritesAggregate: true }).write(0, [1]).write(0, [2]);
        expectError(() => emb.tensorArrayGrad(ta.handle, ta.flow, 'grad'), 'ValueError', 'handle', 'were added');
      }),
    );

    it(
      'concat over gradients of which some were never written has zeros there',
      tidily(() => {
        const ta = array(2)
          .write(0, [[1], [2]])
          .write(1, [[3]]);
        const { gradHandle } = emb.tensorArrayGrad(ta.handle, ta.flow, 'grad');
        const { value, lengths } = emb
          .tensorArray(gradHandle)
          .write(1, [[5]])
          .concat();
        expect(numbers(value)).toEqual([0, 0, 5]);
        expect(lengths).toEqual([2, 1]);
      }),
    );
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
