/**
 * Pooled rows as tensors of the host, with as few copies as it allows. TensorFlow copies a typed array when an op first
 * takes it, so its tensors may stand in the exchange memory until that is used again.
 */
import * as tf from '@tensorflow/tfjs';
import type { PooledRows } from './lookups.js';

/** What the host does with the typed array of a new tensor. */
export type ArrayUse = 'keeps' | 'copies' | 'copies when read';

/** How tensorflow knows a tensor: `values` until TensorFlow has them. */
interface Records {
  readonly tensorMap: { get(dataId: tf.DataId): { values: unknown } };
}

export class PooledTensors {
  /** Tensors of which TensorFlow may not have the values yet, and where these lie. */
  private readonly waiting = new Map<tf.DataId, Float32Array>();

  constructor(
    private readonly backend: tf.KernelBackend,
    private readonly use: ArrayUse,
  ) {}

  make({ values, inExchange }: PooledRows, shape: [batch: number, columns: number]): tf.Tensor2D {
    if (!inExchange || this.use === 'copies') return tf.tensor2d(values, shape, 'float32');
    // TensorFlow reads aligned memory where it lies, for as long as it likes: such values are copied here.
    if (this.use === 'keeps' || values.byteOffset % 8 === 0) return tf.tensor2d(values.slice(), shape, 'float32');
    const tensor = tf.tensor2d(values, shape, 'float32');
    this.waiting.set(tensor.dataId, values);
    return tensor;
  }

  /** Somebody wants to see the values of this tensor: they get their own. */
  settle(dataId: tf.DataId): void {
    const values = this.waiting.get(dataId);
    if (values === undefined) return;
    this.waiting.delete(dataId);
    const record = (this.backend as unknown as Records).tensorMap.get(dataId);
    if (record.values === values) record.values = values.slice();
  }

  /** Before the exchange memory is used again. */
  settleAll(): void {
    for (const dataId of this.waiting.keys()) this.settle(dataId);
  }

  /** The tensor is gone. */
  forget(dataId: tf.DataId): void {
    this.waiting.delete(dataId);
  }
}
