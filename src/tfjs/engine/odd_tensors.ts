/**
 * Notes of how many values tensors are made where that is not what their shape says: `wasm` drops what is more at once,
 * and no tensor on a GPU is read back for it. Nothing else about making tensors changes.
 */
import * as tf from '@tensorflow/tfjs';
import { noteValues } from '../../base/live_tensor.js';

type MakeTensor = (values: ArrayLike<unknown> | null, shape: number[], ...rest: unknown[]) => tf.Tensor;

const MARK = Symbol.for('tfjs-embeddings.oddTensors');

/** Begins to take notes; later calls, of other copies of this package too, do nothing. */
export function noteOddTensors(): void {
  const engine = Object.getPrototypeOf(tf.engine()) as { makeTensor: MakeTensor; [MARK]?: true };
  if (engine[MARK] === true) return;
  Object.defineProperty(engine, MARK, { value: true });
  const { makeTensor } = engine;
  engine.makeTensor = function (values, shape, ...rest) {
    const tensor = makeTensor.call(this, values, shape, ...rest);
    if (values !== null && values.length !== tensor.size) noteValues(tensor, values.length);
    return tensor;
  };
}
