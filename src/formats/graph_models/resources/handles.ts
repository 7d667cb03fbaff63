/**
 * Tensors that stand for objects: TensorFlow's resources. The tensor holds a number, as some backends copy a tensor
 * where a graph only passes it on.
 */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, described } from '../../../base/errors.js';
import { perProcess } from '../../../base/per_process.js';

interface Objects {
  /** tfjs-converter puts what an initializer made into the caller's own feeds, where it may be disposed. */
  readonly byTensor: WeakMap<tf.Tensor, number>;
  readonly byNumber: Map<number, object>;
  readonly numberOf: WeakMap<object, number>;
  next: number;
}

const objects = (): Objects =>
  perProcess('objects of graphs', () => ({
    byTensor: new WeakMap(),
    byNumber: new Map(),
    numberOf: new WeakMap(),
    next: 1,
  }));

function numberFor(object: object): number {
  const all = objects();
  const number = all.numberOf.get(object) ?? all.next++;
  all.numberOf.set(object, number);
  all.byNumber.set(number, object);
  return number;
}

/** A new tensor that stands for `object`, until `forget` is called. */
export function handleFor(object: object): tf.Tensor {
  const number = numberFor(object);
  const handle = tf.scalar(number, 'int32');
  objects().byTensor.set(handle, number);
  return handle;
}

/** A new tensor of this shape whose elements stand for objects. */
export function handlesFor(all: readonly object[], shape: readonly number[]): tf.Tensor {
  return tf.tensor(all.map(numberFor), [...shape], 'int32');
}

/** Ends what tensors stand for. */
export function forget(object: object): void {
  const { byNumber, numberOf } = objects();
  byNumber.delete(numberOf.get(object) ?? 0);
}

/** What a tensor stands for; TypeError unless it is a `kind`. */
export function objectOfKind<T>(handle: tf.Tensor, kind: new (...args: never[]) => T, argument = 'handle'): T {
  const found = findObject(handle, kind);
  if (found !== null) return found;
  throw new ArgumentTypeError(argument, `the handle of a ${kind.name}`, described('another tensor'));
}

/** What a tensor stands for where that is a `kind`, else null. */
export function findObject<T>(handle: tf.Tensor, kind: new (...args: never[]) => T): T | null {
  const { byTensor, byNumber } = objects();
  const found = isHandle(handle) ? byNumber.get(byTensor.get(handle) ?? handle.dataSync()[0]!) : undefined;
  return found instanceof kind ? found : null;
}

/** What the elements of a tensor stand for; TypeError unless each is a `kind`. */
export function objectsOfKind<T>(handles: tf.Tensor, kind: new (...args: never[]) => T, argument: string): T[] {
  const numbers = handles.dtype === 'int32' ? Array.from(handles.dataSync()) : [NaN];
  const { byNumber } = objects();
  return numbers.map((number) => {
    const found = byNumber.get(number);
    if (found instanceof kind) return found;
    throw new ArgumentTypeError(argument, `the handle of a ${kind.name}`, described('another tensor'));
  });
}

/** Whether a tensor has the form of a handle. */
function isHandle({ dtype, rank }: tf.Tensor): boolean {
  return dtype === 'int32' && rank === 0;
}
