/** Values of tensors of the host on their way into the exchange memory, with one copy where the host allows it. */
import type * as tf from '@tensorflow/tfjs';
import { asNodeBackend, withTensor, type NodeBackend } from '../tensorflow/node_backend.js';
import type { DeviceTensors } from './device_tensors.js';

/** The floats of a tensor. */
export interface TensorValues {
  /** How many. */
  readonly size: number;
  /** An array for reading. */
  get(): Float32Array;
  /** Writes them to an array of this size. */
  copyTo(target: Float32Array): void;
}

/** TensorFlow writes into the array, which must lie at a cache line: TensorFlow would write to a copy of any other. */
function copyByTensorFlow(backend: NodeBackend, source: tf.TensorInfo, target: Float32Array): void {
  withTensor(backend, target, [target.length], (into) => {
    backend.executeMultipleOutputs('EmbeddingCopyInto', [], [into, source], 0);
  });
}

function valuesOf(values: Float32Array): TensorValues {
  return { size: values.length, get: () => values, copyTo: (target) => target.set(values) };
}

interface WasmBackend {
  typedArrayFromHeap(tensor: tf.TensorInfo): Float32Array;
}

export class TensorReader {
  /** Memory of which this call knows whether TensorFlow writes there. */
  private tried = new WeakMap<ArrayBufferLike, boolean>();

  /** `hasOps`: whether TensorFlow knows the ops of this package. */
  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly onDevices: DeviceTensors,
    private readonly hasOps: () => boolean,
  ) {}

  /** A call begins. Who else uses TensorFlow may have changed how it takes arrays, so each call tries anew. */
  begin(): void {
    this.tried = new WeakMap();
  }

  /** The values of a float32 tensor, for this call: of one of the host they are read when they are asked for. */
  of(tensor: tf.Tensor): TensorValues {
    // What lies on devices comes through the exchange memory too, so it must be here before that is written.
    if (this.onDevices.get(tensor.dataId) !== undefined) return valuesOf(tensor.dataSync<'float32'>());
    return {
      size: tensor.size,
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
    const isFull = tensor.size > 0;
    if (isFull && 'typedArrayFromHeap' in backend) {
      target.set((backend as unknown as WasmBackend).typedArrayFromHeap(tensor));
    } else if (isFull && 'tensorMap' in backend && this.isWithTensorFlow(tensor) && this.reaches(target)) {
      copyByTensorFlow(asNodeBackend(backend), tensor, target);
    } else {
      target.set(tensor.dataSync<'float32'>());
    }
  }

  private isWithTensorFlow({ dataId }: tf.TensorInfo): boolean {
    return asNodeBackend(this.backend).tensorMap.get(dataId).values === null;
  }

  /** Whether TensorFlow writes into this memory, and not into a copy. */
  private reaches({ buffer, byteOffset }: Float32Array): boolean {
    if (byteOffset % 64 !== 0) return false;
    let known = this.tried.get(buffer);
    if (known === undefined) {
      known = this.hasOps() && this.tryOn(new Float32Array(buffer, byteOffset, 1));
      this.tried.set(buffer, known);
    }
    return known;
  }

  private tryOn(place: Float32Array): boolean {
    const backend = asNodeBackend(this.backend);
    place[0] = 0;
    withTensor(backend, Float32Array.of(1), [1], (one) => copyByTensorFlow(backend, one, place));
    return place[0] === 1;
  }
}
