/** Values of tensors of the host on their way to the devices, with as few copies as the host allows. */
import type * as tf from '@tensorflow/tfjs';
import type { ColumnViews } from './column_views.js';
import type { DeviceTensors } from './device_tensors.js';
import type { SharedPlace, SharedTensors } from './shared_tensors.js';

type Values = Float32Array | Int32Array;

/** The numbers of a tensor. */
export interface TensorValues<Array extends Values> {
  /** How many. */
  readonly size: number;
  /** Where devices read them in TensorFlow; null where they do not. */
  readonly shared: SharedPlace | null;
  /** Whether somebody got them, so that they are here whatever becomes of the tensor. */
  readonly isRead: boolean;
  /** An array for reading. */
  get(): Array;
  /** Writes them to an array of this size. */
  copyTo(target: Array): void;
}

export function arrayValues<Array extends Values>(values: Array): TensorValues<Array> {
  return {
    size: values.length,
    shared: null,
    isRead: true,
    get: () => values,
    copyTo: (target) => target.set(values),
  };
}

/** Elements of a row, of a vector of the vector. */
function rowOf({ shape }: tf.Tensor): number {
  return shape.at(-1) ?? 1;
}

interface WasmBackend {
  typedArrayFromHeap(tensor: tf.TensorInfo): Values;
}

function hasHeap(backend: unknown): backend is WasmBackend {
  return 'typedArrayFromHeap' in (backend as object);
}

export class TensorReader {
  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly onDevices: DeviceTensors,
    readonly sharedTensors: SharedTensors,
    private readonly columns: ColumnViews | null,
  ) {}

  /** The values of a float32 tensor, for this call; devices may read them themselves. */
  floats(tensor: tf.Tensor): TensorValues<Float32Array> {
    // What lies on devices comes through the exchange memory too, so it must be here before that is written.
    if (this.onDevices.get(tensor.dataId) !== undefined) return arrayValues(tensor.dataSync<'float32'>());
    const { whole, at, stride } = this.columns?.placeOf(tensor) ?? { whole: tensor, at: 0, stride: rowOf(tensor) };
    const key = this.sharedTensors.add(whole, 'float32');
    return this.read<Float32Array>(tensor, key === null ? null : { key, at, stride });
  }

  /** The values of an int32 tensor. */
  ids(tensor: tf.Tensor): TensorValues<Int32Array> {
    return this.read<Int32Array>(tensor, null);
  }

  /** The same, which devices may copy themselves, and which are copied without being read, in this call. */
  lentIds(tensor: tf.Tensor): TensorValues<Int32Array> {
    const key = this.sharedTensors.add(tensor, 'int32');
    return this.read<Int32Array>(tensor, key === null ? null : { key, at: 0, stride: rowOf(tensor) });
  }

  private read<Array extends Values>(tensor: tf.Tensor, shared: SharedPlace | null): TensorValues<Array> {
    const { backend } = this;
    const size = tensor.shape.reduce((product, length) => product * length, 1);
    let array: Array | null = null;
    const get = (): Array => (array ??= tensor.dataSync() as Array);
    const inHeap = (): Array => (size > 0 && hasHeap(backend) ? (backend.typedArrayFromHeap(tensor) as Array) : get());
    return {
      size,
      shared,
      get isRead() {
        return array !== null;
      },
      get,
      copyTo: (target) => {
        if (array === null && shared !== null) this.sharedTensors.read(shared, rowOf(tensor), target);
        else target.set(array ?? inHeap());
      },
    };
  }
}
