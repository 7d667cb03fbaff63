/** What tfjs-node does, seen without this package. A probe gives true where the defect is there. */
import * as tf from '@tensorflow/tfjs';
import { createRequire } from 'node:module';
import util from 'node:util';
import { hasNone } from './watch.mjs';

const require = createRequire(import.meta.url);

export default {
  'tfjs_node/legacy_util': () => {
    const { isNullOrUndefined } = util;
    let calls = 0;
    util.isNullOrUndefined = (value) => {
      calls++;
      return value === null || value === undefined;
    };
    tf.ones([2]).sum();
    util.isNullOrUndefined = isNullOrUndefined;
    return calls > 0;
  },
  'tfjs_node/int64_inputs': () => {
    const { encodeInt32ArrayAsInt64 } = require('@tensorflow/tfjs-node/dist/int64_tensors.js');
    const [lower, upper] = new Int32Array(encodeInt32ArrayAsInt64(new Int32Array([-1])).buffer);
    return lower === -1 && upper !== -1;
  },
  // References are counted by tensor, not by buffer, which outputs of an op may share.
  op_inputs: () => hasNone(tf.backend().constructor, /buffer.*(ref|count|share)|(ref|count|share).*buffer/i),
};
