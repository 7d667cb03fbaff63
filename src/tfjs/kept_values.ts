/** Other tensors on the same values: `clone` copies them on wasm. */
import * as tf from '@tensorflow/tfjs';

/** A tensor with the values of another one as they are now, kept until it is disposed; later steps step a copy. */
export function keptValues<T extends tf.Tensor>({ dataId, shape, dtype }: T): T {
  const engine = tf.engine();
  const { backend } = engine.state.tensorInfo.get(dataId)!;
  backend.incRef(dataId);
  return tf.keep(engine.makeTensorFromTensorInfo({ dataId, shape, dtype }, backend)) as T;
}
