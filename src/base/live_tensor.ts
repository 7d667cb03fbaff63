/**
 * Tensors that may be used: not disposed, and with as many values as their shape has places.
 *
 * tfjs takes uneven rows, `tf.tensor2d([[3], [1, 2]])`, for a shape that it reads off the first ones. Each backend then
 * makes something else of the values, `cpu` rows of whatever stands there.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from './errors.js';
import { perProcess } from './per_process.js';

/** How many values came for data whose shape has another number of places. */
const given = (): WeakMap<object, number> => perProcess('data with other numbers of values', () => new WeakMap());

/** Notes how many values a tensor was made of, where that is not what its shape says. */
export function noteValues(tensor: tf.TensorInfo, count: number): void {
  given().set(tensor.dataId, count);
}

interface Records {
  has(dataId: object): boolean;
  get(dataId: object): object;
}

/** The records of a backend that still has values as they came: `cpu`, webgl, then `tensorflow` and webgpu. */
interface RecordingBackend {
  readonly data?: Records;
  readonly texData?: Records;
  readonly tensorMap?: Records;
}

interface EngineState {
  readonly tensorInfo: WeakMap<object, { readonly backend: RecordingBackend }>;
}

/** How many values a backend holds for a tensor, where it has them at hand; null elsewhere: nothing is read back. */
function heldBy(tensor: tf.Tensor): number | null {
  const { state } = tf.engine() as unknown as { state: EngineState };
  const backend = state.tensorInfo.get(tensor.dataId)?.backend;
  const records = backend?.data ?? backend?.texData ?? backend?.tensorMap;
  // Of data that it lacks, a backend asks another one for a copy.
  if (records?.has(tensor.dataId) !== true) return null;
  // Values that a getter makes are those of a table that is stepped in place: right, and dear.
  const values: unknown = Object.getOwnPropertyDescriptor(records.get(tensor.dataId), 'values')?.value;
  // An array whose memory was given away reads as an empty one; the error comes when the ids are read.
  if (ArrayBuffer.isView(values)) return values.byteLength === 0 ? null : (values as Int32Array).length;
  return Array.isArray(values) ? values.length : null;
}

/** How many values a tensor holds where that is not the number of places of its shape; else null. Reads nothing back. */
function otherCount(tensor: tf.Tensor): number | null {
  const held = given().get(tensor.dataId) ?? heldBy(tensor);
  return held === tensor.size ? null : held;
}

export function isWhole(tensor: tf.Tensor): boolean {
  return otherCount(tensor) === null;
}

/** Throws ValueError for a tensor that holds more or fewer values than its shape has places. */
export function checkWhole(tensor: tf.Tensor, argument: string): void {
  const held = otherCount(tensor);
  if (held === null) return;
  const received = described(`a tensor that holds ${held} values for shape [${tensor.shape.join(', ')}]`);
  const note = 'TensorFlow.js makes such tensors of rows of uneven lengths: RaggedTensor.fromRows(rows) takes those.';
  throw new ValueError(argument, `${tensor.size} values, as many as the shape has places`, received, note);
}

/** Throws ValueError for a tensor that was disposed, and for one whose values are not as many as its shape says. */
export function checkLive(tensor: tf.Tensor, argument: string, expected = 'a tensor that is not disposed'): void {
  if (tensor.isDisposed) throw new ValueError(argument, expected, described('a disposed tensor'));
  checkWhole(tensor, argument);
}
