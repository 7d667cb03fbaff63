/**
 * Pooled rows as tensors of the host, with as few copies as it allows. TensorFlow copies a typed array when an op first
 * takes it, so its tensors may stand in the exchange memory until that is used again.
 */
import * as tf from '@tensorflow/tfjs';
import type { PooledRows } from '../exchange/pooled_lookup.js';

/** What the host does with the typed array of a new tensor. */
export type ArrayUse = 'keeps' | 'copies' | 'copies when read';

/** How tensorflow knows a tensor: `values` until TensorFlow has them. */
interface TensorFlowHost {
  readonly tensorMap: { get(dataId: tf.DataId): { values: unknown } };
  getInputTensorIds(tensors: readonly { readonly dataId: tf.DataId }[]): number[];
}

export class PooledTensors {
  private wasTried = false;
  /** Tensors of which TensorFlow may not have the values yet, and where these lie. */
  private readonly waiting = new Map<tf.DataId, Float32Array>();

  constructor(
    private readonly backend: tf.KernelBackend,
    private use: ArrayUse,
  ) {}

  make({ values, inExchange }: PooledRows, shape: [batch: number, columns: number]): tf.Tensor2D {
    if (!inExchange) return tf.tensor2d(values, shape, 'float32');
    // Another backend in use keeps the array, and tells nobody here when the tensor is gone.
    if (tf.backend() !== this.backend) return tf.tensor2d(values.slice(), shape, 'float32');
    if (this.use === 'copies') return tf.tensor2d(values, shape, 'float32');
    this.tryOnce();
    // TensorFlow reads aligned memory where it lies, for as long as it likes: such values are copied here.
    if (this.use === 'keeps' || values.byteOffset % 8 === 0) return tf.tensor2d(values.slice(), shape, 'float32');
    const tensor = tf.tensor2d(values, shape, 'float32');
    this.waiting.set(tensor.dataId, values);
    return tensor;
  }

  /** Somebody wants to see the values of this tensor: they get their own. */
  materialize(dataId: tf.DataId): void {
    const values = this.waiting.get(dataId);
    if (values === undefined) return;
    this.waiting.delete(dataId);
    const record = (this.backend as unknown as TensorFlowHost).tensorMap.get(dataId);
    if (record.values === values) record.values = values.slice();
  }

  /** Before the exchange memory is used again. */
  materializeAll(): void {
    for (const dataId of this.waiting.keys()) this.materialize(dataId);
  }

  /** The tensor is gone. */
  forget(dataId: tf.DataId): void {
    this.waiting.delete(dataId);
  }

  private tryOnce(): void {
    if (this.wasTried || this.use !== 'copies when read') return;
    this.wasTried = true;
    if (!this.copiesUnaligned()) this.use = 'keeps';
  }

  /** Whether TensorFlow copies an array that does not lie at a cache line, as it has always done. */
  private copiesUnaligned(): boolean {
    const values = new Float32Array(new SharedArrayBuffer(64), 4, 8).fill(1);
    const { backend } = this;
    const dataId = backend.write(values, [8], 'float32');
    try {
      (backend as unknown as TensorFlowHost).getInputTensorIds([{ dataId }]);
      values.fill(2);
      return (backend.readSync(dataId) as Float32Array)[0] === 1;
    } finally {
      backend.disposeData(dataId, true);
    }
  }
}
