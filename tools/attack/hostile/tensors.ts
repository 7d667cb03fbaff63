/** Tensors for hostile calls of TensorFlow ops: of wrong types and shapes, without elements, on each other's buffers. */
import * as tf from '@tensorflow/tfjs';
import type { NodeBackend } from '../../../src/backends/tensorflow/node_backend.js';
import type { Random } from '../../../test/helpers/random.js';

/** So wide that two rows of it run over. */
export const WIDEST = 2 ** 60;

export class HostileTensors {
  constructor(
    private readonly random: Random,
    private readonly backend: NodeBackend,
  ) {}

  floats(...shape: number[]): tf.Tensor {
    const { random } = this;
    const size = shape.reduce((product, length) => product * length, 1);
    const number = (): number => (random.chance(0.05) ? random.pick([NaN, Infinity, -0, 1e38]) : random.next());
    return tf.tensor(Float32Array.from({ length: size }, number), shape, 'float32');
  }

  ints(values: readonly number[]): tf.Tensor {
    return tf.tensor1d(Int32Array.from(values), 'int32');
  }

  /** Anything that no op asks for. */
  anything(): tf.Tensor {
    const { random } = this;
    const shape = Array.from({ length: random.whole(0, 4) }, () => random.pick([0, 1, 2, 3, 5]));
    switch (random.whole(0, 7)) {
      case 0:
        return tf.zeros(shape, 'bool');
      case 1:
        return tf.fill(shape, 'text', 'string');
      case 2:
        return tf.zeros([0, random.pick([WIDEST, 2 ** 62, 2 ** 31])]);
      case 3:
        return tf.zeros([WIDEST, 0]);
      case 4:
        return tf.zeros(shape, 'int32');
      case 5:
        return this.ints(Array.from({ length: random.whole(0, 6) }, () => random.pick([-1, 0, 1, 2 ** 31 - 1])));
      default:
        return this.floats(...shape);
    }
  }

  /** Another tensor on the buffer of a float32 tensor, of the shape of `like` where it has as many elements. */
  sharing(tensor: tf.Tensor, like: tf.Tensor): tf.Tensor {
    if (tensor.dtype !== 'float32' || tensor.size !== like.size || tensor.size === 0) return tensor;
    const { TF_ATTR_TYPE, TF_FLOAT, TF_INT32 } = this.backend.binding;
    const type = { name: 'T', type: TF_ATTR_TYPE, value: TF_FLOAT };
    const shaped = this.backend.executeSingleOutput(
      'Reshape',
      [type, { name: 'Tshape', type: TF_ATTR_TYPE, value: TF_INT32 }],
      [tensor, tf.tensor1d(like.shape, 'int32')],
    );
    if (like.dtype !== 'int32') return shaped;
    const to = { name: 'type', type: TF_ATTR_TYPE, value: TF_INT32 };
    return this.backend.executeSingleOutput('Bitcast', [type, to], [shaped]);
  }
}
