/** Room in TensorFlow for the pooled rows of one call: devices write them there, and nothing is copied on this thread. */
import * as tf from '@tensorflow/tfjs';
import { asNodeBackend, withTensor } from '../../tensorflow/node_backend.js';
import { translated } from '../../tensorflow/op_errors.js';
import type { SharedRowsAt } from '../devices/device.js';
import type { ColumnViews } from './column_views.js';
import type { SharedTensors } from './shared_tensors.js';

/** The shape of the pooled rows of a lookup. */
export interface PooledShape {
  readonly batch: number;
  readonly columns: number;
}

/** Pooled rows of lookups with one size of batch, side by side. */
interface Shelf {
  readonly whole: tf.Tensor;
  readonly key: number;
  readonly places: readonly number[];
}

export class PooledRoom {
  /** Where the rows of each lookup go; null: not here. */
  readonly targets: readonly (SharedRowsAt | null)[];

  private constructor(
    private readonly shapes: readonly (PooledShape | null)[],
    private readonly shelves: readonly Shelf[],
    private readonly views: ColumnViews,
  ) {
    const targets = shapes.map((): SharedRowsAt | null => null);
    for (const { key, places, whole } of shelves) {
      let at = 0;
      for (const place of places) {
        targets[place] = { at, stride: whole.shape[1]!, sharedKey: key };
        at += shapes[place]!.columns;
      }
    }
    this.targets = targets;
  }

  /**
   * Room for lookups of these shapes, null for those that need none here; shared with the devices by the next `share`.
   * null where TensorFlow cannot share memory with them.
   */
  static take(
    backend: tf.KernelBackend,
    sharedTensors: SharedTensors,
    views: ColumnViews,
    shapes: readonly (PooledShape | null)[],
  ): PooledRoom | null {
    if (!sharedTensors.canShare || tf.backend() !== backend) return null;
    const places = new Map<number, number[]>();
    shapes.forEach((shape, place) => {
      if (shape === null || shape.batch * shape.columns === 0) return;
      places.set(shape.batch, [...(places.get(shape.batch) ?? []), place]);
    });
    const shelves: Shelf[] = [];
    for (const [batch, ofBatch] of places) {
      const columns = ofBatch.reduce((sum, place) => sum + shapes[place]!.columns, 0);
      const whole = empty(backend, batch, columns);
      shelves.push({ whole, key: sharedTensors.add(whole, 'float32')!, places: ofBatch });
    }
    return new PooledRoom(shapes, shelves, views);
  }

  /** The tensors of the lookups that have room here, by their places; devices have written them. */
  tensors(): Map<number, tf.Tensor2D> {
    const found = new Map<number, tf.Tensor2D>();
    for (const { whole, places } of this.shelves) {
      if (places.length === 1) {
        found.set(places[0]!, whole as tf.Tensor2D);
        continue;
      }
      const widths = places.map((place) => this.shapes[place]!.columns);
      this.views.of(whole, widths).forEach((info, i) => {
        found.set(places[i]!, tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D);
      });
      whole.dispose();
    }
    return found;
  }

  /** The call failed. */
  dispose(): void {
    for (const { whole } of this.shelves) whole.dispose();
  }
}

function empty(backend: tf.KernelBackend, batch: number, columns: number): tf.Tensor {
  const node = asNodeBackend(backend);
  const { TF_ATTR_TYPE, TF_FLOAT } = node.binding;
  const attributes = [{ name: 'dtype', type: TF_ATTR_TYPE, value: TF_FLOAT }];
  return translated('Empty', () =>
    withTensor(node, Int32Array.of(batch, columns), [2], (shape) =>
      node.executeSingleOutput('Empty', attributes, [shape]),
    ),
  );
}
