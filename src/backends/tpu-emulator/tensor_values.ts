/** Values of tensors of the host on their way to the devices, with as few copies as the host allows. */
import type * as tf from '@tensorflow/tfjs';
import { asNodeBackend } from '../tensorflow/node_backend.js';
import type { DeviceTensors } from './device_tensors.js';
import type { Loans } from './loans.js';

/** The floats of a tensor. */
export interface TensorValues {
  /** How many. */
  readonly size: number;
  /** The number of the loan under which devices read them in TensorFlow; null where they cannot. */
  readonly loan: number | null;
  /** An array for reading. */
  get(): Float32Array;
  /** Writes them to an array of this size. */
  copyTo(target: Float32Array): void;
}

function valuesOf(values: Float32Array): TensorValues {
  return { size: values.length, loan: null, get: () => values, copyTo: (target) => target.set(values) };
}

interface WasmBackend {
  typedArrayFromHeap(tensor: tf.TensorInfo): Float32Array;
}

export class TensorReader {
  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly onDevices: DeviceTensors,
    readonly loans: Loans,
  ) {}

  /** The values of a float32 tensor, for this call: of one of the host they are read when they are asked for. */
  of(tensor: tf.Tensor): TensorValues {
    // What lies on devices comes through the exchange memory too, so it must be here before that is written.
    if (this.onDevices.get(tensor.dataId) !== undefined) return valuesOf(tensor.dataSync<'float32'>());
    return {
      size: tensor.size,
      loan: tensor.size > 0 ? this.loans.add(tensor) : null,
      get: () => tensor.dataSync<'float32'>(),
      copyTo: (target) => this.copy(tensor, target),
    };
  }

  /** Whether `dataSync` gives a copy of the numbers, not the array that somebody made the tensor of. */
  readsCopies(tensor: tf.TensorInfo): boolean {
    return 'tensorMap' in this.backend ? this.isWithTensorFlow(tensor) : 'typedArrayFromHeap' in this.backend;
  }

  private copy(tensor: tf.Tensor, target: Float32Array): void {
    const { backend } = this;
    const isInHeap = tensor.size > 0 && 'typedArrayFromHeap' in backend;
    target.set(
      isInHeap ? (backend as unknown as WasmBackend).typedArrayFromHeap(tensor) : tensor.dataSync<'float32'>(),
    );
  }

  private isWithTensorFlow({ dataId }: tf.TensorInfo): boolean {
    return asNodeBackend(this.backend).tensorMap.get(dataId).values === null;
  }
}
