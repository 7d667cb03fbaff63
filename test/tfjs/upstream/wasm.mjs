/** What tfjs-backend-wasm does, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { throwsIn } from './watch.mjs';

export default {
  wasm_allocator: () => !throwsIn(() => tf.backend().makeOutput([2 ** 29], 'float32')),
  wasm_tensor_numbers: () => {
    const first = tf.backend();
    tf.zeros([4]);
    const second = new first.constructor(first.wasm);
    return second.dataIdNextNumber < first.dataIdNextNumber;
  },
  'engine/wasm_casts': () => Array.from(tf.cast(tf.tensor1d([256, 0.5]), 'bool').dataSync()).join() !== '1,1',
  'engine/wasm_padding': () => {
    const cut = tf.conv2d(tf.ones([1, 2, 4, 1]), tf.ones([2, 1, 1, 1]), [1, 2], 'same');
    return Array.from(cut.dataSync()).join() !== '2,2,1,1';
  },
  'graph_models/wasm_one_hot': () => {
    const ones = tf.oneHot(tf.tensor1d([1], 'int32'), 3, 1, 0, 'float32');
    return Array.from(ones.dataSync()).join() !== '0,1,0';
  },
  'graph_models/wasm_strided_slice': () => {
    const cut = tf.stridedSlice(tf.tensor1d([1, 2, 3, 4], 'int32'), [0], [4], [2]);
    return cut.dtype !== 'int32' || Array.from(cut.dataSync()).join() !== '1,3';
  },
};
