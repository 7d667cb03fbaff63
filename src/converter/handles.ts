/** Tensors that stand for objects: TensorFlow's resources. Copies of such a tensor stand for the same object. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, described } from '../errors.js';
import { perProcess } from '../per_process.js';

/** By the data of the tensor, which copies share. */
const objects = (): WeakMap<object, unknown> => perProcess('objects of graphs', () => new WeakMap());

/** A new tensor that stands for `object`. */
export function handleFor(object: unknown): tf.Tensor {
  const handle = tf.scalar(0, 'int32');
  objects().set(handle.dataId, object);
  return handle;
}

/** What a tensor stands for, or undefined. */
export function objectOf(handle: tf.Tensor): unknown {
  return objects().get(handle.dataId);
}

/** What a tensor stands for, which must be a `kind`. */
export function objectOfKind<T>(handle: tf.Tensor, kind: new (...args: never[]) => T, argument = 'handle'): T {
  const found = objectOf(handle);
  if (found instanceof kind) return found;
  throw new ArgumentTypeError(argument, `the handle of a ${kind.name}`, described('another tensor'));
}
